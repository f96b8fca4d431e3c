//! Tests of the history that Codex sends, with fixtures and with the reference reader.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use format_codex::{history, read_lineage};
use serde_json::Value;

use crate::face::fixtures;
use crate::skipped::say_skipped;

/// Returns an item as a few words: `user: Hi`, `call call_1`, `output call_1: aborted`.
fn word(item: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect()
        }
        _ => String::new(),
    };
    let word = |name: &str| item[name].as_str().unwrap_or_default();
    match word("type") {
        "message" => format!("{}: {}", word("role"), text(&item["content"])),
        "reasoning" => format!("reasoning: {}", text(&item["summary"])),
        kind if kind.ends_with("_output") => {
            format!("output {}: {}", word("call_id"), text(&item["output"]))
        }
        kind if kind.ends_with("_call") => format!("call {}", word("call_id")),
        kind => kind.to_owned(),
    }
}

fn words(session: &[u8]) -> Vec<String> {
    let item = |json: &format_codex::jsonl::RawBuf| -> Value {
        serde_json::from_str(json.as_str()).expect("JSON")
    };
    history(session).iter().map(|json| word(&item(json))).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex/");
    fs::read(format!("{folder}{name}.jsonl")).expect("a fixture")
}

#[test]
fn a_roll_back_removes_the_last_turns() {
    let expected = ["user: One", "assistant: 1", "user: Three", "assistant: 3"];
    assert_eq!(words(&fixture("rolled-back")), expected);
    let expected = ["user: Three", "assistant: 3"];
    assert_eq!(words(&fixture("rolled-back-past-a-compaction")), expected);
}

#[test]
fn a_compaction_replaces_what_is_before_it() {
    let expected = ["user: Two", "compaction", "user: Three", "assistant: 3"];
    assert_eq!(words(&fixture("compaction")), expected);
    let expected = ["user: One", "user: Summary of one.", "user: Two", "assistant: 2"];
    assert_eq!(words(&fixture("compaction-without-replacement")), expected);
    let expected = ["user: Summary.", "user: Two", "assistant: 2"];
    assert_eq!(words(&fixture("compaction-by-convert")), expected);
}

#[test]
fn calls_and_outputs_are_paired() {
    let expected = [
        "user: Go",
        "output call_0: before its call",
        "call call_0",
        "call call_1",
        "output call_1: aborted",
        "call call_2",
        "output call_2: aborted",
        "call call_3",
        "call call_5",
        "output call_5: aborted",
        "output call_3: for both",
        "output call_3: once more",
        "call call_4",
        "output call_4: aborted",
        "assistant: Odd.",
    ];
    assert_eq!(words(&fixture("odd-calls")), expected);
}

#[test]
fn what_codex_skips_is_not_sent() {
    let expected = ["user: Go", "additional_tools", "user: ", "assistant: Skipped."];
    assert_eq!(words(&fixture("unread-items")), expected);
    assert_eq!(words(&fixture("bad-lines")), ["user: Go", "assistant: Still here."]);
    assert_eq!(words(&fixture("before-0.32")), [""; 0]);
}

