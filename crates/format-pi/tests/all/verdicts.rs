//! Compares `check` and the plan with pi itself: hand-made sessions, and what 0.74.2 and 0.87.1
//! did with them.

use core_model::{Block, Event, Options, Role};
use format_pi::{FORMAT, validate};
use jsonl::{Scanner, Value, lines};

const CASES: &str = include_str!("verdicts.jsonl");

/// A session, and the client's answers.
struct Case {
    name: String,
    /// Whether 0.87.1 goes on with it.
    loads: bool,
    /// Whether 0.74.2 does.
    loads_in_old: bool,
    /// Whether a version changes its old bytes.
    is_rewritten: bool,
    /// The number of rules of the API that the client's request breaks.
    n_violations: u64,
    /// The history that 0.87.1 sends; `U[t:q] A[t:r]`.
    history: Option<String>,
    session: String,
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let mut scanner = Scanner::default();
        let case = scanner.scan_slice(line.as_bytes(), 0).expect("a case");
        let get = |name: &str| case.get(name).expect("a member");
        let text = |value: Value<'_>| value.text().map(|text| text.decode().into_owned());
        let is = |name: &str| get(name).bool().expect("a boolean");
        let is_rewritten = |name: &str| text(get(name)).as_deref() == Some("rewritten");
        Case {
            name: text(get("case")).expect("a string"),
            loads: is("loads"),
            loads_in_old: is("loads_0.74"),
            is_rewritten: is_rewritten("file") || is_rewritten("file_0.74"),
            n_violations: get("violations").raw().as_u64().expect("a number"),
            history: text(get("history")),
            session: text(get("session")).expect("a string"),
        }
    };
    CASES.lines().map(case).collect()
}

/// The only case that depends on the machine and not on the file.
const NO_FOLDER: &str = "cwd-gone";

#[test]
fn what_stops_the_client_stops_the_check_and_nothing_else_does() {
    let (mut n_stopping, mut wrong) = (0, Vec::new());
    for Case { name, loads, session, .. } in cases() {
        let problems = validate(session.as_bytes());
        let stops = problems.iter().any(|problem| problem.stops());
        n_stopping += usize::from(stops);
        if stops == loads && name != NO_FOLDER {
            wrong.push(format!("{name}: loads {loads}: {problems:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(n_stopping, 5);
}

#[test]
fn what_the_client_or_the_api_dislikes_is_found() {
    let (mut n_odd, mut wrong) = (0, Vec::new());
    for case in cases() {
        let is_odd = !case.loads_in_old || case.is_rewritten || case.n_violations > 0;
        n_odd += usize::from(is_odd);
        if is_odd && case.name != NO_FOLDER && validate(case.session.as_bytes()).is_empty() {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(n_odd > 8, "{n_odd} cases");
}

#[test]
fn nothing_is_found_where_nothing_is_odd() {
    let clean = [
        "bash-execution",
        "branch-last-line-is-leaf",
        "branch-summary",
        "compaction",
        "crlf-and-blank",
        "custom-entries",
        "images",
        "kept-before-old-compaction",
        "no-assistant",
        "tools-parallel",
        "two-compactions",
        "unknown-members",
    ];
    for case in cases().iter().filter(|case| clean.contains(&case.name.as_str())) {
        let problems = validate(case.session.as_bytes());
        assert!(problems.is_empty(), "{}: {problems:?}", case.name);
    }
}

/// The planner shows what 0.87.1 sends, where FORMAT.md names no exception.
#[test]
fn the_plan_from_the_last_compaction_is_what_the_client_sends() {
    let mut n_compared = 0;
    for case in cases() {
        let Some(history) = case.history.filter(|_| case.loads) else { continue };
        // We go on before a missing parent, and read responses that failed. The ids of some calls
        // cannot be told from what follows them in the history.
        let others = ["missing-parent", "aborted-and-error", "aborted-with-call"];
        if others.contains(&case.name.as_str()) || case.name.starts_with("bad-tool-id") {
            continue;
        }
        let shown = shown(&case.session);
        let said = said(&history);
        assert_eq!(shown, said, "{}: {history}", case.name);
        n_compared += 1;
    }
    assert!(n_compared > 25, "{n_compared} cases");
}

/// Returns the calls, the results and the speakers that the plan shows, in order.
fn shown(session: &str) -> Vec<String> {
    let options = Options { from_last_compaction: true, ..Options::default() };
    let mut planner = (FORMAT.planner.expect("a planner"))(&options);
    let mut scanner = Scanner::default();
    let mut each = |see: &mut dyn FnMut(u64, &Event<'_>)| {
        for line in lines(session.as_bytes()) {
            if let Ok(value) = scanner.scan(&line) {
                see(line.offset(), &FORMAT.first_event(value));
            }
        }
    };
    each(&mut |offset, event| planner.observe(offset, event));
    let plan = planner.finish();
    let mut found: Vec<(u64, Vec<String>)> = Vec::new();
    let mut late: Vec<(u64, Vec<String>)> = Vec::new();
    each(&mut |offset, event| {
        let Some(message) = event.message().filter(|_| plan.hides(offset).is_none()) else {
            return;
        };
        let role = if message.role == Role::User { "U" } else { "A" };
        let pieces = message.blocks().filter_map(|(block, _)| match block {
            Block::Text(text) if text.is_blank() => None,
            Block::ToolUse(tool) => Some(format!("call {}", tool.id.decode())),
            Block::ToolResult(result) => Some(format!("result {}", result.tool_use_id.decode())),
            Block::Text(_) => Some(role.to_owned()),
            _ => None,
        });
        let pieces: Vec<String> = pieces.collect();
        match plan.late.iter().find(|late| late.offset == offset) {
            Some(place) => late.push((place.after, pieces)),
            None => found.push((offset, pieces)),
        }
    });
    let mut all = Vec::new();
    for (offset, pieces) in found {
        all.extend(pieces);
        for (_, pieces) in late.iter().filter(|(after, _)| *after == offset) {
            all.extend(pieces.iter().cloned());
        }
    }
    all.dedup();
    all
}

/// Returns the same of a history as the client sent it.
fn said(history: &str) -> Vec<String> {
    let mut said = Vec::new();
    let mut role = String::new();
    let words = history.replace("U[", "\u{1}U\u{1}").replace("A[", "\u{1}A\u{1}");
    for part in words.split('\u{1}').filter(|part| !part.is_empty()) {
        if part == "U" || part == "A" {
            part.clone_into(&mut role);
            continue;
        }
        for piece in part.split(" | ") {
            let rest = |start: &str| piece.strip_prefix(start).map(str::to_owned);
            let id = |rest: String| rest.split(':').next().unwrap_or_default().to_owned();
            if piece.contains("No result provided") {
                continue;
            }
            if piece.starts_with("t:") {
                said.push(role.clone());
            } else if let Some(call) = rest("call:") {
                said.push(format!("call {}", id(call)));
            } else if let Some(result) = rest("res:") {
                said.push(format!("result {}", id(result)));
            }
        }
    }
    said.dedup();
    said
}
