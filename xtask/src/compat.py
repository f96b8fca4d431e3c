"""Converts the fixtures with a released version of the program and packs the outputs for later tests.

usage: compat.py PROGRAM ROOT OUT

PROGRAM is the released version, built with the feature `parquet`. ROOT is the folder of its sources, with
the fixtures of its time. OUT is the folder to write. Every output is restored by PROGRAM before it is packed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FORMATS = ["claude-code", "clido", "sdk-stream", "sdk-stream:wire"]
CARRIES = ["inline", "sidecar"]
# Replaces the folder of a run in plans, receipts and journals, which contain absolute paths.
PLACE = "/convert-compat"
# The modification time of every source, long before the run.
CHANGED = 1_700_000_000


def main():
    program, root, out = (Path(word).resolve() for word in sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="convert-compat-") as scratch:
        scratch = Path(scratch)
        os.environ.clear()
        os.environ.update(PATH="/usr/bin:/bin", HOME=str(scratch / "home"))
        kinds = {"pairs": pairs, "sub-agents": sub_agents, "runs": runs, "tables": tables}
        for name, write in kinds.items():
            folder = scratch / name
            folder.mkdir()
            write(program, root, folder)
            pack(folder, out / f"{name}.tar.zst")
    with open(out / "SHA256SUMS", "w") as sums:
        for path in sorted(out.glob("*.tar.zst")):
            sums.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")


def run(program, *words, cwd, expected=(0,)):
    done = subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True)
    if done.returncode not in expected:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def fixtures(root):
    for line in (root / "fixtures/MANIFEST.toml").read_text().splitlines():
        if line.startswith('file = "'):
            yield line.split('"')[1]


def pairs(program, root, folder):
    """Writes `source/NAME/FILE`, and its conversion to `FROM/TO/CARRY/NAME/FILE`, also with a wrong FROM."""
    for name in fixtures(root):
        file = Path(name).name
        source = folder / "source" / name
        source.mkdir(parents=True)
        shutil.copyfile(root / "fixtures" / name, source / file)
        for start in FORMATS:
            for end in FORMATS:
                for carry in CARRIES if start != end else []:
                    target = folder / spelled(start) / spelled(end) / carry / name
                    target.mkdir(parents=True)
                    words = ["--quiet", "--from", start, "--to", end, "--carry", carry]
                    run(program, *words, "-o", target / file, file, cwd=source, expected=(0, 1))
    for start in FORMATS:
        for end in FORMATS:
            for carry in CARRIES if start != end else []:
                there = folder / spelled(start) / spelled(end) / carry
                back = folder / "back"
                words = ["--quiet", "--from", end, "--to", start, "--carry", "none"]
                run(program, *words, "-o", back, there, cwd=folder, expected=(0, 1))
                same(folder / "source", back, there)
                shutil.rmtree(back)


def sub_agents(program, root, folder):
    """Writes `NAME/source`, and its conversion to `NAME/TO/HOW`."""
    sources = {
        "with-agents": root / "fixtures/claude-code/with-agents",
        "with-outputs": root / "crates/convert/tests/commands/sides.in/project",
    }
    for name, source in sources.items():
        shutil.copytree(source, folder / name / "source")
        native = folder / f"{name}-of-clido" / "source"
        words = ["--quiet", "--to", "clido", "--carry", "none"]
        run(program, *words, "-o", native, "source", cwd=folder / name)
        (native / ".convert-journal.jsonl").unlink()
    for session in sorted(folder.iterdir()):
        start = "clido" if session.name.endswith("clido") else "claude-code"
        for end in FORMATS:
            for how in ["inline-files", "inline-carry", "sidecar-files", "sidecar-carry"]:
                if start == end:
                    continue
                carry, agents = how.split("-")
                target = session / spelled(end) / how
                words = ["--quiet", "--to", end, "--carry", carry, "--subagents", agents]
                run(program, *words, "-o", target, "source", cwd=session)
                (target / ".convert-journal.jsonl").unlink()
                words = ["--quiet", "--to", start, "--carry", "none"]
                run(program, *words, "-o", session / "back", target, cwd=session)
                same(session / "source", session / "back", target)
                shutil.rmtree(session / "back")


def runs(program, root, folder):
    """Writes `in`, the outputs and the journal of a run in `NAME/out`, and the outputs of workers in
    `NAME-workers/out`, with `plan.jsonl` and `receipts.jsonl` beside it. `options` has the options of a run."""
    put(root, folder / "in")
    ways = {
        "clido": ["--to", "clido"],
        "claude-code-sidecar": ["--to", "claude-code", "--carry", "sidecar"],
        "wire-zst": ["--to", "sdk-stream:wire", "--compress", "zst"],
        "clido-redacted": ["--to", "clido", "--redact", "--subagents", "carry"],
    }
    for name, words in ways.items():
        whole = folder / name
        whole.mkdir()
        (whole / "options").write_text("\n".join(words) + "\n")
        run(program, folder / "in", *words, "-o", whole / "out", cwd=whole)
        said = run(program, folder / "in", *words, "-o", whole / "out", "--report", whole / "report", cwd=whole)
        (whole / "report").unlink()
        parts = folder / f"{name}-workers"
        parts.mkdir()
        (parts / "options").write_text("\n".join(words) + "\n")
        plan = run(program, "plan", folder / "in", *words, "-o", parts / "out", cwd=parts)
        (parts / "plan.jsonl").write_bytes(plan)
        (parts / "receipts.jsonl").write_bytes(run(program, "work", parts / "plan.jsonl", cwd=parts))
        same(whole / "out", parts / "out", name)
    here = str(folder).encode()
    for path in folder.rglob("*.jsonl"):
        # An output must not contain the folder: replacing it would change the hash in the journal.
        if here in path.read_bytes():
            if path.name not in ("plan.jsonl", "receipts.jsonl", ".convert-journal.jsonl"):
                sys.exit(f"{path}: the output contains the path of the temporary folder")
            path.write_bytes(path.read_bytes().replace(here, PLACE.encode()))
    for path in folder.rglob(".convert-receipts"):
        shutil.rmtree(path)


def tables(program, root, folder):
    """Writes `in`, and the tables of its sessions in `out`."""
    put(root, folder / "in")
    run(program, "tables", "--with-raw", "in", "-o", "out", cwd=folder)
    run(program, "restore", "out", "-o", "back", cwd=folder)
    same(folder / "in", folder / "back", "tables")
    shutil.rmtree(folder / "back")


def put(root, folder):
    """Copies sessions of every format to a folder, some with files beside them."""
    names = [
        "claude-code/compaction.jsonl",
        "claude-code/one-tool-call.jsonl",
        "clido/plain.jsonl",
        "sdk-stream/two-interactions.jsonl",
        "damaged/torn-tail.jsonl",
    ]
    names += ["sdk-wire/" + path.name for path in sorted((root / "fixtures/sdk-wire").iterdir())[:1]]
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / "fixtures" / name, target)
    shutil.copytree(root / "fixtures/claude-code/with-agents", folder / "with-agents")
    shutil.copytree(root / "crates/convert/tests/commands/sides.in/project", folder / "with-outputs")
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (CHANGED, CHANGED))


def same(expected, found, what):
    """Exits with a message if two folders differ, without their journals and receipts."""

    def read(folder):
        paths = (path for path in folder.rglob("*") if path.is_file())
        paths = (path for path in paths if ".convert-" not in str(path.relative_to(folder)))
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}

    expected, found = read(expected), read(found)
    differ = sorted(n for n in expected.keys() | found.keys() if expected.get(n) != found.get(n))
    if differ:
        sys.exit(f"{what}: the restored files differ from their sources: {differ}")


def spelled(format):
    return format.replace(":", "-")


def pack(folder, archive):
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_mtime != CHANGED:
            os.utime(path, (CHANGED, CHANGED))
    tar = ["tar", "--create", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", "--mode=644"]
    tar += ["--directory", folder, "--verbatim-files-from", "--files-from=-"]
    listed = "\n".join(names).encode()
    tarred = subprocess.run(tar, input=listed, capture_output=True, check=True).stdout
    zstd = ["zstd", "-19", "--long=27", "--quiet", "--force", "-o", archive]
    subprocess.run(zstd, input=tarred, check=True)


if __name__ == "__main__":
    main()
