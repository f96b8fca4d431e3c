"""Sessions: of this machine, of a folder, by path."""

import shutil
import threading
import time

import pytest
import session_convert as sc


def test_the_sessions_of_this_machine(home, fixtures):
    assert sc.sessions() == []
    project = home / ".claude/projects/-p"
    project.mkdir(parents=True)
    shutil.copy(fixtures / "claude-code/one-tool-call.jsonl", project / "s1.jsonl")
    (project / "s2.jsonl").write_text("no session\n")
    [session] = sc.sessions()
    assert (session.path, session.format, session.id) == (project / "s1.jsonl", "claude-code", "s1")
    assert session.size == (project / "s1.jsonl").stat().st_size


def test_a_folder_has_sessions_with_their_files(fixtures):
    found = sc.sessions(fixtures / "sample")
    assert found and {session.format for session in found} == {"claude-code"}
    all_files = [file for session in found for file in session.files]
    assert len(all_files) == len(set(all_files))
    assert all(session.path == session.files[0] for session in found)


def test_a_file_that_cannot_be_read_is_a_warning(fixtures):
    with pytest.warns(UserWarning, match="three-formats.jsonl: may be claude-code or clido"):
        found = sc.sessions(fixtures / "foreign")
    assert all(session.path.name != "three-formats.jsonl" for session in found)


def test_a_path_is_opened_as_the_program_reads_it(fixtures, tmp_path):
    session = sc.open(fixtures / "clido/plain.jsonl")
    assert (session.format, session.id) == ("clido", "plain")
    assert "plain.jsonl" in repr(session)
    (tmp_path / "empty.jsonl").write_text("")
    assert sc.open(tmp_path / "empty.jsonl").format is None


def test_errors_are_exceptions_with_the_text_of_the_program(tmp_path):
    missing = tmp_path / "none.jsonl"
    with pytest.raises(FileNotFoundError) as raised:
        sc.open(missing)
    assert str(raised.value) == f"{missing}: No such file or directory"
    other = tmp_path / "other.jsonl"
    other.write_text('{"a":1}\n')
    with pytest.raises(sc.Error) as raised:
        sc.open(other)
    said = "not a session in a known format; if it is one, name its format with --from"
    assert str(raised.value) == f"{other}: {said}"
    with pytest.raises(FileNotFoundError):
        sc.sessions(tmp_path / "none")
    with pytest.raises(TypeError):
        sc.events(7)


def test_the_gil_is_released(tmp_path):
    line = '{"type":"user","uuid":"%d","message":{"role":"user","content":"%s"}}\n'
    data = "".join(line % (n, "word " * 200) for n in range(20_000)).encode()
    ticks, is_done = [], threading.Event()

    def tick():
        while not is_done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    ticking = threading.Thread(target=tick)
    ticking.start()
    start = time.monotonic()
    sc.redact(data)
    end = time.monotonic()
    is_done.set()
    ticking.join()
    # A thread of Python runs several times while Rust works; with the GIL held it would not run at all.
    assert sum(start < tick < end for tick in ticks) >= 3
