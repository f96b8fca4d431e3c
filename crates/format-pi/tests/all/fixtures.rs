//! Tests of the reader, the writer and the check with fixtures.

use core_model::{Block, Body, Event, Facts, LossKind, Losses, Options, Output};
use format_pi::{FORMAT, validate};
use jsonl::{Scanner, Style, lines};

use crate::face::fixtures;

/// Reads a session and writes it again.
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

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pi/");
    std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("a fixture")
}

fn with_event<T>(line: &str, check: impl FnOnce(&Event<'_>) -> T) -> T {
    let mut scanner = Scanner::default();
    check(&FORMAT.first_event(scanner.scan_slice(line.as_bytes(), 0).expect("valid")))
}

#[test]
fn nothing_that_is_written_stops_pi() {
    for path in fixtures() {
        let session = std::fs::read(&path).expect("a file");
        let (written, _) = rewrite(&session);
        let problems = validate(written.as_bytes());
        let harmless = ["open-call", "surrogate", "assistant-first"];
        let found: Vec<_> =
            problems.iter().filter(|problem| !harmless.contains(&problem.rule)).collect();
        assert!(found.is_empty(), "{path:?}: {found:?}\n{written}");
        assert!(written.starts_with("{\"type\":\"session\",\"version\":3,\"id\":"), "{path:?}");
    }
}

#[test]
fn writing_again_changes_nothing() {
    for path in fixtures() {
        let (once, _) = rewrite(&std::fs::read(&path).expect("a file"));
        let (twice, _) = rewrite(once.as_bytes());
        assert_eq!(once, twice, "{path:?}");
    }
}

#[test]
fn a_response_in_several_lines_is_one_message() {
    let line = |n: u32, block: &str| {
        format!(
            r#"{{"type":"message","id":"a{n}","parentId":null,"timestamp":"2026-03-01T10:00:0{n}.000Z","message":{{"role":"assistant","content":[{block}],"responseId":"msg_1","model":"m","stopReason":"toolUse"}}}}"#
        )
    };
    let call = |id: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"bash","arguments":{{"command":"ls"}}}}"#)
    };
    let result = |n: u32, id: &str| {
        format!(
            r#"{{"type":"message","id":"r{n}","parentId":null,"timestamp":"2026-03-01T10:00:0{n}.000Z","message":{{"role":"toolResult","toolCallId":"{id}","toolName":"bash","content":[],"isError":false}}}}"#
        )
    };
    let prompt =
        r#"{"type":"message","id":"q","parentId":null,"message":{"role":"user","content":"q"}}"#;
    let lines = [
        prompt.to_owned(),
        line(1, &call("c1")),
        result(2, "c1"),
        line(3, &call("c2")),
        result(4, "c2"),
    ];
    let session = lines.join("\n");
    let (written, _) = rewrite(session.as_bytes());
    let ids: Vec<_> = written
        .lines()
        .map(|line| line.split("\"id\":\"").nth(1).and_then(|it| it.split('"').next()))
        .collect();
    let [_, Some("q"), Some("a1"), Some("r2"), Some("r4")] = ids.as_slice() else {
        panic!("{written}")
    };
    let response = written.lines().nth(2).expect("a response");
    assert!(response.contains("\"c1\"") && response.contains("\"c2\""), "{response}");
    assert!(response.contains("\"stopReason\":\"toolUse\",\"responseId\":\"msg_1\""));
    assert!(validate(written.as_bytes()).is_empty(), "{written}");
}

