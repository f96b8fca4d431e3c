//! Tests of the reader, the checker and the plan with fixtures.

use core_model::{Block, Body, NoticeKind, Role};
use format_opencode::{Reader, validate};

fn path(name: &str) -> String {
    format!("{}/../../fixtures/opencode/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

/// Returns a line for each event of a fixture.
fn events(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for record in Reader::open(path(name)).expect("a fixture") {
        let Ok(record) = record else { continue };
        record.for_each_event(|event| {
            found.push(match &event.body {
                Body::Start(_) => {
                    format!("start {}", event.context.session_id.expect("an id").decode())
                }
                Body::Title(title) => format!("title {}", title.text.decode()),
                Body::Notice(notice) => {
                    let kind = match notice.kind {
                        NoticeKind::Compaction => "compaction",
                        NoticeKind::Error => "error",
                        NoticeKind::Warning => "warning",
                        _ => "notice",
                    };
                    let text = notice.text.and_then(|text| text.as_text());
                    format!("{kind} {}", text.map(|text| text.decode()).unwrap_or_default())
                }
                Body::Message(message) => {
                    let role = match (message.role, message.is_summary, message.is_meta) {
                        (_, true, _) => "summary",
                        (Role::Assistant, ..) => "assistant",
                        (Role::User, _, true) => "meta",
                        (Role::User, ..) => "user",
                    };
                    let blocks = message.blocks().map(|(block, _)| match block {
                        Block::Text(_) => "text".to_owned(),
                        Block::Thinking { signature, .. } => {
                            format!("thinking {}", signature.is_some())
                        }
                        Block::ToolUse(tool) => format!("call {}", tool.name.decode()),
                        Block::ToolResult(result) => {
                            let n_blocks = result.content.blocks().count();
                            format!("result {:?} {n_blocks}", result.is_error.value())
                        }
                        Block::Image { media_type, .. } => media_type.decode().into_owned(),
                        _ => "other".to_owned(),
                    });
                    format!("{role} {}", blocks.collect::<Vec<_>>().join(", "))
                }
                _ => "other".to_owned(),
            });
            true
        });
    }
    found
}

#[test]
fn events_of_fixtures() {
    for (name, expected) in [
        ("one-call", vec!["user text", "assistant text, call read", "user result Some(false) 1"]),
        ("thinking", vec!["user text", "assistant thinking true, text"]),
        ("error", vec!["user text", "error mock says no"]),
        ("image", vec!["user text", "assistant call read", "user result Some(false) 2"]),
        ("interrupted", vec!["user text", "assistant text, call bash"]),
        ("compaction", vec!["compaction ", "summary text"]),
        ("image-input", vec!["user text, text, image/png, text"]),
    ] {
        let found = events(name);
        let messages =
            found.iter().filter(|it| !it.starts_with("start") && !it.starts_with("title"));
        assert_eq!(messages.collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn exports_of_the_client_can_be_imported() {
    for name in [
        "one-call",
        "thinking",
        "error",
        "image",
        "interrupted",
        "compaction",
        "reverted",
        "image-input",
    ] {
        let document = std::fs::read(path(name)).expect("a fixture");
        let stops: Vec<_> = validate(&document).into_iter().filter(|it| it.stops()).collect();
        assert_eq!(stops, [], "{name}");
    }
}

#[test]
fn faults_that_stop_an_import_are_found() {
    let document = std::fs::read_to_string(path("one-call")).expect("a fixture");
    for (what, with, rule) in [
        ("\"slug\"", "\"slag\"", "session-member"),
        ("\"mode\"", "\"mood\"", "response-member"),
        ("\"agent\"", "\"agency\"", "message-member"),
        ("\"root\"", "\"roof\"", "response-path"),
        ("\"cost\"", "\"coast\"", "response-cost"),
        ("\"cache\"", "\"cash\"", "response-tokens"),
        ("\"role\": \"user\"", "\"role\": \"tool\"", "role"),
        ("\"type\": \"text\"", "\"type\": \"test\"", "part-type"),
        ("\"callID\"", "\"callId\"", "part-member"),
        ("\"title\": \"home", "\"tilt\": \"home", "tool-state"),
        ("\"messageID\": \"msg_", "\"messageID\": \"msg_x", "part-message"),
        ("\"sessionID\": \"ses_", "\"sessionID\": \"ses_x", "message-session"),
        ("\"messages\": [", "\"messages\": [[", "json"),
    ] {
        let changed = document.replace(what, with);
        assert_ne!(changed, document, "{what}");
        let rules: Vec<_> = validate(changed.as_bytes())
            .into_iter()
            .filter(|it| it.stops())
            .map(|it| it.rule)
            .collect();
        assert!(rules.contains(&rule), "{what}: {rules:?}");
    }
}
