//! Compares `validate` and the reader with Copilot itself: hand-made sessions, and what 1.0.102 did with
//! them.
//!
//! A line of `cases.jsonl` has the session, whether Copilot goes on with it, and the history that it
//! sends.

use core_model::{Block, Problem};
use format_copilot::{FORMAT, validate};
use jsonl::{Scanner, Value, lines};

const CASES: &str = include_str!("cases.jsonl");

/// A session, and the client's answer.
struct Case {
    name: String,
    loads: bool,
    history: Option<Vec<String>>,
    session: String,
}

fn cases() -> Vec<Case> {
    CASES.lines().map(case).collect()
}

fn case(line: &str) -> Case {
    let mut scanner = Scanner::default();
    let case = scanner.scan_slice(line.as_bytes(), 0).expect("a case");
    let get = |name: &str| case.get(name).expect("a member");
    let text = |value: Value<'_>| value.text().map(|text| text.decode().into_owned());
    let history = get("history");
    Case {
        name: text(get("case")).expect("a name"),
        loads: get("loads").bool().expect("a bool"),
        history: (!history.is_null())
            .then(|| history.items().map(|item| text(item).expect("a text")).collect()),
        session: text(get("session")).expect("a session"),
    }
}

#[test]
fn what_the_client_refuses_is_found() {
    let mut wrong = Vec::new();
    for case in cases() {
        let problems = validate(case.session.as_bytes());
        if problems.iter().any(Problem::stops) == case.loads {
            wrong.push(format!("{}: loads {}: {problems:?}", case.name, case.loads));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what a session says, as the client sends it, sorted: texts, signed thinking, calls, and the
/// first result of each call.
fn said(session: &str) -> Vec<String> {
    let (mut said, mut called, mut answered) = (Vec::new(), Vec::new(), Vec::new());
    let mut scanner = Scanner::default();
    for line in lines(session.as_bytes()) {
        let Ok(value) = scanner.scan(&line) else { continue };
        FORMAT.for_each_event(value, |event| {
            let Some(message) = event.message().filter(|_| !event.is_sub_agent()) else {
                return true;
            };
            for (block, _) in message.blocks() {
                match block {
                    Block::Text(text) if text.is_blank() => {}
                    Block::Text(text) => {
                        let is_user = message.role == core_model::Role::User;
                        let role = if is_user { "user" } else { "assistant" };
                        said.push(format!("{role} text {}", text.decode()));
                    }
                    Block::Thinking { text, signature: Some(signature) } => said.push(format!(
                        "assistant thinking {} {}",
                        text.decode(),
                        signature.decode()
                    )),
                    Block::RedactedThinking { data } => {
                        said.push(format!("assistant thinking  {}", data.decode()));
                    }
                    Block::ToolUse(tool) => {
                        let id = tool.id.decode().into_owned();
                        let input = tool.input.json().raw().as_str().replace("[1]", "{}");
                        said.push(format!(
                            "assistant call {id} {} {}",
                            tool.name.decode(),
                            input.replace("null", "{}")
                        ));
                        called.push(id);
                    }
                    Block::ToolResult(result) => {
                        let id = result.tool_use_id.decode().into_owned();
                        if called.contains(&id) && !answered.contains(&id) {
                            let words = result.content.joined();
                            said.push(format!("user result {id} {words}"));
                            answered.push(id);
                        }
                    }
                    Block::Image { .. } => said.push("user image".to_owned()),
                    _ => {}
                }
            }
            true
        });
    }
    said.sort();
    said
}

/// Cases whose requests have words that the client adds, or fewer than the session, for the reason.
const OTHERS: [(&str, &str); 14] = [
    ("g1", "texts of lines with one `apiCallId` are joined, and later thinking is dropped"),
    ("attachments-image", "a picture gets a text"),
    ("asset", "a picture gets a text, and pictures of results are not sent"),
    ("pdf", "attachments get texts"),
    ("compaction", "the summary is in words of the client"),
    ("compact-min", "the summary is in words of the client"),
    ("c-trig", "the summary is in words of the client"),
    ("result-missing", "a call without a result gets one"),
    ("result-missing-at-end", "a call without a result gets one"),
    ("transformed", "the client's form of a prompt"),
    ("m-session.compaction_complete-None", "the summary is in words of the client"),
    ("image-result", "pictures of results are not sent"),
    ("badid", "the second call of an id gets the second result"),
    ("reasoning-text", "words of thinking without blocks are not sent"),
];

#[test]
fn what_the_client_sends_is_read() {
    let mut wrong = Vec::new();
    let mut n_compared = 0;
    for case in cases() {
        let Some(mut history) = case.history else { continue };
        if OTHERS.iter().any(|(name, _)| *name == case.name) {
            continue;
        }
        history.sort();
        let said = said(&case.session);
        if said != history {
            wrong.push(format!("{}: {said:?}\n  {history:?}", case.name));
        }
        n_compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_compared > 40, "{n_compared}");
}
