"""The stores with their sessions, and the program, for all checks."""

import json
import logging
import os
import pathlib
import re
import socket
import socketserver
import subprocess
import sys
import threading

import boto3

JOURNAL = ".convert-journal.jsonl"
RECEIPTS = ".convert-receipts"
SECRET = "not-to-be-told"


class Requests(logging.Handler):
    """The requests in the log of a store: pairs of method and path."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        words = re.search(r'"(?:\x1b\[[0-9;]*m)*([A-Z]+) (\S+) ', record.getMessage())
        if words:
            self.seen.append(words.groups())

    def take(self):
        """Returns the requests since the last call."""
        seen, self.seen = self.seen, []
        return seen


class Stage:
    """A store with its sessions, and the program."""

    def __init__(self, convert, azurite, folder, endpoint, requests):
        self.convert, self.azurite, self.folder = convert, azurite, folder
        self.requests = requests
        self.environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ALLOW_HTTP": "true",
            "CONVERT_PROGRESS": "none",
        }
        self.s3 = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="somebody",
            aws_secret_access_key=SECRET,
        )
        self.s3.create_bucket(Bucket="logs")
        for path in files(folder):
            self.put(f"in/{path}", (folder / path).read_bytes())

    def put(self, key, body, bucket="logs"):
        self.s3.put_object(Bucket=bucket, Key=key, Body=body)

    def get(self, key):
        return self.s3.get_object(Bucket="logs", Key=key)["Body"].read()

    def objects(self, prefix):
        """Returns the objects below a prefix without the journal: names, times of writing, etags."""
        found = {}
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket="logs", Prefix=prefix):
            for it in page.get("Contents", []):
                found[it["Key"].removeprefix(prefix)] = (it["LastModified"], it["ETag"])
        found.pop(JOURNAL, None)
        return found

    def run(self, *arguments, status=(0, 1), **more):
        environment = {**self.environment, **more}
        run = subprocess.run([self.convert, *arguments], env=environment, capture_output=True, text=True)
        told = run.stderr + run.stdout
        expect(run.returncode in status, f"{arguments}: exit status {run.returncode}\n{told}")
        expect(SECRET not in told, f"{arguments}: a secret is printed")
        return run

    def receipts(self, plan, **more):
        """Returns the receipts of a worker for a plan."""
        return [json.loads(line) for line in self.run("work", plan, **more).stdout.splitlines()]

    def start(self, *arguments, **more):
        """Starts a run without waiting for it."""
        command = [self.convert, *arguments]
        environment = {**self.environment, **more}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, env=environment, **quiet)

    def report(self, *arguments, status=(0, 1, 2), **more):
        """Runs the program, and returns the report of each source."""
        path = pathlib.Path("report.json")
        path.unlink(missing_ok=True)
        self.run(*arguments, "--report", str(path), status=status, **more)
        return {it["source"]: it for it in json.loads(path.read_text())}

    def sessions(self):
        """Returns the sessions of one file that a run converts."""
        arguments = [str(self.folder), "--to", "clido", "-o", "sessions", "--dry-run"]
        done = [path for path, it in self.report(*arguments).items() if it["status"].startswith("Done")]
        names = [str(pathlib.Path(path).relative_to(self.folder)) for path in done]
        return sorted(name for name in names if "claude-code/" in name or "real/" in name) or names

    def same(self, prefix, folder, but="nothing"):
        """Compares the objects below a prefix with a folder, without journals and some names."""
        there = {name for name in self.objects(prefix) if not name.startswith(but)}
        here = files(folder) - {JOURNAL}
        expect(there == here, f"{prefix}: {sorted(there ^ here)[:5]} on one side only")
        for name in here:
            expect(self.get(prefix + name) == (folder / name).read_bytes(), f"{prefix}{name} differs")
        expect(here, f"{folder} is empty")


class serve:
    """A server on loopback, stopped at the end of the block."""

    def __init__(self, handler):
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.server.server_address[1]

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def free_port():
    """Returns a port that is free at this moment."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def expect(holds, otherwise):
    if not holds:
        sys.exit(otherwise)
