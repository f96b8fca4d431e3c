"""Runs the program `convert`: makes plans, and sends units of a plan to workers that return receipts.

Units and receipts are lines of JSON, which docs/WORKER.md of the project describes.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["WorkerError", "plan", "program", "work"]


class WorkerError(Exception):
    """A worker ended without a receipt for each unit. Try the units again."""


def program() -> str:
    """Returns the path of the program: the value of the variable CONVERT, or the program of the wheel."""
    if named := os.environ.get("CONVERT"):
        return named
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    paths = [Path(sysconfig.get_path("scripts", scheme)) / "convert" for scheme in schemes]
    # The folder that `pip install --target` installs programs into.
    paths.append(Path(__file__).resolve().parent.parent / "bin" / "convert")
    for path in paths:
        if path.is_file():
            return str(path)
    raise FileNotFoundError("the program convert is not beside this package; set the variable CONVERT to its path")


def plan(*arguments: str) -> list[str]:
    """Runs `convert plan` with these arguments and returns its units, one line each."""
    command = [program(), "plan", "--quiet", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def work(units: Iterable[str], *options: str) -> Iterator[str]:
    """Converts units in one worker, and yields a receipt for each, in any order.

    The receipt of a failed unit contains the error. If the worker ends without a receipt for each unit,
    raises `WorkerError`. Then try all units again: the worker skips finished ones.
    """
    command = [program(), "work", *options]
    worker = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="surrogateescape"
    )
    assert worker.stdin and worker.stdout
    n_units = 0

    def ask() -> None:
        nonlocal n_units
        try:
            for unit in units:
                worker.stdin.write(unit.rstrip("\n") + "\n")
                n_units += 1
            worker.stdin.close()
        except BrokenPipeError:
            pass  # The exit status of the worker is reported below.

    # Writing in a thread of its own, so that neither pipe fills up.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    n_receipts = 0
    try:
        for line in worker.stdout:
            if line.endswith("\n"):
                n_receipts += 1
                yield line[:-1]
        asking.join()
        status = worker.wait()
        if status != 0 or n_receipts != n_units:
            found = f"{n_receipts} receipts for {n_units} units"
            raise WorkerError(f"the worker ended with status {status} after {found}; try again")
    finally:
        if worker.poll() is None:
            worker.kill()
            worker.wait()
