"""Measures folder runs: megabytes of source per second of CPU time, elapsed time, and peak memory.

usage: folders.py CONVERT FOLDER..., in a folder to write to, best one in memory
"""

import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 5
OUT = Path("out")

# The names of the runs, and their options.
RUNS = {
    "`--carry none`": ["--carry", "none"],
    "inline": [],
    "`--carry sidecar`": ["--carry", "sidecar"],
    "inline, `--compress zst`": ["--compress", "zst"],
    "inline, `--compress gz`": ["--compress", "gz"],
}


def main(convert, *folders):
    for folder in map(Path, folders):
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        print(f"\n{len(files):,} files, {size / 1e6:,.0f} MB, 2 jobs, the minimum of {ROUNDS} rounds\n")
        print("| to clido | MB in a CPU second | seconds | peak memory |\n|---|---|---|---|")
        to = [convert, "--quiet", "--jobs", "2", "--to", "clido", "-o", OUT]
        for name, how in RUNS.items():
            tell(name, size, [*to, *how, folder])
        packed = Path("packed")
        shutil.copytree(folder, packed)
        for path in packed.rglob("*"):
            if path.is_file() and path.suffix not in {".gz", ".zst"}:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 6))
                path.unlink()
        tell("inline, from `.gz`", size, [*to, packed])
        shutil.rmtree(packed)
        clear()
        with open("plan", "wb") as plan:
            command = [convert, "plan", "--quiet", folder, "--to", "clido", "-o", OUT]
            subprocess.run(command, stdout=plan, check=True)
        tell("`convert work`, with SHA-256", size, [convert, "work", "--jobs", "2", "plan"])
        clear()
        subprocess.run([*to, folder], stderr=subprocess.DEVNULL)
        tell("the same again, all up to date", size, [*to, folder], clears=False)
        tell("`cat`", size, ["cat", *files])
        tell("`cp -r`", size, ["cp", "-r", folder, OUT])
    clear()


def clear():
    shutil.rmtree(OUT, ignore_errors=True)


def tell(name, size, command, clears=True):
    """Runs a command several times, and prints the minimum of each measurement."""
    rounds = []
    for _ in range(ROUNDS):
        if clears:
            clear()
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.execvp(command[0], list(map(str, command)))
        _, status, took = os.wait4(pid, 0)
        seconds, cpu = time.monotonic() - start, took.ru_utime + took.ru_stime
        # Status 1: the folder has files that are no sessions.
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"{name}: exit status {os.waitstatus_to_exitcode(status)}")
        rounds.append((cpu, seconds, took.ru_maxrss / 1024))
    cpu, seconds, _ = min(rounds)
    # Before `exec`, the process is as large as this one.
    memory = max(memory for *_, memory in rounds)
    print(f"| {name} | {size / 1e6 / cpu:,.0f} | {seconds:.2f} | {memory:.0f} MiB |", flush=True)


main(*sys.argv[1:])
