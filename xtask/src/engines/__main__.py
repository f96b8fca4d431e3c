"""Converts archives with engines that start workers, and compares the hashes of the outputs.

usage: engines CONVERT WHEEL SCRATCH ENGINES ARCHIVE...

Each engine has an environment of its own; of archives that are large enough, some workers are killed
at their work. What each run wrote, and what was seen of it, is a table at the end.
"""

import os
import sys
from pathlib import Path

import connected
import shell
from archive import Archive


def main(convert, wheel, scratch, engines, *folders):
    # Without flushing, because power cuts are not tested here.
    os.environ["CONVERT_DURABILITY"] = "none"
    archives = [Archive(convert, Path(folder), Path(scratch)) for folder in folders]
    for archive in archives:
        shell.one_run(archive)
        for engine in engines.split(","):
            if engine == "shell":
                shell.processes(archive)
            else:
                connected.engine(archive, engine, wheel)
    rows = [row for archive in archives for row in archive.rows]
    for row in [("archive", "by", "hash", "files", "seconds", "seen"), ["---"] * 6, *rows]:
        print("|", " | ".join(map(str, row)), "|")
    raise SystemExit(0 if all(archive.is_fine for archive in archives) else 1)


main(*sys.argv[1:])
