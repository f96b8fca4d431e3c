"""Checks for every store but S3. The results are compared with the results of S3, which has more checks."""

import pathlib
import shutil

from stage import JOURNAL, expect, files


def comes_back(stage, bucket, name, there):
    """Runs all checks with a bucket. `there` are the environment variables for the store."""
    to, back = ["--to", "clido", "-o", f"{bucket}/there/"], ["--to", "claude-code"]
    stage.run(str(stage.folder), *to, **there)
    again = stage.report(str(stage.folder), *to, **there)
    expect(any(it.get("up_to_date") for it in again.values()), "a second run finds nothing up to date")
    stage.run(f"{bucket}/there/", *back, "-o", f"{name}-back", **there)
    same(pathlib.Path(f"{name}-back"))
    worked(stage, bucket, name, there)
    changed(stage, bucket, name, there)
    large(stage, bucket, name, there)
    at_once(stage, bucket, name, there)


def same(folder):
    """Compares a folder with the results of a run on the disk."""
    here = pathlib.Path("plain-back")
    names = files(here) - {JOURNAL}
    expect(files(folder) - {JOURNAL} >= names, f"{folder}: files are missing")
    for it in names:
        expect((folder / it).read_bytes() == (here / it).read_bytes(), f"{folder}/{it} differs")


def worked(stage, bucket, name, there):
    """Workers convert its objects. A second pass has nothing to do."""
    out = pathlib.Path(f"{name}-worked").absolute()
    arguments = [f"{bucket}/there/", "--to", "claude-code", "-o", str(out), "-q"]
    plan = pathlib.Path("plan")
    plan.write_text(stage.run("plan", *arguments, **there).stdout)
    stage.receipts("plan", **there)
    same(out)
    again = {it["status"] for it in stage.receipts("plan", **there)}
    expect("ok" not in again, f"done again: {again}")


def changed(stage, bucket, name, there):
    """A changed source is converted again. A foreign object is overwritten only with --force."""
    source = pathlib.Path(f"{name}-changed")
    source.mkdir()
    session = source / "a.jsonl"
    shutil.copy(stage.folder / stage.sessions()[0], session)
    to = ["--to", "claude-code", "--from", "claude-code"]
    run = [str(source), *to, "-o", f"{bucket}/changed/"]

    def told(*options, status=(0, 1, 2)):
        return stage.report(*run, *options, status=status, **there)[str(session)]

    def seen():
        return stage.run(f"{bucket}/changed/a.jsonl", *to, "-q", **there).stdout

    for _ in range(2):
        stage.run(*run, **there)
        expect(seen() == session.read_text(), "an object is not its source")
        lines = session.read_text().splitlines(keepends=True)
        session.write_text("".join([*lines, lines[-1]]))
    stage.run(*run, **there)
    other = stage.folder / stage.sessions()[1]
    stage.run(str(other), *to, "-o", f"{bucket}/changed/a.jsonl", "--force", **there)
    expect(seen() == other.read_text(), "an object was not written over")
    session.write_text("".join(lines))
    taken = told().get("error", "")
    expect("exists" in taken, f"an edited object may go: {taken}")
    expect(seen() == other.read_text(), "an edited object was overwritten")
    told("--force")
    expect(seen() == session.read_text(), "an object was not written over by a folder run")


def large(stage, bucket, name, there):
    """An object that is uploaded in parts is restored, and is not overwritten."""
    source = pathlib.Path(f"{name}-large.jsonl")
    shutil.copy("large.jsonl", source)
    to = [str(source), "--to", "clido", "-o", f"{bucket}/large.jsonl"]
    stage.run(*to, **there)
    stage.run(f"{bucket}/large.jsonl", "--to", "claude-code", "-o", f"{name}-large-back.jsonl", **there)
    whole = source.read_bytes()
    expect(pathlib.Path(f"{name}-large-back.jsonl").read_bytes() == whole, "a large object differs")
    source.write_bytes(whole + whole.splitlines(keepends=True)[0])
    taken = stage.run(*to, status=(2,), **there)
    expect("exists" in taken.stderr, taken.stderr)


def at_once(stage, bucket, name, there):
    """Three runs at the same time succeed, and each finds the work of the others in the journal."""
    to = ["--to", "clido", "-o", f"{bucket}/at-once/"]
    runs = [stage.start(str(stage.folder), *to, "-q", **there) for _ in range(3)]
    ends = {run.wait() for run in runs}
    expect(ends <= {0, 1}, f"exit statuses {ends}")
    again = stage.report(str(stage.folder), *to, **there).values()
    left = [it["source"] for it in again if "bytes_out" in it]
    expect(not left, f"done again: {left[:5]}")
    stage.run(f"{bucket}/at-once/", "--to", "claude-code", "-o", f"{name}-at-once", **there)
    same(pathlib.Path(f"{name}-at-once"))
