//! Tests of the reader, the writer and the check with fixtures.

use std::{fs, path::PathBuf};

use core_model::{Block, Body, Event, Facts, Losses, NoticeKind, Options, Output, Role};
use format_atif::{Checker, FORMAT, Reader, Writer, validate};
use jsonl::{Scanner, Style, lines};

fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/atif");
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/atif/");
    fs::read(format!("{folder}{name}.json")).expect("a fixture")
}

/// Reads a document and writes it again.
fn rewrite(document: &[u8]) -> (String, Losses) {
    let mut facts = Facts::default();
    for record in Reader::from_reader(document).flatten() {
        record.as_ref().for_each_event(|event| {
            facts.observe(event);
            true
        });
    }
    let mut writer = Writer::new(Vec::new(), facts);
    for record in Reader::from_reader(document).flatten() {
        writer.write(&record.as_ref()).expect("a vector");
    }
    let core_model::WrittenRecords { target: written, losses } = writer.finish().expect("a vector");
    (String::from_utf8(written).expect("UTF-8"), losses)
}

/// Returns a line for each event of a document.
fn events(document: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for record in Reader::from_reader(document).flatten() {
        record.as_ref().for_each_event(|event| {
            found.push(shown(event));
            true
        });
    }
    found
}

fn shown(event: &Event<'_>) -> String {
    let agent = event.context.agent_id.map(|id| format!("{}: ", id.decode())).unwrap_or_default();
    let words = match &event.body {
        Body::Start(_) => "start".to_owned(),
        Body::Title(title) => format!("title {}", title.text.decode()),
        Body::Notice(notice) => {
            let text = notice.text.map_or("", |text| text.as_str());
            format!("notice {:?} {text}", notice.kind)
        }
        Body::Message(message) => {
            let blocks = message.blocks().map(|(block, _)| match block {
                Block::Text(text) => format!("text {}", text.decode()),
                Block::Thinking { text, signature } => {
                    let signature = signature.map(|it| format!(" signed {}", it.decode()));
                    format!("thinking {}{}", text.decode(), signature.unwrap_or_default())
                }
                Block::ToolUse(tool) => format!("call {} {}", tool.id.decode(), tool.input.json()),
                Block::ToolResult(result) => {
                    format!("result {} {}", result.tool_use_id.decode(), result.content.joined())
                }
                _ => "other".to_owned(),
            });
            let role = if message.role == Role::User { "user" } else { "agent" };
            let mark = if message.is_meta { " meta" } else { "" };
            let summary = if message.is_summary { " summary" } else { "" };
            format!("{role}{mark}{summary}: {}", blocks.collect::<Vec<_>>().join(", "))
        }
        _ => format!("other {}", event.kind.map_or_else(String::new, |it| it.decode().into())),
    };
    format!("{agent}{words}")
}

#[test]
fn a_step_is_a_response_and_the_results_of_its_calls() {
    assert_eq!(
        events(&fixture("one-call")),
        [
            "start",
            "user: text List the files, please: é \"x\" 🎉",
            "agent: thinking First the folder., text I look., call toolu_1 \
             {\n            \"command\": \"ls -l\",\n            \"timeout\": 1000\n          }",
            "user: result toolu_1 a.rs\nb.rs",
            "agent: text Two files.",
            "other final_metrics",
        ]
    );
    let document = fixture("one-call");
    let record = Reader::from_reader(&document[..]).flatten().nth(2).expect("a step");
    let event = record.event();
    let message = event.message().expect("a message");
    let tokens = message.usage.expect("metrics").tokens();
    assert_eq!((tokens.input, tokens.cache_read, tokens.cache_creation), (50, 1000, 150));
    assert_eq!(message.stop_reason.expect("a reason").as_str(), "\"tool_use\"");
}

#[test]
fn members_come_in_any_order() {
    let found = events(&fixture("steps-first"));
    assert_eq!(
        found,
        [
            "other final_metrics",
            "user: text Hi",
            "agent: text Hello",
            "start",
            "notice Info \"A note.\"",
        ]
    );
}

#[test]
fn the_steps_of_sub_agents_name_their_agent() {
    assert_eq!(
        events(&fixture("sub-agents"))[4..],
        [
            "agent: text Seven lines.",
            "other subagent_trajectories",
            "t2: other subagent_trajectories",
            "t2: user: text Count the lines",
            "t2: agent: text Counting., call c9 {\"path\":\"a\"}",
            "t2: user: result c9 7",
            "t2: agent: text Seven.",
        ]
    );
}

