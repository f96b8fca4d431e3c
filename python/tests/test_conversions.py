"""Conversions, checks and redaction, compared with the program."""

import json
import sys

import pytest
import session_convert as sc
from session_convert import _native


def program(capfd, *words):
    """Runs the program in this process, and returns its status and both outputs."""
    status = _native.main(["convert", *map(str, words)])
    said = capfd.readouterr()
    return status, said.out, said.err


def test_bytes_go_there_and_back(fixtures):
    there_and_back = 0
    for path in sorted(fixtures.glob("claude-code/*.jsonl")):
        data = path.read_bytes()
        try:
            if sc.detect(data) != "claude-code":
                continue
        except sc.Error:
            continue
        for to in ["clido", "pi", "codex"]:
            converted = sc.convert(data, to)
            assert (converted.source, converted.target) == ("claude-code", to)
            back = sc.convert(converted.data, "claude-code", source=to, sidecar=converted.sidecar)
            assert back.data == data, (path, to)
            there_and_back += 1
    assert there_and_back > 30


def test_bytes_are_those_of_the_program(fixtures, tmp_path, capfd):
    path = fixtures / "claude-code/one-tool-call.jsonl"
    status, _, said = program(capfd, path, "--to", "clido", "-o", tmp_path / "out.jsonl")
    assert status == 0, said
    converted = sc.convert(path.read_bytes(), "clido")
    assert converted.data == (tmp_path / "out.jsonl").read_bytes()
    assert converted.losses["dropped"] and not converted.needs_attention
    [file] = sc.convert_file(path, "clido", tmp_path / "file.jsonl")
    assert (tmp_path / "file.jsonl").read_bytes() == converted.data
    assert (file.source, file.target, file.losses) == ("claude-code", "clido", converted.losses)
    assert (file.lines_in, file.lines_out) == (converted.lines_in, converted.lines_out)


def test_a_sidecar_and_no_carry(fixtures):
    data = (fixtures / "claude-code/one-tool-call.jsonl").read_bytes()
    beside = sc.convert(data, "clido", carry="sidecar")
    bare = sc.convert(data, "clido", carry="none")
    assert beside.data == bare.data and bare.sidecar is None
    assert sc.convert(beside.data, "claude-code", sidecar=beside.sidecar).data == data
    assert sc.convert(bare.data, "claude-code", source="clido").data != data


def test_a_file_that_exists_is_not_replaced(fixtures, tmp_path, capfd):
    path, target = fixtures / "clido/plain.jsonl", tmp_path / "target.jsonl"
    target.write_text("mine")
    with pytest.raises(FileExistsError) as raised:
        sc.convert_file(path, "pi", target)
    _, _, said = program(capfd, path, "--to", "pi", "-o", target)
    assert said == f"error: {raised.value}\n" or str(raised.value) in said
    assert target.read_text() == "mine"


def test_errors_of_conversions(tmp_path):
    with pytest.raises(ValueError, match="the formats are claude-code, clido"):
        sc.convert(b"", "nothing")
    with pytest.raises(ValueError, match="inline"):
        sc.convert(b"", "clido", carry="outside")
    with pytest.raises(sc.Error, match="a gzip file, which convert does not read"):
        sc.convert(b"\x1f\x8b\x08", "clido")
    with pytest.raises(FileNotFoundError):
        sc.convert_file(tmp_path / "none.jsonl", "clido", tmp_path / "out.jsonl")
    assert sc.convert(b"\n", "clido").data == b"\n"
    assert "clido" in sc.formats()


def test_problems_are_those_of_the_program(fixtures, capfd):
    n_problems = 0
    for path in sorted(fixtures.glob("*/*.jsonl")):
        _, out, _ = program(capfd, "check", path, "--json")
        told = [json.loads(line) for line in out.splitlines()]
        try:
            found = sc.check(path)
        except sc.Error:
            assert not told, path
            continue
        for row in told:
            row.pop("file")
            row.pop("format")
        names = ["line", "offset", "severity", "rule", "message"]
        found = [{name: getattr(problem, name) for name in names} for problem in found]
        assert (found or [{"ok": True}]) == told, path
        n_problems += len(found)
    assert n_problems > 10


def test_secrets_are_removed():
    data = b'{"text":"https://ada:pa55word@example.org"}\n'
    redacted = sc.redact(data)
    assert redacted.data == b'{"text":"https://ada:[REDACTED:url-password]@example.org"}\n'
    assert (redacted.found, redacted.carries) == ({"url-password": 1}, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="the program reads the folders of this system")
def test_usage_is_that_of_the_program(fixtures, capfd, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    for by in ["model", "day,agent"]:
        _, out, _ = program(capfd, "usage", fixtures / "sample", "--by", by, "--json", "-q")
        told = [json.loads(line) for line in out.splitlines()]
        found = sc.usage(fixtures / "sample", by=by.split(","))
        for row in found:
            for name in ["cost_usd", "cost_in_logs_usd"]:
                row[name] = round(row[name], 9)
        assert found == told and found[-1]["total"]
    with pytest.raises(sc.Error, match="invalid value 'moon'"):
        sc.usage(fixtures / "sample", by=["moon"])
