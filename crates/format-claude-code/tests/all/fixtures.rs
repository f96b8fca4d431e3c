//! Tests of the reader, the planner and the writer with hand-made sessions.

use crate::shared::written::{ProblemKind, validate};
use core_model::{
    Body, Event, Facts, Losses, Options, Outcome, Output, Start, Status, Title, TitleRank,
};
use format_claude_code::FORMAT;
use jsonl::{Raw, Scanner, Style};

/// Changes an event to the form that another format would give it.
type Change = for<'l> fn(&mut Event<'l>);

fn keep(_: &mut Event<'_>) {}

/// Writes the events of lines as the converter does, and returns the lines and the losses.
fn convert(input: &str, change: Change) -> (Vec<String>, Losses) {
    let mut scanner = Scanner::default();
    let mut facts = Facts::default();
    for line in jsonl::lines(input.as_bytes()) {
        if let Ok(value) = scanner.scan(&line) {
            let mut event = FORMAT.first_event(value);
            change(&mut event);
            facts.observe(&event);
        }
    }
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = Vec::new();
    for line in jsonl::lines(input.as_bytes()) {
        let Ok(value) = scanner.scan(&line) else { continue };
        let mut event = FORMAT.first_event(value);
        change(&mut event);
        out.start_source(&line, Style::Compact);
        writer.write(&event, &mut out);
        take(&mut out, &mut written);
    }
    writer.finish(&mut out);
    take(&mut out, &mut written);
    (written, out.losses().clone())
}

fn take(out: &mut Output, written: &mut Vec<String>) {
    while let Some(line) = out.next_emitted() {
        written.push(String::from_utf8(out.bytes(line).to_vec()).expect("UTF-8"));
        out.release(line);
    }
}

/// Asserts that lines break no rule.
fn assert_valid(lines: &[String]) {
    let problems = validate((lines.join("\n") + "\n").as_bytes());
    assert!(problems.is_empty(), "{problems:?}\n{}", lines.join("\n"));
    let found = format_claude_code::validate((lines.join("\n") + "\n").as_bytes());
    let said = ["open-call", "unlisted", "only-thinking", "foreign-model"];
    let is_said = |rule| said.contains(&rule);
    assert!(found.iter().all(|problem| is_said(problem.rule)), "{found:?}\n{}", lines.join("\n"));
    for line in lines {
        assert!(line.starts_with('{') && line.ends_with('}'));
    }
}

/// Returns the JSON of a member of each line; `-` if it is absent.
fn members(lines: &[String], path: &[&str]) -> Vec<String> {
    let mut scanner = Scanner::default();
    let member = |line: &String| {
        let mut value = scanner.scan_slice(line.as_bytes(), 0).ok()?;
        for name in path {
            value = value.get(name)?;
        }
        Some(value.raw().to_string())
    };
    lines.iter().map(member).map(|member| member.unwrap_or("-".to_owned())).collect()
}

fn lost(losses: &Losses) -> Vec<String> {
    losses
        .iter()
        .map(|(kind, field, loss)| format!("{} {field} {}", kind.name(), loss.count))
        .collect()
}

#[test]
fn a_session_without_ids_gets_a_chain() {
    let input = r#"{"type":"user","message":{"content":"do it"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"n":1e-05}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done","is_error":false}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
"#;
    let (lines, _) = convert(input, keep);
    assert_valid(&lines);
    assert_eq!(
        members(&lines, &["type"]),
        ["\"user\"", "\"assistant\"", "\"assistant\"", "\"user\"", "\"assistant\""]
    );
    let ids = members(&lines, &["message", "id"]);
    assert_eq!(ids[1], ids[2]);
    assert_ne!(ids[1], ids[4]);
    let uuids = members(&lines, &["uuid"]);
    assert_eq!(members(&lines, &["sourceToolAssistantUUID"])[3], uuids[2]);
    assert_eq!(
        members(&lines, &["message", "stop_reason"])[1..],
        ["\"tool_use\"", "\"tool_use\"", "-", "\"end_turn\""]
    );
    assert!(lines[2].contains(r#""input":{"n":1e-05}"#));
    assert!(lines[3].contains(r#""content":"done","is_error":false}"#));
    assert_eq!(convert(input, keep).0, lines);
}

#[test]
fn an_entry_as_the_client_orders_it() {
    let input = r#"{"sessionId":"2A86484AEB5946EFAC4A848742436C10","cwd":"/w","version":"2.1.0","gitBranch":"main","uuid":"u-1","timestamp":"2025-12-25T10:30:00.000Z","type":"user","message":{"content":[{"type":"text","text":"é"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}}"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert_eq!(
        lines,
        [
            r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"2a86484a-eb59-46ef-ac4a-848742436c10","version":"2.1.0","gitBranch":"main","type":"user","message":{"role":"user","content":[{"type":"text","text":"é"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},"uuid":"u-1","timestamp":"2025-12-25T10:30:00.000Z"}"#
        ]
    );
    assert_eq!(lost(&losses), ["flattened sessionId 1"]);
}

#[test]
fn unsigned_thinking_stands_beside_the_message() {
    let input = r#"{"type":"user","message":{"content":"think"}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"So."}]}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"alone","signature":""}]}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"signed","signature":"s"}]}}
"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert_eq!(lines.len(), 4);
    assert_eq!(members(&lines, &["unsignedThinking"]), ["-", "[\"hm\"]", "[\"alone\"]", "-"]);
    assert_eq!(members(&lines, &["type"])[2], "\"system\"");
    assert!(lines[3].contains(r#"{"type":"thinking","thinking":"signed","signature":"s"}"#));
    assert!(lost(&losses).contains(&"flattened thinking 2".to_owned()));
}

#[test]
fn calls_without_results_and_results_without_calls() {
    let input = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"X","input":{}},{"type":"tool_use","id":"b","name":"X","input":{}}]}}
{"type":"user","message":{"content":[{"type":"text","text":"next"},{"type":"tool_result","tool_use_id":"b","content":"B"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"zz","content":[{"type":"text","text":"x\n"},{"type":"text","text":"y"}],"is_error":true}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"X","input":{}}]}}
"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert!(lines[0].contains("[no prompt recorded]"));
    assert!(lines[3].contains(r#""tool_use_id":"b""#));
    assert!(lines[4].contains(
        r#""tool_use_id":"a","type":"tool_result","content":"[no result recorded]","is_error":true"#
    ));
    assert!(lines[5].contains("next"));
    assert!(lines[6].contains(r#""content":"x\n\ny","isMeta":false,"level":"error""#));
    assert_eq!(lines.len(), 8);
    let lost = lost(&losses);
    for loss in ["invented prompt 1", "invented tool_result 1", "flattened tool_result 1"] {
        assert!(lost.contains(&loss.to_owned()), "{loss}: {lost:?}");
    }
}

#[test]
fn what_the_api_refuses_is_made_valid() {
    let input = r#"{"type":"user","message":{"content":""}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a b","name":"my tool/é","input":"{}"},{"type":"text","text":"  "},{"type":"tool_use","id":"d","name":"","input":[]},{"type":"tool_use","id":"d","name":"X","input":{}},{"type":"future","x":1},null]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a b","content":7},{"type":"tool_result","tool_use_id":"d","content":[{"type":"future"}]},{"type":"tool_result","tool_use_id":"d"}]}}
{"type":"assistant","message":{"content":"ok"}}
{"type":"assistant","message":{"content":[]}}
{"type":"user"}
"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert!(lines[1].contains(r#""name":"my_tool__","input":{"value":"{}"}"#), "{}", lines[1]);
    assert!(lines[4].contains(r#"{"type":"text","text":"[future]"}"#));
    assert_eq!(members(&lines, &["type"]).len(), 10);
    let lost = lost(&losses);
    for loss in [
        "dropped assistant 1",
        "dropped user 1",
        "dropped text 1",
        "flattened block.block 1",
        "flattened block.future 2",
        "flattened tool_use.id 2",
        "flattened tool_use.input 2",
        "flattened tool_use.name 2",
        "invented message.content 1",
    ] {
        assert!(lost.contains(&loss.to_owned()), "{loss}: {lost:?}");
    }
}

#[test]
fn lines_of_a_stream_form_responses() {
    let input = r#"{"type":"user","message":{"content":"go"},"timestamp":"2025-12-25T10:30:00.123456Z"}
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"A"}]}}
{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"1","name":"X","input":{}}]}}
{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"2","name":"X","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"r"}]}}
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"still the same"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"r","is_error":null}]}}
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"B"}]}}
{"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"C"}]}}
{"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"D"}]}}
"#;
    let (lines, _) = convert(input, keep);
    assert_valid(&lines);
    let ids = members(&lines, &["message", "id"]);
    assert!(ids[1] == ids[2] && ids[2] == ids[3] && ids[3] == ids[5]);
    assert!(ids[5] != ids[7]);
    assert_eq!(ids[8..], ["\"msg_1\"", "\"msg_1\""]);
    assert!(lines[0].contains("\"2025-12-25T10:30:00.123Z\""));
    assert!(!lines[6].contains("is_error"));
}

fn as_clido(event: &mut Event<'_>) {
    let word = event.value.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
    match word.as_deref() {
        Some("meta") => event.body = Body::Start(Start::default()),
        Some("title") => {
            if let Some(text) = event.value.get("title").and_then(|title| title.text()) {
                event.body = Body::Title(Title { text, rank: TitleRank::Model });
            }
        }
        Some("result") => {
            let get = |name: &str| event.value.get(name).map(|value| value.raw());
            let is_success = get("exit_status").is_some_and(|raw| raw.as_str() == "\"success\"");
            let status = if is_success { Status::Success } else { Status::Error };
            let status_text = get("exit_status").and_then(|raw: Raw<'_>| raw.as_text());
            event.body = Body::Outcome(Outcome {
                status_text,
                duration_ms: get("duration_ms"),
                ..Outcome::new(status)
            });
        }
        _ => {}
    }
}

#[test]
fn starts_outcomes_and_titles() {
    let input = r#"{"type":"meta","timestamp":"2026-11-21T21:20:53.942982378+00:00","cwd":"/w","permissionMode":"plan"}
{"type":"user","message":{"content":"one"}}
{"type":"title","title":"A title"}
{"type":"assistant","message":{"content":"1"}}
{"type":"result","exit_status":"success","duration_ms":3000}
{"type":"user","message":{"content":"two"}}
{"type":"result","exit_status":"stall_detected","duration_ms":0}
{"type":"result","exit_status":"success","duration_ms":0}
"#;
    let (lines, losses) = convert(input, as_clido);
    assert_valid(&lines);
    assert!(lines[0].starts_with(r#"{"type":"permission-mode","permissionMode":"plan","#));
    assert_eq!(
        members(&lines, &["timestamp"])[1..6],
        [
            "\"2026-11-21T21:20:53.942Z\"",
            "\"2026-11-21T21:20:53.943Z\"",
            "\"2026-11-21T21:20:56.942Z\"",
            "\"2026-11-21T21:20:56.943Z\"",
            "\"2026-11-21T21:20:56.944Z\"",
        ]
    );
    assert!(lines[3].contains(r#""subtype":"turn_duration","durationMs":3000,"isMeta":false"#));
    assert!(lines[5].contains(r#""content":"stall_detected","isMeta":false,"level":"error""#));
    assert!(lines[6].starts_with(r#"{"type":"ai-title","aiTitle":"A title","sessionId":""#));
    assert_eq!(lines.len(), 7);
    assert!(lost(&losses).contains(&"dropped result 1".to_owned()));
}

#[test]
fn what_is_written_after_a_resumed_line_follows_it() {
    let native = r#"{"parentUuid":null,"isSidechain":false,"type":"assistant","sessionId":"2a86484a-eb59-46ef-ac4a-848742436c10","cwd":"/n","version":"2.1.9","message":{"id":"msg_9","model":"m","content":[{"type":"tool_use","id":"t","name":"X","input":{}}]},"uuid":"n-1","timestamp":"2030-01-01T00:00:00.000Z"}"#;
    let added = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]},"timestamp":"2020-01-01T00:00:00.000Z"}"#;
    let mut scanner = Scanner::default();
    let mut writer = (FORMAT.writer)(&Options::default(), Facts::default());
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = Vec::new();
    for (text, is_native) in [(native, true), (added, false)] {
        let line = jsonl::Line::new(text.as_bytes(), 0);
        let event = FORMAT.first_event(scanner.scan(&line).expect("valid"));
        out.start_source(&line, Style::Compact);
        if is_native {
            writer.resume(&event, &mut out);
        } else {
            writer.write(&event, &mut out);
        }
        take(&mut out, &mut written);
    }
    writer.finish(&mut out);
    take(&mut out, &mut written);
    assert_eq!(written.len(), 1);
    assert!(written[0].starts_with(r#"{"parentUuid":"n-1","isSidechain":false,"userType":"external","cwd":"/n","sessionId":"2a86484a-eb59-46ef-ac4a-848742436c10","version":"2.1.9""#));
    assert!(written[0].contains(r#""sourceToolAssistantUUID":"n-1""#));
    assert!(written[0].contains("2030-01-01T00:00:00.001Z"));
}

#[test]
fn a_validator_that_finds_each_fault() {
    let line = |kind: &str, content: &str, uuid: &str, parent: &str, time: &str| {
        format!(
            r#"{{"parentUuid":{parent},"cwd":"","sessionId":"","version":"","type":"{kind}","message":{{"content":{content}}},"uuid":"{uuid}","timestamp":"2025-12-25T10:30:{time}Z"}}"#
        )
    };
    let first = line("user", "\"hi\"", "u", "null", "00.000");
    let after = |second: String| {
        let problems = validate(format!("{first}\n{second}\n").as_bytes());
        problems.into_iter().map(|problem| problem.kind).collect::<Vec<_>>()
    };
    let text = r#"[{"type":"text","text":"x"}]"#;
    assert_eq!(after(line("assistant", text, "v", "\"u\"", "00.001")), []);
    assert_eq!(after(line("assistant", text, "v", "null", "00.001")), [ProblemKind::BrokenChain]);
    assert_eq!(
        after(line("assistant", text, "u", "\"u\"", "00.001")),
        [ProblemKind::DuplicateUuid]
    );
    assert_eq!(
        after(line("assistant", text, "v", "\"u\"", "00.000")),
        [ProblemKind::TimestampOrder]
    );
    assert_eq!(after(line("assistant", text, "v", "\"u\"", "01")), [ProblemKind::TimestampForm]);
    let cases = [
        (r#"[{"type":"text","text":" "}]"#, ProblemKind::EmptyText),
        (r#"[{"type":"thinking","thinking":"x"}]"#, ProblemKind::UnsignedThinking),
        (r#"[{"type":"tool_use","id":"","name":"X","input":{}}]"#, ProblemKind::ToolUseId),
        (r#"[{"type":"tool_use","id":"a","name":"","input":{}}]"#, ProblemKind::ToolName),
        (r#"[{"type":"tool_use","id":"a","name":"X","input":1}]"#, ProblemKind::ToolInput),
        (r#"[{"type":"tool_result","tool_use_id":"a"}]"#, ProblemKind::OrphanToolResult),
        (r#"[{"type":"text","text":"x","_carried":""}]"#, ProblemKind::ForeignMember),
        ("[]", ProblemKind::NotOneBlock),
    ];
    for (content, kind) in cases {
        assert_eq!(after(line("assistant", content, "v", "\"u\"", "00.001")), [kind]);
    }
}

#[test]
fn results_that_come_after_the_next_response_still_answer() {
    let input = r#"{"type":"user","message":{"content":"go"}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"1","name":"X","input":{}}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"2","name":"X","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"r2"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"r1"}]}}
{"type":"assistant","message":{"id":"m3","content":[{"type":"text","text":"done"}]}}
"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert_eq!(lines.len(), 6);
    assert!(lost(&losses).contains(&"flattened message.id 1".to_owned()));
}

#[test]
fn results_before_their_calls_are_moved_behind_them() {
    let input = r#"{"type":"user","message":{"content":"go"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"early"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"again"}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"1","name":"X","input":{}},{"type":"text","text":"t"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"done"}]}}
"#;
    let (lines, losses) = convert(input, keep);
    assert_valid(&lines);
    assert_eq!(lines.len(), 6);
    assert!(lines[1].contains("again") && lines[1].contains("\"system\""));
    assert!(lines[3].starts_with(r#"{"message":{"role":"user","content":[{"tool_use_id":"1","#));
    assert!(lines[3].contains("early"));
    assert!(lost(&losses).contains(&"flattened tool_result.order 1".to_owned()));
}

#[test]
fn a_result_that_no_call_takes_is_not_sent_and_says_so() {
    let input = r#"{"type":"user","message":{"content":"go"}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_result","tool_use_id":"srvtoolu_1","content":"from a proxy"}]}}
"#;
    let (lines, losses) = convert(input, keep);
    assert!(lines[2].contains("from a proxy") && lines[2].contains("\"type\":\"system\""));
    assert!(lost(&losses).contains(&"flattened tool_result 1".to_owned()), "{losses:?}");
}
