//! Tests of streams in both flavors: dumps of the real SDK, odd files, and laws.

use std::path::{Path, PathBuf};

use core_model::{Facts, Format, LossKind, Options, Output, SdkVersion};
use format_sdk_stream::{DUMP, Progress, WIRE};
use jsonl::{Scanner, Style};

use crate::skipped::say_skipped;

/// The result of a conversion.
struct Conversion {
    text: String,
    lines_of_source: Vec<usize>,
    losses: Vec<(LossKind, String)>,
}

/// Converts lines as the converter does. `foreign` lines get the name of another format.
fn convert(
    input: &str,
    from: &Format,
    to: &Format,
    options: &Options,
    foreign: bool,
) -> Conversion {
    let mut scanner = Scanner::default();
    let mut facts = Facts::default();
    for line in jsonl::lines(input.as_bytes()) {
        if let Ok(value) = scanner.scan(&line) {
            facts.observe(&from.first_event(value));
        }
    }
    let mut out = Output::new(to.style, from.style, "session");
    let mut writer = (to.writer)(options, facts);
    let mut text = String::new();
    let mut lines_of_source = Vec::new();
    for line in jsonl::lines(input.as_bytes()) {
        out.start_source(&line, from.style);
        if let Ok(value) = scanner.scan(&line) {
            let mut event = from.first_event(value);
            if foreign {
                event.format = "other";
            }
            writer.write(&event, &mut out);
            lines_of_source.push(out.touched().len());
            take(&mut out, &mut text);
        }
    }
    writer.finish(&mut out);
    take(&mut out, &mut text);
    let losses = out.losses().iter().map(|(kind, field, _)| (kind, field.to_owned())).collect();
    Conversion { text, lines_of_source, losses }
}

fn take(out: &mut Output, text: &mut String) {
    while let Some(id) = out.next_emitted() {
        let written = std::str::from_utf8(out.bytes(id)).expect("UTF-8");
        assert!(written.starts_with('{') && written.ends_with('}'), "{written}");
        jsonl::validate(written.as_bytes()).expect("JSON");
        text.push_str(written);
        text.push('\n');
        let mut copied = Vec::new();
        out.swap_copied(id, &mut copied);
        out.release(id);
    }
}

fn options(sdk_version: SdkVersion) -> Options {
    Options { sdk_version, ..Options::default() }
}

fn newest() -> Options {
    Options::default()
}

/// Returns the folder of real sessions, if it exists.
fn data() -> Option<PathBuf> {
    let data = std::env::var_os("CONVERT_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    if !data.join("sdk-dump").is_dir() {
        say_skipped(format_args!("no data in {}", data.display()));
        return None;
    }
    Some(data)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
    found.sort();
}

/// Returns the capture of a dump, from the dump's name `owner+repo__stem.jsonl`.
fn source_of(dump: &Path, data: &Path) -> PathBuf {
    let name = dump.file_stem().and_then(|stem| stem.to_str()).expect("a name");
    let (owner, stem) = name.split_once("__").expect("owner and stem");
    let mut found = Vec::new();
    files(&data.join("real").join(owner), &mut found);
    found.retain(|path| path.file_stem().is_some_and(|it| it == stem));
    found.retain(|path| path.extension().is_some_and(|it| it == "jsonl" || it == "ndjson"));
    assert_eq!(found.len(), 1, "{name}");
    found.remove(0)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("readable")
}

fn dumps(data: &Path, version: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&data.join("sdk-dump").join(version), &mut found);
    found
}

#[test]
fn dumps_equal_those_of_the_real_sdk() {
    let Some(data) = data() else { return };
    for (name, version) in [("0.1.6", SdkVersion::V0_1_6), ("0.2.187", SdkVersion::V0_2_187)] {
        let dumps = dumps(&data, name);
        assert_eq!(dumps.len(), 20);
        for dump in dumps {
            let source = read(&source_of(&dump, &data));
            let written = convert(&source, &WIRE, &DUMP, &options(version), false).text;
            assert!(written == read(&dump), "{}", dump.display());
        }
    }
}