#[test]
fn results_without_a_call_are_texts_of_the_client() {
    let found = events(&fixture("results-without-calls"));
    assert_eq!(found[2], "user meta: text seen by the user");
    assert_eq!(found[4], "user: result c1 one, text nobody's, other");
    assert_eq!(found[6], "user meta: text late");
}

#[test]
fn what_is_written_is_valid_and_is_written_again_as_it_is() {
    for path in fixtures() {
        let (once, _) = rewrite(&fs::read(&path).expect("a file"));
        let problems = validate(once.as_bytes());
        let found: Vec<_> = problems.iter().filter(|problem| problem.stops()).collect();
        assert!(found.is_empty(), "{path:?}: {found:?}\n{once}");
        let (twice, _) = rewrite(once.as_bytes());
        assert_eq!(once, twice, "{path:?}");
    }
}

#[test]
fn only_faults_are_found_in_fixtures() {
    for path in fixtures() {
        let problems = Checker::check(&path).expect("a file");
        let is_odd = path.ends_with("of-another-kind.json");
        assert_eq!(problems.iter().any(|problem| problem.stops()), is_odd, "{problems:?}");
    }
    let problems = Checker::check(&fixtures()[1]).expect("a file");
    let mut rules: Vec<_> = problems.iter().map(|problem| problem.rule).collect();
    rules.dedup();
    assert!(rules.len() > 5, "{problems:?}");
}

#[test]
fn two_calls_may_have_one_id_and_a_call_two_results() {
    let document = br#"{"schema_version":"ATIF-v1.8","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"f","arguments":{"a":1}},{"tool_call_id":"c1","function_name":"f","arguments":{"a":2}}],"observation":{"results":[{"source_call_id":"c1","content":"one"},{"source_call_id":"c1","content":"two"}]}}]}"#;
    let found = events(document);
    assert_eq!(found[1], "agent: call c1 {\"a\":1}, call c1 {\"a\":2}");
    assert_eq!(found[2], "user: result c1 one, result c1 two");
    assert!(validate(document).iter().all(|problem| !problem.stops()));
}

