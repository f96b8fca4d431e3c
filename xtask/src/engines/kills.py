"""Kills processes in the middle of their work: a worker that has done some units, or its parent."""

import os
import signal
import time
from pathlib import Path

# The number of units that a worker flushes together, before it prints their receipts.
TOGETHER = 64
# The number of partitions of the units.
N_PARTITIONS = 16


def is_large(units):
    """Returns whether the work of each partition takes long enough to kill its worker."""
    return len(units) >= N_PARTITIONS * TOGETHER * 8


def enough(units):
    """Returns the bytes after which a worker has done some units: three times the bytes of one batch."""
    return 3 * TOGETHER * sum(unit["bytes"] for unit in units) // len(units)


def kill_at_work(root, title, n_bytes, killed):
    """Waits until a worker below `root` has written this number of bytes, then kills its parent with the
    given title."""
    while not killed:
        parents = dict(process for process in map(parent_of, Path("/proc").glob("[0-9]*")) if process)
        for process in parents:
            above = [process]
            while above[-1] in parents:
                above.append(parents[above[-1]])
            if root not in above or not is_worker(command(process)):
                continue
            if written(process) < n_bytes:
                continue
            starter = next((it for it in above if title in command(it)), None)
            if starter:
                os.kill(starter, signal.SIGKILL)
                killed.append(starter)
                return
        time.sleep(0.005)


def is_worker(words):
    """Returns whether a process converts units: as the program, or in the Python of Spark or Ray."""
    return any(it in words for it in [b"convert\0work\0", b"pyspark.daemon", b"ray::MapBatches"])


def parent_of(folder):
    try:
        words = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(folder.name), int(words[1])


def command(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def written(process):
    """Returns the number of bytes that a process has written."""
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))
