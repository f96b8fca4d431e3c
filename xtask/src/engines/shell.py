"""Converts with one run, and with workers that a shell starts."""

import shutil
import subprocess
import time

from archive import OPTIONS, words_of
from kills import is_large


def one_run(archive):
    """Converts with one run, whose outputs are the reference. A second run has nothing to do."""
    out = archive.scratch / "out"
    shutil.rmtree(out, ignore_errors=True)
    for by in ["one run", "one run, again"]:
        start = time.monotonic()
        archive.call(archive.folder, *OPTIONS, "-o", out, "-q")
        archive.tell(by, out, time.monotonic() - start)


def processes(archive):
    def threads(plan, _):
        archive.call("work", plan, stdout=subprocess.DEVNULL)

    plan, out = archive.work("work, threads", threads)
    start = time.monotonic()
    archive.plan(out)
    archive.call("work", plan, stdout=subprocess.DEVNULL)
    archive.tell("plan and work, again", out, time.monotonic() - start)

    def split(plan, _):
        work = f"'{archive.convert}' work -j 1 > /dev/null"
        subprocess.run(["split", "--number=r/4", f"--filter={work}", plan], check=True)

    archive.work("split --filter, 4 processes", split)

    def parallel(plan, _):
        work = [archive.convert, "work", "-j", "1"]
        with open(plan, "rb") as units:
            command = ["parallel", "--pipe", "-N", "500", "-j", "4", *work]
            subprocess.run(command, stdin=units, stdout=subprocess.DEVNULL, check=True)

    if shutil.which("parallel"):
        archive.work("GNU parallel, 4 processes", parallel)
    else:
        print("skipped: GNU parallel is not installed")
    if is_large(plan.read_bytes().splitlines()):
        archive.work("2 processes, one killed", lambda plan, _: one_killed(archive, plan))


def one_killed(archive, plan):
    """Two processes share a plan, one is killed, and a third does the remaining units."""

    def start(shard, stdout):
        command = [archive.convert, "work", "-j", "1", "--shard", shard, plan]
        return subprocess.Popen(command, stdout=stdout)

    killed, other = start("1/2", subprocess.PIPE), start("2/2", subprocess.DEVNULL)
    # The worker has done some units, and works on the next.
    killed.stdout.readline()
    killed.kill()
    ends = [killed.wait(), other.wait()]
    rest = archive.call("work", plan, stdout=subprocess.PIPE).stdout.splitlines()
    ids, words = words_of(rest)
    n_left = words["ok"]
    if ends != [-9, 0] or not 0 < n_left < len(ids) // 2:
        raise SystemExit(f"{n_left} of {len(ids)} units were left; {ends}")
    return f"1 killed, {n_left} units were left"
