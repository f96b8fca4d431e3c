//! Tests that the facts of shown events are the same from a log as from reading them again.

use std::{collections::HashSet, io};

use convert::{Detected, Source, by_name, detect};
use core_model::{Answers, Block, Event, FactLog, Facts, Format};

use crate::shared::{data::data, fixtures::fixtures};

/// Prints the facts, with the answers to all questions about these ids.
fn print(facts: &Facts, ids: &HashSet<String>) -> String {
    let Facts { agent, session_start, session_id, start, end, cwd, version, tools, .. } = facts;
    let interactions: Vec<_> =
        (0..facts.interactions.len()).map(|n| facts.interactions.get(n)).collect();
    let mut calls: Vec<_> =
        ids.iter().map(|id| (id, facts.is_called(id), facts.is_answered(id))).collect();
    calls.sort();
    let flags = (
        facts.n_messages,
        facts.has_user_text,
        &facts.title,
        facts.has_start,
        facts.has_outcome,
        facts.has_compaction,
    );
    let head = (agent, session_start, session_id, start, end, cwd, version, tools);
    format!("{head:?} {flags:?} {interactions:?} {:?} {calls:?}", facts.interactions.first_model())
}

/// Compares the facts of some events from the log and from the source. Returns the number of logged events.
fn check(name: &str, format: &'static Format, bytes: &[u8]) -> u64 {
    let mut source = Source::new(io::Cursor::new(bytes));
    let mut read = |each: &mut dyn FnMut(u64, &Event<'_>)| {
        let read = source.with_events(format, |events| {
            events.for_each(&mut |line, event| {
                event.into_iter().for_each(|event| each(line.offset(), event));
                true
            })
        });
        read.expect("memory");
    };
    let (mut facts, mut of_all, mut ids) = (Facts::default(), Facts::default(), HashSet::new());
    let mut log = FactLog::new(&facts);
    read(&mut |offset, event| {
        // Events of sub-agents are in the log, and not in the facts of the session.
        let is_own = !event.is_sub_agent();
        log.observe(offset, event, Some(&mut facts).filter(|_| is_own));
        if is_own {
            of_all.observe(event);
        }
        if let Some(message) = event.message() {
            message.each_block(|block| match block {
                Block::ToolUse(tool) => _ = ids.insert(tool.id.decode().into_owned()),
                Block::ToolResult(it) => _ = ids.insert(it.tool_use_id.decode().into_owned()),
                _ => {}
            });
        }
    });
    assert_eq!(print(&facts, &ids), print(&of_all, &ids), "{name}: observed for a log");
    // All lines, none, and a half and a sixth of them.
    let mut n_logged = 0;
    for (every, hidden) in [(u64::MAX, u64::MAX), (1, 0), (2, 0), (2, 1), (6, 0), (6, 5)] {
        let hides = |offset: u64| (offset / 7) % every == hidden;
        let (mut expected, mut answers) = (Facts::default(), Answers::default());
        read(&mut |offset, event| {
            if !hides(offset) {
                answers.answer_of(event).into_iter().for_each(|answer| expected.observe(&answer));
                expected.observe(event);
            }
        });
        let logged = log.facts(&mut |event| {
            n_logged += 1;
            !hides(event.offset)
        });
        let logged = logged.expect("a small log");
        assert_eq!(print(&logged, &ids), print(&expected, &ids), "{name}: {every} {hidden}");
    }
    n_logged
}

#[test]
fn a_log_has_the_facts_of_the_shown_events() {
    let mut n_logged = 0;
    for fixture in fixtures() {
        if let Some(format) = by_name(&fixture.format) {
            n_logged += check(&fixture.name, format, &fixture.bytes);
        }
    }
    assert!(n_logged > 10_000, "{n_logged}");
}

#[test]
fn a_log_has_the_facts_of_real_sessions() {
    let (mut n_sessions, mut n_logged) = (0, 0);
    for (name, bytes) in data(&["real"]) {
        let found = detect(&mut Source::new(io::Cursor::new(&bytes))).expect("memory");
        if let Detected::Format(format) = found {
            n_sessions += 1;
            n_logged += check(&name, format, &bytes);
        }
    }
    assert!(n_logged >= 100 * n_sessions, "{n_logged} of {n_sessions}");
}

#[test]
fn too_many_events_are_no_facts() {
    let mut scanner = jsonl::Scanner::default();
    let line = scanner.scan_slice(br#"{"sessionId":"s"}"#, 0).expect("JSON");
    let mut event = Event::other("x", line);
    event.context.session_id = line.get("sessionId").and_then(|id| id.text());
    let mut facts = Facts::default();
    let mut log = FactLog::new(&facts);
    let n_events = 2_000_000;
    for n in 0..n_events {
        log.observe(n * 20, &event, Some(&mut facts));
        if n == n_events / 10 {
            assert!(log.facts(&mut |_| true).is_some());
        }
    }
    assert_eq!(facts.session_id.as_deref(), Some("\"s\""));
    assert!(log.facts(&mut |_| true).is_none());
}
