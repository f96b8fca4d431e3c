"""Plans, workers, the entry points of engines, and the program."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import session_convert as sc


def test_a_plan_is_worked_off_in_this_process(fixtures, tmp_path):
    units = sc.plan(str(fixtures / "sample"), "--to", "clido", "-o", str(tmp_path / "out"))
    receipts = [json.loads(receipt) for receipt in sc.work(iter(units), "--jobs", "1")]
    assert len(receipts) == len(units) > 0
    again = [json.loads(receipt) for receipt in sc.work(units)]
    assert sorted(it["id"] for it in again) == sorted(it["id"] for it in receipts)
    out = tmp_path / "out"
    # Receipts and the worker's log are in a hidden folder.
    hidden = lambda path: any(part.startswith(".") for part in path.relative_to(out).parts)
    written = sorted(path for path in out.rglob("*.jsonl") if not hidden(path))
    assert len(written) == len(units)
    for path in written:
        assert sc.detect(path.read_bytes()) == "clido"


def test_errors_of_plans_and_workers(tmp_path):
    with pytest.raises(sc.Error, match="unexpected argument '--moon'"):
        list(sc.work([], "--moon"))
        sc.Worker("--moon")
    with pytest.raises(sc.Error, match="no input: name a file or a folder"):
        sc.plan("--to", "clido", "-o", str(tmp_path / "out"))
    [receipt] = sc.work(["no unit"])
    assert "error" in receipt


def test_ray_converts_batches(fixtures, tmp_path):
    from session_convert.ray import convert_batch

    units = sc.plan(str(fixtures / "sample"), "--to", "pi", "-o", str(tmp_path / "out"))
    receipts = convert_batch({"unit": units})["receipt"]
    assert len(receipts) == len(units)


def test_spark_converts_record_batches(fixtures, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from session_convert.spark import convert_df

    units = sc.plan(str(fixtures / "sample"), "--to", "pi", "-o", str(tmp_path / "out"))

    class Units:
        def mapInArrow(self, function, schema):
            assert schema == "receipt string"
            return list(function(iter([pa.RecordBatch.from_pydict({"unit": units})])))

    batches = convert_df(Units())
    assert sum(batch.num_rows for batch in batches) == len(units)


def test_the_program_is_in_the_package(fixtures, tmp_path):
    for command in [[sys.executable, "-m", "session_convert"], [str(Path(sys.executable).with_name("convert"))]]:
        run = subprocess.run([*command, "detect", fixtures / "clido/plain.jsonl"], capture_output=True, text=True)
        assert (run.returncode, "clido" in run.stdout) == (0, True), run
        run = subprocess.run([*command, "check", tmp_path / "none"], capture_output=True, text=True)
        assert run.returncode == 2 and "none" in run.stderr


def test_the_stubs_name_everything():
    import ast

    from session_convert import _native

    stub = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
    stated = {it.name: it for it in stub.body if isinstance(it, (ast.ClassDef, ast.FunctionDef))}
    assert set(stated) == {name for name in dir(_native) if not name.startswith("_")}
    for name, it in stated.items():
        if isinstance(it, ast.ClassDef):
            members = {of.name for of in it.body if isinstance(of, ast.FunctionDef)}
            there = {of for of in vars(getattr(_native, name)) if not of.startswith("__") or of.startswith("__arrow")}
            assert {of for of in members if of != "__new__"} == (there - {"__doc__"}) or name == "Error"
