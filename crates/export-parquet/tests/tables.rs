//! Tests that files come back from tables, and that the tables have the right values.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use arrow_array::{
    Array, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray, RecordBatch,
};
use core_model::{Block, Body, Event, Format, TokenTotals};
use export_parquet::{
    Dataset, EVENTS, Error, EventRows, Options, Response, SESSIONS, Selection, SessionFile,
    SessionRows, Written, restore,
};
use format_claude_code::FORMAT;
use jsonl::{Line, Scanner};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

fn fixtures() -> BTreeMap<String, Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![root.clone()];
    let mut files = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                let name = path.strip_prefix(&root).expect("below the root").display().to_string();
                files.insert(name, fs::read(path).expect("a file"));
            }
        }
    }
    assert!(files.len() > 100, "{} fixtures", files.len());
    files
}

fn write(files: &BTreeMap<String, Vec<u8>>, folder: &Path, with_raw: bool) -> Written {
    let mut dataset = Dataset::below(folder, &Options { with_raw });
    let mut scanner = Scanner::default();
    for (name, bytes) in files {
        let mut file = SessionFile::new(name, FORMAT.name);
        for line in jsonl::lines(bytes) {
            file.observe(
                &line,
                scanner.scan(&line).map(|value| FORMAT.first_event(value)).as_ref().ok(),
            );
        }
        for line in jsonl::lines(bytes) {
            let event = scanner.scan(&line).map(|value| FORMAT.first_event(value));
            dataset.push(&mut file, &line, event.as_ref().ok()).expect("rows");
        }
        dataset.end_file(file).expect("a row");
    }
    dataset.finish().expect("written tables")
}

fn batches(folder: &Path) -> Vec<RecordBatch> {
    let file = fs::File::open(folder.join("part-00000.parquet")).expect("a part");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build();
    reader.expect("a reader").collect::<Result<_, _>>().expect("batches")
}

fn column<'b, A: 'static>(batch: &'b RecordBatch, name: &str) -> &'b A {
    let column = batch.column_by_name(name).expect("a column");
    column.as_any().downcast_ref().expect("the column's type")
}

fn for_each_event(bytes: &[u8], each: &mut dyn FnMut(&Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(bytes) {
        if let Ok(value) = scanner.scan(&line) {
            each(&FORMAT.first_event(value));
        }
    }
}

#[test]
fn every_fixture_comes_back_byte_for_byte() {
    let files = fixtures();
    let folder = tempfile::tempdir().expect("a folder");
    let written = write(&files, folder.path(), true);
    assert_eq!((written.n_files as usize, written.n_cut), (files.len(), 0));
    let mut restored: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    restore(folder.path(), &mut |name, bytes| {
        restored.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    })
    .expect("restored files");
    assert_eq!(restored.len(), files.len());
    for (name, bytes) in &files {
        assert!(restored.get(name) == Some(bytes), "{name}");
    }
}

#[test]
fn tables_without_raw_lines_cannot_be_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&fixtures(), folder.path(), false);
    let result = restore(folder.path(), &mut |_, _| Ok(()));
    assert!(matches!(result, Err(Error::NoRaw(_))), "{result:?}");
}

