//! Compares the strict check with clido's own decoding, rebuilt with serde from clido's
//! declarations.

use format_clido::validate_strict;
use serde::Deserialize;
use serde_json::Value;

use crate::shared::declared::Declared;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only whether it can be decoded is asked")]
enum ContentBlock {
    Text { text: String },
    ToolUse { id: String, name: String, input: Value },
    ToolResult { tool_use_id: String, content: String, is_error: bool },
    Thinking { thinking: String },
    Image { media_type: String, base64_data: String },
}

fn is_block(block: &Value) -> bool {
    serde_json::from_value::<ContentBlock>(block.clone()).is_ok()
}

/// The stage at which clido refuses a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Load,
    Resume,
}

/// Returns the stage at which clido refuses a file.
fn refused_at(bytes: &[u8]) -> Option<Stage> {
    let mut stage = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { return Some(Stage::Load) };
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Err(_) => return Some(Stage::Load),
            Ok(Declared::Meta { schema_version: 2.., .. }) => return Some(Stage::Load),
            Ok(Declared::UserMessage { content, .. })
            | Ok(Declared::AssistantMessage { content })
                if !content.iter().all(is_block) =>
            {
                stage = Some(Stage::Resume);
            }
            Ok(_) => {}
        }
    }
    stage
}

fn found_at(bytes: &[u8]) -> Option<Stage> {
    let problems = validate_strict(bytes);
    let stages = || {
        problems.iter().filter(|problem| problem.stops()).map(|problem| {
            if problem.rule.starts_with("block-") { Stage::Resume } else { Stage::Load }
        })
    };
    stages().find(|stage| *stage == Stage::Load).or(stages().find(|stage| *stage == Stage::Resume))
}

#[track_caller]
fn agree(bytes: &[u8]) {
    assert_eq!(found_at(bytes), refused_at(bytes), "{}", String::from_utf8_lossy(bytes));
}

const LINES: &[&str] = &[
    r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"t","project_path":"/p"}"#,
    r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"a"},{"type":"image","media_type":"i","base64_data":"","source":{}}]}"#,
    r#"{"type":"assistant_message","content":[{"thinking":"x","type":"thinking","signature":"s"},{"id":"t","name":"n","input":null,"type":"tool_use"},{"type":"tool_result","tool_use_id":"t","content":"c","is_error":false}]}"#,
    r#"{"type":"tool_call","tool_use_id":"t","tool_name":"n","input":{"a":[1,-2.5e3]}}"#,
    r#"{"type":"tool_result","tool_use_id":"t","content":"","is_error":true,"duration_ms":18446744073709551615,"path":null,"content_hash":"x","mtime_nanos":0}"#,
    r#"{"type":"system","subtype":"any","message":null}"#,
    r#"{"type":"result","exit_status":"any","total_cost_usd":1,"num_turns":4294967295,"duration_ms":0}"#,
    r#"{"title":"a","type":"title"}"#,
];

