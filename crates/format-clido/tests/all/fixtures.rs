//! Tests of the reader, the writer, and the strict check with fixtures.

use core_model::{Block, Body, CostPolicy, Event, Facts, LossKind, Losses, Options, Output};
use format_clido::{FORMAT, validate_strict};
use jsonl::{Scanner, Style, lines};

use crate::shared::data::data;

/// Reads a clido session and writes it again.
fn rewrite(session: &[u8]) -> (String, Losses) {
    let mut facts = Facts::default();
    let mut scanner = Scanner::default();
    for line in lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            facts.observe(&FORMAT.first_event(value));
        }
    }
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    for line in lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            out.start_source(&line, Style::Compact);
            writer.write(&FORMAT.first_event(value), &mut out);
            take(&mut out, &mut written);
        }
    }
    writer.finish(&mut out);
    take(&mut out, &mut written);
    (written, out.losses().clone())
}

fn take(out: &mut Output, written: &mut String) {
    while let Some(line) = out.next_emitted() {
        written.push_str(std::str::from_utf8(out.bytes(line)).expect("UTF-8"));
        written.push('\n');
        out.release(line);
    }
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clido");
    let mut fixtures: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.display().to_string(), std::fs::read(path).expect("a file"))
        })
        .collect();
    fixtures.sort();
    fixtures
}

/// The complete example of clido's documentation.
const EXAMPLE: &str = include_str!("../documented.jsonl");

#[test]
fn the_documented_example_is_read_as_documented() {
    let mut scanner = Scanner::default();
    let mut seen = Vec::new();
    for line in lines(EXAMPLE.as_bytes()) {
        let value = scanner.scan(&line).expect("valid");
        assert!(format_clido::detect(value));
        let event = format_clido::read(value);
        seen.push(match event.body {
            Body::Start(_) => format!("start {}", event.context.cwd.expect("a folder")),
            Body::Message(message) => {
                let blocks = message.blocks().map(|(block, _)| match block {
                    Block::Text(_) => "text",
                    Block::ToolUse(_) => "tool_use",
                    Block::ToolResult(_) => "tool_result",
                    _ => "other",
                });
                format!("{:?} {}", message.role, blocks.collect::<Vec<_>>().join(" "))
            }
            Body::ToolCall(call) => format!("call {}", call.name),
            Body::Outcome(outcome) => format!("outcome {}", outcome.cost.expect("a cost")),
            body => format!("{body:?}"),
        });
    }
    let expected = [
        "start /home/user/projects/my-app",
        "User text",
        "Assistant tool_use",
        "call Read",
        "User tool_result",
        "Assistant text",
        "outcome 0.0009",
    ];
    assert_eq!(seen, expected);
}

/// Returns the problems of a session, without calls that have no result and results that have no
/// call.
fn disorder(session: &[u8]) -> Vec<core_model::Problem> {
    let said = ["open-call", "orphan-result", "result-twice", "content-hash", "start-time"];
    let mut problems = validate_strict(session);
    problems.retain(|problem| !said.contains(&problem.rule));
    problems
}

#[test]
fn views_of_the_documented_example() {
    let session = EXAMPLE.as_bytes();
    // The `sha256:` of the documentation matches no file.
    assert_eq!(
        validate_strict(session).iter().map(|it| it.rule).collect::<Vec<_>>(),
        ["content-hash"]
    );
    assert_eq!(format_clido::user_texts(session), ["How many lines is src/main.rs?"]);
    assert_eq!(format_clido::total_cost(session, CostPolicy::Cumulative), Some(0.0009));
    let calls = format_clido::tool_calls(session);
    let [call] = calls.as_slice() else { panic!("one call") };
    assert_eq!((call.name.as_str(), call.is_error), ("Read", Some(false)));
    assert_eq!(call.result.as_deref(), Some("fn main() {\n..."));
    assert_eq!(format_clido::count_by_type(session).of("assistant_message"), 2);
    assert_eq!(format_clido::title(session), None);
}