#[test]
fn rows_are_the_blocks_of_the_lines() {
    let files = fixtures();
    let folder = tempfile::tempdir().expect("a folder");
    write(&files, folder.path(), false);
    const KINDS: [&str; 5] = ["text", "thinking", "tool_use", "tool_result", "image"];
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for bytes in files.values() {
        for_each_event(bytes, &mut |event| {
            let blocks = event.message().into_iter().flat_map(|message| message.blocks());
            for (block, _) in blocks {
                let kind = match block {
                    Block::Text(_) => "text".to_owned(),
                    Block::Thinking { .. } => "thinking".to_owned(),
                    Block::ToolUse(tool) if !tool.is_server => "tool_use".to_owned(),
                    Block::ToolResult(_) => "tool_result".to_owned(),
                    Block::Image { .. } => "image".to_owned(),
                    Block::Other { kind: Some(kind), .. } => kind.decode().into_owned(),
                    _ => continue,
                };
                if KINDS.contains(&&*kind) {
                    *expected.entry(kind).or_default() += 1;
                }
            }
        });
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for batch in batches(&folder.path().join("events")) {
        let kinds: &LargeStringArray = column(&batch, "block_type");
        for kind in kinds.iter().flatten().filter(|kind| KINDS.contains(kind)) {
            *found.entry(kind.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn tokens_of_events_sum_up_to_those_of_sessions() {
    let mut files = fixtures();
    // The usage of an outcome replaces that of its messages. The rows have the messages' tokens.
    files.retain(|name, _| name.starts_with("claude-code"));
    let folder = tempfile::tempdir().expect("a folder");
    write(&files, folder.path(), false);
    let sum = |table: &str| -> i64 {
        batches(&folder.path().join(table))
            .iter()
            .map(|batch| column::<Int64Array>(batch, "output_tokens").iter().flatten().sum::<i64>())
            .sum()
    };
    let expected: u64 = files
        .values()
        .map(|bytes| {
            let mut totals = TokenTotals::default();
            for_each_event(bytes, &mut |event| totals.push(event));
            totals.total().output
        })
        .sum();
    assert!(expected > 0);
    assert_eq!((sum("events"), sum("sessions")), (expected as i64, expected as i64));
}

/// The key of a response is on all its rows, and its cost on one.
#[test]
fn a_response_has_its_cost_once() {
    let line = |text: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","id":"m","content":[{{"type":"text","text":"{text}"}},{{"type":"text","text":"more"}}],"usage":{{"output_tokens":9}}}}}}"#
        ) + "\n"
    };
    let bytes = format!("{}{}{{\"type\":\"x\"}}\n", line("a"), line("b")).into_bytes();
    let folder = tempfile::tempdir().expect("a folder");
    let mut dataset = Dataset::below(folder.path(), &Options::default());
    let mut file = SessionFile::new("a", FORMAT.name);
    let mut scanner = Scanner::default();
    for line in jsonl::lines(&bytes) {
        let event = scanner.scan(&line).map(|value| FORMAT.first_event(value));
        file.observe(&line, event.as_ref().ok());
    }
    for line in jsonl::lines(&bytes) {
        let event = scanner.scan(&line).map(|value| FORMAT.first_event(value)).expect("an event");
        let response = match event.message() {
            Some(_) => {
                Response { key: Some("m r".to_owned()), cost: Some(0.5), ..Response::default() }
            }
            None => Response::default(),
        };
        dataset.push_response(&mut file, &line, Some(&event), &response).expect("rows");
    }
    dataset.end_file(file).expect("a row");
    dataset.finish().expect("written tables");
    let batches = batches(&folder.path().join("events"));
    let keys = batches.iter().flat_map(|it| column::<LargeStringArray>(it, "response_key").iter());
    let keys: Vec<_> = keys.collect();
    assert_eq!(keys, [Some("m r"), Some("m r"), Some("m r"), Some("m r"), None]);
    let costs = batches.iter().flat_map(|it| column::<Float64Array>(it, "cost").iter());
    assert_eq!(costs.collect::<Vec<_>>(), [None, None, Some(0.5), None, None]);
}

/// Returns the rows of a file, whose responses cost 1 dollar each, and its row in `sessions`. A response without an
/// outcome since the last one is covered by the next.
fn rows_of(format: &'static Format, bytes: &[u8], is_one_pass: bool) -> [RecordBatch; 2] {
    let (mut rows, mut session_rows) = (EventRows::new(true), SessionRows::default());
    let (mut file, mut scanner) = (SessionFile::new("a.jsonl", format.name), Scanner::default());
    let has_cost = |event: &Event<'_>| {
        event.message().and_then(|message| message.usage).is_some_and(|usage| !usage.is_null())
    };
    let is_outcome = |event: &Event<'_>| matches!(event.body, Body::Outcome(_));
    let mut covered = Vec::new();
    let mut open = Vec::new();
    for_each_line(format, bytes, &mut scanner, &mut |line, event| {
        open.extend(event.filter(|event| has_cost(event)).map(|_| line.offset()));
        if event.is_some_and(is_outcome) {
            covered.append(&mut open);
        }
        if !is_one_pass {
            file.observe(line, event);
        }
    });
    let mut earlier = Vec::new();
    for_each_line(format, bytes, &mut scanner, &mut |line, event| {
        if is_one_pass {
            file.observe(line, event);
        }
        let mut response = Response::default();
        if event.is_some_and(has_cost) {
            earlier.push(line.offset());
            let is_known = is_one_pass || !covered.contains(&line.offset());
            response.cost = Some(1.0).filter(|_| is_known);
        } else if event.is_some_and(is_outcome) {
            response.cost = Some(earlier.len() as f64);
            response.covered = std::mem::take(&mut earlier);
        }
        rows.push(&mut file, line, event, &response);
    });
    session_rows.push(&file);
    [rows.columns(), session_rows.columns()].map(|columns| columns.take().expect("a batch"))
}

fn for_each_line(
    format: &'static Format,
    bytes: &[u8],
    scanner: &mut Scanner,
    each: &mut dyn FnMut(&Line<'_>, Option<&Event<'_>>),
) {
    for line in jsonl::lines(bytes) {
        let event = scanner.scan(&line).map(|value| format.first_event(value));
        each(&line, event.as_ref().ok());
    }
}

#[test]
fn one_pass_gives_the_rows_of_two() {
    let line = |id: &str, n: u8| {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","id":"{id}","model":"m","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":{n},"output_tokens":1}}}}}}"#
        )
    };
    // The first row of a batch has no bits for validity before it is made null.
    let repeated = [line("a", 1), line("a", 2), line("b", 3), line("a", 4)].join("\n");
    let mut n_changed = 0;
    for (name, bytes) in fixtures().into_iter().chain([("repeated".to_owned(), repeated.into())]) {
        let [one, two] = [true, false].map(|is_one_pass| rows_of(&FORMAT, &bytes, is_one_pass));
        assert_eq!(one, two, "{name}");
        let tokens = column::<Int64Array>(&one[0], "input_tokens");
        let n_usages = count_usages(&bytes);
        n_changed += usize::from(n_usages > tokens.len() - tokens.null_count());
    }
    assert!(n_changed > 10, "{n_changed} files have tokens that a later line takes");
}

/// Returns some columns of the rows of a file, read in one pass. Each response costs 1 dollar.
fn rows_in(selection: Selection, bytes: &[u8]) -> RecordBatch {
    let mut rows = EventRows::of(selection);
    let (mut file, mut scanner) = (SessionFile::new("a.jsonl", FORMAT.name), Scanner::default());
    for_each_line(&FORMAT, bytes, &mut scanner, &mut |line, event| {
        if let Some(event) = event.filter(|_| rows.needs_later_lines()) {
            file.observe_response(line, event);
        }
        let is_priced = rows.needs_prices() && event.is_some_and(|event| event.message().is_some());
        let key = is_priced.then(|| line.offset().to_string());
        let cost = is_priced.then_some(1.0);
        rows.push(&mut file, line, event, &Response { key, cost, ..Response::default() });
    });
    rows.columns().take().expect("a batch")
}

#[test]
fn a_selected_column_has_the_values_of_the_whole_table() {
    for (name, bytes) in fixtures() {
        let all = rows_in(Selection::all_events(false), &bytes);
        for column in EVENTS {
            let one = rows_in(Selection::of_events(&[column.name]).expect("a column"), &bytes);
            assert_eq!(one.num_columns(), 1);
            assert_eq!(
                one.column_by_name(column.name),
                all.column_by_name(column.name),
                "{name}: {}",
                column.name
            );
        }
        let with_raw = rows_in(Selection::all_events(true), &bytes);
        let names = ["text", "raw", "role", "output_tokens", "cost", "tool_name"];
        let some = rows_in(Selection::of_events(&names).expect("columns"), &bytes);
        let order: Vec<_> = some.schema().fields().iter().map(|it| it.name().clone()).collect();
        assert_eq!(order, names);
        assert!(names.iter().all(|it| some.column_by_name(it) == with_raw.column_by_name(it)));
    }
}

#[test]
fn a_selected_column_of_sessions_has_the_values_of_the_whole_table() {
    let files = fixtures();
    let row = |selection: Selection, bytes: &[u8]| {
        let (mut rows, mut scanner) = (SessionRows::of(selection), Scanner::default());
        let mut file = SessionFile::new("a.jsonl", FORMAT.name);
        for_each_line(&FORMAT, bytes, &mut scanner, &mut |line, event| file.observe(line, event));
        rows.push(&file);
        rows.columns().take().expect("a batch")
    };
    for bytes in files.values().take(40) {
        let all = row(Selection::all_sessions(), bytes);
        for column in SESSIONS {
            let one = row(Selection::of_sessions(&[column.name]).expect("a column"), bytes);
            assert_eq!(one.column_by_name(column.name), all.column_by_name(column.name));
        }
    }
}

#[test]
fn an_outcome_takes_the_costs_of_its_responses_in_one_pass() {
    let response = |id: &str| {
        format!(
            r#"{{"type":"assistant","session_id":"s","message":{{"role":"assistant","id":"{id}","content":[],"usage":{{"input_tokens":1,"output_tokens":1}}}}}}"#
        )
    };
    let outcome = r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","total_cost_usd":2}"#;
    let run = [&response("a"), &response("b"), outcome, &response("c")].join("\n");
    let [one, two] = [true, false]
        .map(|is_one_pass| rows_of(&format_sdk_stream::WIRE, run.as_bytes(), is_one_pass));
    assert_eq!(one, two);
    let costs: Vec<_> = column::<Float64Array>(&one[0], "cost").iter().collect();
    assert_eq!(costs, [None, None, Some(2.0), Some(1.0)]);
}

fn count_usages(bytes: &[u8]) -> usize {
    let mut n_usages = 0;
    for_each_event(bytes, &mut |event| {
        let usage = event.message().and_then(|message| message.usage);
        n_usages += usize::from(usage.is_some_and(|usage| !usage.is_null()));
    });
    n_usages
}

#[test]
fn a_part_that_is_there_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = fixtures();
    write(&files, folder.path(), false);
    let path = folder.path().join("events/part-00000.parquet");
    let before = fs::read(&path).expect("a part");
    let mut dataset = Dataset::below(folder.path(), &Options::default());
    let mut file = SessionFile::new("a", FORMAT.name);
    let line = jsonl::Line::new(b"{}\n", 0);
    dataset.push(&mut file, &line, None).expect("a row");
    assert!(matches!(dataset.finish(), Err(Error::Io(_))));
    assert_eq!(fs::read(&path).expect("a part"), before);
}

#[test]
fn a_line_with_several_events_has_its_bytes_once() {
    let bytes = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
    let line = jsonl::lines(bytes).next().expect("a line");
    let mut scanner = Scanner::default();
    let mut file = SessionFile::new("s1.jsonl", FORMAT.name);
    let mut rows = EventRows::new(true);
    for nth in [0, 1, 2] {
        let mut event = FORMAT.first_event(scanner.scan(&line).expect("a value"));
        event.nth = nth;
        rows.push(&mut file, &line, Some(&event), &Response::default());
    }
    let batch = rows.columns().take().expect("a batch");
    assert_eq!(column::<Int64Array>(&batch, "block").values(), &[0, 1, 2]);
    let raw: &LargeBinaryArray = column(&batch, "raw");
    assert_eq!((raw.value(0), raw.is_null(1), raw.is_null(2)), (&bytes[..], true, true));
}
