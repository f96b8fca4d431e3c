"""Runs of convert between object stores on loopback: what comes of them is what comes of runs on the
disk, nothing is written twice, nothing half, and what fails says so while the rest goes on.

usage: cloud.py CONVERT AZURITE FOLDER, with moto and boto3 installed, in a folder to write to
"""

import base64
import email.utils
import functools
import hashlib
import hmac
import http.server
import json
import logging
import os
import pathlib
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

JOURNAL = ".convert-journal.jsonl"
SECRET = "not-to-be-told"


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    convert, azurite, folder = map(pathlib.Path, sys.argv[1:4])
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    stage = Stage(convert, azurite, folder, f"http://{host}:{port}")
    print(f"| {folder.name} | seconds | what holds |\n| --- | --- | --- |")
    try:
        for check in (
            there_and_back,
            nothing_twice,
            units,
            killed,
            changing,
            taken,
            failing,
            workers,
            large,
            azure,
            web,
        ):
            start = time.monotonic()
            check(stage)
            what = check.__doc__.split("\n\n")[0].replace("\n    ", " ")
            print(f"| {check.__name__} | {time.monotonic() - start:.1f} | {what} |", flush=True)
    finally:
        server.stop()


class Stage:
    """A store, the sessions in it, and the program."""

    def __init__(self, convert, azurite, folder, endpoint):
        self.convert, self.azurite, self.folder = convert, azurite, folder
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
        """The objects below a prefix, but for a journal: names, when each was written, its etag."""
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
        expect(SECRET not in told, f"{arguments}: a secret is told")
        return run

    def receipts(self, plan, **more):
        """What workers answer to a plan."""
        return [json.loads(line) for line in self.run("work", plan, **more).stdout.splitlines()]

    def start(self, *arguments):
        """Begins a run that nobody waits for."""
        command = [self.convert, *arguments]
        return subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)

    def report(self, *arguments, status=(0, 1, 2), **more):
        """Runs, and returns what became of each source."""
        path = pathlib.Path("report.json")
        path.unlink(missing_ok=True)
        self.run(*arguments, "--report", str(path), status=status, **more)
        return {it["source"]: it for it in json.loads(path.read_text())}

    def sessions(self):
        """Sessions of one file that a run converts."""
        arguments = [str(self.folder), "--to", "clido", "-o", "sessions", "--dry-run"]
        done = [path for path, it in self.report(*arguments).items() if it["status"].startswith("Done")]
        names = [str(pathlib.Path(path).relative_to(self.folder)) for path in done]
        return sorted(name for name in names if "claude-code/" in name or "real/" in name) or names

    def same(self, prefix, folder):
        """Compares what is below a prefix with a folder, but for the journals."""
        there = set(self.objects(prefix))
        here = files(folder) - {JOURNAL}
        expect(there == here, f"{prefix}: {sorted(there ^ here)[:5]} on one side only")
        for name in here:
            expect(self.get(prefix + name) == (folder / name).read_bytes(), f"{prefix}{name} differs")
        expect(here, f"{folder} is empty")


def there_and_back(stage):
    """A prefix to a prefix and back is what folders give, with sidecars, compressed, to the disk."""
    for name, options in [
        ("plain", []),
        ("sidecar", ["--carry", "sidecar"]),
        ("zst", ["--compress", "zst"]),
    ]:
        local, back = pathlib.Path(f"{name}-there"), pathlib.Path(f"{name}-back")
        to = ["--to", "clido", *options]
        stage.run(str(stage.folder), *to, "-o", str(local))
        stage.run("s3://logs/in/", *to, "-o", f"s3://logs/{name}/")
        stage.same(f"{name}/", local)
        # From the store to the disk, and from the disk to the store.
        stage.run(str(local), "--to", "claude-code", "-o", str(back))
        stage.run(f"s3://logs/{name}/", "--to", "claude-code", "-o", f"s3://logs/{name}-back/")
        stage.same(f"{name}-back/", back)
        stage.run(f"s3://logs/{name}/", "--to", "claude-code", "-o", f"{name}-here")
        expect(files(pathlib.Path(f"{name}-here")) == files(back), f"{name}: other files here")
        stage.run(str(local), "--to", "claude-code", "-o", f"s3://logs/{name}-away/")
        stage.same(f"{name}-away/", back)


