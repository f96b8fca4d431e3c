//! Compares `validate_file`, `history` and the reader with Codex itself: hand-made sessions, and what
//! 0.169, 0.120 and 0.63 did with them.
//!
//! A line of `cases.jsonl` has the session, its path below the folder of Codex, whether each version
//! goes on with it (`null` if it was not asked), whether 0.169 lists it, and the history that 0.169
//! sends.

use std::{fs, path::Path};

use core_model::{Block, Problem, Role};
use format_codex::{FORMAT, history, validate_file};
use jsonl::{Scanner, Value, lines};

const CASES: &str = include_str!("cases.jsonl");

/// A session, and the clients' answers.
struct Case {
    name: String,
    path: String,
    loads: Option<bool>,
    loads_in_120: Option<bool>,
    loads_in_63: Option<bool>,
    is_listed: Option<bool>,
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
    let flag = |name: &str| get(name).bool();
    let items = |value: Value<'_>| value.items().filter_map(text).collect();
    let mut session = text(get("session")).expect("a string");
    if let Some(repeat) = case.get("repeat") {
        let numbers: Vec<_> = repeat.items().filter_map(|it| it.raw().as_u64()).collect();
        let (line_idx, times) = (numbers.first(), numbers.last().copied().expect("a number"));
        let repeated = session.split_inclusive('\n').enumerate().map(|(n, line)| {
            line.repeat(if Some(&(n as u64)) == line_idx { times as usize } else { 1 })
        });
        session = repeated.collect();
    }
    Case {
        name: text(get("case")).expect("a string"),
        path: text(get("path")).expect("a string"),
        loads: flag("loads"),
        loads_in_120: flag("loads_0.120"),
        loads_in_63: flag("loads_0.63"),
        is_listed: flag("listed"),
        history: Some(get("history")).filter(Value::is_array).map(items),
        session,
    }
}

