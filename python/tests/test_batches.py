"""Events and summaries as Arrow."""

import gc
import json

import pytest
import session_convert as sc

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pc = pytest.importorskip("pyarrow.compute")


def test_pyarrow_reads_the_events(fixtures):
    path = fixtures / "claude-code/one-tool-call.jsonl"
    table = pa.table(sc.events(path))
    assert table.schema == pa.schema(sc.events(path))
    rows = table.to_pylist()
    assert {row["file"] for row in rows} == {str(path)}
    assert {row["source_format"] for row in rows} == {"claude-code"}
    [call] = [row for row in rows if row["block_type"] == "tool_use"]
    [result] = [row for row in rows if row["block_type"] == "tool_result"]
    assert result["tool_use_id"] == call["tool_use_id"] and result["tool_name"] == call["tool_name"]
    assert isinstance(json.loads(call["tool_input"]), dict)
    assert str(table.schema.field("ts").type) == "timestamp[us, tz=UTC]"


def test_the_bytes_of_the_lines_are_the_file(fixtures):
    for path in sorted(fixtures.glob("*/*.jsonl")):
        try:
            session = sc.open(path)
        except sc.Error:
            continue
        if session.format is None:
            continue
        table = pa.table(sc.events(session, raw=True))
        rows = table.filter(pc.equal(table["file"], str(path)))
        read = b"".join(raw for raw in rows["raw"].to_pylist() if raw is not None)
        assert read == path.read_bytes(), path


def test_chosen_columns_have_the_values_of_the_whole_table(fixtures):
    whole = pa.table(sc.events(fixtures / "sample", raw=True))
    without_raw = pa.table(sc.events(fixtures / "sample"))
    assert without_raw.column_names == whole.column_names[:-1] and whole.column_names[-1] == "raw"
    for name in without_raw.column_names:
        assert pa.table(sc.events(fixtures / "sample", columns=[name])) == without_raw.select([name])
    names = ["tool_name", "cost", "text", "role"]
    assert pa.table(sc.events(fixtures / "sample", columns=names)) == without_raw.select(names)
    assert pa.table(sc.events(fixtures / "sample", columns=tuple(names), raw=True)) == whole.select([*names, "raw"])
    assert pa.table(sc.events(fixtures / "sample", columns=["raw", "role"])) == whole.select(["raw", "role"])
    assert pa.schema(sc.events(fixtures / "sample", columns=names)) == without_raw.select(names).schema
    summaries = pa.table(sc.summaries(fixtures / "sample"))
    assert pa.table(sc.summaries(fixtures / "sample", columns=["title", "file"])) == summaries.select(["title", "file"])


def test_a_large_file_is_read_in_batches(tmp_path):
    """Without columns that later lines change, the rows of a large file are several batches; with them, too."""
    line = '{"type":"assistant","uuid":"%d","message":{"role":"assistant","id":"m%d","usage":{"output_tokens":%d},"content":"%s"}}\n'
    path = tmp_path / "large.jsonl"
    path.write_text("".join(line % (n, n // 2, n, "word " * 2000) for n in range(4000)))
    assert path.stat().st_size > 32 * 1024 * 1024
    whole = pa.table(sc.events(path))
    assert whole["output_tokens"].to_pylist() == [n if n % 2 else None for n in range(4000)]
    for names in [["text", "output_tokens"], ["text", "role"]]:
        some = pa.table(sc.events(path, columns=names))
        assert some["text"].num_chunks > 2
        assert some.combine_chunks() == whole.select(names).combine_chunks()


@pytest.mark.parametrize("read", [sc.events, sc.summaries])
def test_columns_that_are_refused(fixtures, read):
    path = fixtures / "claude-code/one-tool-call.jsonl"
    with pytest.raises(sc.Error, match="no column `words`; the columns are .*file, .*session_id, "):
        read(path, columns=["file", "words"])
    with pytest.raises(sc.Error, match="column `file` is named twice"):
        read(path, columns=["file", "file"])
    with pytest.raises(sc.Error, match="no column is named; the columns are "):
        read(path, columns=[])
    with pytest.raises(TypeError):
        read(path, columns="file")


def test_the_order_does_not_depend_on_the_threads(tmp_path):
    line = '{"type":"user","uuid":"%d-%d","message":{"role":"user","content":"%s"}}\n'
    for session in range(40):
        text = "".join(line % (session, n, "word " * 400) for n in range(150))
        (tmp_path / f"{session:02}.jsonl").write_text(text)
    one, many = [pa.table(sc.events(tmp_path, threads=threads)) for threads in [1, 4]]
    assert one["uuid"].to_pylist() == [f"{session}-{n}" for session in range(40) for n in range(150)]
    assert one == many
    assert one["uuid"].num_chunks > 1


def test_sub_agents_and_several_sources(fixtures):
    sessions = sc.sessions(fixtures / "sample")
    table = pa.table(sc.events(sessions))
    files = [str(file) for session in sessions for file in session.files]
    assert set(table["file"].to_pylist()) <= set(files)
    assert pa.table(sc.events([sessions[0], sessions[0].path])).num_rows == 2 * pa.table(sc.events(sessions[0])).num_rows
    assert pa.table(sc.events([])).num_rows == 0


def test_summaries_have_a_row_for_each_file(fixtures):
    path = fixtures / "claude-code/one-tool-call.jsonl"
    [row] = pa.table(sc.summaries(path)).to_pylist()
    assert row["file"] == str(path) and row["bytes"] == path.stat().st_size
    assert row["lines"] == len(path.read_bytes().splitlines())
    assert row["tool_uses"] == 1 and row["tools"]


def test_a_stream_can_be_left_and_read_again(fixtures):
    batches = sc.events(fixtures / "sample")
    for _ in range(3):
        reader = pa.RecordBatchReader.from_stream(batches)
        assert reader.read_next_batch().num_rows > 0
        del reader
        gc.collect()
    capsule = batches.__arrow_c_stream__()
    del capsule
    assert pa.table(batches).num_rows > 0


def test_a_file_that_is_gone_is_an_error(fixtures, tmp_path):
    path = tmp_path / "gone.jsonl"
    path.write_bytes((fixtures / "clido/plain.jsonl").read_bytes())
    batches = sc.events(path)
    path.unlink()
    with pytest.raises(Exception, match="gone.jsonl: No such file or directory"):
        pa.table(batches)


def test_polars_reads_the_batches(fixtures):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    batches = sc.events(fixtures / "sample")
    frame = polars.DataFrame(batches)
    table = pa.table(batches)
    assert frame.height == table.num_rows
    assert frame["text"].to_list() == table["text"].to_pylist()
    assert frame["ts"].to_list() == table["ts"].to_pylist()


def test_duckdb_reads_the_batches(fixtures):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    batches = sc.events(fixtures / "sample")
    found = duckdb.sql("select tool_name, count(*) from batches where block_type = 'tool_use' group by 1 order by 1")
    counts = {}
    for row in pa.table(batches).to_pylist():
        if row["block_type"] == "tool_use":
            counts[row["tool_name"]] = counts.get(row["tool_name"], 0) + 1
    assert found.fetchall() == sorted(counts.items())


def test_nothing_is_copied(fixtures):
    """The buffers of pyarrow and of polars are the ones that Rust filled."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = pa.table(sc.events(fixtures / "claude-code/one-tool-call.jsonl"))
    column = table["length"].chunk(0)
    series = polars.from_arrow(column)
    assert series.to_arrow().buffers()[1].address == column.buffers()[1].address
