//! Tests that a carry is reported if it restores another content than its record shows.

use std::io::Cursor;

use convert::{
    CarryMode, Conversion, Converted, Detected, FORMATS, Report, Sidecar, Source, by_name, detect,
    guard_of,
};
use core_model::{Block, Format, Options};
use jsonl::Scanner;

use crate::shared::{
    data::data,
    fixtures::fixtures,
    parallel::check_all,
    pieces::pieces,
    turns::{chosen, share},
    ways::others,
};

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

/// Converts to another format and back, and returns the report of the way back.
fn home(
    source: &[u8],
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
) -> (Vec<u8>, Report) {
    let there = conversion(from, to, carry).convert(source, None).expect("in memory");
    let sidecar = there.sidecar.map(|bytes| Sidecar::read(&bytes[..]).expect("a sidecar"));
    let back = conversion(to, from, CarryMode::Inline).convert(&there.bytes, sidecar);
    let Converted { bytes: restored, report, .. } = back.expect("in memory");
    (restored, report)
}

/// Returns the whole lines in the first `length` bytes of a file.
fn head(bytes: &[u8], length: usize) -> &[u8] {
    let head = bytes.get(..length).unwrap_or(bytes);
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
    if head.len() == bytes.len() { bytes } else { &head[..end] }
}

/// Files in which the lines that carry a record do not show all of its messages, and the targets. These
/// are false alarms, since the files are restored.
const FALSE_ALARMS: [(&str, &[&str]); 3] = [
    // A result without a call beside other messages of its record. OpenCode's document has no place for it,
    // and the report names it.
    ("/atif-cases/result-other-step.json", &["opencode"]),
    ("/atif-cases/result-unknown-call.json", &["opencode"]),
    ("/atif-cases/two-results-one-call.json", &["opencode"]),
];

/// Returns whether a difference of a file is known as a false alarm.
fn is_false_alarm(file: &str, to: &Format) -> bool {
    FALSE_ALARMS.iter().any(|(end, targets)| file.ends_with(end) && targets.contains(&to.name))
}

/// A third of the fixtures, other ones each day.
#[test]
fn what_was_written_agrees_with_what_it_carries() {
    let all = std::env::var_os("AGREEMENT_ALL").is_some();
    let mut files: Vec<(String, Vec<u8>)> =
        fixtures().into_iter().map(|fixture| (fixture.name, fixture.bytes)).collect();
    files = share(files, 3);
    files.extend(data(&[
        "real", "clients", "sdk-dump", "hostile", "atif", "codex", "copilot", "gemini", "opencode",
        "pi",
    ]));
    check_all(
        &files,
        |(name, _)| name.clone(),
        |(name, bytes)| {
            let bytes = if all { &bytes[..] } else { head(bytes, 64 * 1024) };
            let mut source = Source::new(Cursor::new(bytes));
            let Ok(Detected::Format(from)) = detect(&mut source) else {
                return Vec::new();
            };
            let mut wrong = Vec::new();
            for to in FORMATS.targets().filter(|to| to.name != from.name) {
                for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                    let (restored, report) = home(bytes, from, to, carry);
                    let differs = (report.restored.differs, report.restored.first_difference);
                    if restored != bytes || differs != (0, None) && !is_false_alarm(name, to) {
                        wrong.push(format!("{} to {}, {carry:?}: {differs:?}", from.name, to.name));
                    }
                }
            }
            wrong
        },
    );
}

/// A step with a text, and a result whose call is not in the document.
const WITHOUT_CALL: &str = r#"{"schema_version":"ATIF-v1.8","session_id":"s1","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":"Done.","observation":{"results":[{"source_call_id":"c9","content":"Two files."}]}}]}"#;