def nothing_twice(stage):
    """The same run again writes no object; a changed source is converted again, alone."""
    before = stage.objects("plain/")
    again = stage.report("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/")
    expect(stage.objects("plain/") == before, "objects were written again")
    expect(any(it.get("up_to_date") for it in again.values()), "nothing is up to date")
    source = next(key for key, it in again.items() if it.get("up_to_date"))
    key = source.removeprefix("s3://logs/")
    body = stage.get(key)
    lines = body.splitlines(keepends=True)
    stage.put(key, body + lines[-1])
    stage.run("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/")
    after = stage.objects("plain/")
    changed = {name for name in after if after[name][1] != before.get(name, (0, 0))[1]}
    expect(changed == {key.removeprefix("in/")}, f"also written: {changed}")
    stage.put(key, body)
    # What somebody edited there is not overwritten.
    name = sorted(changed)[0]
    stage.put("plain/" + name, b"edited\n")
    stage.run("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/")
    expect(stage.get("plain/" + name) == b"edited\n", "an edited object was overwritten")
    stage.run("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/", "--force")
    expect(stage.get(f"plain/{name}.bak") == b"edited\n", "the edited object was not kept")


def units(stage):
    """A session that is named brings its sub-agents along."""
    mains = [name for name in files(stage.folder) if "/subagents/" in name]
    for name in sorted({name.split("/subagents/")[0] for name in mains})[:5]:
        if not (stage.folder / f"{name}.jsonl").is_file():
            continue
        there = stage.run(f"s3://logs/in/{name}.jsonl", "--to", "sdk-stream", "-q").stdout
        here = stage.run(str(stage.folder / f"{name}.jsonl"), "--to", "sdk-stream", "-q").stdout
        expect(there == here, f"{name}: a session of several files differs")


def killed(stage):
    """Runs that are killed leave whole objects, and the next one goes on."""
    there = ["s3://logs/in/", "--to", "clido", "-o", "s3://logs/killed/", "-q"]
    for how, seconds in [(signal.SIGKILL, 0.3), (signal.SIGINT, 0.6), (signal.SIGKILL, 1.0)]:
        run = stage.start(*there)
        time.sleep(seconds)
        run.send_signal(how)
        run.wait()
        whole = pathlib.Path("plain-there")
        for name in stage.objects("killed/"):
            same = stage.get("killed/" + name) == (whole / name).read_bytes()
            expect(same, f"{name} is not whole after a kill")
    stage.run(*there[:5])
    stage.same("killed/", pathlib.Path("plain-there"))
    left = stage.s3.list_multipart_uploads(Bucket="logs").get("Uploads", [])
    expect(not left, f"parts are left: {left}")


def changing(stage):
    """An object that changes all the time is said to, or converted as one of its versions."""
    line = b'{"type":"meta","session_id":"s%d"}\n'
    stage.put("changing/a.jsonl", line % 0 * 300_000)
    stop = threading.Event()

    def change():
        number = 1
        while not stop.is_set():
            stage.put("changing/a.jsonl", line % number * 300_000)
            number += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        arguments = ["s3://logs/changing/", "--from", "clido", "--to", "clido"]
        report = stage.report(*arguments, "-o", "s3://logs/changed/")
    finally:
        stop.set()
        thread.join()
    told = report["s3://logs/changing/a.jsonl"]["status"]
    if "a.jsonl" in stage.objects("changed/"):
        body = stage.get("changed/a.jsonl")
        expect(len(set(body.splitlines())) == 1, "two versions in one output")
    else:
        expect(told == "Changing", f"an object that changes is said to be {told}")
    print(f"    a changing object: {told}")


def taken(stage):
    """Two runs at a time write each object once, and both end well."""
    there = ["s3://logs/in/", "--to", "clido", "-o", "s3://logs/taken/", "-q"]
    ends = {run.wait() for run in [stage.start(*there) for _ in range(3)]}
    expect(ends <= {0, 1}, f"exit statuses {ends}")
    stage.same("taken/", pathlib.Path("plain-there"))
    before = stage.objects("taken/")
    stage.run(*there[:5])
    expect(stage.objects("taken/") == before, "objects were written again after three runs")