#[test]
fn two_steps_may_have_calls_with_one_id() {
    let step = |n: u8| {
        format!(
            concat!(
                r#"{{"step_id":{},"source":"agent","message":"","tool_calls":[{{"tool_call_id":"c1","#,
                r#""function_name":"f","arguments":{{}}}}],"#,
                r#""observation":{{"results":[{{"source_call_id":"c1","content":"out {}"}}]}}}}"#
            ),
            n, n
        )
    };
    let inner = format!(
        r#"{{"schema_version":"ATIF-v1.8","trajectory_id":"t","agent":{{"name":"b","version":"1"}},"steps":[{},{}]}}"#,
        step(1),
        step(2)
    );
    let document = format!(
        r#"{{"schema_version":"ATIF-v1.8","agent":{{"name":"a","version":"1"}},"steps":[{},{}],"subagent_trajectories":[{inner}]}}"#,
        step(1),
        step(2)
    );
    let problems = validate(document.as_bytes());
    assert!(problems.is_empty(), "{problems:?}");
    // A result may still not name a call of another step.
    let other = document.replacen(r#""tool_call_id":"c1""#, r#""tool_call_id":"c2""#, 1);
    let rules: Vec<_> =
        validate(other.as_bytes()).iter().map(|problem| (problem.rule, problem.stops())).collect();
    assert_eq!(rules, [("result-call", true)]);
}

/// The lines of Claude Code in the API's names, as its reader hands them on.
fn write(events: &[Event<'_>], facts: Facts) -> String {
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    for event in events {
        let raw = event.value.raw().as_str();
        let line = lines(raw.as_bytes()).next().expect("a line");
        out.start_source(&line, Style::Compact);
        writer.write(event, &mut out);
    }
    writer.finish(&mut out);
    while let Some(line) = out.next_emitted() {
        written.push_str(std::str::from_utf8(out.bytes(line)).expect("UTF-8"));
        written.push('\n');
        out.release(line);
    }
    written
}

#[test]
fn a_late_result_comes_into_the_step_of_its_call() {
    let steps = [
        r#"{"step_id":1,"source":"agent","message":"a","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}],"extra":{"message_id":"m1"}}"#,
        r#"{"step_id":2,"source":"user","message":"typed meanwhile","extra":{"kind":"queued"}}"#,
        r#"{"step_id":3,"source":"agent","message":"b","reasoning_content":"t","extra":{"message_id":"m1","thinking_signature":"s"}}"#,
        r#"{"step_id":4,"source":"system","message":"","observation":{"results":[{"content":"out","extra":{"tool_use_id":"c"}}]}}"#,
        r#"{"step_id":5,"source":"system","message":"","observation":{"results":[{"content":"lost","extra":{"tool_use_id":"d"}}]}}"#,
    ];
    let mut scanners: Vec<_> = steps.iter().map(|_| Scanner::default()).collect();
    let values = steps.iter().zip(&mut scanners);
    let values: Vec<_> =
        values.map(|(step, it)| it.scan_slice(step.as_bytes(), 0).expect("JSON")).collect();
    let (mut facts, mut events) = (Facts::default(), Vec::new());
    for value in values {
        FORMAT.for_each_event(value, |event| {
            facts.observe(event);
            events.push(*event);
            true
        });
    }
    let written = write(&events, facts);
    let steps: Vec<_> = written.lines().collect();
    assert!(steps[0].starts_with(r#"{"schema_version":"ATIF-v1.8","agent":{"#), "{written}");
    assert_eq!(
        steps[1],
        concat!(
            r#"{"step_id":1,"source":"agent","message":"a\n\nb","reasoning_content":"t","#,
            r#""tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}],"#,
            r#""observation":{"results":[{"source_call_id":"c","content":"out"}]},"#,
            r#""llm_call_count":1,"extra":{"message_id":"m1","thinking_signature":"s"}}"#,
        )
    );
    assert_eq!(
        steps[2],
        r#"{"step_id":2,"source":"user","message":"typed meanwhile","extra":{"kind":"queued"}}"#
    );
    assert_eq!(
        steps[3],
        r#"{"step_id":3,"source":"system","message":"","observation":{"results":[{"content":"lost","extra":{"tool_use_id":"d"}}]}}"#
    );
    assert_eq!(steps[4], r#"{"final_metrics":{"total_steps":3}}"#);
}

#[test]
fn notices_and_summaries_come_back() {
    for (step, said) in [
        (
            r#"{"step_id":1,"source":"system","message":"Careful","extra":{"kind":"notice","level":"warning","subtype":"s"}}"#,
            format!("notice {:?} \"Careful\"", NoticeKind::Warning),
        ),
        (
            r#"{"step_id":1,"source":"system","message":"All so far","extra":{"kind":"compaction"}}"#,
            "user summary: text All so far".to_owned(),
        ),
        (
            r#"{"step_id":1,"source":"system","message":"Be brief","extra":{"kind":"meta"}}"#,
            "user meta: text Be brief".to_owned(),
        ),
    ] {
        let document = format!(r#"{{"schema_version":"ATIF-v1.8","agent":{{}},"steps":[{step}]}}"#);
        let (written, losses) = rewrite(document.as_bytes());
        assert!(written.contains(step), "{written}");
        assert_eq!(events(written.as_bytes())[1], said);
        let lost: Vec<_> = losses.iter().map(|(_, name, _)| name.to_owned()).collect();
        assert_eq!(lost, ["agent.version"], "{step}");
    }
}

#[test]
fn halves_of_surrogate_pairs_and_deep_inputs_are_written_so_that_python_reads_them() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let document = format!(
        concat!(
            r#"{{"schema_version":"ATIF-v1.8","agent":{{"version":"1"}},"steps":[{{"step_id":1,"source":"agent","#,
            r#""message":"a\ud800b","tool_calls":[{{"tool_call_id":"c","function_name":"f","arguments":{{"a":{}}}}}]}}]}}"#
        ),
        deep
    );
    let (written, losses) = rewrite(document.as_bytes());
    assert!(written.contains("\"message\":\"a\u{fffd}b\""), "{written}");
    assert!(written.contains("\"arguments\":{\"input\":\"{\\\"a\\\":[[["), "{written}");
    let lost: Vec<_> = losses.iter().map(|(_, name, _)| name.to_owned()).collect();
    assert_eq!(lost, ["text", "tool_use.input"]);
    assert!(validate(written.as_bytes()).is_empty());
}
