//! A record whose parts are in several written records comes back, however long the parts are and however many there are.

use std::io::Cursor;

use convert::{CarryMode, Conversion, Converted, Detected, FORMATS, Sidecar, Source, detect};
use core_model::Format;

use crate::shared::{
    parallel::check_all,
    turns::{chosen, share},
    ways::others,
};

/// Above this, waiting records are moved to a file (`MAX_WAITING` of `carry::reorder_buffers`).
const MAX_WAITING: usize = 8 * 1024 * 1024;

/// Returns a session of Claude Code with a response of `n_calls` calls, and their results in one record.
fn session(n_calls: usize, n_bytes: usize) -> Vec<u8> {
    let line = |n: usize, parent: &str, kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"{kind}","message":{message},"uuid":"0000000{n}-0000-4000-8000-000000000000","timestamp":"2026-03-21T14:30:0{n}.500Z"}}"#
        ) + "\n"
    };
    let uuid = |n: usize| format!("\"0000000{n}-0000-4000-8000-000000000000\"");
    let call = |n| format!(r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{}}}}"#);
    let text = "one line\\nand \\\"another\\\" ";
    let text = text.repeat(n_bytes / text.len());
    let result =
        |n| format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"{n} {text}"}}"#);
    let list = |of: &dyn Fn(usize) -> String| (0..n_calls).map(of).collect::<Vec<_>>().join(",");
    let response = |content: &str, reason: &str| {
        format!(
            r#"{{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{content}],"stop_reason":"{reason}","usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    [
        line(0, "null", "user", r#"{"role":"user","content":"x"}"#),
        line(1, &uuid(0), "assistant", &response(&list(&call), "tool_use")),
        line(2, &uuid(1), "user", &format!(r#"{{"role":"user","content":[{}]}}"#, list(&result))),
        line(3, &uuid(2), "assistant", &response(r#"{"type":"text","text":"done"}"#, "end_turn")),
    ]
    .concat()
    .into_bytes()
}

fn convert(
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
    source: &[u8],
) -> Converted {
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
    conversion.convert(source, None).expect("converted")
}

/// Each session goes to some of the other formats, other ones each day.
#[test]
fn long_and_many_parts_come_back() {
    let claude_code = &format_claude_code::FORMAT;
    // Two results of five megabytes, a hundred of 100 kilobytes, and so many that their overhead alone is too large.
    for (n_calls, n_bytes) in [(2, 5_000_000), (100, 100_000), (9_000, 20)] {
        let source = session(n_calls, n_bytes);
        assert!(n_calls > 1_000 || source.len() > MAX_WAITING);
        let targets = chosen(&n_calls.to_string(), others(&[claude_code]), 4);
        check_all(
            &targets,
            |to| format!("{n_calls} to {}", to.name),
            |to| {
                let written = convert(claude_code, to, CarryMode::Inline, &source).bytes;
                let Converted { bytes: back, report, .. } =
                    convert(to, claude_code, CarryMode::None, &written);
                match back == source && !report.restored.is_not_the_source() {
                    true => Vec::new(),
                    false => vec![format!("{:?}", report.restored)],
                }
            },
        );
    }
}

/// OpenCode's carry is inside an array. A record with more than a million values was not indexed that far.
#[test]
fn many_short_calls_in_one_message_come_back_from_a_document() {
    let source = session(36_000, 0);
    let claude_code = &format_claude_code::FORMAT;
    for carry in share([CarryMode::Inline, CarryMode::Sidecar].into(), 2) {
        let to = &format_opencode::FORMAT;
        let conversion = Conversion {
            formats: FORMATS,
            from: claude_code,
            to,
            carry,
            options: Default::default(),
        };
        let Converted { bytes: written, sidecar, .. } =
            conversion.convert(&source, None).expect("converted");
        let way_back =
            Conversion { from: to, to: claude_code, carry: CarryMode::None, ..conversion };
        let sidecar = sidecar.map(|bytes| Sidecar::read(&*bytes).expect("a sidecar"));
        let back = way_back.convert(&written, sidecar).expect("converted back");
        assert!(back.bytes == source, "{carry:?}: {:?}", back.report.restored);
    }
}

/// Each result without a call is a step of ATIF. The steps are packed with the places of their carries.
#[test]
fn many_results_in_one_line_come_back_from_steps() {
    let result =
        |n: usize| format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"ok"}}"#);
    let results: Vec<String> = (0..12_000).map(result).collect();
    let uuid = |n: usize| format!("\"0000000{n}-0000-4000-8000-000000000000\"");
    let line = |n: usize, content: &str| {
        let (uuid, parent) = (uuid(n), n.checked_sub(1).map_or_else(|| "null".to_owned(), uuid));
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"user","message":{{"role":"user","content":{content}}},"uuid":{uuid},"timestamp":"2026-03-21T14:30:0{n}.500Z"}}"#
        ) + "\n"
    };
    let source = [line(0, "\"x\""), line(1, &format!("[{}]", results.join(","))), line(2, "\"y\"")];
    let source = source.concat().into_bytes();
    let (claude_code, to) = (&format_claude_code::FORMAT, &format_atif::FORMAT);
    for carry in [CarryMode::Inline, CarryMode::Sidecar, CarryMode::None] {
        let options = Default::default();
        let conversion = Conversion { formats: FORMATS, from: claude_code, to, carry, options };
        let Converted { bytes: written, sidecar, .. } =
            conversion.convert(&source, None).expect("converted");
        let text = std::str::from_utf8(&written).expect("text");
        let object: serde_json::Value = serde_json::from_str(text).expect("a document");
        let steps = object["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), 12_002, "{carry:?}");
        // Every carry is inside the member `extra` of its step.
        assert!(steps.iter().all(|step| step.get("_carried").is_none()), "{carry:?}");
        if carry == CarryMode::None {
            continue;
        }
        let way_back =
            Conversion { from: to, to: claude_code, carry: CarryMode::None, ..conversion };
        let sidecar = sidecar.map(|bytes| Sidecar::read(&*bytes).expect("a sidecar"));
        let back = way_back.convert(&written, sidecar).expect("converted back");
        assert!(back.bytes == source, "{carry:?}: {:?}", back.report.restored);
    }
}

/// One message of a document shows thousands of Codex records, each with a carry in the sidecar of the Codex file.
#[test]
fn thousands_of_records_with_a_sidecar_come_back_through_a_document() {
    let texts: Vec<String> =
        (0..9_000).map(|n| format!(r#"{{"type":"text","text":"text {n}"}}"#)).collect();
    let line = |n: usize, kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"{kind}","message":{message},"uuid":"0000000{n}-0000-4000-8000-000000000000","timestamp":"2026-03-21T14:30:0{n}.500Z"}}"#
        ) + "\n"
    };
    let source = [
        line(0, "user", r#"{"role":"user","content":"x"}"#),
        line(1, "assistant", &format!(r#"{{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{}]}}"#, texts.join(","))),
    ]
    .concat()
    .into_bytes();
    let formats = [&format_claude_code::FORMAT, &format_codex::FORMAT, &format_opencode::FORMAT];
    let hops = [(0, 1), (1, 2), (2, 0)].map(|(from, to)| (formats[from], formats[to]));
    let (mut bytes, mut sidecar) = (source.clone(), None);
    for (from, to) in hops {
        let carry = CarryMode::Sidecar;
        let conversion =
            Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
        let read = |bytes: Vec<u8>| Sidecar::read(&*bytes).expect("a sidecar");
        let converted = conversion.convert(&bytes, sidecar.map(read)).expect("converted");
        assert!(!converted.report.restored.is_not_the_source(), "{:?}", converted.report.restored);
        (bytes, sidecar) = (converted.bytes, converted.sidecar);
    }
    assert!(bytes == source);
}

/// The carries of a file's own sidecar come back with its records, and without a record that was deleted from the next file.
#[test]
fn carries_of_a_sidecar_come_back_though_a_record_is_gone() {
    let (codex, clido) = (&format_codex::FORMAT, &format_clido::FORMAT);
    let run = |from, to, bytes: &[u8], sidecar: &Option<Vec<u8>>| {
        let carry = CarryMode::Sidecar;
        let conversion =
            Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
        let sidecar = sidecar.as_ref().map(|bytes| Sidecar::read(&**bytes).expect("a sidecar"));
        conversion.convert(bytes, sidecar).expect("converted")
    };
    let carries = |sidecar: &Option<Vec<u8>>| {
        let bytes = sidecar.as_ref().expect("a sidecar");
        Sidecar::read(&**bytes).expect("a sidecar").head(usize::MAX).expect("read")
    };
    let first = run(&format_claude_code::FORMAT, codex, &session(3, 40), &None);
    let second = run(codex, clido, &first.bytes, &first.sidecar);
    let lines: Vec<&[u8]> = second.bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for deleted in 1..lines.len() {
        let rest = [&lines[..deleted], &lines[deleted + 1..]].concat().concat();
        let back = run(clido, codex, &rest, &second.sidecar);
        assert!(back.report.restored.is_not_the_source(), "line {deleted}");
        let found = carries(&back.sidecar);
        let lost: Vec<_> =
            carries(&first.sidecar).into_iter().filter(|carry| !found.contains(carry)).collect();
        assert!(lost.is_empty(), "line {deleted}: {lost:?}");
    }
}

/// An edit of one of them is said, and nothing of the others is lost.
#[test]
fn an_edit_of_one_of_the_long_parts_is_said() {
    let (claude_code, clido) = (&format_claude_code::FORMAT, &format_clido::FORMAT);
    let source = session(2, 5_000_000);
    let written = convert(claude_code, clido, CarryMode::Inline, &source).bytes;
    let edited =
        String::from_utf8(written).expect("JSON").replacen("\"1 one line", "\"1 no line", 1);
    let Converted { bytes: back, report, .. } =
        convert(clido, claude_code, CarryMode::None, edited.as_bytes());
    assert_eq!((report.restored.edited, report.restored.restored), (1, 3));
    let back = String::from_utf8(back).expect("JSON");
    assert!(back.contains("\"0 one line") && back.contains("\"1 no line"));
    assert!(back.len() > 2 * 4_900_000);
}

/// The first record of a document has the carry of all records that no other record shows, so it may be longer than the
/// bytes that are read to detect a format.
#[test]
fn a_document_with_a_long_first_record_is_detected() {
    let long = "x,{".repeat(300 * 1024);
    for (expected, document) in [
        (
            Some("opencode"),
            format!(
                r#"{{"info":{{"id":"ses_1","slug":"a","metadata":{{"a":"{long}"}}}},"messages":[]}}"#
            ),
        ),
        (
            Some("atif"),
            format!(
                r#"{{"schema_version":"ATIF-v1.8","agent":{{"name":"a","version":"1"}},"extra":{{"a":"{long}"}},"steps":[]}}"#
            ),
        ),
        (None, format!(r#"{{"information":{{"id":"ses_1","a":"{long}"}}}}"#)),
    ] {
        let found = detect(&mut Source::new(Cursor::new(document.as_bytes()))).expect("in memory");
        let name = match found {
            Detected::Format(format) => Some(format.name),
            _ => None,
        };
        assert_eq!(name, expected);
    }
}

/// A stream of events has no prompt, so that the limit on the carries before the first prompt would hold to the end of
/// the file, and most records would come after the records that follow them.
#[test]
fn a_long_stream_without_a_prompt_comes_back() {
    let text = "word ".repeat(60);
    let item = |n: usize, state: &str, output: &str| {
        format!(
            r#"{{"type":"item.{state}","item":{{"id":"item_{n}","type":"command_execution","command":"ls {n}","aggregated_output":"{output}","exit_code":0,"status":"completed"}}}}"#
        ) + "\n"
    };
    let items = |n: usize| [item(n, "started", ""), item(n, "completed", &text)].concat();
    let source = [
        r#"{"type":"thread.started","thread_id":"01a204a0-e421-75b0-82ab-3a9eeb1a2117"}"#,
        "\n{\"type\":\"turn.started\"}\n",
        &(0..4_000).map(items).collect::<String>(),
    ]
    .concat();
    let (stream, claude_code) = (&format_codex::STREAM, &format_claude_code::FORMAT);
    let written = convert(stream, claude_code, CarryMode::Inline, source.as_bytes()).bytes;
    let Converted { bytes: back, report, .. } =
        convert(claude_code, stream, CarryMode::None, &written);
    assert!(back == source.as_bytes(), "{:?}", report.restored);
    assert!(!report.restored.is_not_the_source(), "{:?}", report.restored);
}

/// Megabytes of lines that a format does not show are in carries of their own in a sidecar, so that a reader needs the
/// memory of one of them. An edit of a line beside them is said, and they come back nevertheless.
#[test]
fn a_sidecar_has_long_runs_of_hidden_lines_in_carries_of_their_own() {
    let line = |n: u64, kind: &str, rest: &str| {
        format!(
            r#"{{"parentUuid":{parent},"sessionId":"11111111-2222-4333-8444-555555555555","type":"{kind}",{rest},"uuid":"{n:0>8}-0000-4000-8000-000000000000","timestamp":"2026-03-21T14:30:00.500Z"}}"#,
            parent = n.checked_sub(1).map_or("null".to_owned(), |it| format!(
                "\"{it:0>8}-0000-4000-8000-000000000000\""
            )),
        ) + "\n"
    };
    let message =
        |text: &str| format!(r#""cwd":"/w","message":{{"role":"user","content":"{text}"}}"#);
    let hidden = |n: u64| {
        let content = format!("{n} ").repeat(20_000);
        format!(r#"{{"type":"queue-operation","operation":"enqueue","content":"{content}"}}"#)
            + "\n"
    };
    let run = |from: u64| (from..from + 120).map(hidden).collect::<String>();
    let source = [
        line(0, "user", &message("begin")),
        line(1, "user", &message("next")),
        run(10),
        line(2, "user", &message("middle")),
        line(3, "user", &message("then")),
        run(200),
    ]
    .concat();
    let claude_code = &format_claude_code::FORMAT;
    let targets = [&format_pi::FORMAT, &format_clido::FORMAT, &format_opencode::FORMAT];
    for to in share(targets.into(), 3) {
        let carry = CarryMode::Sidecar;
        let there = Conversion {
            formats: FORMATS,
            from: claude_code,
            to,
            carry,
            options: Default::default(),
        };
        let back =
            Conversion { from: to, to: claude_code, carry: CarryMode::None, ..there.clone() };
        let Converted { bytes, sidecar, .. } =
            there.convert(source.as_bytes(), None).expect("converted");
        let sidecar = sidecar.expect("a sidecar");
        let read = || Sidecar::read(&*sidecar).expect("a sidecar");
        let (mut carries, mut lengths) = (read(), Vec::new());
        while let Some(carry) = carries.next_left().expect("read") {
            lengths.push(carry.len());
        }
        assert!(lengths.iter().all(|length| *length < 5 << 20), "{}: {lengths:?}", to.name);
        let home = back.convert(&bytes, Some(read())).expect("converted back");
        assert!(home.bytes == source.as_bytes(), "{}: {:?}", to.name, home.report.restored);
        assert!(!home.report.restored.is_not_the_source(), "{}", to.name);

        let edited = String::from_utf8(bytes).expect("text").replace("middle", "changed");
        let home = back.convert(edited.as_bytes(), Some(read())).expect("converted back");
        let restored = home.report.restored;
        assert!(restored.is_not_the_source() && restored.missing == 0, "{}: {restored:?}", to.name);
        let text = String::from_utf8(home.bytes).expect("text");
        assert!(text.contains("changed"), "{}", to.name);
        let lost: Vec<u64> =
            (10..130).chain(200..320).filter(|n| !text.contains(&hidden(*n))).collect();
        assert!(lost.is_empty(), "{}: {lost:?} {restored:?}", to.name);

        // Without the record before the first run, all others come back.
        let [start, end] = ["\"next\"", "\"middle\""].map(|text| edited.find(text).unwrap_or(0));
        let is_line = |line: &&str| !line.contains("\"next\"");
        if to.framing.is_document() || start > end {
            continue;
        }
        let rest: String =
            edited.replace("changed", "middle").split_inclusive('\n').filter(is_line).collect();
        let home = back.convert(rest.as_bytes(), Some(read())).expect("converted back");
        assert_eq!(home.report.restored.missing, 1, "{}", to.name);
        let text = String::from_utf8(home.bytes).expect("text");
        let lost: Vec<&str> = source.lines().filter(|line| !text.contains(line)).collect();
        assert!(lost.iter().all(|line| line.contains("\"next\"")), "{}: {}", to.name, lost.len());
    }
}

/// Megabytes of hidden lines are in filler records of a quarter of a megabyte, which the client skips, and not in the
/// line after them.
#[test]
fn no_line_of_a_client_has_a_long_run_of_hidden_lines() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-03-21T14:30:00.500Z","type":"{kind}","payload":{payload}}}"#)
            + "\n"
    };
    let text = |role: &str, kind: &str, text: &str| {
        let content = format!(r#"[{{"type":"{kind}","text":"{text}"}}]"#);
        line(
            "response_item",
            &format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#),
        )
    };
    let hidden = |n: u64| {
        let content = format!("{n} ").repeat(20_000);
        line("event_msg", &format!(r#"{{"type":"made_up","content":"{content}"}}"#))
    };
    let source = [
        line("session_meta", r#"{"id":"01a204a0-e421-75b0-82ab-3a9eeb1a2117","cwd":"/w"}"#),
        text("user", "input_text", "begin"),
        text("assistant", "output_text", "first"),
        (100..200).map(hidden).collect(),
        text("assistant", "output_text", "second"),
        (200..300).map(hidden).collect(),
    ]
    .concat();
    let (codex, claude_code) = (&format_codex::FORMAT, &format_claude_code::FORMAT);
    let written = convert(codex, claude_code, CarryMode::Inline, source.as_bytes()).bytes;
    let longest = written.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert!(longest.is_some_and(|length| length < 300 * 1024), "{longest:?}");
    let Converted { bytes: back, report, .. } =
        convert(claude_code, codex, CarryMode::None, &written);
    assert!(back == source.as_bytes(), "{:?}", report.restored);
    assert!(!report.restored.is_not_the_source(), "{:?}", report.restored);
}

/// A record of many tool results has many events, and one guard: it is hashed once, not once for each event.
#[test]
fn the_way_back_of_many_results_takes_the_time_of_the_way_there() {
    let results: Vec<String> = (0..600)
        .map(|n| format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"ok"}}"#))
        .collect();
    let line = |parent: &str, n: usize, content: &str| {
        format!(
            r#"{{"parentUuid":{parent},"type":"user","uuid":"00000000-0000-4000-8000-00000000000{n}","sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:04:05.000Z","message":{{"role":"user","content":[{content}]}}}}"#
        ) + "\n"
    };
    let text = r#"{"type":"text","text":"a"}"#;
    let parent = r#""00000000-0000-4000-8000-000000000001""#;
    // A result without its call is a text that is not sent.
    let second = line(parent, 2, &format!("{},{text}", results.join(",")));
    let source = (line("null", 1, text) + &second).into_bytes();
    let convert = |from, to, source: &[u8], sidecar: Option<Vec<u8>>| {
        let [from, to] = [from, to].map(|name| convert::by_name(name).expect("a format"));
        let carry = convert::CarryMode::Sidecar;
        let options = core_model::Options::default();
        let conversion =
            convert::Conversion { formats: convert::FORMATS, from, to, carry, options };
        let sidecar = sidecar
            .map(|bytes| convert::Sidecar::open(std::io::Cursor::new(bytes)).expect("a sidecar"));
        let start = std::time::Instant::now();
        let converted = conversion.convert(source, sidecar).expect("converted");
        (converted, start.elapsed())
    };
    let (there, time_there) = convert("claude-code", "opencode", &source, None);
    let (back, time_back) = convert("opencode", "claude-code", &there.bytes, there.sidecar);
    assert!(back.bytes == source);
    assert!(there.bytes.len() > 100_000);
    assert!(time_back < 40 * time_there, "{time_there:?} there, {time_back:?} back");
}
