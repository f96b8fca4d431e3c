"""Validates our ATIF documents with Harbor's validator, and converts them back.

usage: atif_reader.py CONVERT WHEELS SCRATCH FOLDER..
       atif_reader.py CONVERT WHEELS SCRATCH --compare SESSION DOCUMENT [SESSION DOCUMENT]..
"""

import json
import shutil
import subprocess
import sys
import types
import zipfile
from pathlib import Path

CONVERT, WHEELS, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])


def validator():
    """Returns Harbor's validator without the packages that the rest of Harbor needs."""
    folder = SCRATCH / "harbor"
    for wheel in WHEELS.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    sys.path.insert(0, str(folder))
    for name in ("harbor", "harbor.models", "harbor.utils"):
        module = types.ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = module
    from harbor.utils.trajectory_validator import TrajectoryValidator

    return TrajectoryValidator()


def run(*arguments):
    return subprocess.run([CONVERT, *map(str, arguments)], capture_output=True, check=False)


def convert(source, origin, target, *options):
    """Converts a file alone, as bytes; None if nothing of it shows."""
    result = run(source, "--from", origin, "--to", target, *options)
    return result.stdout if result.stdout else None


def detect(path):
    result = run("detect", path)
    return result.stdout.decode(errors="replace").split("\t")[0].strip() if result.returncode == 0 else None


def reversed_members(value):
    """Returns a value with the members of all objects below the first level from the end on."""
    if isinstance(value, dict):
        return {key: reversed_members(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [reversed_members(item) for item in value]
    return value


def steps_first(document):
    """Returns a document whose other members are behind the steps."""
    return {"steps": document["steps"], **{key: document[key] for key in document if key != "steps"}}


def by_harbor(document):
    """Returns a document as Harbor's models write it: they have an order of their own."""
    from harbor.models.trajectories.trajectory import Trajectory

    return Trajectory.model_validate(document).to_json_dict()


def written_anew(document):
    """Yields the ways in which programs write a document anew."""
    yield "sorted", {key: reversed_members(member) for key, member in sorted(document.items())}
    yield "steps-first", steps_first(document)
    yield "by-harbor", by_harbor(document)


def check(folders):
    harbor, n, faults = validator(), {"valid": 0, "images": 0, "back": 0, "empty": 0, "anew": 0}, []
    there, anew = SCRATCH / "there.json", SCRATCH / "anew.json"
    for path in sessions(folders):
        origin = detect(path)
        if origin is None or origin == "atif":
            continue
        # Images become files beside the document, which Harbor looks for.
        shutil.rmtree(SCRATCH / "images", ignore_errors=True)
        there.unlink(missing_ok=True)
        run(path, "--from", origin, "--to", "atif", "-o", there, "--force")
        written = there.read_bytes() if there.exists() else b""
        n["images"] += sum(1 for _ in SCRATCH.glob("images/*"))
        if not written:
            n["empty"] += 1
            continue
        if harbor.validate(there):
            n["valid"] += 1
        else:
            faults.append(f"{path}: refused: {harbor.get_errors()[:2]}")
            continue
        if convert(there, "atif", origin) == path.read_bytes():
            n["back"] += 1
        else:
            faults.append(f"{path}: does not come back as written")
        for name, document in written_anew(json.loads(written)):
            anew.write_text(json.dumps(document, indent=2))
            if convert(anew, "atif", origin) == path.read_bytes():
                n["anew"] += 1
            else:
                faults.append(f"{path}: does not come back {name}")
    print(
        f"{n['valid']} documents with {n['images']} images are valid, {n['back']} sessions came back as written and "
        f"{n['anew']} from 3 documents each that were written anew, {n['empty']} show nothing"
    )
    for fault in faults:
        print(fault)
    return not faults


def sessions(folders):
    for folder in map(Path, folders):
        paths = [folder] if folder.is_file() else sorted(folder.rglob("*"))
        for path in paths:
            is_other = {"compat", "damaged", "foreign"} & set(path.parts)
            if path.is_file() and path.suffix in (".json", ".jsonl") and not is_other:
                yield path


def leaves(value, found):
    if isinstance(value, dict):
        for member in value.values():
            leaves(member, found)
    elif isinstance(value, list):
        for item in value:
            leaves(item, found)
    elif value is not None and not isinstance(value, bool) and value != "":
        found.append(str(value))


def kept(session, document):
    """Returns how many values of a session are in a document, and how many there are: numbers, and
    texts, which may be a part of a text."""
    values, shown = [], []
    for line in session.read_text().splitlines():
        leaves(json.loads(line), values)
    leaves(document, shown)
    texts, everything = set(shown), "\n".join(shown)
    n_kept = sum(value in texts or (len(value) > 3 and value in everything) for value in values)
    return n_kept, len(values)


def compare(pairs):
    print("session | values | Harbor keeps | we show | bytes that come back | size: source, Harbor, ours, with carry")
    for session, document in pairs:
        origin = detect(session)
        bare = convert(session, origin, "atif", "--carry", "none")
        full = convert(session, origin, "atif")
        (SCRATCH / "full.json").write_bytes(full)
        back = convert(SCRATCH / "full.json", "atif", origin) == session.read_bytes()
        theirs, n = kept(session, json.loads(document.read_text()))
        ours, _ = kept(session, json.loads(bare))
        sizes = [session.stat().st_size, document.stat().st_size, len(bare), len(full)]
        print(
            f"{document.name} | {n} | {100 * theirs / n:.1f} % | {100 * ours / n:.1f} % | "
            f"{'100 %' if back else 'not all'} | {', '.join(map(str, sizes))}"
        )
    return True


if sys.argv[4] == "--compare":
    paths = [Path(path) for path in sys.argv[5:]]
    sys.exit(not compare(zip(paths[::2], paths[1::2])))
sys.exit(not check(sys.argv[4:]))