#[test]
fn costs_by_policy() {
    let session = include_bytes!("../../../../fixtures/clido/several-results.jsonl");
    assert_eq!(format_clido::total_cost(session, CostPolicy::Cumulative), Some(0.0002));
    let sum = format_clido::total_cost(session, CostPolicy::PerInteraction).expect("a sum");
    assert!((sum - 0.0003).abs() < 1e-12);
}

#[test]
fn whatever_is_written_is_in_order() {
    for (name, session) in fixtures() {
        let (written, _) = rewrite(&session);
        if written.is_empty() {
            assert!(name.ends_with("meta-only.jsonl"), "{name}");
            continue;
        }
        assert_eq!(disorder(written.as_bytes()), [], "{name}:\n{written}");
        // Writing the written session again changes nothing, except for a derived result.
        assert_eq!(rewrite(written.as_bytes()).0, written, "{name}");
    }
}

#[test]
fn sessions_as_clido_writes_them_are_written_alike() {
    for name in [
        "file-record",
        "image",
        "open-tool-call",
        "parallel-calls",
        "plain",
        "redacted",
        "several-results",
        "session-id-is-a-path",
        "unicode",
        "cost-1e-05",
        "orphan-tool-result",
    ] {
        let path = format!("{}/../../fixtures/clido/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let session = std::fs::read_to_string(path).expect("a fixture");
        assert_eq!(rewrite(session.as_bytes()).0, session, "{name}");
    }
}

#[test]
fn real_sessions_are_written_alike() {
    for (name, session) in data("clients/clido") {
        let session = String::from_utf8(session).expect("text");
        assert_eq!(disorder(session.as_bytes()), []);
        assert_eq!(rewrite(session.as_bytes()).0, session, "{name}");
    }
}

#[test]
fn every_cut_of_a_session_is_written_in_order() {
    for (name, session) in fixtures() {
        for end in (0..session.len()).step_by(7) {
            let (written, _) = rewrite(&session[..end]);
            let fatal = disorder(written.as_bytes());
            assert!(
                written.is_empty() || fatal.is_empty(),
                "{name} to {end}: {fatal:?}\n{written}"
            );
        }
    }
}

#[test]
fn what_clido_does_not_load_is_mended_and_reported() {
    let session = r#"{"type":"meta","session_id":"s\ud800","schema_version":1,"start_time":5,"project_path":"\udc00"}
{"type":"user_message","role":"user","content":[{"text":"a\ud800b","type":"text"}]}
{"type":"assistant_message","content":[{"id":"t","input":{"n":[1e999,-3]},"name":"N","type":"tool_use"}]}
{"type":"tool_result","tool_use_id":"t","content":["x\udfff\"",{"type":"image","media_type":"image/png","base64_data":"QUJD"},{"type":"tool_reference","tool_name":"A\"b"}],"is_error":false,"duration_ms":2.5}
"#;
    let (written, losses) = rewrite(session.as_bytes());
    let expected = "{\"type\":\"meta\",\"session_id\":\"s\u{fffd}\",\"schema_version\":1,\"start_time\":\"1970-01-01T00:00:05.000Z\",\"project_path\":\"\u{fffd}\"}
{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":\"a\u{fffd}b\",\"type\":\"text\"}]}
{\"type\":\"assistant_message\",\"content\":[{\"id\":\"t\",\"input\":{\"n\":[\"1e999\",-3]},\"name\":\"N\",\"type\":\"tool_use\"}]}
{\"type\":\"tool_call\",\"tool_use_id\":\"t\",\"tool_name\":\"N\",\"input\":{\"n\":[\"1e999\",-3]}}
{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\u{fffd}\\\"\\n[image image/png, 3 bytes]\\n[tool_reference A\\\"b]\",\"is_error\":false}
";
    assert_eq!(written, expected);
    let has = |kind, field| losses.iter().any(|(k, f, _)| (k, f) == (kind, field));
    for field in ["text", "tool_use.input", "tool_result.content", "timestamp"] {
        assert!(has(LossKind::Flattened, field), "{field}");
    }
    assert!(has(LossKind::Dropped, "tool_result.duration_ms"));
    // After a tool's result the end of the run is unknown.
    assert!(!has(LossKind::Invented, "exit_status"));
}

#[test]
fn a_resumed_session_goes_on() {
    let resumed = EXAMPLE.lines().take(4);
    let added = [
        r#"{"type":"tool_result","tool_use_id":"toolu_01abc","content":"late","is_error":false}"#,
        r#"{"type":"assistant_message","content":[{"text":"Done.","type":"text"}]}"#,
    ];
    let mut facts = Facts::default();
    let mut scanner = Scanner::default();
    let mut each = |line: &str, take: &mut dyn FnMut(Event<'_>)| {
        take(FORMAT.first_event(scanner.scan_slice(line.as_bytes(), 0).expect("valid")));
    };
    for line in resumed.clone().chain(added) {
        each(line, &mut |event| facts.observe(&event));
    }
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    for line in resumed {
        each(line, &mut |event| writer.resume(&event, &mut out));
    }
    take(&mut out, &mut written);
    assert_eq!(written, "");
    for line in added {
        each(line, &mut |event| writer.write(&event, &mut out));
    }
    writer.finish(&mut out);
    take(&mut out, &mut written);
    let result = r#"{"type":"result","exit_status":"success","total_cost_usd":0.0,"num_turns":2,"duration_ms":0}"#;
    assert_eq!(written, format!("{}\n{}\n{result}\n", added[0], added[1]));
}

#[test]
fn results_follow_their_response_in_the_order_of_its_calls() {
    let use_of = |id: &str| format!(r#"{{"id":"{id}","input":{{}},"name":"N","type":"tool_use"}}"#);
    let call = |id: &str| {
        format!(r#"{{"type":"tool_call","tool_use_id":"{id}","tool_name":"N","input":{{}}}}"#)
    };
    let result = |id: &str| {
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"","is_error":false}}"#)
    };
    let said = |kind: &str, blocks: &[String]| {
        let role = if kind == "user" { "\"role\":\"user\"," } else { "" };
        format!("{{\"type\":\"{kind}_message\",{role}\"content\":[{}]}}", blocks.join(","))
    };
    let text = |text: &str| format!(r#"{{"text":"{text}","type":"text"}}"#);
    let meta = r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-03-21T14:30:00Z","project_path":"/p"}"#;
    let session = |lines: &[String]| format!("{meta}\n{}\n", lines.join("\n"));

    let source = session(&[
        said("user", &[text("go")]),
        result("early"),
        said("assistant", &[use_of("a"), use_of("b"), use_of("early")]),
        result("b"),
        r#"{"type":"system","subtype":"info","message":"still running"}"#.to_owned(),
        said("user", &[text("meanwhile")]),
        result("a"),
        said("user", &[text("next")]),
        said("assistant", &[use_of("open")]),
    ]);
    let (written, losses) = rewrite(source.as_bytes());
    let expected = session(&[
        said("user", &[text("go")]),
        said("assistant", &[use_of("a"), use_of("b"), use_of("early")]),
        call("a"),
        call("b"),
        call("early"),
        result("a"),
        result("b"),
        result("early"),
        r#"{"type":"system","subtype":"info","message":"still running"}"#.to_owned(),
        said("user", &[text("meanwhile")]),
        said("user", &[text("next")]),
        said("assistant", &[use_of("open")]),
        call("open"),
    ]);
    assert_eq!(written, expected);
    let moved: Vec<_> =
        losses.iter().filter(|(_, field, _)| *field == "tool_result.order").collect();
    let [(LossKind::Flattened, _, loss)] = moved.as_slice() else { panic!("{moved:?}") };
    assert_eq!(loss.count, 2);
}