#[test]
fn responses_have_the_names_of_the_api() {
    let session = fixture("one-call");
    let line = session.lines().nth(2).expect("a response");
    with_event(line, |event| {
        let message = event.message().expect("a message");
        assert_eq!(message.stop_reason.expect("a reason").as_str(), "\"tool_use\"");
        let tokens = message.usage.expect("tokens").tokens();
        assert_eq!((tokens.input, tokens.cache_read, tokens.total()), (7, 1490, 1521));
        let blocks: Vec<_> = message.blocks().map(|(block, _)| block).collect();
        let [Block::Text(_), Block::ToolUse(tool)] = blocks.as_slice() else {
            panic!("{blocks:?}")
        };
        assert_eq!(tool.input.json().raw().as_str(), r#"{"command":"ls"}"#);
    });
}

#[test]
fn failed_responses_are_notices_and_commands_are_two_texts() {
    let session = fixture("failed-responses");
    let line = session.lines().nth(2).expect("a response");
    with_event(line, |event| {
        let Body::Notice(notice) = &event.body else { panic!("{:?}", event.body) };
        assert_eq!(notice.text.expect("a text").as_str(), "\"529 overloaded\"");
    });
    let session = fixture("commands");
    let line = session.lines().nth(3).expect("a command");
    with_event(line, |event| {
        let message = event.message().expect("a message");
        let texts = message.blocks().map(|(block, _)| match block {
            Block::Text(text) => text.decode().into_owned(),
            block => panic!("{block:?}"),
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["ls", "out\n"]);
        assert!(message.is_meta && !event.is_prompt());
    });
}

#[test]
fn members_without_a_place_are_named() {
    let (_, losses) = rewrite(fixture("unknown-members").as_bytes());
    let names: Vec<_> = losses
        .iter()
        .filter(|(kind, ..)| *kind == LossKind::Dropped)
        .map(|(_, name, _)| name.to_owned())
        .collect();
    for name in [
        "color",
        "message.diagnostics",
        "message.mood",
        "message.rawStopReason",
        "mood",
        "parentSession",
        "text.textSignature",
        "toolCall.thoughtSignature",
    ] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
}

#[test]
fn lines_of_other_formats_are_not_ours() {
    let detects = |line: &str| {
        format_pi::detect(Scanner::default().scan_slice(line.as_bytes(), 0).expect("valid"))
    };
    assert!(detects(r#"{"type":"session","id":"x"}"#));
    assert!(detects(r#"{"type":"label","id":"a","parentId":null,"targetId":"b"}"#));
    for line in [
        r#"{"type":"session","id":"x","data":{}}"#,
        r#"{"type":"session","id":1}"#,
        r#"{"type":"message","message":{"role":"user"}}"#,
        r#"{"type":"message","id":"a","sessionId":"s","message":{"role":"user"}}"#,
        r#"{"type":"title","title":"x"}"#,
        r#"{"type":"session_meta","payload":{"id":"x"}}"#,
        r#"{"type":"custom","id":"a"}"#,
        r#"{"type":"user","message":{"role":"user"},"uuid":"u","parentUuid":null}"#,
        "[]",
    ] {
        assert!(!detects(line), "{line}");
    }
}

#[test]
fn ids_and_names_that_the_api_refuses_are_replaced() {
    let session = fixture("one-call").replace("toolu_01", "call|a.b:c").replace("bash", "my tool");
    let (written, losses) = rewrite(session.as_bytes());
    assert!(!written.contains("call|a.b:c") && written.contains("\"my_tool\""), "{written}");
    assert!(validate(written.as_bytes()).is_empty(), "{written}");
    for name in ["tool_use.id", "tool_use.name", "tool_result.tool_use_id"] {
        assert!(losses.iter().any(|(_, it, _)| it == name), "{name}: {losses:?}");
    }
}

#[test]
fn a_call_with_the_id_of_another_is_not_sent() {
    let session = fixture("parallel-calls").replace("toolu_02", "toolu_01");
    let (written, _) = rewrite(session.as_bytes());
    assert_eq!(written.matches("\"toolCall\",\"id\"").count(), 1, "{written}");
    assert!(written.contains("\"customType\":\"notice\""), "{written}");
    let (written, _) = rewrite(fixture("odd-calls").as_bytes());
    assert!(written.contains("\"arguments\":{\"value\":[1]}"), "{written}");
}
