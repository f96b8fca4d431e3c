//! Compares `check` with Claude Code itself: transcripts with one fault each, and the client's
//! answers.
//!
//! `cargo xtask real-clients --record-cases FILE claude-code` writes the file of cases, and
//! `--cases FILE` compares the client with it.

use format_claude_code::validate;

const CASES: &str = include_str!("verdicts.jsonl");

/// A transcript with a fault, and the client's answer.
struct Case {
    /// The fault and its place.
    name: String,
    is_sent: bool,
    verdict: String,
    session: String,
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let mut scanner = jsonl::Scanner::default();
        let case = scanner.scan_slice(line.as_bytes(), 0).expect("a case");
        let text = |name: &str| {
            let text = case.get(name).and_then(|member| member.text());
            text.expect("a string").decode().into_owned()
        };
        Case {
            name: format!("{} ({})", text("case"), text("place")),
            is_sent: text("place") == "sent",
            verdict: text("verdict"),
            session: text("session"),
        }
    };
    CASES.lines().map(case).collect()
}

#[test]
fn what_stops_the_client_stops_the_check_and_nothing_else_does() {
    let (mut n_stopping, mut wrong) = (0, Vec::new());
    for Case { name, verdict, session, .. } in cases() {
        let problems = validate(session.as_bytes());
        let stops = problems.iter().any(|problem| problem.stops());
        n_stopping += usize::from(stops);
        if stops != (verdict == "stops") {
            let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
            wrong.push(format!("{name}: the client {verdict}: {found:?}\n{session}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_stopping > 20, "{n_stopping} cases stop");
}

#[test]
fn what_the_client_changes_is_found() {
    let is_silent = |case: &Case| case.is_sent && case.verdict == "changes";
    let changed: Vec<Case> = cases().into_iter().filter(is_silent).collect();
    assert!(changed.len() > 20, "{} cases", changed.len());
    let silent = changed.iter().filter(|case| validate(case.session.as_bytes()).is_empty());
    let silent: Vec<&str> = silent.map(|case| case.name.as_str()).collect();
    assert!(silent.is_empty(), "nothing is found: {silent:?}");
}

/// A fault on a line that is not sent is a warning.
#[test]
fn what_would_stop_warns_where_it_is_not_sent() {
    let cases = cases();
    let stopping = cases.iter().filter(|case| case.is_sent && case.verdict == "stops");
    let faults: Vec<&str> =
        stopping.filter_map(|case| case.name.split_once(" (sent")).map(|(it, _)| it).collect();
    for case in cases.iter().filter(|case| !case.is_sent) {
        let fault = case.name.split_once(" (").map(|(fault, _)| fault);
        if fault.is_some_and(|fault| faults.contains(&fault)) {
            assert!(!validate(case.session.as_bytes()).is_empty(), "{}", case.name);
        }
    }
}
