"""The program `convert`, and what moves units of its plans to it and receipts back.

docs/WORKER.md of the project describes the lines.
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
    """A worker ended before it had answered each unit: they are to be tried again."""


def program() -> str:
    """Returns the path of the program: that in the variable CONVERT, or the wheel's own."""
    if named := os.environ.get("CONVERT"):
        return named
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    paths = [Path(sysconfig.get_path("scripts", scheme)) / "convert" for scheme in schemes]
    # Where `pip install --target` puts it.
    paths.append(Path(__file__).resolve().parent.parent / "bin" / "convert")
    for path in paths:
        if path.is_file():
            return str(path)
    raise FileNotFoundError("the program is not beside this package: name it in CONVERT")


def plan(*arguments: str) -> list[str]:
    """Returns the units that `convert plan` prints for these arguments, a line each."""
    command = [program(), "plan", "--quiet", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def work(units: Iterable[str], *options: str) -> Iterator[str]:
    """Does units in one worker, and yields a receipt for each, in whatever order.

    A unit that cannot be done is a receipt that says so. A worker that ends without an answer to
    each unit is an error, for whoever started this to try again: what was done is not done twice.
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
            pass  # How the worker ended is said below.

    # Neither pipe fills up while the other one is waited for.
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
            raise WorkerError(f"{n_receipts} of {n_units} units were answered; status {status}")
    finally:
        if worker.poll() is None:
            worker.kill()
            worker.wait()
