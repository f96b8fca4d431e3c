"""Checks of S3, with moto as its mock."""

import http.server
import json
import pathlib
import signal
import threading
import time

from stage import JOURNAL, SECRET, expect, files, serve


def there_and_back(stage):
    """Converting a prefix to a prefix and back gives the same as folders: plain, with sidecars, compressed."""
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
    """A second run writes no object. After a change, it converts only the changed source."""
    before = stage.objects("plain/")
    stage.requests.take()
    again = stage.report("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/")
    done = {source for source, it in again.items() if it.get("up_to_date")}
    more = {source.split("/subagents/")[0] + ".jsonl" for source in again}
    alone = {source for source in done - more if "/agent-" not in source}
    read = {f"s3:/{path}" for method, path in stage.requests.take() if method == "GET"}
    expect(alone and not read & alone, f"read again: {sorted(read & alone)[:5]}")
    expect(stage.objects("plain/") == before, "objects were written again")
    expect(any(it.get("up_to_date") for it in again.values()), "a second run finds nothing up to date")
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
    # An object that somebody edited is not overwritten.
    name = sorted(changed)[0]
    stage.put("plain/" + name, b"edited\n")
    stage.run("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/")
    expect(stage.get("plain/" + name) == b"edited\n", "an edited object was overwritten")
    stage.run("s3://logs/in/", "--to", "clido", "-o", "s3://logs/plain/", "--force")
    expect(stage.get(f"plain/{name}.bak") == b"edited\n", "the edited object was not kept")


def units(stage):
    """Converting one session also converts its sub-agents."""
    mains = [name for name in files(stage.folder) if "/subagents/" in name]
    for name in sorted({name.split("/subagents/")[0] for name in mains})[:5]:
        if not (stage.folder / f"{name}.jsonl").is_file():
            continue
        there = stage.run(f"s3://logs/in/{name}.jsonl", "--to", "sdk-stream", "-q").stdout
        here = stage.run(str(stage.folder / f"{name}.jsonl"), "--to", "sdk-stream", "-q").stdout
        expect(there == here, f"{name}: a session of several files differs")


def killed(stage):
    """Killed runs leave complete objects, and the next run continues."""
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
    """An object that keeps changing is reported, or one of its versions is converted."""
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
        expect(told == "Changing", f"an object that keeps changing is reported as {told}")
    print(f"    a changing object: {told}")


def taken(stage):
    """Two runs at the same time write each object once, and both succeed."""
    there = ["s3://logs/in/", "--to", "clido", "-o", "s3://logs/taken/", "-q"]
    ends = {run.wait() for run in [stage.start(*there) for _ in range(3)]}
    expect(ends <= {0, 1}, f"exit statuses {ends}")
    stage.same("taken/", pathlib.Path("plain-there"))
    before = stage.objects("taken/")
    stage.run(*there[:5])
    expect(stage.objects("taken/") == before, "objects were written again after three runs")


def failing(stage):
    """An unreachable source is reported, and the run goes on with the others."""
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
    expect(told["s3://logs/in/"]["status"] == "Unreachable", "an unreachable store is not reported")
    expect(time.monotonic() - start < 30, "an unreachable store is waited for")
    with serve(Denying) as port:
        denied = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        run = stage.run("s3://logs/in/", good, "--to", "clido", "-o", "denied", status=(1, 2), **denied)
        expect("denies" in run.stderr, run.stderr)


def large(stage):
    """An object that is uploaded in parts is restored, and never overwritten."""
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
    expect(set(before) == {"a.jsonl"}, f"other objects are left: {set(before)}")
    stage.s3.delete_object(Bucket="logs", Key="large-there/" + JOURNAL)
    stage.run(*there)
    stage.run("s3://logs/large-there/", "--to", "claude-code", "-o", "s3://logs/large-back/")
    expect(stage.get("large-back/a.jsonl") == session.encode(), "a large object is not restored")
    left = stage.s3.list_multipart_uploads(Bucket="logs").get("Uploads", [])
    expect(not left, f"parts are left: {left}")


class Denying(http.server.BaseHTTPRequestHandler):
    """A store that denies every request, and repeats the request in its answer."""

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