/// Writers replace ids that an API refuses and repeated ids, or write the second call as a notice.
#[test]
fn calls_with_repeated_and_refused_ids_agree() {
    let line = |n: usize, kind: &str, message: &str| {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"sessionId":"s1","cwd":"/w","version":"2.1.0","timestamp":"2026-03-21T14:30:0{n}.500Z","message":{message}}}"#
        ) + "\n"
    };
    let call = |id: &str, name: &str, input: &str| {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
    };
    let session = |calls: &[String], results: &[(&str, &str)]| {
        let result = |(id, content): &(&str, &str)| {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{content}"}}"#)
        };
        let results: Vec<String> = results.iter().map(result).collect();
        let (calls, results) = (calls.join(","), results.join(","));
        [
            line(0, "user", r#"{"role":"user","content":"x"}"#),
            line(1, "assistant", &format!(r#"{{"id":"m1","type":"message","role":"assistant","model":"c","content":[{calls}]}}"#)),
            line(2, "user", r#"{"role":"user","content":"more"}"#),
            line(3, "user", &format!(r#"{{"role":"user","content":[{results}]}}"#)),
        ]
        .concat()
    };
    let many = |n: usize| (0..n).map(|n| call(&format!("t{n}"), "Bash", "{}"));
    let sessions = [
        session(
            &[call("t1", "Read", "{}"), call("t1", "Bash", r#"{"command":"ls"}"#)],
            &[("t1", "")],
        ),
        session(
            &["1", "2", "3"].map(|n| call("t1", "Bash", &format!(r#"{{"command":"ls {n}"}}"#))),
            &[("t1", "a"), ("t1", "b")],
        ),
        session(
            &[
                call("t:1", "Read", "{}"),
                call("t2", "Read", "{}"),
                call("t2", "Read", "{}"),
                call("t:3", "Read", "{}"),
            ],
            &[("t:3", ""), ("t2", "x"), ("t:1", "")],
        ),
        // A result without a call and without text, beside another one.
        session(&[call("t1", "Read", "{}")], &[("t1", "a"), ("t9", "")]),
        // More replaced blocks than a comparison keeps.
        session(&many(70).chain(many(70)).collect::<Vec<_>>(), &[("t7", "ok"), ("t69", "")]),
    ];
    for session in sessions {
        for to in FORMATS.targets().filter(|to| to.name != "claude-code") {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let (restored, report) =
                    home(session.as_bytes(), &format_claude_code::FORMAT, to, carry);
                assert_eq!(String::from_utf8_lossy(&restored), session, "{}", to.name);
                // OpenCode's document has no place for a result without a call, as in `FALSE_ALARMS`.
                let is_known = to.name == "opencode" && session.contains("\"t9\"");
                let is_wrong = report.restored.is_not_the_source() && !is_known;
                assert!(!is_wrong, "{} of {session}", to.name);
            }
        }
    }
}

/// A format whose records hold a call and its result, and a session in it with three calls of one id: `FIRST` has no
/// result, and two calls of one record follow, of which the first one has no result either.
fn sessions_with_one_id() -> [(&'static str, String); 4] {
    let opencode = |n: usize, parts: &str| {
        format!(
            r#"{{"info":{{"id":"msg_000000000{n}","sessionID":"ses_1","role":"assistant","time":{{"created":179537760{n}254}},"modelID":"m","providerID":"p"}},"parts":[{{"type":"text","text":"Step {n}."}},{parts}]}}"#
        )
    };
    let part = |command: &str, state: &str| {
        format!(
            r#"{{"type":"tool","tool":"bash","callID":"toolu_1","state":{{"input":{{"command":"{command}"}},{state}}}}}"#
        )
    };
    let (runs, failed) = (r#""status":"running""#, r#""status":"error","error":"No such file.""#);
    let messages = [
        r#"{"info":{"id":"msg_0000000000","sessionID":"ses_1","role":"user","time":{"created":1795377600254}},"parts":[{"type":"text","text":"Go."}]}"#.to_owned(),
        opencode(1, &part("FIRST", runs)),
        opencode(2, &[part("SECOND", runs), part("THIRD", failed)].join(",")),
    ];
    let opencode = format!(
        r#"{{"info":{{"id":"ses_1","slug":"a","time":{{"created":1795377600254}}}},"messages":[{}]}}"#,
        messages.join(",")
    );
    let gemini = |n: usize, calls: &str| {
        format!(
            r#"{{"id":"m{n}","timestamp":"2026-01-01T00:00:0{n}.000Z","type":"gemini","content":"Step {n}.","toolCalls":[{calls}]}}"#
        )
    };
    let call = |command: &str, result: &str| {
        format!(r#"{{"id":"toolu_1","name":"bash","args":{{"command":"{command}"}}{result}}}"#)
    };
    let failed = r#","result":[{"functionResponse":{"id":"toolu_1","name":"bash","response":{"error":"No such file."}}}],"status":"error""#;
    let messages = [
        r#"{"id":"m0","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":"Go."}"#
            .to_owned(),
        gemini(1, &call("FIRST", r#","status":"cancelled""#)),
        gemini(2, &[call("SECOND", r#","status":"cancelled""#), call("THIRD", failed)].join(",")),
    ];
    let start = r#""sessionId":"11111111-2222-4333-8444-555555555555","projectHash":"a","startTime":"2026-01-01T00:00:00.000Z""#;
    let log = format!("{{{start},\"kind\":\"main\"}}\n{}\n", messages.join("\n"));
    let document = format!(
        r#"{{{start},"lastUpdated":"2026-01-01T00:00:00.000Z","messages":[{}]}}"#,
        messages.join(",")
    );
    let atif = |n: usize, calls: &str, results: &str| {
        format!(
            r#"{{"step_id":{n},"source":"agent","message":"Step {n}.","tool_calls":[{calls}]{results}}}"#
        )
    };
    let call = |command: &str| {
        format!(
            r#"{{"tool_call_id":"toolu_1","function_name":"bash","arguments":{{"command":"{command}"}}}}"#
        )
    };
    let failed =
        r#","observation":{"results":[{"source_call_id":"toolu_1","content":"No such file."}]}"#;
    let atif = format!(
        r#"{{"schema_version":"ATIF-v1.8","session_id":"11111111-2222-4333-8444-555555555555","agent":{{"name":"a","version":"1"}},"steps":[{{"step_id":1,"source":"user","message":"Go."}},{},{}]}}"#,
        atif(2, &call("FIRST"), ""),
        // The results are behind the calls, and do not show which of two calls is theirs.
        atif(3, &call("THIRD"), failed),
    );
    [("opencode", opencode), ("gemini", log), ("gemini", document), ("atif", atif)]
}

/// Returns the inputs of the calls with the id of a result, for each result.
fn inputs_of_results(format: &Format, bytes: &[u8]) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    let mut results = Vec::new();
    let mut scanner = Scanner::default();
    for piece in pieces(bytes, Some(format)).into_iter().filter(|piece| piece.is_record) {
        let value = scanner.scan(&piece.line).expect("JSON");
        format.for_each_event(value, |event| {
            for (block, _) in event.message().iter().flat_map(|message| message.blocks()) {
                match block {
                    Block::ToolUse(tool) => calls.push((
                        tool.id.decode().into_owned(),
                        tool.input.json().raw().as_str().to_owned(),
                    )),
                    Block::ToolResult(result) if !result.content.joined().contains("recorded") => {
                        results.push(result.tool_use_id.decode().into_owned());
                    }
                    _ => {}
                }
            }
            true
        });
    }
    let inputs = |id| calls.iter().filter(|call| call.0 == id).map(|call| call.1.clone()).collect();
    results.into_iter().map(inputs).collect()
}

/// A result belongs to the call in its record, and not to an earlier call with the same id that waits for one.
#[test]
fn results_belong_to_the_calls_of_their_records() {
    for (from, session) in sessions_with_one_id() {
        let row = by_name(from).expect("a format");
        for to in FORMATS.targets().filter(|to| to.name != from) {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let (restored, report) = home(session.as_bytes(), row, to, carry);
                assert_eq!(String::from_utf8_lossy(&restored), session, "{from} to {}", to.name);
                let found = &report.restored;
                assert!(!found.is_not_the_source(), "{from} to {}: {found:?}", to.name);
            }
            let there = conversion(row, to, CarryMode::None).convert(session.as_bytes(), None);
            let written = there.expect("in memory").bytes;
            let inputs = inputs_of_results(to, &written);
            let is_of_last = |inputs: &Vec<String>| inputs.iter().any(|it| it.contains("THIRD"));
            let (from, to) = (from, to.name);
            assert!(inputs.iter().all(is_of_last), "{from} to {to}: {inputs:?}");
            // Formats that write a repeated call as a notice write its result as one.
            let has_result = !["copilot", "pi", "qwen"].contains(&to);
            assert_eq!(inputs.len(), usize::from(has_result), "{from} to {to}");
        }
    }
}

/// Most writers replace an empty id in the call and in its result.
#[test]
fn calls_with_empty_ids_agree() {
    let [(from, session), ..] = sessions_with_one_id();
    let (row, session) = (by_name(from).expect("a format"), session.replace("toolu_1", ""));
    for to in FORMATS.targets().filter(|to| to.name != from) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(session.as_bytes(), row, to, carry);
            assert_eq!(String::from_utf8_lossy(&restored), session, "{}", to.name);
            let found = &report.restored;
            assert!(!found.is_not_the_source(), "{}: {found:?}", to.name);
        }
    }
}

#[test]
fn a_result_without_its_call_agrees_with_its_notice() {
    let row = |name| by_name(name).expect("a format");
    for to in ["claude-code", "codex", "copilot", "gemini", "pi", "qwen"] {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(WITHOUT_CALL.as_bytes(), row("atif"), row(to), carry);
            assert_eq!(restored, WITHOUT_CALL.as_bytes(), "{to}");
            assert_eq!(report.restored.differs, 0, "{to}, {carry:?}");
        }
    }
}

/// A transcript that was cut: its first line is a prompt with tool results, whose calls are gone. The test replaces `RESULTS`.
const CUT: &str = r#"{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[RESULTS{"type":"text","text":"Go on."}]}}
"#;

#[test]
fn a_result_without_its_call_is_shown_beside_a_prompt() {
    let row = |name| by_name(name).expect("a format");
    let text = r#"{"type":"tool_result","tool_use_id":"toolu_1","content":"Two files."},"#;
    let image = r#"{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"A picture."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},"#;
    let session = CUT.replace("RESULTS", &[text, image].concat());
    for to in FORMATS.targets().filter(|to| to.name != "claude-code") {
        let there = conversion(row("claude-code"), to, CarryMode::None);
        let written = there.convert(session.as_bytes(), None).expect("in memory").bytes;
        let written = String::from_utf8(written).expect("UTF-8");
        assert!(written.contains("Two files.") && written.contains("A picture."), "{}", to.name);
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(session.as_bytes(), row("claude-code"), to, carry);
            assert_eq!(String::from_utf8_lossy(&restored), session, "{}", to.name);
            assert_eq!(report.restored.differs, 0, "{}, {carry:?}", to.name);
        }
    }
}

/// Two results without calls in one record, in Python's spelling: each is a notice, and each notice covers a
/// part of the record.
#[test]
fn texts_of_another_spelling_in_several_notices_agree() {
    let source = r#"{"content": [{"tool_use_id": "toolu_0", "content": "words"}, {"tool_use_id": "toolu_1", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}], "parent_tool_use_id": null}
"#;
    let row = |name| by_name(name).expect("a format");
    for to in FORMATS.targets().filter(|to| !to.name.starts_with("sdk-stream")) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(source.as_bytes(), row("sdk-stream"), to, carry);
            assert_eq!(String::from_utf8_lossy(&restored), source, "{}", to.name);
            assert_eq!(report.restored.differs, 0, "{}, {carry:?}", to.name);
        }
    }
}

/// A response with a web search that the API ran.
const SEARCHED: &str = r#"{"type":"assistant","uuid":"u2","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"id":"m","role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"simd \"json\""}},{"type":"text","text":"Found."}]}}
"#;

#[test]
fn the_words_of_a_search_that_the_api_ran_are_shown() {
    let row = |name| by_name(name).expect("a format");
    let words = r#"[server_tool_use web_search {"query":"simd \"json\""}]"#;
    let quoted = jsonl::json_string(words);
    for to in ["clido", "codex", "copilot", "gemini", "opencode", "pi", "qwen"] {
        let there = conversion(row("claude-code"), row(to), CarryMode::None);
        let written = there.convert(SEARCHED.as_bytes(), None).expect("in memory").bytes;
        let written = String::from_utf8(written).expect("UTF-8");
        // Python writes blanks into the input; the words are a text, so they stay as they are.
        assert!(written.contains(quoted.trim_matches('"')), "{to}: {written}");
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(SEARCHED.as_bytes(), row("claude-code"), row(to), carry);
            assert_eq!(restored, SEARCHED.as_bytes(), "{to}");
            assert_eq!(report.restored.differs, 0, "{to}, {carry:?}");
        }
    }
}

/// A response of pi that ended with an error has calls that no API gets. Formats that write it as a notice have words in their
/// place.
#[test]
fn calls_of_a_message_that_failed_are_shown_as_words() {
    let row = |name| by_name(name).expect("a format");
    let long = "x".repeat(5000);
    let session = [
        r#"{"type":"session","version":3,"id":"11111111-2222-4333-8444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#.to_owned(),
        r#"{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Edit it."}],"timestamp":1767225601000}}"#.to_owned(),
        format!(
            r#"{{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"Two edits:"}},{{"type":"toolCall","id":"toolu_1","name":"edit","arguments":{{"path":"a"}}}},{{"type":"toolCall","id":"toolu_2","name":"write","arguments":{{"text":"{long}"}}}}],"api":"a","provider":"p","model":"m","usage":{{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"error","timestamp":1767225602000,"errorMessage":"terminated"}}}}"#
        ),
        String::new(),
    ]
    .join("\n");
    for to in ["clido", "codex", "copilot", "gemini", "qwen"] {
        let there = conversion(row("pi"), row(to), CarryMode::None);
        let written = there.convert(session.as_bytes(), None).expect("in memory").bytes;
        let written = String::from_utf8(written).expect("UTF-8");
        assert!(
            written.contains(r#"[tool_use edit {\"path\":\"a\"}]\n[tool_use write]"#),
            "{to}: {written}"
        );
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let (restored, report) = home(session.as_bytes(), row("pi"), row(to), carry);
            assert_eq!(restored, session.as_bytes(), "{to}");
            assert_eq!(report.restored.differs, 0, "{to}, {carry:?}");
        }
    }
}

const CLAUDE: &str = r#"{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":CONTENT}}"#;
const CALLED: &str = r#"{"type":"assistant","uuid":"u2","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"id":"m","role":"assistant","content":CONTENT}}"#;
const CLIDO: &str = r#"{"type":"user_message","role":"user","content":CONTENT}"#;
const ANSWER: &str = r#"{"type":"assistant_message","content":CONTENT}"#;

fn base36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]);
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.reverse();
    String::from_utf8(digits).expect("ASCII")
}

fn base64(mut bits: u64, n_digits: usize) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut digits = String::new();
    for _ in 0..n_digits {
        digits.push(char::from(DIGITS[(bits & 63) as usize]));
        bits >>= 6;
    }
    digits
}

/// A written record with a forged carry: its guard and checksums are right, and it restores other
/// records, or parts of one.
fn forged(visible: &str, restored: &[&str], is_parts: bool) -> String {
    let (mut entries, mut offset, mut n_bytes, n_parts) = (String::new(), 0, 0, restored.len());
    for (part, text) in restored.iter().enumerate() {
        let is_last = !is_parts || part + 1 == n_parts;
        let bytes = if is_last { format!("{text}\n") } else { (*text).to_owned() };
        let place = if is_parts { format!(",{part},{n_parts}") } else { String::new() };
        entries += &format!(
            "{}{place}@{}{}:{}{}L{text}",
            base36(offset),
            if is_last { 'n' } else { 'e' },
            base36(bytes.len()),
            base64(guard_of(&[bytes.as_bytes()]), 6),
            base36(text.len()),
        );
        offset += if is_parts { 0 } else { bytes.len() };
        n_bytes += bytes.len();
    }
    let guard = base64(guard_of(&[visible.as_bytes()]), 11);
    let carry = format!("2Fb:claude-codeGb:{guard}N1:0;{entries}");
    let carry = format!("{carry}!1,{},{}", base36(n_parts), base36(n_bytes));
    let carry = carry.replace('"', "^").replace('\\', "\u{7f}");
    format!("{},\"_carried\":\"{carry}\"}}\n", &visible[..visible.len() - 1])
}

/// Restores a forged record. Returns the bytes and the number of records that differ.
fn restored(forged: &str) -> (String, u64) {
    let way = conversion(
        by_name("clido").expect("a format"),
        by_name("claude-code").expect("a format"),
        CarryMode::Inline,
    );
    let Converted { bytes, report, .. } = way.convert(forged.as_bytes(), None).expect("in memory");
    let differs = report.restored.differs;
    assert_eq!(report.restored.is_not_the_source(), differs > 0, "{:?}", report.restored);
    assert_eq!(report.restored.first_difference, (differs > 0).then_some(0));
    (String::from_utf8(bytes).expect("text"), differs)
}

#[test]
fn a_record_that_restores_other_words_is_said() {
    let text = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let call = |id: &str, name: &str, input: &str| {
        format!(r#"[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]"#)
    };
    let answer = |id: &str, words: &str| {
        format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"{words}"}}]"#)
    };
    let ls = r#"{"command":"ls"}"#;
    // The visible content, the restored content, and whether they agree.
    let prompts = [
        (text("Hello there"), text("Hello there"), true),
        (text("Hello there"), "\"Hello there\"".to_owned(), true),
        (text("Hello there"), text("Delete all"), false),
        (text("Hello there"), text("Hello"), false),
        (text("Hello"), text("Hello there"), false),
        (text("Hello"), text("Hello\"},{\"type\":\"text\",\"text\":\"and more"), false),
        (text("Hello"), "[]".to_owned(), false),
        (text("Hello"), answer("t1", "Hello"), false),
        (text("Hello"), answer("", "Hello"), false),
        (text("[image]"), text("Delete all"), false),
        (text("(no content)"), text("Delete all"), false),
    ];
    let calls = [
        (call("t1", "Bash", ls), call("t1", "Bash", ls), true),
        (call("t1", "Bash", ls), call("t1", "Bash", r#"{"command":"rm -rf /"}"#), false),
        (call("t1", "Bash", ls), call("t2", "Bash", ls), false),
        (call("t1", "Bash", ls), call("t1", "Write", ls), false),
        (call("t1", "Bash", r#"{"n":1}"#), call("t1", "Bash", r#"{"n":2}"#), false),
        (text("Fine"), call("t1", "Bash", ls), false),
        (text("Fine"), text("Fine"), true),
    ];
    let all = prompts.iter().map(|case| (CLIDO, CLAUDE, case));
    for (shown, source, (here, there, agrees)) in
        all.chain(calls.iter().map(|it| (ANSWER, CALLED, it)))
    {
        let visible = shown.replace("CONTENT", here);
        let source = source.replace("CONTENT", there);
        let (bytes, differs) = restored(&forged(&visible, &[&source], false));
        assert_eq!(bytes, format!("{source}\n"));
        assert_eq!(differs, u64::from(!agrees), "{visible} restores {source}");
        // The text may be in a member that nobody reads.
        let hidden = source.replace("\"uuid\"", &format!("\"x\":{here},\"uuid\""));
        assert_eq!(restored(&forged(&visible, &[&hidden], false)).1, u64::from(!agrees));
        let hidden =
            visible.replace("\"type\":\"user_m", &format!("\"x\":{there},\"type\":\"user_m"));
        assert_eq!(restored(&forged(&hidden, &[&source], false)).1, u64::from(!agrees));
        // In parts, after an own record that agrees.
        let (start, end) = source.split_at(70);
        let parts = forged(&visible, &[start, end], true);
        assert_eq!(restored(&parts).1, u64::from(!agrees), "parts: {visible}");
    }
    let hello = CLAUDE.replace("CONTENT", "\"Hello\"");
    let other = CLAUDE.replace("CONTENT", "\"Delete all\"");
    let visible = CLIDO.replace("CONTENT", &text("Hello"));
    assert_eq!(restored(&forged(&visible, &[&hello, &other], false)).1, 1);
    assert_eq!(restored(&forged(&visible, &[&hello], false)).1, 0);
}

/// A record with more values than its index has room for is compared, too, alone and in parts.
#[test]
fn records_with_too_many_values_are_compared() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let (hello, other) = (text("Hello there"), text("Delete all"));
    let filling = "1,".repeat(1 << 20);
    let source = CLAUDE.replace("CONTENT", "\"Hello there\"");
    let (start, end) = source.split_at(70);
    for (shown, pieces, differs) in [
        (format!("[{filling}{hello}]"), &[&*source][..], 0),
        (format!("[{filling}{hello}]"), &[start, end], 0),
        (format!("[{hello},{filling}{other}]"), &[&source], 1),
    ] {
        let visible = CLIDO.replace("CONTENT", &shown);
        let found = restored(&forged(&visible, pieces, pieces.len() > 1));
        assert_eq!(found, (format!("{source}\n"), differs));
    }
}

#[test]
fn show_and_check_say_what_is_wrong_with_carries() {
    let folder = tempfile::tempdir().expect("a folder");
    let visible = CLIDO.replace("CONTENT", r#"[{"type":"text","text":"Hello"}]"#);
    let [same, other] = ["\"Hello\"", "\"Delete all\""].map(|it| CLAUDE.replace("CONTENT", it));
    let meta = r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00Z","project_path":"/p"}"#;
    let whole = forged(&visible, &[&same], false);
    let end = format!("!1,1,{}", base36(same.len() + 1));
    for (name, text, words) in [
        ("whole", whole.clone(), ""),
        ("differs", forged(&visible, &[&other], false), "something else than its carry restores"),
        ("damaged", whole.replace("2Fb:", "2Fz:"), "damaged"),
        ("newer", whole.replace("2Fb:", "3Fb:"), "newer version"),
        ("cut", whole.replace(&end, ""), "was cut"),
        ("miscounted", whole.replace(&end, "!1,2,1"), "other entries"),
    ] {
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, format!("{meta}\n{text}")).expect("written");
        for command in ["show", "check"] {
            let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_convert"));
            let output = program.arg(command).arg(&path).output().expect("it runs");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            let says = said.contains("carry") && said.contains(words);
            assert_eq!(says, !words.is_empty(), "{command} {name}: {said}");
        }
    }
}

/// Blocks that a format shows as a short word have more bytes than the record that shows them.
#[test]
fn many_images_with_paths_agree_with_their_placeholders() {
    let images: String = (0..11_000)
        .map(|n| {
            format!(r#",{{"type":"image","source":{{"media_type":"image/png","path":"images/{n:0>16}.png"}}}}"#)
        })
        .collect();
    let images = format!(r#"[{{"type":"text","text":"look"}}{images}]"#);
    let in_user = format!(r#"{{"step_id":1,"source":"user","message":{images}}}"#);
    let in_result = format!(
        r#"{{"step_id":1,"source":"user","message":"go"}},{{"step_id":2,"source":"agent","message":"ok","tool_calls":[{{"tool_call_id":"c","function_name":"view","arguments":{{}}}}],"observation":{{"results":[{{"source_call_id":"c","content":{images}}}]}}}}"#
    );
    for steps in [in_user, in_result] {
        let source = format!(
            r#"{{"schema_version":"ATIF-v1.8","session_id":"11111111-2222-4333-8444-555555555555","agent":{{"name":"a","version":"1"}},"steps":[{steps}]}}"#
        ) + "\n";
        for to in chosen("", others(&[&format_atif::FORMAT]), 3) {
            let (restored, report) =
                home(source.as_bytes(), &format_atif::FORMAT, to, CarryMode::Sidecar);
            assert!(restored == source.as_bytes(), "{}", to.name);
            assert!(!report.restored.is_not_the_source(), "{}: {:?}", to.name, report.restored);
        }
    }
}

/// `carry show` restores at most 16 times the bytes of its input, as a conversion does.
#[test]
fn a_carry_that_restores_too_much_is_not_printed_whole() {
    let visible = CLIDO.replace("CONTENT", &format!("\"{}\"", "a".repeat(20_000)));
    let whole = format!("{visible}\n");
    let (n, check) = (visible.len(), base64(guard_of(&[whole.as_bytes()]), 6));
    let entry = |at| format!("{}@n{}:{check}0,{}V", base36(at), base36(n + 1), base36(n));
    let entries: String = (0..2_000).map(|at| entry(at * (n + 1))).collect();
    let guard = base64(guard_of(&[visible.as_bytes()]), 11);
    let carry = format!("2Fb:claude-codeGb:{guard}N1:0;{entries}");
    let line = format!("{},\"_carried\":\"{carry}\"}}\n", &visible[..n - 1]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, &line).expect("written");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_convert"));
    let printed = program.args(["carry", "show"]).arg(&path).output().expect("it runs").stdout;
    let most = conversion::max_restored(line.len() as u64) as usize + 2_000 * 100;
    assert!((n * 30..most).contains(&printed.len()), "{} bytes", printed.len());
    let text = String::from_utf8_lossy(&printed);
    assert!(text.ends_with("(not restored: more than 16 times what was read)\n"));
}
