//! Tests of the reader, the writer and the check with fixtures.

use std::collections::BTreeSet;

use core_model::{Block, Body, Event, Facts, Field, LossKind, Losses, Options, Output, Role};
use format_copilot::{FORMAT, validate};
use jsonl::{Scanner, Style, lines};

use crate::face::fixtures;

/// Reads a session and writes it again.
fn rewrite(session: &[u8]) -> (String, Losses) {
    let mut facts = Facts::default();
    each_event(session, |_, event| facts.observe(event));
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    each_event(session, |line, event| {
        if event.nth == 0 {
            out.start_source(line, Style::Compact);
        }
        writer.write(event, &mut out);
        take(&mut out, &mut written);
    });
    writer.finish(&mut out);
    take(&mut out, &mut written);
    (written, out.losses().clone())
}

fn each_event(session: &[u8], mut each: impl FnMut(&jsonl::Line<'_>, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            FORMAT.for_each_event(value, |event| {
                each(&line, event);
                true
            });
        }
    }
}

fn take(out: &mut Output, written: &mut String) {
    while let Some(line) = out.next_emitted() {
        written.push_str(std::str::from_utf8(out.bytes(line)).expect("UTF-8"));
        written.push('\n');
        out.release(line);
    }
}

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/copilot/");
    std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("a fixture")
}

/// Returns what the events of a fixture say, in a few words each.
fn said(name: &str) -> Vec<String> {
    let mut said = Vec::new();
    each_event(fixture(name).as_bytes(), |_, event| match &event.body {
        Body::Message(message) => {
            let role = match (message.role, message.is_summary, message.is_meta) {
                (Role::Assistant, ..) => "assistant",
                (Role::User, true, _) => "summary",
                (Role::User, false, true) => "meta",
                (Role::User, false, false) => "user",
            };
            for (block, _) in message.blocks() {
                said.push(format!("{role} {}", shown(&block)));
            }
        }
        Body::Notice(notice) => {
            let text = notice.text.and_then(|text| text.as_text());
            let text = text.map(|text| text.decode()).unwrap_or_default();
            said.push(format!("{:?} {text}", notice.kind));
        }
        Body::Title(title) => said.push(format!("title {}", title.text.decode())),
        _ => {}
    });
    said
}

fn shown(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => format!("text {}", text.decode()),
        Block::Thinking { text, signature } => {
            let signature = signature.map(|it| it.decode()).unwrap_or_default();
            format!("thinking {} {signature}", text.decode()).trim_end().to_owned()
        }
        Block::ToolUse(tool) => {
            let server = if tool.is_server { "server " } else { "" };
            let (id, name) = (tool.id.decode(), tool.name.decode());
            format!("{server}call {id} {name} {}", tool.input.json())
        }
        Block::ToolResult(result) => {
            let failed = if result.is_error == Field::Value(true) { "failed " } else { "" };
            let texts = result.content.blocks().map(|(block, _)| shown(&block));
            let texts = texts.collect::<Vec<_>>().join(", ");
            format!("{failed}result {}: {texts}", result.tool_use_id.decode())
        }
        Block::Image { media_type, .. } => format!("image {}", media_type.decode()),
        Block::Other { kind, .. } => {
            format!("other {}", kind.map(|kind| kind.decode()).unwrap_or_default())
        }
        _ => "block".to_owned(),
    }
}

#[test]
fn what_is_written_is_accepted() {
    for path in fixtures() {
        let (written, _) = rewrite(&std::fs::read(&path).expect("a file"));
        let problems = validate(written.as_bytes());
        let stops: Vec<_> = problems.iter().filter(|problem| problem.stops()).collect();
        assert!(stops.is_empty() || written.is_empty(), "{path:?}: {stops:?}\n{written}");
    }
}

