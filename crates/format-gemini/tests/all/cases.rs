//! Compares the checker and the planner with what Qwen Code 0.24.4 did with 26 hand-made sessions.
//!
//! A case in `cases.jsonl` has the session, whether the client loaded it, and the history that it sent.

use std::collections::HashSet;

use format_gemini::{
    QWEN,
    core_model::{Block, Event, Options, Role},
    jsonl::{Scanner, lines},
    validate,
};

struct Case {
    name: String,
    loads: bool,
    history: Option<String>,
    session: String,
}

fn cases() -> Vec<Case> {
    let read = |line: &str| {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        let text = |name: &str| case[name].as_str().map(str::to_owned);
        Case {
            name: text("case").expect("a name"),
            loads: case["loads"].as_bool().expect("whether it loads"),
            history: text("history"),
            session: text("session").expect("a session"),
        }
    };
    include_str!("cases.jsonl").lines().map(read).collect()
}

#[test]
fn what_stops_the_client_is_found_and_nothing_else() {
    let cases = cases();
    assert_eq!(cases.len(), 26);
    for case in cases {
        let problems = validate(case.session.as_bytes());
        let stops: Vec<_> = problems.iter().filter(|problem| problem.stops()).collect();
        assert_eq!(stops.is_empty(), case.loads, "{}: {stops:?}", case.name);
    }
}

#[test]
fn faults_that_the_client_gets_over_are_named() {
    for (name, rule) in [
        ("bad-line", "json"),
        ("bad-line-first", "json"),
        ("claude-envelope", "parts"),
        ("empty-text", "empty-text"),
        ("missing-parent", "missing-parent"),
        ("no-cwd", "cwd"),
        ("no-parent-links", "no-parent-links"),
        ("parent-cycle", "circle"),
        ("result-missing", "open-call"),
        ("result-missing-at-end", "open-call"),
        ("result-orphan", "orphan-result"),
        ("session-id-differs", "session-id-differs"),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).expect(name);
        let problems = validate(case.session.as_bytes());
        assert!(problems.iter().any(|problem| problem.rule == rule), "{name}: {problems:?}");
    }
}

/// The plan from the last compression shows the words that the client sent.
#[test]
fn the_plan_is_what_the_client_sends() {
    let mut n_compared = 0;
    for case in cases() {
        let Some(history) = case.history else { continue };
        // We go on before a missing parent. The client's own reminders are not in the history.
        if ["missing-parent", "system-reminder-text"].contains(&case.name.as_str()) {
            continue;
        }
        let shown = shown(&case.session);
        let said = said(&history);
        assert_eq!(shown, said, "{}: {history}", case.name);
        n_compared += 1;
    }
    assert!(n_compared >= 20, "{n_compared} cases");
}

fn each(session: &str, mut see: impl FnMut(u64, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in lines(session.as_bytes()) {
        if let Ok(value) = scanner.scan(&line) {
            QWEN.for_each_event(value, |event| {
                see(line.offset(), event);
                true
            });
        }
    }
}

/// Returns the texts, the thoughts and the calls that the plan shows, in order.
fn shown(session: &str) -> Vec<String> {
    let options = Options { from_last_compaction: true, ..Options::default() };
    let mut planner = QWEN.planner.expect("a planner")(&options);
    each(session, |offset, event| planner.observe(offset, event));
    let plan = planner.finish();
    let mut found = Vec::new();
    let mut called = HashSet::new();
    let mut said = String::new();
    let end = |said: &mut String, found: &mut Vec<String>| {
        if !said.is_empty() {
            found.push(std::mem::take(said));
        }
    };
    let mut last = None;
    each(session, |offset, event| {
        let Some(message) = event.message().filter(|_| plan.hides(offset).is_none()) else {
            return;
        };
        let is_result = message.tool_results().next().is_some();
        if last != Some(message.role) && !is_result {
            end(&mut said, &mut found);
            last = Some(message.role);
        }
        for (block, _) in message.blocks() {
            match block {
                Block::Text(text) if text.is_blank() => {}
                Block::Text(text) if message.role == Role::User => {
                    end(&mut said, &mut found);
                    found.push(text.decode().into_owned());
                }
                // The client joins texts of the model.
                Block::Text(text) => said.push_str(&text.decode()),
                Block::Thinking { text, .. } => found.push(format!("T:{}", text.decode())),
                Block::ToolUse(tool) => {
                    end(&mut said, &mut found);
                    called.insert(tool.id.decode().into_owned());
                    found.push(format!("call:{}", tool.id.decode()));
                }
                Block::ToolResult(result) if called.contains(&*result.tool_use_id.decode()) => {
                    end(&mut said, &mut found);
                    found.push(format!("res:{}", result.tool_use_id.decode()));
                }
                Block::Image { .. } => found.push("[image: image/png]".to_owned()),
                _ => {}
            }
        }
    });
    end(&mut said, &mut found);
    found
}

/// Returns the same of a history as the client sent it.
fn said(history: &str) -> Vec<String> {
    let history = history.replace("U[", "\u{1}").replace("A[", "\u{1}").replace(" | ", "\u{1}");
    let pieces = history.split('\u{1}').map(|piece| piece.trim_end().trim_end_matches(']'));
    let mut said = Vec::new();
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        // The client's words for a result that is not there.
        if piece.contains("was not recorded") {
            continue;
        }
        if let Some(text) = piece.strip_prefix("t:") {
            let is_image = text.starts_with("[image");
            said.push(if is_image { format!("{text}]") } else { text.to_owned() });
        } else if let Some(text) = piece.strip_prefix("T:") {
            said.push(format!("T:{}", text.trim_end_matches('|')));
        } else {
            let mut parts = piece.split(':');
            let kind = parts.next().unwrap_or_default();
            said.push(format!("{kind}:{}", parts.next().unwrap_or_default()));
        }
    }
    said
}