def failing(stage):
    """What cannot be reached is told, and the rest goes on."""
    good = str(stage.folder / stage.sessions()[0])
    for source, words in [
        ("s3://nowhere-at-all/in/", "no such bucket"),
        ("s3://logs/nothing/", "no such object"),
    ]:
        run = stage.run(source, good, "--to", "clido", "-o", "failing", status=(1, 2))
        expect(words in run.stderr, f"{source}: {run.stderr}")
    run = stage.run(good, "--to", "clido", "-o", "s3://nowhere-at-all/out/", status=(2,))
    expect("no such bucket" in run.stderr, run.stderr)
    start = time.monotonic()
    dead = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    run = stage.run("s3://logs/in/", "--to", "clido", "-o", "failing", status=(2,), **dead)
    expect("refused" in run.stderr, run.stderr)
    told = stage.report("s3://logs/in/", good, "--to", "clido", "-o", "failing", **dead)
    expect(told["s3://logs/in/"]["status"] == "Unreachable", "a store that is not there is not told")
    expect(time.monotonic() - start < 30, "a store that is not there is waited for")
    with serve(Denying) as port:
        denied = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        run = stage.run("s3://logs/in/", good, "--to", "clido", "-o", "denied", status=(1, 2), **denied)
        expect("denies" in run.stderr, run.stderr)


def workers(stage):
    """Workers read objects, and write what a run does; a store that is not there is a receipt."""
    out = pathlib.Path("worked").absolute()
    plan = stage.run("plan", "s3://logs/in/", "--to", "clido", "-o", str(out), "-q").stdout
    pathlib.Path("plan").write_text(plan)
    answers = stage.receipts("plan")
    expect(len(answers) == plan.count("\n"), f"{len(answers)} receipts")
    stage.run("merge", "--plan", "plan")
    missing = files(pathlib.Path("plain-there")) - {JOURNAL} - files(out)
    expect(not missing, f"{sorted(missing)[:5]} are missing")
    for name in files(pathlib.Path("plain-there")) - {JOURNAL}:
        same = (out / name).read_bytes() == pathlib.Path("plain-there", name).read_bytes()
        expect(same, f"{name} differs")
    again = {it["status"] for it in stage.receipts("plan")}
    expect("ok" not in again, f"done again: {again}")
    # What changed since is done again, alone.
    key = "in/" + stage.sessions()[0]
    body = stage.get(key)
    stage.put(key, body + body.splitlines(keepends=True)[-1])
    changed = [it["id"] for it in stage.receipts("plan") if it["status"] == "ok"]
    expect(changed == [key.removeprefix("in/")], f"also done: {changed}")
    stage.put(key, body)
    # One unit lies in a store that is not there, one in a bucket; the rest goes on.
    done = {it["id"] for it in answers if it["status"] == "ok"}
    good = [it for it in map(json.loads, plan.splitlines()) if it["id"] in done and not it["subs"]][-1]
    lost = {**good, "id": "lost", "main": "s3://nowhere-at-all/a.jsonl", "subs": []}
    pathlib.Path("plan").write_text(json.dumps(lost) + "\n" + json.dumps(good) + "\n")
    told = {it["id"]: it for it in stage.receipts("plan")}
    expect(told["lost"]["status"] == "fail" and "no such" in told["lost"]["error"], str(told))
    expect(told[good["id"]]["status"] != "fail", str(told))
    here = {**good, "main": str(stage.folder / good["main"].removeprefix("s3://logs/in/")), "subs": []}
    pathlib.Path("plan").write_text(json.dumps(good) + "\n" + json.dumps({**here, "id": "h"}) + "\n")
    told = stage.receipts("plan", AWS_ENDPOINT_URL="http://127.0.0.1:1")
    told = {it["id"]: it for it in told}
    expect("refused" in told[good["id"]]["error"], str(told))
    expect(told["h"]["status"] != "fail", str(told))


def large(stage):
    """What goes in parts comes back, and is never written over."""
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "word " * 4000}})
    session = "".join(
        line[:-1] + f', "uuid": "u{n}", "sessionId": "large", "timestamp": "2026-01-01T00:00:00Z"}}\n'
        for n in range(1500)
    )
    stage.put("large/a.jsonl", session.encode())
    pathlib.Path("large.jsonl").write_text(session)
    there = ["s3://logs/large/", "--to", "clido", "-o", "s3://logs/large-there/"]
    stage.run(*there)
    before = stage.objects("large-there/")
    stage.run(*there)
    expect(stage.objects("large-there/") == before, "a large object was written again")
    expect(set(before) == {"a.jsonl"}, f"something is left: {set(before)}")
    stage.s3.delete_object(Bucket="logs", Key="large-there/" + JOURNAL)
    stage.run(*there)
    stage.run("s3://logs/large-there/", "--to", "claude-code", "-o", "s3://logs/large-back/")
    expect(stage.get("large-back/a.jsonl") == session.encode(), "a large object does not come back")
    left = stage.s3.list_multipart_uploads(Bucket="logs").get("Uploads", [])
    expect(not left, f"parts are left: {left}")