#[test]
fn clidos_own_lines_are_in_order() {
    let session = LINES.join("\n");
    assert_eq!(validate_strict(session.as_bytes()), []);
    for line in LINES {
        agree(line.as_bytes());
        assert_eq!(found_at(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn members_of_every_kind_in_every_place() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let values = [
        "null",
        "true",
        "0",
        "1",
        "2",
        "-0",
        "-1",
        "1.0",
        "1e0",
        "1E400",
        "4294967296",
        "18446744073709551616",
        "1e-400",
        "\"\"",
        "\"a\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u0000\"",
        "[]",
        "{}",
        "[1]",
        "[{}]",
        "[{\"type\":\"text\",\"text\":\"a\"}]",
        "[{\"type\":\"document\"}]",
        "[[\"text\"]]",
        "{\"a\":1,\"a\":2}",
        "\"\\udc00\\ud800\"",
        &"9".repeat(310),
        &deep(123),
        &deep(124),
        &deep(125),
        &deep(126),
        &deep(127),
        &deep(128),
    ];
    for line in LINES {
        let parsed: serde_json::Map<String, Value> = serde_json::from_str(line).expect("an object");
        let spelled = |skip: &str, value: Option<&str>| {
            let mut members: Vec<String> = parsed
                .iter()
                .filter(|(key, _)| *key != skip)
                .map(|(key, value)| format!("\"{key}\":{value}"))
                .collect();
            members.extend(value.map(|value| format!("\"{skip}\":{value}")));
            format!("{{{}}}", members.join(","))
        };
        for key in parsed.keys().map(String::as_str).chain(["unknown"]) {
            agree(spelled(key, None).as_bytes());
            for value in values {
                agree(spelled(key, Some(value)).as_bytes());
            }
        }
        for value in values {
            // The same in a block, and as a second member.
            for key in ["text", "thinking", "input", "is_error", "content", "type", "source", "x"] {
                let from = format!("\"{key}\":");
                agree(line.replacen(&from, &format!("\"{key}\":{value},\"_\":"), 2).as_bytes());
                agree(line.replace('{', &format!("{{\"{key}\":{value},")).as_bytes());
            }
        }
    }
}

#[test]
fn framing() {
    let (meta, user) = (LINES[0], LINES[1]);
    let cases = [
        String::new(),
        "\n\n".into(),
        format!("{meta}\r\n\r\n \t\u{a0}\u{2003}\n{user}"),
        format!("\u{feff}{meta}\n"),
        format!("{meta}{user}\n"),
        format!("{meta}\n{}", &user[..20]),
        format!(" {meta} \n\t{user}\r"),
        "1\n".into(),
        "null".into(),
        "\"meta\"".into(),
        meta.replace('p', "\\u0070"),
        meta.replace("{", "{\"sess\\u0069on_id\":\"x\","),
    ];
    for case in cases {
        agree(case.as_bytes());
    }
    agree(b"{\"type\":\"title\",\"title\":\"\xff\"}");
    agree(b"{\"type\":\"title\",\"title\":\"a\tb\"}");
}

#[test]
fn every_cut_and_many_changed_bytes() {
    let session = LINES.join("\n");
    for end in 0..session.len() {
        agree(&session.as_bytes()[..end]);
    }
    let replacements = b"\"{}[]:,0-9.eE\\ut \n\xff";
    for line in LINES {
        for at in 0..line.len() {
            for byte in replacements {
                let mut bytes = line.as_bytes().to_vec();
                bytes[at] = *byte;
                agree(&bytes);
            }
        }
    }
}

#[test]
fn what_is_loaded_but_not_listed() {
    let rules = |session: &str| {
        let problems = validate_strict(session.as_bytes());
        assert!(problems.iter().all(|problem| !problem.stops()));
        problems.iter().map(|it| format!("{} {}", it.line, it.rule)).collect::<Vec<_>>()
    };
    let zero = LINES[6].replace("4294967295", "0");
    assert_eq!(rules(""), ["1 meta-first", "1 user-message"]);
    assert_eq!(rules(&[LINES[1], LINES[0]].join("\n")), ["1 meta-first"]);
    let session = [LINES[0], LINES[1], &zero].join("\n");
    assert_eq!(rules(&session), ["3 turns"]);
    assert!(rules(&[&session, LINES[6]].join("\n")).is_empty());
}

#[test]
fn what_the_model_sees_otherwise() {
    let call = r#"{"type":"assistant_message","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#;
    let result = r#"{"type":"tool_result","tool_use_id":"t","content":"","is_error":false}"#;
    let said = r#"{"type":"assistant_message","content":[{"type":"text","text":"a"}]}"#;
    let block = r#"{"type":"user_message","role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"","is_error":false}]}"#;
    let found = |lines: &[&str]| {
        let session = [&LINES[..2], lines].concat().join("\n");
        validate_strict(session.as_bytes()).iter().map(|it| (it.line, it.rule)).collect::<Vec<_>>()
    };
    assert_eq!(found(&[call, result, said]), []);
    assert_eq!(found(&[call, block, said]), []);
    assert_eq!(found(&[call]), [(3, "open-call")]);
    assert_eq!(found(&[result]), [(3, "orphan-result")]);
    assert_eq!(found(&[call, said, result]), [(3, "open-call"), (5, "orphan-result")]);
    assert_eq!(found(&[call, result, block]), [(5, "result-twice")]);
    let stale = result.replace("\"is_error\"", "\"content_hash\":\"sha256:00\",\"is_error\"");
    assert_eq!(found(&[call, &stale]), [(4, "content-hash")]);
    let odd = LINES[0].replace("\"t\"", "\"20é6\"");
    let problems = validate_strict([&odd, LINES[1]].join("\n").as_bytes());
    assert_eq!((problems[0].rule, problems[0].stops()), ("start-time", false));
}