#[test]
fn dumps_of_real_runs_are_the_same_after_the_wire() {
    let Some(data) = data() else { return };
    let mut paths = dumps(&data, "0.2.187");
    paths.extend(dumps(&data, "0.1.6"));
    let clients = data.join("clients/sdk");
    files(&clients, &mut paths);
    for path in paths {
        let is_old = path.components().any(|part| part.as_os_str() == "0.1.6")
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("old-"));
        let version = if is_old { SdkVersion::V0_1_6 } else { SdkVersion::V0_2_187 };
        let dump = read(&path);
        let wire = convert(&dump, &DUMP, &WIRE, &newest(), false).text;
        assert_eq!(wire.lines().count(), dump.lines().count());
        let again = convert(&wire, &WIRE, &DUMP, &options(version), false).text;
        for (before, after) in dump.lines().zip(again.lines()) {
            // The wire has no line for the orchestrator's prompt.
            if !before.starts_with("{\"type\": \"user_message\"") {
                assert_eq!(before, after, "{}", path.display());
            }
        }
    }
}

const TOOL_RUN: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Use \"Bash\"."},{"type":"text","text":"Né"}]},"uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z","session_id":"s"}
{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"I will."}],"usage":{"input_tokens":3,"output_tokens":1}},"uuid":"u2","timestamp":"2026-01-01T10:00:01.000Z","session_id":"s"}
{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"n":1e-05}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":9}},"uuid":"u3","timestamp":"2026-01-01T10:00:01.500Z","session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"tool_use_result":{"stdout":"ok"},"uuid":"u4","timestamp":"2026-01-01T10:00:02.000Z","session_id":"s"}
{"type":"assistant","message":{"id":"m2","model":"claude-x","content":[{"type":"text","text":"Done 🎉"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":2,"cache_read_input_tokens":7}},"uuid":"u5","timestamp":"2026-01-01T10:00:03.250Z","session_id":"s"}
"#;

#[test]
fn a_run_with_a_tool_is_seven_lines() {
    let old = convert(TOOL_RUN, &WIRE, &DUMP, &options(SdkVersion::V0_1_6), true);
    let lines: Vec<_> = old.text.lines().collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(
        lines[0],
        r#"{"type": "user_message", "content": "Use \"Bash\".\nN\u00e9", "timestamp": "2026-01-01T10:00:00.000Z"}"#
    );
    assert!(lines[1].starts_with(
        r#"{"subtype": "init", "data": {"type": "system", "subtype": "init", "session_id": "s", "cwd": "", "model": "claude-x", "tools": ["Bash"], "permissionMode": "default", "uuid": ""#
    ));
    assert_eq!(
        &lines[2..],
        [
            r#"{"content": [{"text": "I will."}], "model": "claude-x", "parent_tool_use_id": null}"#,
            r#"{"content": [{"id": "t1", "name": "Bash", "input": {"n": 1e-05}}], "model": "claude-x", "parent_tool_use_id": null}"#,
            r#"{"content": [{"tool_use_id": "t1", "content": "ok", "is_error": null}], "parent_tool_use_id": null}"#,
            r#"{"content": [{"text": "Done \ud83c\udf89"}], "model": "claude-x", "parent_tool_use_id": null}"#,
            r#"{"subtype": "success", "duration_ms": 3250, "duration_api_ms": 0, "is_error": false, "num_turns": 2, "session_id": "s", "total_cost_usd": null, "usage": {"input_tokens": 13, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 7, "output_tokens": 11}, "result": "Done \ud83c\udf89"}"#,
        ]
    );
    assert_eq!(old.lines_of_source, [1, 1, 1, 1, 1]);
    assert!(old.losses.contains(&(LossKind::Invented, "result".to_owned())));
    let new = convert(TOOL_RUN, &WIRE, &DUMP, &newest(), true).text;
    assert_eq!(
        new.lines().nth(4),
        Some(
            r#"{"content": [{"tool_use_id": "t1", "content": "ok", "is_error": null}], "uuid": "u4", "parent_tool_use_id": null, "tool_use_result": {"stdout": "ok"}, "origin": null}"#
        )
    );
}

#[test]
fn a_simple_run_is_four_lines_and_each_prompt_opens_another() {
    let line = |n: usize| TOOL_RUN.lines().nth(n).expect("five lines").to_owned() + "\n";
    let simple = line(0) + &line(4);
    let written = convert(&simple, &WIRE, &DUMP, &newest(), true).text;
    assert_eq!(written.lines().count(), 4);
    let twice = convert(&(simple.clone() + &simple), &WIRE, &DUMP, &newest(), true).text;
    assert_eq!(twice.lines().count(), 8);
    assert!(twice.starts_with(written[..written.len() - 2].rsplit_once('\n').expect("lines").0));
    let unanswered = convert(&line(0), &WIRE, &DUMP, &newest(), true).text;
    // The end of the run is unknown.
    assert_eq!(unanswered.lines().count(), 2);
    assert!(!unanswered.contains("duration_ms"));
}

#[test]
fn foreign_runs_on_the_wire() {
    let written = convert(TOOL_RUN, &WIRE, &WIRE, &newest(), true).text;
    let lines: Vec<_> = written.lines().collect();
    assert_eq!(lines.len(), 7);
    assert!(lines.iter().all(|line| line.contains(r#""session_id":"s""#)));
    assert!(lines.iter().all(|line| line.contains(r#""uuid":""#)));
    assert!(lines[0].ends_with(r#","isReplay":true}"#));
    assert!(
        lines[3].contains(r#"{"type":"tool_use","id":"t1","name":"Bash","input":{"n":1e-05}}"#)
    );
    assert!(lines[6].contains(r#""result":"Done 🎉""#));
    assert!(convert(&written, &WIRE, &DUMP, &newest(), false).text.lines().count() == 7);
}

#[test]
fn a_dump_without_ids_groups_its_responses() {
    let dump = concat!(
        "{\"type\": \"user_message\", \"content\": \"x\", \"timestamp\": \"t\"}\n",
        "{\"subtype\": \"init\", \"data\": {\"session_id\": \"late\", \"cwd\": \"/\"}}\n",
        "{\"content\": [{\"text\": \"a\"}], \"model\": \"m\", \"parent_tool_use_id\": null}\n",
        "{\"content\": [{\"text\": \"b\"}], \"model\": \"m\", \"parent_tool_use_id\": null}\n",
        "{\"content\": [], \"parent_tool_use_id\": null}\n",
        "{\"content\": [{\"text\": \"c\"}], \"model\": \"m\", \"parent_tool_use_id\": null}\n",
    );
    let wire = convert(dump, &DUMP, &WIRE, &newest(), false).text;
    let ids: Vec<_> = wire
        .lines()
        .filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(line["session_id"], "late");
            line["message"]["id"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids[0] == ids[1] && ids[1] != ids[2]);
    assert!(wire.starts_with(
        r#"{"type":"user","message":{"role":"user","content":"x"},"parent_tool_use_id":null,"uuid":""#
    ));
}

#[test]
fn written_dumps_are_as_python_spells_them() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    files(&data.join("real/marquex+trackgentic"), &mut paths);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl")) {
        for foreign in [false, true] {
            let written = convert(&read(path), &WIRE, &DUMP, &newest(), foreign).text;
            for line in written.lines() {
                let mut again = Vec::new();
                jsonl::respell_str(&mut again, line, Style::Python);
                assert_eq!(line.as_bytes(), again);
            }
        }
    }
}

#[test]
fn no_line_makes_reader_or_writer_panic() {
    let values =
        ["null", "true", "1", "\"\"", "\"x\"", "[]", "[1,\"x\",{}]", "{}", "{\"type\":[]}"];
    let names = [
        "type",
        "subtype",
        "data",
        "message",
        "content",
        "model",
        "event",
        "uuid",
        "session_id",
        "parent_tool_use_id",
        "rate_limit_info",
        "deferred_tool_use",
        "origin",
        "timestamp",
        "compact_metadata",
        "patch",
        "usage",
        "result",
        "error",
        "new_conversation_id",
    ];
    let types = ["system", "user", "assistant", "result", "stream_event", "rate_limit_event", "x"];
    let mut input = String::new();
    for value in values {
        input.push_str(value);
        input.push('\n');
        for name in names {
            input.push_str(&format!("{{\"{name}\":{value}}}\n"));
            input.push_str(&format!("{{\"subtype\":\"init\",\"data\":{{}},\"{name}\":{value}}}\n"));
            input.push_str(&format!("{{\"content\":[],\"model\":\"m\",\"{name}\":{value}}}\n"));
            for kind in types {
                let message = "\"message\":{\"content\":[{\"type\":\"text\"}]}";
                input.push_str(&format!("{{{message},\"type\":\"{kind}\",\"{name}\":{value}}}\n"));
            }
        }
    }
    for from in [&DUMP, &WIRE] {
        for to in [&DUMP, &WIRE] {
            for foreign in [false, true] {
                let first = convert(&input, from, to, &newest(), foreign).text;
                assert_eq!(first, convert(&input, from, to, &newest(), foreign).text);
            }
        }
    }
}

#[test]
fn what_is_written_is_valid() {
    for to in [&DUMP, &WIRE] {
        let written = convert(TOOL_RUN, &WIRE, to, &newest(), true).text;
        assert_eq!(format_sdk_stream::validate(written.as_bytes()), []);
        assert_eq!(format_sdk_stream::status(written.as_bytes()), Progress::Finished);
        assert_eq!(format_sdk_stream::result(written.as_bytes()).as_deref(), Some("Done 🎉"));
    }
    let Some(data) = data() else { return };
    for path in dumps(&data, "0.2.187").iter().chain(&dumps(&data, "0.1.6")) {
        let dump = read(path);
        assert_eq!(format_sdk_stream::validate(dump.as_bytes()), [], "{}", path.display());
        let wire = convert(&dump, &DUMP, &WIRE, &newest(), false).text;
        assert_eq!(format_sdk_stream::validate(wire.as_bytes()), [], "{}", path.display());
    }
}

#[test]
fn what_was_restored_is_continued_and_closed_once() {
    let first = convert(TOOL_RUN, &WIRE, &DUMP, &newest(), true).text;
    let mut scanner = Scanner::default();
    let mut facts = Facts::default();
    for line in jsonl::lines(TOOL_RUN.as_bytes()).chain(jsonl::lines(TOOL_RUN.as_bytes())) {
        facts.observe(&WIRE.first_event(scanner.scan(&line).expect("JSON")));
    }
    let mut out = Output::new(DUMP.style, WIRE.style, "session");
    let mut writer = (DUMP.writer)(&newest(), facts);
    for line in jsonl::lines(first.as_bytes()) {
        out.start_source(&line, DUMP.style);
        writer.resume(&DUMP.first_event(scanner.scan(&line).expect("JSON")), &mut out);
    }
    let mut text = String::new();
    writer.finish(&mut out);
    take(&mut out, &mut text);
    assert_eq!(text, "");
    for line in jsonl::lines(TOOL_RUN.as_bytes()) {
        out.start_source(&line, WIRE.style);
        let mut event = WIRE.first_event(scanner.scan(&line).expect("JSON"));
        event.format = "other";
        writer.write(&event, &mut out);
    }
    writer.finish(&mut out);
    take(&mut out, &mut text);
    assert_eq!(text.lines().count(), 7);
    assert!(text.contains(r#""model": "claude-x", "tools": ["Bash"]"#));
}

#[test]
fn a_source_with_starts_of_its_own_has_its_own_outcomes() {
    let start = r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/p"}"#;
    let open = format!("{start}\n{TOOL_RUN}");
    let written = convert(&open, &WIRE, &DUMP, &newest(), true).text;
    assert_eq!(written.lines().count(), 6);
    assert_eq!(format_sdk_stream::status(written.as_bytes()), Progress::Running);
    for (outcome, expected) in [
        (r#""subtype":"success","is_error":false"#, r#""subtype": "success""#),
        (r#""subtype":"error_max_turns","is_error":true"#, r#""subtype": "error_max_turns""#),
        (
            r#""subtype":"x","is_error":true,"terminal_reason":"aborted_tools""#,
            r#""terminal_reason": "aborted_streaming""#,
        ),
        (
            r#""subtype":"success","is_error":true,"api_error_status":529"#,
            r#""api_error_status": 429"#,
        ),
    ] {
        let end = r#""duration_ms":12,"num_turns":3,"session_id":"s","total_cost_usd":1e-05"#;
        let closed = format!("{open}{{\"type\":\"result\",{outcome},{end}}}\n");
        let written = convert(&closed, &WIRE, &DUMP, &newest(), true).text;
        let last = written.lines().last().expect("seven lines");
        assert_eq!(written.lines().count(), 7);
        assert!(last.contains(expected), "{last}");
        assert!(last.contains(r#""num_turns": 3"#) && last.contains(r#""total_cost_usd": 1e-05"#));
    }
}
