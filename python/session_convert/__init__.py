"""Reads, converts and checks the session logs of AI coding agents.

    import session_convert as sc

    for session in sc.sessions():                    # all agents of this machine
        print(session.path, session.format)
    table = pyarrow.table(sc.events("session.jsonl"))  # or polars.from_arrow, or DuckDB
    clido = sc.convert(open("session.jsonl", "rb").read(), "clido").data

`plan` and `work` run the units of a plan, which docs/WORKER.md of the project describes; `session_convert.spark`
and `session_convert.ray` do so on a cluster. The program `convert` is in the package too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from session_convert._native import (
    Batches,
    Converted,
    ConvertedFile,
    Error,
    Problem,
    Redacted,
    Session,
    Worker,
    check,
    convert,
    convert_file,
    detect,
    events,
    formats,
    open,
    plan,
    redact,
    sessions,
    summaries,
    usage,
)

__all__ = [
    "Batches",
    "Converted",
    "ConvertedFile",
    "Error",
    "Problem",
    "Redacted",
    "Session",
    "Worker",
    "WorkerError",
    "check",
    "convert",
    "convert_file",
    "detect",
    "events",
    "formats",
    "open",
    "plan",
    "redact",
    "sessions",
    "summaries",
    "usage",
    "work",
]

# The number of units that a worker flushes to the disk together.
_TOGETHER = 64


class WorkerError(Error):
    """A worker ended without a receipt for each unit. Try the units again."""


def work(units: Iterable[str], *options: str) -> Iterator[str]:
    """Converts units in this process, and yields a receipt for each, in any order.

    The options are the ones of `convert work`. The receipt of a failed unit contains the error. If there is not a
    receipt for each unit, raises `WorkerError`. Then try all units again: the worker skips finished ones.
    """
    worker = Worker(*options)
    rest = iter(units)
    while some := list(islice(rest, _TOGETHER)):
        receipts = worker.work(some)
        yield from receipts
        if len(receipts) != len(some):
            raise WorkerError(f"the worker ended with {len(receipts)} receipts for {len(some)} units; try again")