#[test]
fn a_fork_starts_with_the_lines_of_another_file() {
    let home = tempfile::tempdir().expect("a folder");
    let day = home.path().join("sessions/2026/03/01");
    fs::create_dir_all(&day).expect("a folder");
    let parent = fixture("paginated");
    let line = |number: usize| {
        let ends = parent.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        ends.map(|(at, _)| at + 1).nth(number - 1).expect("a line")
    };
    let id = |n: u32| format!("01a20000-0000-7000-8000-{n:012}");
    let name = |n: u32| day.join(format!("rollout-2026-03-01T10-00-00-{}.jsonl", id(n)));
    let fork = |n: u32, base: &str| {
        format!(
            "{{\"timestamp\":\"t\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{{\"id\":\"{}\",\
             \"history_mode\":\"paginated\",\"history_base\":{{{base}}}}}}}\n{{\"timestamp\":\"t\",\
             \"ordinal\":1,\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\
             \"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"On {n}\"}}]}}}}\n",
            id(n)
        )
    };
    fs::write(name(7), &parent).expect("written");
    let end = line(9);
    let base = format!("\"thread_id\":\"{}\",\"end_byte_offset\":{end}", id(7));
    fs::write(name(8), fork(8, &base)).expect("written");
    let base = format!("\"thread_id\":\"{}\",\"end_ordinal_exclusive\":9", id(7));
    fs::write(name(9), fork(9, &base)).expect("written");
    let base = format!("\"thread_id\":\"{}\"", id(8));
    fs::write(name(10), fork(10, &base)).expect("written");
    let base = format!("\"thread_id\":\"{}\"", id(11));
    fs::write(name(11), fork(11, &base)).expect("written");
    let base = format!("\"thread_id\":\"{}\"", id(99));
    fs::write(name(12), fork(12, &base)).expect("written");
    let last =
        |n: u32| words(&read_lineage(home.path(), &name(n)).expect("all files")).split_off(3);
    assert_eq!(last(8), ["call call_1", "output call_1: aborted", "user: On 8"]);
    assert_eq!(last(9), ["call call_1", "output call_1: aborted", "user: On 9"]);
    let expected = ["call call_1", "output call_1: aborted", "user: On 8", "user: On 10"];
    assert_eq!(last(10), expected);
    assert!(read_lineage(home.path(), &name(11)).is_err(), "a circle");
    let missing = read_lineage(home.path(), &name(12)).expect_err("a missing file");
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

/// Returns an item as the reference reader's function `key` does.
fn key(item: &Value) -> Value {
    let start = |text: String, n: usize| text.chars().take(n).collect::<String>();
    let get = |name: &str| item.get(name).cloned().unwrap_or(Value::Null);
    let kind = item["type"].as_str().unwrap_or("message");
    let texts = |parts: &Value| -> String {
        let parts = parts.as_array().into_iter().flatten();
        parts.map(|part| part["text"].as_str().unwrap_or_default()).collect()
    };
    match kind {
        "message" => {
            let parts = item["content"].as_array().into_iter().flatten();
            let said = parts.filter(|part| part["type"] != "input_image");
            let said = said.map(|part| part["text"].as_str().unwrap_or_default());
            let said = said.filter(|text| !text.starts_with("image content omitted"));
            serde_json::json!([kind, get("role"), start(said.collect(), 300)])
        }
        _ if kind.ends_with("_output") => {
            let output = match item["output"].as_str() {
                Some(text) => text.to_owned(),
                None => texts(&item["output"]),
            };
            serde_json::json!([kind, get("call_id"), start(output, 60)])
        }
        "reasoning" => serde_json::json!([kind, start(texts(&item["summary"]), 200)]),
        _ => {
            let input = item.get("arguments").or_else(|| item.get("input"));
            let input = match input {
                Some(Value::String(text)) => start(text.clone(), 200),
                // The spelling of Python's objects differs.
                _ => String::new(),
            };
            serde_json::json!([kind, get("call_id"), get("name"), input])
        }
    }
}

/// Prints the keys of the reference reader, a line for each file.
const REFERENCE: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import codex_history
for path in sys.argv[2:]:
    text = open(path, encoding='utf-8', errors='surrogateescape', newline='\\n').read()
    keys = []
    for item in codex_history.history(text):
        key = list(codex_history.key(item))
        if not isinstance(item.get('arguments', item.get('input', '')), str):
            key[3] = ''
        if len(key) == 4 and key[3] == 'None':
            key[3] = ''
        # Half a surrogate pair is no character in Rust.
        keys.append([str(it).encode('utf-8', 'replace').decode() if it is not None else None for it in key])
    print(json.dumps(keys))
";

/// Returns the files below a folder whose names end with `.jsonl`.
fn files_below(folder: PathBuf, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().map(|it| it.expect("an entry").path()) {
        if path.is_dir() {
            files_below(path, files);
        } else if path.extension().is_some_and(|it| it == "jsonl") {
            files.push(path);
        }
    }
}

/// The data and the reference reader are not part of the project. Without them the test passes, and
/// says so.
#[test]
fn the_history_is_that_of_the_reference_reader() {
    let data = match std::env::var_os("CONVERT_DATA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let clients = data.join("../clients");
    let mut files = fixtures();
    for folder in ["codex", "clients/codex-cases", "../clients/samples/codex"] {
        files_below(data.join(folder), &mut files);
    }
    let is_session = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.starts_with("session_index") && !name.starts_with("expected")
    };
    files.retain(is_session);
    files.sort();
    let mut reference = Command::new("python3");
    reference.arg("-c").arg(REFERENCE).arg(&clients).args(&files);
    let answer = match reference.output() {
        Ok(output) if output.status.success() => output.stdout,
        _ => {
            say_skipped(format_args!("no reference reader in {}", clients.display()));
            return;
        }
    };
    let answer = String::from_utf8(answer).expect("JSON");
    let (mut n_items, mut n_files) = (0, 0);
    for (path, line) in files.iter().zip(answer.lines()) {
        let expected: Vec<Value> = serde_json::from_str(line).expect("JSON");
        let session = fs::read(path).expect("a file");
        let keys = history(&session).into_iter().map(|json| {
            // Half a surrogate pair is no character in Rust.
            let item = serde_json::from_str(json.as_str());
            item.map_or(Value::Null, |item| key(&item))
        });
        let keys: Vec<Value> = keys.collect();
        assert_eq!(keys.len(), expected.len(), "{path:?}");
        for (key, expected) in keys.iter().zip(&expected).filter(|(key, _)| !key.is_null()) {
            assert_eq!(key, expected, "{path:?}");
        }
        n_items += keys.len();
        n_files += 1;
    }
    _ = writeln!(io::stderr(), "{n_items} items of {n_files} files");
    assert_eq!(n_files, files.len());
}
