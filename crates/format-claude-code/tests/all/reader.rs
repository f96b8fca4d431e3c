//! Tests of the reader with lines of each shape.

use core_model::{Block, Body, Content, Event, Field, NoticeKind, Role, TitleRank};
use format_claude_code::{FORMAT, detect};
use jsonl::Scanner;

fn with<T>(line: &str, check: impl FnOnce(&Event<'_>) -> T) -> T {
    let mut scanner = Scanner::default();
    check(&FORMAT.first_event(scanner.scan_slice(line.as_bytes(), 0).expect("valid")))
}

#[test]
fn three_shapes_of_summary() {
    let lines = [
        r#"{"type":"summary","summary":"S","leafUuid":"u"}"#,
        r#"{"type":"summary","message":{"summary":"S"}}"#,
        r#"{"sessionId":"s","type":"summary","message":{"content":"S","timestamp":1700003600.0}}"#,
    ];
    for line in lines {
        with(line, |event| {
            let Body::Title(title) = event.body else { unreachable!("{line}") };
            assert!(title.text.is("S") && title.rank == TitleRank::Summary);
        });
    }
    assert!(with(r#"{"type":"summary","summary":5}"#, |event| matches!(event.body, Body::Other)));
}

#[test]
fn times_where_the_seeds_have_them() {
    let line = r#"{"type":"user","message":{"content":[],"timestamp":1700000000.0}}"#;
    with(line, |event| assert_eq!(event.context.time.map(|t| t.as_str()), Some("1700000000.0")));
    let line = r#"{"type":"user","timestamp":"t","message":{"timestamp":1}}"#;
    with(line, |event| assert_eq!(event.context.time.map(|t| t.as_str()), Some("\"t\"")));
}

#[test]
fn notices_by_subtype_and_level() {
    let cases = [
        (r#""subtype":"compact_boundary""#, NoticeKind::Compaction),
        (r#""subtype":"api_error","level":"error""#, NoticeKind::Error),
        (r#""level":"error""#, NoticeKind::Error),
        (r#""level":"warning""#, NoticeKind::Warning),
        (r#""subtype":"turn_duration","durationMs":5"#, NoticeKind::Info),
    ];
    for (members, kind) in cases {
        with(&format!(r#"{{"type":"system",{members}}}"#), |event| {
            assert!(matches!(event.body, Body::Notice(notice) if notice.kind == kind), "{members}");
        });
    }
    let line = r#"{"type":"system","subtype":"compact_boundary","content":"Compacted","compactMetadata":{"trigger":"auto","preTokens":155000}}"#;
    with(line, |event| {
        let Body::Notice(notice) = event.body else { unreachable!() };
        assert!(notice.trigger.is_some_and(|trigger| trigger.is("auto")));
        assert_eq!(notice.pre_tokens.map(|tokens| tokens.as_str()), Some("155000"));
        assert_eq!(notice.text.map(|text| text.as_str()), Some("\"Compacted\""));
    });
}

#[test]
fn lines_that_say_nothing_still_have_a_context() {
    let line = r#"{"type":"attachment","uuid":"u","parentUuid":"p","cwd":"/w","attachment":{}}"#;
    with(line, |event| {
        assert!(matches!(event.body, Body::Other));
        assert!(matches!(event.context.parent, Field::Value(parent) if parent.is("p")));
        assert!(event.context.cwd.is_some_and(|cwd| cwd.is("/w")));
    });
    let line = r#"{"type":"permission-mode","permissionMode":"plan","sessionId":"s"}"#;
    with(line, |event| assert!(event.context.permission_mode.is_some_and(|mode| mode.is("plan"))));
}

#[test]
fn a_tool_result_on_a_line_of_its_own() {
    let lines = [
        r#"{"type":"tool_result","sessionId":"s","message":{"tool_use_id":"t","content":[{"type":"text","text":"x"}],"is_error":true}}"#,
        r#"{"type":"tool_result","sessionId":"s","tool_use_id":"t","content":"x","is_error":true}"#,
    ];
    for line in lines {
        with(line, |event| {
            let message = event.message().expect("a message");
            let result = message.tool_results().next().expect("a result");
            assert!(message.role == Role::User && result.tool_use_id.is("t"));
            assert_eq!(result.is_error, Field::Value(true));
            assert!(!event.is_prompt());
        });
    }
}

#[test]
fn blocks_of_each_kind() {
    let line = r#"{"type":"assistant","message":{"content":["bare",{"type":"thinking","thinking":"","signature":"s"},{"type":"server_tool_use","id":"i","name":"web_search","input":"{}"},{"type":"image","source":{"type":"url","url":"u"}},{"type":"redacted_thinking","data":"d"},{"type":"text"},null,[]]}}"#;
    with(line, |event| {
        let kinds: Vec<_> = event
            .message()
            .expect("a message")
            .blocks()
            .map(|(block, _)| match block {
                Block::Text(_) => "text",
                Block::Thinking { signature: Some(_), .. } => "thinking",
                Block::ToolUse(tool) if tool.is_server => "server",
                Block::Other { kind: Some(_), .. } => "other",
                Block::Other { kind: None, .. } => "nothing",
                _ => "?",
            })
            .collect();
        let expected =
            ["text", "thinking", "server", "other", "other", "other", "nothing", "nothing"];
        assert_eq!(kinds, expected);
    });
}

#[test]
fn thinking_beside_the_message_comes_before_its_blocks() {
    let said = |line: &str| {
        with(line, |event| {
            let message = event.message().expect("a message");
            assert_eq!(message.role, Role::Assistant);
            let words = message.blocks().map(|(block, _)| match block {
                Block::Thinking { text, signature: None } => format!("({})", text.decode()),
                Block::Text(text) => text.decode().into_owned(),
                _ => "?".to_owned(),
            });
            words.collect::<Vec<_>>()
        })
    };
    let blocks = r#"[{"type":"text","text":"c"}]"#;
    let line = |content: &str| {
        format!(
            r#"{{"unsignedThinking":["a","b"],"type":"assistant","message":{{"content":{content}}}}}"#
        )
    };
    assert_eq!(said(&line(blocks)), ["(a)", "(b)", "c"]);
    assert_eq!(said(&line("\"c\"")), ["(a)", "(b)", "c"]);
    for nothing in ["[]", "null"] {
        assert_eq!(said(&line(nothing)), ["(a)", "(b)"]);
    }
    let alone =
        r#"{"unsignedThinking":["a"],"type":"system","subtype":"unsigned_thinking","content":""}"#;
    assert_eq!(said(alone), ["(a)"]);
    assert_eq!(said(&line(blocks).replace("[\"a\",\"b\"]", "\"a\"")), ["c"]);
    assert_eq!(said(&line(blocks).replace("[\"a\",\"b\"]", "[5,\"b\"]")), ["?", "(b)", "c"]);
    let user = line(blocks).replace("assistant", "user");
    assert_eq!(with(&user, |event| event.message().map(|said| said.blocks().count())), Some(1));
    let other = alone.replace("unsigned_thinking", "informational");
    assert!(with(&other, |event| matches!(event.body, Body::Notice(_))));
}

#[test]
fn content_of_any_shape() {
    let contents = ["null", "\"\"", "[]", "{}", "5", "[null]", "[\"x\"]", "[[]]"];
    for content in contents {
        let line = format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#);
        with(&line, |event| {
            let message = event.message().expect("a message");
            let is_prompt = ["\"\"", "[null]", "[\"x\"]", "[[]]"].contains(&content);
            assert_eq!(message.is_prompt(), is_prompt, "{content}");
        });
    }
    let is_text = |event: &Event<'_>| {
        event.message().is_some_and(|message| matches!(message.content, Content::Text(_)))
    };
    assert!(with(r#"{"type":"user","message":"words"}"#, is_text));
    assert!(with(r#"{"type":"user","content":"words"}"#, is_text));
    assert!(!with(r#"{"type":"user"}"#, is_text));
}

#[test]
fn detection_by_keys_and_not_by_names_alone() {
    let is_ours = |line: &str| with(line, |event| detect(event.value));
    for line in [
        r#"{"type":"user","message":{}}"#,
        r#"{"type":"user","message":{},"session_id":"s","sessionId":"s"}"#,
        r#"{"parentUuid":null}"#,
        r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
        r#"{"type":"queue-operation"}"#,
        r#"{"type":"carried","_carried":""}"#,
    ] {
        assert!(is_ours(line), "{line}");
    }
    for line in [
        r#"{"type":"user","message":{},"session_id":"s","parent_tool_use_id":null}"#,
        r#"{"type":"system","subtype":"init","session_id":"s"}"#,
        r#"{"type":"system","subtype":"info","message":"m"}"#,
        r#"{"type":"user_message","role":"user","content":[]}"#,
        r#"{"type":"session_meta","payload":{"id":"i"}}"#,
        r#"{"sessionId":"s","projectHash":"h","messages":[]}"#,
        r#"{"display":"d","project":"p","sessionId":"s"}"#,
        r#"{"content":[],"model":"m"}"#,
        "[]",
        "5",
    ] {
        assert!(!is_ours(line), "{line}");
    }
}
