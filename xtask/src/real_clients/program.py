"""Runs the program under test, in a home folder of its own."""

import json
import os
import subprocess
import tempfile

FORMATS = (
    "claude-code", "clido", "codex", "copilot", "gemini", "opencode", "pi", "qwen",
    "sdk-stream", "sdk-stream:wire",
)


class Program:
    def __init__(self, path, scratch):
        self.path, self.scratch = os.path.abspath(path), scratch
        home = os.path.join(scratch, "home")
        os.makedirs(home, exist_ok=True)
        self.environment = {"HOME": home, "PATH": os.environ.get("PATH", "")}

    def run(self, *arguments):
        command = [self.path, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment)

    def sessions(self, folders):
        """Returns the session files of folders and their formats, one path for each content."""
        found, seen = [], set()
        for folder in folders:
            for line in self.run("detect", folder).stdout.splitlines():
                form, _, path = line.partition("\t")
                if form not in FORMATS or os.path.basename(path).startswith("agent-"):
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                if data not in seen:
                    seen.add(data)
                    found.append((form, path))
        return found

    def convert(self, form, path, out, *options):
        """Converts a file. Returns whether it was written, the losses by field, and the messages."""
        os.makedirs(os.path.dirname(out), exist_ok=True)
        report = tempfile.mktemp(prefix="report-", dir=self.scratch)
        done = self.run("--to", form, "-o", out, "--report", report, *options, path)
        losses = {}
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                reports = json.load(file)
            os.remove(report)
            for loss in (loss for one in reports for loss in one.get("losses", [])):
                losses[loss["field"]] = losses.get(loss["field"], 0) + loss["count"]
        return os.path.exists(out), losses, done.stderr.strip()

    def stops(self, form, path):
        """Returns the rules of the findings of `check` that stop a client from loading a file."""
        lines = self.run("check", "--json", "--as", form, path).stdout.splitlines()
        findings = [json.loads(line) for line in lines]
        return sorted({one["rule"] for one in findings if one.get("severity") == "stops"})
