//! Tests of the stream of `codex exec --json`.

use core_model::{Block, Body, Check, Facts, Options, Output, Plan, Role};
use format_codex::STREAM;
use jsonl::{Scanner, Style, lines};

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex-stream/");
    std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("a fixture")
}

const FIXTURES: [&str; 6] =
    ["one-run", "doubled-id", "interrupted", "two-runs", "tools", "odd-items"];

/// Returns the plan of a stream.
fn plan(stream: &str) -> Plan {
    let mut planner = (STREAM.planner.expect("a planner"))(&Options::default());
    let mut scanner = Scanner::default();
    for line in lines(stream.as_bytes()) {
        STREAM.for_each_event(scanner.scan(&line).expect("JSON"), |event| {
            planner.observe(line.offset(), event);
            true
        });
    }
    planner.finish()
}

/// Returns what a stream shows, in words.
fn shown(stream: &str) -> Vec<String> {
    let plan = plan(stream);
    let mut scanner = Scanner::default();
    let mut shown = Vec::new();
    for line in lines(stream.as_bytes()) {
        if plan.hides(line.offset()).is_some() {
            continue;
        }
        STREAM.for_each_event(scanner.scan(&line).expect("JSON"), |event| {
            match &event.body {
                Body::Message(message) => {
                    let role = if message.role == Role::User { "user" } else { "assistant" };
                    shown.extend(message.blocks().map(|(block, _)| match block {
                        Block::Text(text) => format!("{role}: {}", text.decode()),
                        Block::Thinking { text, .. } => format!("thinking: {}", text.decode()),
                        Block::ToolUse(tool) => format!(
                            "call {} {} {}",
                            tool.id.decode(),
                            tool.name.decode(),
                            tool.input.json()
                        ),
                        Block::ToolResult(result) => format!(
                            "result {} {} {:?}",
                            result.tool_use_id.decode(),
                            result.content.joined(),
                            result.is_error.value()
                        ),
                        block => format!("{block:?}"),
                    }));
                }
                Body::Notice(notice) => {
                    shown.push(format!("notice: {}", notice.text.expect("a text")));
                }
                Body::Outcome(outcome) => shown.push(format!(
                    "{:?}: {:?}",
                    outcome.status,
                    outcome.usage.map(|usage| usage.tokens().total())
                )),
                _ => {}
            }
            true
        });
    }
    shown
}

#[test]
fn a_command_is_a_call_and_its_result_and_is_shown_once() {
    let shown = shown(&fixture("one-run"));
    let command = r#"{"cmd":"/bin/bash -lc \"ls; printf 'é 世界\\\\n'\""}"#;
    let call = format!("call item_1 exec_command {command}");
    assert_eq!(
        shown,
        [
            "thinking: I will run a command.",
            call.as_str(),
            "result item_1 a.rs\né 世界\n Some(false)",
            "assistant: It ran.",
            "Success: Some(160)",
        ]
    );
}

#[test]
fn a_call_that_only_started_is_shown_without_a_result() {
    let shown = shown(&fixture("interrupted"));
    let error = r#"notice: "stream disconnected before completion""#;
    let call = r#"call item_0 exec_command {"cmd":"sleep 30"}"#;
    assert_eq!(shown, [call, error, "Error: None"]);
}

#[test]
fn a_doubled_id_is_no_damage_and_the_last_one_counts() {
    let shown = shown(&fixture("doubled-id"));
    let call = r#"call ws_1 web_search_call {"query":"rust jsonl"}"#;
    let result = "result ws_1  None";
    assert_eq!(shown, [call, result, "assistant: Found it.", "Success: Some(78)"]);
    assert!(Check::all((STREAM.checker)(), fixture("doubled-id").as_bytes()).is_empty());
}

#[test]
fn each_run_has_its_own_ids() {
    let shown = shown(&fixture("two-runs"));
    assert_eq!(
        shown,
        [
            "assistant: I will try.",
            r#"call item_1 exec_command {"cmd":"exit 3"}"#,
            "result item_1  Some(true)",
            "Success: Some(78)",
            r#"call item_0 exec_command {"cmd":"false"}"#,
            "result item_0  Some(true)",
            "assistant: It failed.",
            "Success: Some(167)",
        ]
    );
}

#[test]
fn every_tool_is_read() {
    let shown = shown(&fixture("tools"));
    assert_eq!(
        shown,
        [
            r#"call item_0 echo {"text":"hi"}"#,
            "result item_0 echo: hi Some(false)",
            r#"call item_1 fail {"text":"hi"}"#,
            "result item_1 it failed Some(true)",
            r#"call item_3 spawn_agent {"prompt":"Sub task"}"#,
            "result item_3  Some(false)",
            r#"call item_4 apply_patch {"changes":[{"path":"/home/ada/hello.py","kind":"add"}]}"#,
            "result item_4  Some(false)",
            r#"notice: "Model metadata not found.""#,
            r#"call item_2 update_plan {"items":[{"text":"One","completed":true}]}"#,
            "result item_2  None",
            "Success: Some(78)",
        ]
    );
}

/// Reads a stream and writes it again.
fn rewrite(stream: &str) -> String {
    let mut facts = Facts::default();
    let mut scanner = Scanner::default();
    for line in lines(stream.as_bytes()) {
        STREAM.for_each_event(scanner.scan(&line).expect("JSON"), |event| {
            facts.observe(event);
            true
        });
    }
    let plan = plan(stream);
    let mut writer = (STREAM.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    let take = |out: &mut Output, written: &mut String| {
        while let Some(line) = out.next_emitted() {
            written.push_str(std::str::from_utf8(out.bytes(line)).expect("UTF-8"));
            written.push('\n');
            out.release(line);
        }
    };
    for line in lines(stream.as_bytes()) {
        let value = scanner.scan(&line).expect("JSON");
        out.start_source(&line, Style::Compact);
        if plan.hides(line.offset()).is_none() {
            STREAM.for_each_event(value, |event| {
                writer.write(event, &mut out);
                true
            });
        }
        take(&mut out, &mut written);
    }
    writer.finish(&mut out);
    take(&mut out, &mut written);
    written
}

#[test]
fn what_is_written_says_the_same_and_has_no_faults() {
    for name in FIXTURES {
        let written = rewrite(&fixture(name));
        let problems = Check::all((STREAM.checker)(), written.as_bytes());
        assert!(problems.is_empty(), "{name}: {problems:?}\n{written}");
        // What has no status is written with one.
        if !["odd-items", "tools", "doubled-id"].contains(&name) {
            assert_eq!(shown(&written), shown(&fixture(name)), "{written}");
        }
        assert_eq!(rewrite(&written), written, "{name}");
    }
}

#[test]
fn lines_of_other_formats_are_not_of_a_stream() {
    let detects = |line: &str| {
        let mut scanner = Scanner::default();
        format_codex::detect_stream(scanner.scan_slice(line.as_bytes(), 0).expect("JSON"))
    };
    assert!(detects(r#"{"type":"turn.started"}"#));
    for line in [
        r#"{"type":"error","message":"m"}"#,
        r#"{"type":"event_msg","payload":{"type":"task_started"}}"#,
        r#"{"type":"item_completed"}"#,
        r#"["thread.started"]"#,
    ] {
        assert!(!detects(line), "{line}");
    }
}
