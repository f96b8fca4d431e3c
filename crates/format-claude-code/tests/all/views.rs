//! Tests of the views over transcripts.

use std::fs;

use core_model::{
    CompactionRule, DurationRule, ErrorPolicy, Event, FilesTouched, Generations, Markdown,
    Messages, Overview, Place, PointKind, Role, Said, SaidBlock, Span, Timeline, TokenTotals,
    ToolRuns, TypeCounts, Viewed, failed_results,
};
use format_claude_code::read;
use jsonl::Scanner;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/claude-code/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).expect("a fixture")
}

fn each(input: &[u8], mut take: impl FnMut(Place, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for (line_idx, line) in jsonl::lines(input).enumerate() {
        if let Ok(value) = scanner.scan(&line) {
            take(Place { line: line_idx as u64 + 1, offset: line.offset() }, &read(value));
        }
    }
}

fn said(name: &str) -> Vec<Said> {
    let (mut messages, mut said) = (Messages::default(), Vec::new());
    each(&fixture(name), |place, event| said.extend(messages.push(place, event)));
    said.extend(messages.finish());
    said
}

#[test]
fn the_lines_of_a_response_are_one_message() {
    let said = said("response-over-three-lines");
    let shapes: Vec<_> =
        said.iter().map(|said| (said.role, said.n_lines, said.blocks.len())).collect();
    assert_eq!(
        shapes,
        [(Role::User, 1, 1), (Role::Assistant, 3, 3), (Role::User, 1, 1), (Role::Assistant, 1, 1)]
    );
    assert_eq!(said[1].blocks[0], SaidBlock::Thinking("Hm.".to_owned()));
    assert!(said[0].is_prompt && !said[2].is_prompt);
    assert_eq!((said[1].first.line, said[1].last.line), (2, 4));
}

#[test]
fn results_between_the_lines_of_a_response_come_after_it() {
    let said = said("parallel-calls-interleaved");
    let lines: Vec<_> = said.iter().map(|said| (said.first.line, said.n_lines)).collect();
    assert_eq!(lines, [(1, 1), (2, 3), (4, 1), (6, 1), (7, 1)]);
}

#[test]
fn every_line_of_every_fixture_is_in_one_message() {
    let folder = format!("{}/../../fixtures/claude-code", env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(folder).expect("fixtures").flatten() {
        let Ok(input) = fs::read(entry.path()) else { continue };
        let (mut messages, mut n_messages, mut n_lines) = (Messages::default(), 0, 0);
        each(&input, |place, event| {
            n_messages += u64::from(event.message().is_some());
            n_lines += messages.push(place, event).iter().map(|said| said.n_lines).sum::<u64>();
        });
        n_lines += messages.finish().iter().map(|said| said.n_lines).sum::<u64>();
        assert_eq!(n_lines, n_messages, "{:?}", entry.path());
    }
}

#[test]
fn a_call_is_joined_with_its_result() {
    let mut runs = ToolRuns::with_contents();
    each(&fixture("parallel-calls-interleaved"), |place, event| runs.push(place, event));
    let runs = runs.finish();
    assert_eq!(runs.len(), 2);
    let run = &runs[1];
    assert_eq!((run.id.as_str(), run.name.as_str()), ("toolu_01B", "Bash"));
    assert_eq!(run.input.as_deref(), Some(r#"{"command":"false"}"#));
    assert_eq!((run.result.as_deref(), run.is_error), (Some("Exit code 1"), Some(true)));
    assert_eq!(run.duration_ms, Some(1500));
    assert_eq!(run.called.map(|moment| moment.place.line), Some(5));
    assert_eq!(run.answered.map(|moment| moment.place.line), Some(6));

    for (name, called, answered) in [
        ("open-tool-call", true, false),
        ("orphan-tool-result", false, true),
        ("result-before-its-call", true, true),
    ] {
        let mut runs = ToolRuns::default();
        each(&fixture(name), |place, event| runs.push(place, event));
        let run = &runs.runs()[0];
        assert_eq!((run.called.is_some(), run.answered.is_some()), (called, answered), "{name}");
        assert_eq!((&run.input, &run.result), (&None, &None));
    }
}

#[test]
fn results_of_one_id_belong_to_its_calls_in_order() {
    let call =
        |name: &str| format!(r#"{{"type":"tool_use","id":"t1","name":"{name}","input":{{}}}}"#);
    let line = |kind: &str, blocks: &str| {
        format!(r#"{{"type":"{kind}","message":{{"content":[{blocks}]}}}}"#) + "\n"
    };
    let result = |text: &str| {
        line("user", &format!(r#"{{"type":"tool_result","tool_use_id":"t1","content":"{text}"}}"#))
    };
    let calls = line("assistant", &[call("Bash"), call("Read")].join(","));
    let session = [calls, result("one"), result("two"), result("three")].concat();
    let mut runs = ToolRuns::with_contents();
    each(session.as_bytes(), |place, event| runs.push(place, event));
    let runs = runs.finish();
    let paired: Vec<_> =
        runs.iter().map(|run| (run.name.as_str(), run.result.as_deref())).collect();
    assert_eq!(paired, [("Bash", Some("one")), ("Read", Some("two"))]);
}

#[test]
fn usage_counts_once_for_each_response() {
    let mut totals = TokenTotals::default();
    each(&fixture("response-over-three-lines"), |_, event| totals.push(event));
    let total = totals.total();
    // The last line of the first response, and the second response: not the sum of four lines.
    assert_eq!((total.input, total.output, total.cache_read), (4 + 12, 57 + 9, 100));
}

#[test]
fn errors_by_three_policies() {
    let result = |content: &str| {
        let block = format!(r#"{{"type":"tool_result","tool_use_id":"t"{content}}}"#);
        format!(r#"{{"type":"user","message":{{"content":[{block}]}}}}"#)
    };
    let lines = [
        (result(r#","content":"0 errors, none failed""#), [0, 1, 1]),
        (result(r#","content":"all well","is_error":true"#), [1, 0, 1]),
        (result(r#","content":[{"type":"text","text":"It FAILED"}],"is_error":false"#), [0, 1, 1]),
        (result(r#","content":null"#), [0, 0, 0]),
        (result(""), [0, 0, 0]),
        (r#"{"type":"user","message":{"content":"an error"}}"#.to_owned(), [0, 0, 0]),
    ];
    for (line, expected) in &lines {
        each(line.as_bytes(), |_, event| {
            let policies = [ErrorPolicy::Flag, ErrorPolicy::Text, ErrorPolicy::Either];
            let found = policies.map(|policy| failed_results(event, policy).count());
            assert_eq!(&found, expected, "{line}");
        });
    }
}

#[test]
fn a_message_of_many_blocks_is_counted_whole() {
    for n_blocks in [2, 4_096, 4_097, 20_000] {
        let calls = (0..n_blocks / 2).map(|n| {
            format!(
                r#"{{"type":"tool_use","id":"t{n}","name":"Read","input":{{"path":"{n}"}}}},{{"type":"tool_result","tool_use_id":"t{n}","is_error":true}}"#
            )
        });
        let blocks = calls.collect::<Vec<_>>().join(",");
        let line = format!(r#"{{"type":"assistant","message":{{"content":[{blocks}]}}}}"#);
        each(line.as_bytes(), |_, event| {
            let viewed = Viewed::new(event);
            let (mut overview, mut files) = (Overview::default(), FilesTouched::default());
            overview.view(&viewed);
            files.view(&viewed);
            let half = n_blocks as u64 / 2;
            assert_eq!((overview.n_tool_calls, overview.errors.n_tool), (half, half));
            assert_eq!(files.iter().count() as u64, half);
            assert_eq!(viewed.failed_results(ErrorPolicy::Flag).count() as u64, half);
        });
    }
}

#[test]
fn durations_by_three_rules() {
    let mut span = Span::default();
    each(&fixture("seed-004"), |_, event| span.push(event));
    let millis = |rule| span.millis(rule);
    // 20:31:59.197 to 21:00:00.000.
    assert_eq!(millis(DurationRule::MinMax), Some(1_680_803));
    assert_eq!(millis(DurationRule::FirstLastLine), Some(1_680_803));
    let mut span = Span::default();
    each(&fixture("summaries-three-shapes"), |_, event| span.push(event));
    assert_eq!(span.millis(DurationRule::FirstLastLine), None, "the first line is a summary");
    assert!(span.millis(DurationRule::MinMax).is_some());
    // A snapshot has a time of its own.
    let snapshot =
        br#"{"type":"file-history-snapshot","snapshot":{"timestamp":"2025-12-25T10:30:00.000Z"}}
{"type":"user","timestamp":"2025-12-25T10:31:00.000Z","message":{"content":"x"}}"#;
    let mut span = Span::default();
    each(snapshot, |_, event| span.push(event));
    assert_eq!(span.millis(DurationRule::FirstLastLine), Some(60_000));
}

#[test]
fn counts_by_type() {
    let mut counts = TypeCounts::default();
    let input = [fixture("snapshots-three-shapes"), b"{\"uuid\":\"u\"}\nnot JSON\n".to_vec()];
    each(&input.concat(), |_, event| counts.push(event));
    let counts: Vec<_> = counts.iter().collect();
    assert_eq!(
        counts,
        [
            ("assistant", 1),
            ("file-history-delta", 1),
            ("file-history-snapshot", 2),
            ("unknown", 1),
            ("user", 1)
        ]
    );
}

#[test]
fn compactions_by_three_rules() {
    let compactions = |name: &str| {
        [CompactionRule::SummaryLine, CompactionRule::Boundary, CompactionRule::Any].map(|rule| {
            let mut generations = Generations::new(rule);
            each(&fixture(name), |place, event| generations.push(place, event));
            generations.compactions().iter().map(|found| found.idx).collect::<Vec<_>>()
        })
    };
    assert_eq!(compactions("compaction"), [vec![], vec![2], vec![2]]);
    assert_eq!(compactions("summaries-three-shapes"), [vec![0, 1, 2], vec![], vec![0, 1, 2]]);
    let mut generations = Generations::default();
    each(&fixture("compaction"), |place, event| generations.push(place, event));
    let generations = generations.finish();
    let shapes: Vec<_> = generations.iter().map(|it| (it.n_events, it.n_messages)).collect();
    assert_eq!(shapes, [(2, 2), (4, 3)]);
    let compaction = generations[1].compaction.as_ref().expect("a boundary");
    assert_eq!(
        (compaction.trigger.as_deref(), compaction.pre_tokens),
        (Some("manual"), Some(5931))
    );
}

#[test]
fn the_overview_to_the_character() {
    let mut overview = Overview::default();
    each(&fixture("sidechain-inline"), |_, event| overview.push(event));
    let expected = "Session dceae869-3b32-4709-81bb-bb9dadb199ad (8 events)
- Duration: 10 seconds
- User messages: 2
- Tool calls: 2
- Sub-agents: 1 (general-purpose)
- Errors: 0

Show: [full] [tools only] [errors only] [subagents only]";
    assert_eq!(overview.to_string(), expected);

    let mut overview = Overview::default();
    each(&fixture("seed-004"), |_, event| overview.push(event));
    overview.session_id = Some("abc123".to_owned());
    let expected = "Session abc123 (7 events)
- Duration: 28 minutes
- User messages: 2
- Tool calls: 1
- Sub-agents: 0
- Errors: 0

Show: [full] [tools only] [errors only] [subagents only]";
    assert_eq!(overview.to_string(), expected);

    let tasks = ["Plan the work", "Debug it", "Count"].map(|prompt| {
        let task = format!(
            r#"{{"type":"tool_use","id":"{prompt}","name":"Task","input":{{"prompt":"{prompt}"}}}}"#
        );
        format!(r#"{{"type":"assistant","message":{{"content":[{task}]}}}}"#)
    });
    let mut overview = Overview::default();
    each(tasks.join("\n").as_bytes(), |_, event| overview.push(event));
    let text = overview.to_string();
    assert!(text.contains("\n- Sub-agents: 3 (Plan mode, Debug mode, Agent mode)\n"), "{text}");

    let minute = br#"{"type":"user","timestamp":"2026-01-17T20:31:00.000Z","message":{"content":"x"}}
{"type":"user","timestamp":"2026-01-17T20:32:59.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true}]}}"#;
    let mut overview = Overview::default();
    each(minute, |_, event| overview.push(event));
    let text = overview.to_string();
    assert!(
        text.contains("\n- Duration: 1 minute\n") && text.contains("\n- Errors: 1\n"),
        "{text}"
    );
}

#[test]
fn files_and_points_of_time() {
    let mut files = FilesTouched::default();
    let mut timeline = Timeline::default();
    each(&fixture("seed-004"), |place, event| {
        files.push(event);
        timeline.push(place, event);
    });
    let files: Vec<_> = files.iter().map(|(path, touches)| (path, touches.read)).collect();
    assert_eq!(files, [("/some/file.txt", 1)]);
    let kinds: Vec<_> = timeline.points.iter().map(|point| point.kind).collect();
    use PointKind::{Prompt, ToolResult, ToolUse};
    assert_eq!(kinds, [Prompt, ToolUse, ToolResult, ToolResult]);
    let mut timeline = Timeline::default();
    each(&fixture("sidechain-inline"), |place, event| timeline.push(place, event));
    assert_eq!(timeline.lanes.len(), 2);
    assert_eq!(timeline.points.iter().filter(|point| point.lane == 1).count(), 4);
}

#[test]
fn markdown_of_a_session() {
    let markdown = |depth, mode| {
        let mut out = String::new();
        each(&fixture("seed-004"), |_, event| {
            Markdown::default().event(event, depth, mode, &mut out);
        });
        out
    };
    let expected = "## User (2026-01-17 20:31:59)
User message content

## Claude (2026-01-17 20:32:01)
Assistant response

> [!NOTE] Thinking Process
> Internal reasoning...

**Tool Use**: `Read` (ID: `toolu_xyz123`)
```json
{
  \"path\": \"/some/file.txt\"
}
```

## User (2026-01-17 20:32:02)
**Tool Result** (`toolu_xyz123`):
```text
File contents...
```

## User (2026-01-17 20:32:03)
**Tool Result** (`toolu_delegate`):
```text
agentId: xyz123
Agent output...
```

## User (Unknown time)
Simple text

## Claude (Unknown time)
(No content)

";
    assert_eq!(markdown(0, None), expected);
    let nested = markdown(2, Some("Plan Mode"));
    assert!(nested.starts_with(
        "> > **User** (2026-01-17 20:31:59)\n> > User message content\n\n\
         > > **Claude (Plan Mode)** (2026-01-17 20:32:01)\n"
    ));
    let plain = Markdown { with_thinking: false, with_tools: false, ..Markdown::default() };
    let mut out = String::new();
    each(&fixture("seed-004"), |_, event| plain.event(event, 0, None, &mut out));
    assert!(out.contains("\n**Tool**: `Read`\n") && !out.contains("Thinking"), "{out}");
    let mut out = String::new();
    let empty = br#"{"type":"user","message":{}}"#;
    each(empty, |_, event| Markdown::default().event(event, 0, None, &mut out));
    assert_eq!(out, "## User (Unknown time)\n(Empty)\n\n");
}
