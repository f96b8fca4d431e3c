"""Runs the program under test, in a home folder of its own."""

import collections
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

PROGRAM, HOME = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["CLAUDE_CONFIG_DIR"] = str(HOME / "claude")
os.environ["HOME"] = str(HOME)
HOME.mkdir(parents=True, exist_ok=True)

counts = collections.Counter()
failures = []


def fail(path, what):
    failures.append(f"{path}: {what}")


def run(*arguments):
    return subprocess.run([PROGRAM, "-q", *map(str, arguments)], capture_output=True, text=True)


def convert(*arguments):
    """Runs a conversion, and returns its result and the reports of its files."""
    report = HOME / "report.json"
    report.unlink(missing_ok=True)
    done = run(*arguments, "--report", report)
    return done, json.loads(report.read_text()) if report.exists() else []


def fresh(name):
    """Returns an empty folder."""
    folder = HOME / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def sessions(folders):
    """Yields each session file and its format."""
    for folder in folders:
        found = subprocess.run([PROGRAM, "detect", folder], capture_output=True, text=True)
        for line in found.stdout.splitlines():
            form, path = line.split("\t", 1)
            if form.startswith(("claude-code", "clido", "sdk-stream")) and " or " not in form:
                yield form, pathlib.Path(path)


class Project:
    """A project of Claude Code with its folder of sessions."""

    def __init__(self, name):
        self.path = HOME / name
        self.path.mkdir(parents=True, exist_ok=True)
        folder = "".join(letter if letter.isalnum() else "-" for letter in str(self.path))
        self.sessions = HOME / "claude/projects" / folder
        self.sessions.mkdir(parents=True, exist_ok=True)

    def put(self, data):
        """Stores a transcript as a session, and returns its id."""
        session = "00000000-0000-4000-8000-000000000000"
        (self.sessions / f"{session}.jsonl").write_bytes(data)
        return session

    def install(self, path, *options):
        """Installs a session for Claude Code. Returns its id or None, the messages, and the reports."""
        to = ("--to", "claude-code", f"--install={self.path}", *options, path)
        done, reports = convert(*to)
        if not done.stdout:
            return None, done.stderr.strip(), reports
        words = shlex.split(done.stdout)
        expected = ["cd", str(self.path), "&&", "claude", "--resume"]
        assert words[:5] == expected, words
        return words[5], "", reports

    def clear(self):
        shutil.rmtree(self.sessions)
        self.sessions.mkdir()
