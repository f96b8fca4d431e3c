"""An archive, and its conversions, which must all have the same bytes."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import time

OPTIONS = ["--to", "clido", "--carry", "sidecar"]
JOURNAL = ".convert-journal.jsonl"


class Archive:
    """A folder of sessions, and a row of the table for each run over it."""

    def __init__(self, convert, folder, scratch):
        self.convert, self.folder, self.scratch = convert, folder, scratch
        self.expected = None
        self.is_fine = True
        self.rows = []

    def call(self, *arguments, statuses=(0,), **more):
        done = subprocess.run([self.convert, *arguments], **more)
        if done.returncode not in statuses:
            raise SystemExit(f"convert {arguments[0]}: {done.returncode}")
        return done

    def plan(self, out):
        """Writes a plan into a folder, removes files that killed workers left there, and returns the plan."""
        plan = self.scratch / "plan"
        with open(plan, "wb") as file:
            self.call("plan", self.folder, *OPTIONS, "-o", out, "-q", stdout=file)
        return plan

    def work(self, by, work):
        """Plans, calls a function that works, merges, and compares. Returns the plan and the folder."""
        out = self.scratch / "out"
        shutil.rmtree(out, ignore_errors=True)
        plan = self.plan(out)
        start = time.monotonic()
        seen = work(plan, out)
        seconds = time.monotonic() - start
        wait_for_workers(out)
        merged = self.call("merge", "--plan", plan, "-q", statuses=(0, 1))
        self.plan(out)
        self.tell(by, out, seconds, seen, merged.returncode == 0)
        return plan, out

    def tell(self, by, out, seconds, seen=None, is_merged=True):
        """Compares the outputs with the outputs of the first run, and adds a row."""
        found = hash_of(out)
        self.expected = self.expected or found
        wrong = "" if found == self.expected else "DIFFERS"
        wrong = wrong if is_merged else "NOT MERGED"
        self.is_fine &= not wrong
        seen = " ".join(filter(None, [wrong, seen]))
        self.rows.append((self.folder.name, by, *found, f"{seconds:.1f}", seen))
        print(*self.rows[-1], sep="  ", file=sys.stderr, flush=True)


def wait_for_workers(out):
    """Waits until no process works in a folder: children of a killed process go on for a while."""
    with open(out / JOURNAL, "rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)


def hash_of(folder):
    """Returns the SHA-256 of the output of `sha256sum` for the files, and their number."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = sorted(str(path.relative_to(folder)) for path in files)
    names = [name for name in names if not name.startswith(".convert-")]
    total = hashlib.sha256()
    for name in names:
        with open(folder / name, "rb") as file:
            total.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode())
    return total.hexdigest()[:16], len(names)


def words_of(receipts):
    """Returns the ids of receipts, and the number of receipts with each status."""
    ids, words = [], {}
    for receipt in map(json.loads, receipts):
        ids.append(receipt["id"])
        words[receipt["status"]] = words.get(receipt["status"], 0) + 1
    return ids, words
