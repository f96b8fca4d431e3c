//! Tests of values that a client would read differently: they are written in another form, and the report names them.

use convert::{CarryMode, Conversion, FORMATS, by_name};
use core_model::{Block, Options, Role};

use crate::shared::said::for_each_event;

const CONTEXT: &str = r#""sessionId":"0199a213-81d4-7800-8000-000000000001","timestamp":"2026-01-01T10:00:00.000Z","cwd":"/p","version":"2""#;

/// Returns a session of Claude Code with these messages: a role and a content, as JSON.
fn session(messages: &[(&str, &str)]) -> String {
    let mut lines = String::new();
    for (n, (role, content)) in messages.iter().enumerate() {
        let parent = n.checked_sub(1).map_or("null".to_owned(), |n| format!("\"u{n}\""));
        let more = if *role == "assistant" { r#""id":"","model":"claude-x","# } else { "" };
        lines += &format!(
            r#"{{"type":"{role}","uuid":"u{n}","parentUuid":{parent},{CONTEXT},"message":{{{more}"role":"{role}","content":{content}}}}}"#
        );
        lines.push('\n');
    }
    lines
}

/// Converts a session, and returns the target and the names of its losses. The session comes home, without a word.
fn written(source: &str, to: &str) -> (String, Vec<String>) {
    let [from, to] = ["claude-code", to].map(|name| by_name(name).expect("a format"));
    let carry = CarryMode::Inline;
    let there = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let written = there.convert(source.as_bytes(), None).expect("in memory");
    let back = Conversion { from: to, to: from, ..there };
    let home = back.convert(written.bytes.as_slice(), None).expect("in memory");
    assert_eq!(std::str::from_utf8(&home.bytes), Ok(source), "{}", to.name);
    assert!(!home.report.wants_attention(), "{}: {:?}", to.name, home.report);
    let losses = written.report.losses.iter().map(|(_, name, _)| name.to_string()).collect();
    (String::from_utf8(written.bytes).expect("text"), losses)
}

/// Returns the texts, calls and results of a file in their order.
fn said(bytes: &str, format: &str) -> Vec<String> {
    let mut said = Vec::new();
    for_each_event(bytes.as_bytes(), by_name(format).expect("a format"), |event| {
        let Some(message) = event.message() else { return };
        let role = if message.role == Role::User { "user" } else { "assistant" };
        message.each_block(|block| {
            said.push(match block {
                Block::Text(text) => format!("{role} {}", text.decode()),
                Block::ToolUse(tool) => format!("call {}", tool.id.decode()),
                Block::ToolResult(result) => format!("result {}", result.content.joined()),
                _ => return,
            });
        });
    });
    said
}

const PROMPT: (&str, &str) = ("user", r#""Look""#);
const ANSWER: (&str, &str) = ("assistant", r#"[{"type":"text","text":"done"}]"#);

/// Returns the messages of a call with an id and an input, and of its result.
fn call(id: &str, input: &str) -> [String; 2] {
    [
        format!(r#"[{{"type":"tool_use","id":"{id}","name":"Bash","input":{input}}}]"#),
        format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"out"}}]"#),
    ]
}

/// Returns a session with a prompt, calls, and an answer.
fn calls(calls: &[[String; 2]]) -> String {
    let mut messages = vec![PROMPT];
    for [call, result] in calls {
        messages.extend([("assistant", &**call), ("user", &**result)]);
    }
    session(&[&messages[..], &[ANSWER]].concat())
}

#[test]
fn messages_with_empty_ids_are_not_one_response() {
    let source = calls(&[call("t1", "{}")]);
    for to in ["pi", "gemini", "qwen", "opencode", "codex", "copilot", "clido"] {
        let said = said(&written(&source, to).0, to);
        let said: Vec<_> = said.iter().map(String::as_str).collect();
        assert_eq!(said, ["user Look", "call t1", "result out", "assistant done"], "{to}");
    }
}

#[test]
fn inputs_that_copilot_cannot_read_are_strings() {
    let deep = |n: usize| format!("{{\"a\":{}1{}}}", "[".repeat(n), "]".repeat(n));
    for (input, expected) in [
        ("{\"limit\":1e400}", Some("{\"limit\":\"1e400\"}")),
        ("{\"limit\":-1.8e308}", Some("{\"limit\":\"-1.8e308\"}")),
        ("{\"limit\":1e300}", None),
        (&deep(127), Some("\"[nested too deeply]\"")),
        (&deep(126), None),
    ] {
        let source = calls(&[call("t1", input)]);
        let (target, losses) = written(&source, "copilot");
        assert!(target.contains(expected.unwrap_or(input)), "{target}");
        let is_said = losses.iter().any(|name| name == "tool_use.input");
        assert_eq!(is_said, expected.is_some(), "{input}: {losses:?}");
        // What the writer does not write, the check names.
        let unmended = target.replace(expected.unwrap_or("no such words"), input);
        let is_found = format_copilot::validate(unmended.as_bytes())
            .iter()
            .any(|problem| problem.rule == "arguments");
        assert_eq!(is_found, expected.is_some(), "{unmended}");
    }
}

#[test]
fn ids_that_opencode_sends_alike_are_two() {
    let ids = ["functions.bash:0", "functions.bash.0", "functions_bash_0", "other:1"];
    let source = calls(&ids.map(|id| call(id, "{}")));
    let (target, losses) = written(&source, "opencode");
    let sent: Vec<String> = said(&target, "opencode")
        .iter()
        .filter_map(|said| said.strip_prefix("call "))
        .map(|id| id.replace(|char: char| !char.is_ascii_alphanumeric(), "_"))
        .collect();
    assert_eq!(sent[0], "functions_bash_0");
    assert_eq!(sent[3], "other_1");
    assert!(sent[1] != sent[0] && sent[2] != sent[0] && sent[1] != sent[2], "{sent:?}");
    assert!(losses.iter().any(|name| name == "tool_use.id"), "{losses:?}");
}

#[test]
fn an_image_without_its_padding_is_a_placeholder_in_opencode() {
    let image = |data: &str, kind: &str| {
        format!(
            r#"[{{"type":"text","text":"See"}},{{"type":"image","source":{{"type":"base64","media_type":"{kind}","data":"{data}"}}}}]"#
        )
    };
    for (data, is_written) in [("iVBORw==", true), ("iVBORw", false)] {
        let source = session(&[("user", &image(data, "image/png")), ANSWER]);
        let (target, losses) = written(&source, "opencode");
        assert_eq!(target.contains("data:image/png;base64,"), is_written, "{target}");
        assert_eq!(losses.iter().any(|name| name == "block.image"), !is_written, "{losses:?}");
    }
    for (kind, expected) in [("image/jpg", "image/jpeg"), ("IMAGE/PNG", "image/png")] {
        let source = session(&[("user", &image("iVBORw==", kind)), ANSWER]);
        for to in ["qwen", "gemini", "copilot", "pi"] {
            let (target, losses) = written(&source, to);
            let member = format!("\"mimeType\":\"{expected}\"");
            assert!(target.contains(&member), "{to}: {target}");
            let is_said = losses.iter().any(|name| name == "block.image.media_type");
            assert!(is_said, "{to}: {losses:?}");
        }
    }
}

#[test]
fn texts_that_gemini_cli_does_not_send_are_said() {
    for (parts, is_sent) in [
        (r#"{"type":"text","text":"<session_"},{"type":"text","text":"context>"}"#, false),
        (r#"{"type":"text","text":"\ufeff"},{"type":"text","text":"? z"}"#, false),
        (r#"{"type":"text","text":" \ufeff/help"}"#, false),
        (r#"{"type":"text","text":"\u0085/help"}"#, true),
        (r#"{"type":"text","text":"<session_"},{"type":"text","text":" context>"}"#, true),
    ] {
        let source = session(&[PROMPT, ANSWER, ("user", &format!("[{parts}]"))]);
        let losses = written(&source, "gemini").1;
        let is_said = losses.iter().any(|name| name == "text");
        assert_eq!(is_said, !is_sent, "{parts}: {losses:?}");
    }
}

#[test]
fn an_id_with_a_newline_agrees_with_its_replacement() {
    let source = calls(&[call(r"a\nb", "{}"), call("a b", "{}")]);
    for to in ["qwen", "copilot", "pi", "gemini", "codex", "opencode"] {
        written(&source, to);
    }
}

#[test]
fn a_text_that_qwen_code_takes_for_a_failure_is_said() {
    for (text, is_sent) in [
        ("(request timeout)", false),
        (r"\n(request timeout) ", false),
        ("a (request timeout)", true),
    ] {
        let answer = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        let source = session(&[PROMPT, ("assistant", &answer), PROMPT, ANSWER]);
        let (target, losses) = written(&source, "qwen");
        assert_eq!(losses.iter().any(|name| name == "text"), !is_sent, "{text}: {losses:?}");
        let problems = format_gemini::validate(target.as_bytes());
        assert_eq!(problems.iter().any(|it| it.rule == "not-sent"), !is_sent, "{problems:?}");
    }
}