#[test]
fn a_session_is_written_as_it_says() {
    let (written, losses) = rewrite(fixture("thinking").as_bytes());
    let blocks = r#""blocks":[{"type":"thinking","thinking":"Let me think.","signature":"c2lnMQ=="},{"type":"redacted_thinking","data":"cmVk"},{"type":"thinking","thinking":"","signature":"c2lnMg=="}]}"#;
    assert!(written.contains(blocks), "{written}");
    let shown = r#""reasoningText":"Let me think.","reasoningOpaque":"c2lnMQ==""#;
    assert!(written.contains(shown), "{written}");
    assert!(losses.iter().all(|(_, name, _)| !name.contains("thinking")), "{losses:?}");
    let (written, losses) = rewrite(fixture("parallel-calls").as_bytes());
    let failed = r#""toolCallId":"t1","success":false,"error":{"message":"Path does not exist","code":"failure"}"#;
    assert!(written.contains(failed), "{written}");
    let is_flag = |name: &str| name == "tool_result.is_error";
    assert!(losses.iter().any(|(kind, name, _)| kind == LossKind::Flattened && is_flag(name)));
}

#[test]
fn events_are_read() {
    let expected = [
        "user text Think",
        "assistant thinking Let me think. c2lnMQ==",
        "assistant block",
        "assistant thinking  c2lnMg==",
        "assistant text Thought.",
        "assistant call t1 view {\"path\":\"a.rs\"}",
        "user result t1: text ok",
        "assistant thinking And more. c2lnMw==",
        "assistant call t2 view {\"path\":\"b.rs\"}",
        "user result t2: text ok",
        "assistant text Done.",
    ];
    assert_eq!(said("thinking"), expected);
    let expected = [
        "user text One",
        "assistant text 1",
        "Compaction ",
        "summary text Summary of one.",
        "user text Two",
        "assistant text 2",
        "Warning It failed.",
        "user text Three",
        "assistant text 3",
    ];
    assert_eq!(said("compaction"), expected);
    let expected = [
        "meta text Hidden",
        "meta text By the client",
        "meta text <task-notification>\nDone",
        "user text A prompt",
        "assistant text Yes.",
    ];
    assert_eq!(said("harness-texts"), expected);
    let expected = [
        "user result t1: text bad",
        "user result t2: ",
        "user result t3: ",
        "user result t4: text fine",
    ];
    let results: Vec<_> =
        said("errors-with-results").into_iter().map(|it| it.replace("failed ", "")).collect();
    assert_eq!(results[5..9], expected);
}

#[test]
fn tokens_are_counted_with_the_cache_apart() {
    let mut totals = core_model::TokenTotals::default();
    each_event(fixture("tokens").as_bytes(), |_, event| totals.push(event));
    let tokens = totals.total();
    let counts = (tokens.input, tokens.cache_read, tokens.cache_creation, tokens.output);
    assert_eq!(counts, (150, 140, 10, 30));
}

#[test]
fn members_without_a_place_are_named() {
    let (_, losses) = rewrite(fixture("one-call").as_bytes());
    let names: BTreeSet<_> = losses.iter().map(|(_, name, _)| name.to_owned()).collect();
    for name in ["data.transformedContent", "data.delivery", "assistant.turn_start"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

#[test]
fn lines_of_other_formats_are_not_ours() {
    let detects = |line: &str| {
        format_copilot::detect(Scanner::default().scan_slice(line.as_bytes(), 0).expect("valid"))
    };
    assert!(detects(r#"{"type":"assistant.message","data":{},"id":"x"}"#));
    assert!(detects(r#"{"type":"abort","data":{"reason":"x"},"id":"x","parentId":null}"#));
    for line in [
        r#"{"type":"session","data":{},"id":"x","parentId":null}"#,
        r#"{"type":"user.message","data":[],"id":"x"}"#,
        r#"{"type":"user.message","data":{}}"#,
        r#"{"type":"message","id":"x","parentId":null,"message":{"role":"user"}}"#,
        "[]",
    ] {
        assert!(!detects(line), "{line}");
    }
}