impl Case {
    /// Returns the problems of the file in its place.
    fn problems(&self, home: &Path) -> Vec<Problem> {
        let path = home.join(self.path.trim_end_matches(".zst"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, &self.session).expect("written");
        let problems = validate_file(home, &path).expect("read");
        fs::remove_file(&path).expect("removed");
        problems
    }
}

/// Names of cases, each with the reason why our answer is not the client's.
type Differing = &'static [(&'static str, &'static str)];

/// Cases that the client refuses and the check only warns of, or the other way round.
const LOADED_OTHERWISE: Differing = &[
    ("by-name", "the client was asked for a title instead of an id, and started a new session"),
    ("by-name-event", "as `by-name`, with the title in an event"),
    ("plain-name", "a warning: the name of a converted file is chosen when it is installed"),
    ("odd-name", "as `plain-name`"),
    ("provider-other", "a warning: the client refuses the session under another provider only"),
];

/// Cases whose history differs.
const SENT_OTHERWISE: Differing = &[(
    "image-bad",
    "the client decodes the image, and sends a text if it cannot; the check warns",
)];

/// Cases whose events differ from the items that Codex sends.
const SHOWN_OTHERWISE: Differing = &[
    ("string-content", "a text where Codex wants parts is dropped by Codex, and shown by us"),
    ("roles", "a message of an unknown role is sent by Codex, and is no message for us"),
    ("empty-content", "a message without parts has no text to show"),
    ("image-bad", "the client sends a text if it cannot decode an image"),
    ("output-array", "the words of a result leave out its image"),
    ("call-no-output", "Codex adds the result `aborted`"),
    ("call-no-output-last", "Codex adds the result `aborted`"),
    ("output-no-call", "Codex drops a result without its call; readers see one line"),
    ("output-object", "Codex drops the result, and adds `aborted`; we show it"),
    ("output-null", "as `output-object`"),
    ("custom-with-fco", "Codex drops a result of the other kind, and adds `aborted`; we show it"),
    ("args-object", "Codex drops a call whose arguments are no string; we show it"),
    ("args-not-json", "arguments that are no JSON become a member of an object"),
    ("web-search", "an item without id and output is a call for us"),
    ("compaction-item", "a summary in ciphertext has no text to show"),
    ("compacted-replacement-call", "a call in `replacement_history` is not shown"),
    ("env-context-kept", "the client's own texts are shown, as meta"),
    ("user-event-only-env", "as `env-context-kept`"),
];

/// Fails unless exactly the listed cases differ.
fn assert_differ(listed: Differing, found: &[(String, String)]) {
    let is_listed = |name: &str| listed.iter().any(|(other, _)| *other == name);
    let new: Vec<_> = found.iter().filter(|(name, _)| !is_listed(name)).collect();
    assert!(new.is_empty(), "{} cases differ: {new:#?}", new.len());
    let is_found = |name: &str| found.iter().any(|(other, _)| other == name);
    let gone: Vec<_> = listed.iter().filter(|(name, _)| !is_found(name)).collect();
    assert!(gone.is_empty(), "these cases agree now: {gone:?}");
}

#[test]
fn what_stops_the_client_stops_the_check_and_nothing_else_does() {
    let home = tempfile::tempdir().expect("a folder");
    let (mut n_stopping, mut wrong) = (0, Vec::new());
    for case in cases() {
        let Some(loads) = case.loads else { continue };
        let problems = case.problems(home.path());
        let stops = problems.iter().any(|problem| problem.stops());
        n_stopping += usize::from(stops);
        if stops == loads {
            wrong.push((case.name, format!("loads {loads}: {problems:?}")));
        }
    }
    assert_differ(LOADED_OTHERWISE, &wrong);
    assert!(n_stopping > 10, "{n_stopping}");
}

#[test]
fn what_the_client_does_not_list_is_found() {
    let home = tempfile::tempdir().expect("a folder");
    let rules = ["not-listed", "source", "folder"];
    let mut wrong = Vec::new();
    for case in cases() {
        let Some(is_listed) = case.is_listed.filter(|_| case.loads == Some(true)) else { continue };
        let problems = case.problems(home.path());
        let is_found = problems.iter().any(|problem| rules.contains(&problem.rule));
        if is_found == is_listed {
            wrong.push((case.name, format!("listed {is_listed}: {problems:?}")));
        }
    }
    assert_differ(&[], &wrong);
}

#[test]
fn what_an_older_client_refuses_is_found() {
    let home = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for case in cases() {
        let is_refused = [case.loads_in_120, case.loads_in_63].contains(&Some(false));
        if is_refused && case.problems(home.path()).is_empty() {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_history_is_what_the_client_sends() {
    let (mut n_compared, mut wrong) = (0, Vec::new());
    for case in cases() {
        let Some(sent) = &case.history else { continue };
        let found: Vec<_> = history(case.session.as_bytes())
            .iter()
            .filter_map(|item| {
                let mut scanner = Scanner::default();
                said(scanner.scan_raw(item.as_raw()).expect("an item"))
            })
            .collect();
        n_compared += 1;
        if found != *sent {
            wrong.push((case.name.clone(), format!("sent {sent:?}, found {found:?}")));
        }
    }
    assert_differ(SENT_OTHERWISE, &wrong);
    assert!(n_compared > 100, "{n_compared}");
}

/// Returns an item in the words of a case; `None` if the client adds it by itself.
fn said(item: Value<'_>) -> Option<String> {
    let text = |name: &str| -> String {
        item.get(name).and_then(|it| it.text()).map_or_else(String::new, |it| it.decode().into())
    };
    let words = |name: &str| -> String {
        let Some(value) = item.get(name) else { return String::new() };
        if let Some(text) = value.text() {
            return text.decode().into();
        }
        let part = |part: Value<'_>| match part.get("text").and_then(|it| it.text()) {
            Some(text) => text.decode().into_owned(),
            None => "[image]".to_owned(),
        };
        value.items().map(part).collect::<Vec<_>>().join("\n")
    };
    let raw = |name: &str| item.get(name).map_or("", |it| it.raw().as_str());
    let kind = text("type");
    Some(match kind.as_str() {
        "message" if matches!(text("role").as_str(), "developer" | "system") => return None,
        "message" => {
            let words = words("content");
            if words.trim_start().starts_with("<environment_context") {
                return None;
            }
            format!("{}: {words}", text("role"))
        }
        "reasoning" => {
            let summary = words("summary").replace('\n', "\n\n");
            format!("thinking: {}", if summary.is_empty() { words("content") } else { summary })
        }
        "function_call" => {
            format!("call {} {} {}", text("call_id"), text("name"), text("arguments"))
        }
        "custom_tool_call" => {
            format!("call {} {} {{\"input\":{}}}", text("call_id"), text("name"), raw("input"))
        }
        "local_shell_call" => format!("call {} local_shell {}", text("call_id"), raw("action")),
        "agent_message" => format!("user: {}", words("content")),
        kind if kind.ends_with("_call_output") => {
            format!("result {} {}", text("call_id"), words("output"))
        }
        kind => kind.to_owned(),
    })
}

#[test]
fn the_reader_shows_every_message_call_and_result_that_is_sent() {
    let (mut n_compared, mut wrong) = (0, Vec::new());
    for case in cases() {
        let Some(sent) = &case.history else { continue };
        let shown = shown(&case.session);
        n_compared += 1;
        if shown != *sent {
            wrong.push((case.name.clone(), format!("sent {sent:?}, shown {shown:?}")));
        }
    }
    assert_differ(SHOWN_OTHERWISE, &wrong);
    assert!(n_compared > 100, "{n_compared}");
}

/// Returns the blocks that the reader and the plan show, in the words of a case.
fn shown(session: &str) -> Vec<String> {
    let options = core_model::Options { from_last_compaction: true, ..Default::default() };
    let mut planner = (FORMAT.planner.expect("a planner"))(&options);
    let mut scanner = Scanner::default();
    for line in lines(session.as_bytes()) {
        if let Ok(value) = scanner.scan(&line) {
            FORMAT.for_each_event(value, |event| {
                planner.observe(line.offset(), event);
                true
            });
        }
    }
    let plan = planner.finish();
    let mut shown = Vec::new();
    for line in lines(session.as_bytes()) {
        let Ok(value) = scanner.scan(&line) else { continue };
        if plan.hides(line.offset()).is_some() {
            continue;
        }
        FORMAT.for_each_event(value, |event| {
            if let Some(message) = event.message() {
                let mut text = Vec::new();
                for (block, _) in message.blocks() {
                    match block {
                        // A summary has the text of a message in each block.
                        Block::Text(it) if message.is_summary => {
                            shown.push(format!("user: {}", it.decode()));
                        }
                        Block::Text(it) => text.push(it.decode().into_owned()),
                        Block::Image { .. } => text.push("[image]".to_owned()),
                        Block::Thinking { text, .. } => {
                            shown.push(format!("thinking: {}", text.decode()));
                        }
                        Block::ToolUse(tool) => shown.push(format!(
                            "call {} {} {}",
                            tool.id.decode(),
                            tool.name.decode(),
                            tool.input.json().raw()
                        )),
                        Block::ToolResult(result) => shown.push(format!(
                            "result {} {}",
                            result.tool_use_id.decode(),
                            result.content.joined()
                        )),
                        _ => {}
                    }
                }
                if !text.is_empty() {
                    let role = if message.role == Role::User { "user" } else { "assistant" };
                    shown.push(format!("{role}: {}", text.join("\n")));
                }
            }
            true
        });
    }
    shown
}
