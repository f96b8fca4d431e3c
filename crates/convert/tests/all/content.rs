//! Tests conversions without a carry: all content is in the target, or the report says that it is not.

use convert::{CarryMode, Conversion, Converted, FORMATS, by_name};
use core_model::{Check, Options};

use crate::shared::{
    data::{Session, real_sessions},
    difference::Difference,
    fixtures::fixtures,
    leaves::{leaves, unaccounted},
    parallel::check_all,
    said::Said,
    turns::{chosen, share},
};

fn check(sessions: &[Session]) {
    check_all(
        sessions,
        |session| session.name.clone(),
        |session| {
            let mut wrong = Vec::new();
            let source_leaves = leaves(&session.bytes, session.from);
            for to in FORMATS.targets().filter(|to| to.name != session.from.name) {
                let conversion = Conversion {
                    formats: FORMATS,
                    from: session.from,
                    to,
                    carry: CarryMode::None,
                    options: Options::default(),
                };
                let Converted { bytes: target, report, .. } =
                    conversion.convert(&session.bytes, None).expect("in memory");
                let source = Said::of(&session.bytes, session.from, to);
                let difference = Difference::new(&source, &Said::of(&target, to, to));
                let unreported = difference.unreported(&report);
                wrong.extend(unreported.iter().map(|what| format!("to {}: {what}", to.name)));
                let unaccounted = unaccounted(&source_leaves, &leaves(&target, to), &report);
                wrong.extend(unaccounted.iter().map(|it| format!("to {}: {it:?}", to.name)));
            }
            wrong
        },
    );
}

/// Asserts that clients of the targets load the conversions of sessions of other families.
fn check_accepted(sessions: &[Session]) {
    check_all(
        sessions,
        |session| session.name.clone(),
        |session| {
            let mut wrong = Vec::new();
            for to in FORMATS.targets().filter(|to| to.family != session.from.family) {
                for carry in [CarryMode::None, CarryMode::Inline] {
                    let from = session.from;
                    let conversion = Conversion {
                        formats: FORMATS,
                        from,
                        to,
                        carry,
                        options: Options::default(),
                    };
                    let target = conversion.convert(&session.bytes, None).expect("in memory").bytes;
                    if target.is_empty() {
                        // Nothing of the session shows: no document is written, and the report says so.
                        continue;
                    }
                    let problems = Check::file(to, &target);
                    // A client hangs or hides lines that follow each other in a circle. The API refuses
                    // messages that begin with the assistant.
                    let found = problems.iter().filter(|it| {
                        it.stops()
                            || ["cycle", "duplicate-uuid", "assistant-first"].contains(&it.rule)
                    });
                    wrong.extend(
                        found.map(|problem| format!("to {}, {carry:?}: {problem}", to.name)),
                    );
                }
            }
            wrong
        },
    );
}

/// A third of the fixtures, other ones each day.
#[test]
fn fixtures_say_the_same_or_the_report_tells_and_every_client_loads_them() {
    let sessions: Vec<_> = fixtures()
        .into_iter()
        .filter_map(|fixture| {
            let from = by_name(&fixture.format)?;
            Some(Session { name: fixture.name, from, bytes: fixture.bytes })
        })
        .collect();
    let sessions = share(sessions, 3);
    check(&sessions);
    check_accepted(&sessions);
}

/// Asserts that written files contain nothing that only we read. Each fixture goes to one of the targets, another one
/// each day.
#[test]
fn what_is_written_says_the_same_where_it_is_converted_once_more() {
    let mut written = Vec::new();
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let targets = FORMATS.targets().filter(|to| to.name != from.name);
        for to in chosen(&fixture.name, targets, 1) {
            let carry = CarryMode::None;
            let conversion =
                Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
            let bytes = conversion.convert(&fixture.bytes, None).expect("in memory").bytes;
            let name = format!("{} as {}", fixture.name, to.name);
            written.push(Session { name, from: to, bytes });
        }
    }
    check(&written);
}

#[test]
fn real_sessions_say_the_same_or_the_report_tells_and_every_client_loads_them() {
    let sessions = real_sessions();
    if sessions.is_empty() {
        return;
    }
    check_accepted(&sessions);
    check(&sessions);
}

#[test]
fn in_opencode_a_response_without_an_id_ends_with_the_results_of_its_calls() {
    let source = std::fs::read("../../fixtures/codex/one-call.jsonl").expect("a fixture");
    let row = |name| by_name(name).expect("a format");
    let conversion = Conversion {
        formats: FORMATS,
        from: row("codex"),
        to: row("opencode"),
        carry: CarryMode::None,
        options: Options::default(),
    };
    let Converted { bytes, .. } = conversion.convert(&source, None).expect("in memory");
    let document: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let messages = document["messages"].as_array().expect("messages").iter();
    let responses = messages.filter(|message| message["info"]["role"] == "assistant");
    let parts = responses.map(|response| {
        let parts = response["parts"].as_array().expect("parts").iter();
        parts.map(|part| part["type"].as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
    });
    // The API must see the text behind the result that it answers.
    assert_eq!(parts.collect::<Vec<_>>(), ["reasoning tool", "text"]);
}