def azure(stage):
    """Azure's store gives back what it got, large objects too, and nothing is written twice."""
    port = free_port()
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    where = ["--blobPort", str(port), "--location", "azurite"]
    server = subprocess.Popen([stage.azurite, *quiet, *where], stdout=subprocess.DEVNULL)
    account, endpoint = "devstoreaccount1", f"http://127.0.0.1:{port}/devstoreaccount1"
    # The key of every Azurite, which its documentation names.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    there = {
        "AZURE_STORAGE_ACCOUNT_NAME": account,
        "AZURE_STORAGE_ACCOUNT_KEY": key,
        "AZURE_ENDPOINT": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }
    try:
        make_container(f"{endpoint}/logs?restype=container", account, key)
        to = ["--to", "clido", "-o", "az://logs/there/"]
        stage.run(str(stage.folder), *to, **there)
        again = stage.report(str(stage.folder), *to, **there)
        expect(any(it.get("up_to_date") for it in again.values()), "nothing is up to date")
        stage.run("az://logs/there/", "--to", "claude-code", "-o", "azure-back", **there)
        back, here = pathlib.Path("azure-back"), pathlib.Path("plain-back")
        for name in files(here) - {JOURNAL}:
            expect((back / name).read_bytes() == (here / name).read_bytes(), f"{name} differs")
        stage.run("large.jsonl", "--to", "clido", "-o", "az://logs/large.jsonl", "-q", **there)
        away = ["az://logs/large.jsonl", "--to", "claude-code"]
        stage.run(*away, "-o", "large-azure.jsonl", "-q", **there)
        large = pathlib.Path("large.jsonl").read_bytes()
        expect(pathlib.Path("large-azure.jsonl").read_bytes() == large, "a large object differs")
        pathlib.Path("large.jsonl").write_bytes(large + large.splitlines(keepends=True)[0])
        taken = stage.run(
            "large.jsonl", "--to", "clido", "-o", "az://logs/large.jsonl", status=(2,), **there
        )
        expect("exists" in taken.stderr, taken.stderr)
    finally:
        server.terminate()
        server.wait()


def make_container(url, account, key):
    """Makes a container, as soon as the server is up."""
    for _ in range(120):
        date = email.utils.formatdate(usegmt=True)
        path = urllib.parse.urlparse(url).path
        words = f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-08-06\n"
        words += f"/{account}{path}\nrestype:container"
        digest = hmac.new(base64.b64decode(key), words.encode(), hashlib.sha256).digest()
        headers = {
            "x-ms-date": date,
            "x-ms-version": "2021-08-06",
            "Authorization": f"SharedKey {account}:{base64.b64encode(digest).decode()}",
            "Content-Length": "0",
        }
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers))
            return
        except urllib.error.HTTPError as error:
            sys.exit(f"Azurite: {error}")
        except OSError:
            time.sleep(0.5)
    sys.exit("Azurite does not start")


def free_port():
    """A port that nobody had when it was asked for."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def web(stage):
    """A page of the web is read, whatever its server knows; its query is not told."""
    name = stage.sessions()[0]
    here = stage.run(str(stage.folder / name), "--to", "clido", "-q").stdout
    handler = functools.partial(Quiet, directory=str(stage.folder))
    with serve(handler) as port:
        url = f"http://127.0.0.1:{port}/{name}?signature={SECRET}"
        there = stage.run(url, "--to", "clido", "-q").stdout
        expect(there == here, f"{name}: a page of the web differs")
        missing = stage.run(url.replace(".jsonl", ".nothing"), "--to", "clido", status=(2,))
        expect("no such object" in missing.stderr, missing.stderr)
        run = stage.run(str(stage.folder / name), "--to", "clido", "-o", url, status=(2,))
        expect("not written to" in run.stderr, run.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Denying(http.server.BaseHTTPRequestHandler):
    """A store that denies everything, and repeats what it was told."""

    def answer(self):
        body = f"<Error><Code>AccessDenied</Code><Message>{SECRET}</Message></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = answer

    def log_message(self, *_):
        pass


class serve:
    """A server on loopback for as long as it is needed."""

    def __init__(self, handler):
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.server.server_address[1]

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def expect(holds, otherwise):
    if not holds:
        sys.exit(otherwise)


if __name__ == "__main__":
    main()
