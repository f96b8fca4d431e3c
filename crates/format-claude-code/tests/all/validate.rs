//! Tests of `validate` with one session for each rule: valid lines pass, and faults are found.

use core_model::Check;
use format_claude_code::{FORMAT, validate};

/// Returns a line whose parent has the previous number and whose time is one second later.
fn line(kind: &str, number: u32, content: &str) -> String {
    let parent = match number {
        1 => "null".to_owned(),
        _ => format!("\"u{}\"", number - 1),
    };
    let id = if kind == "assistant" { format!("\"id\":\"m{number}\",") } else { String::new() };
    format!(
        r#"{{"parentUuid":{parent},"type":"{kind}","message":{{{id}"content":{content}}},"uuid":"u{number}","timestamp":"2026-01-01T10:00:{number:02}.000Z"}}"#
    )
}

const TEXT: &str = r#"[{"type":"text","text":"x"}]"#;
const CALL: &str = r#"[{"type":"tool_use","id":"t","name":"Read","input":{}}]"#;
const RESULT: &str = r#"[{"type":"tool_result","tool_use_id":"t","content":"r"}]"#;

fn found(lines: &[String]) -> Vec<(u64, &'static str, bool)> {
    let problems = validate((lines.join("\n") + "\n").as_bytes());
    problems.into_iter().map(|it| (it.line, it.rule, it.stops())).collect()
}

fn prompt() -> String {
    line("user", 1, "\"hi\"")
}

/// Asserts the problems of a session of a prompt and some lines.
#[track_caller]
fn finds(lines: &[String], expected: &[(u64, &'static str, bool)]) {
    let session: Vec<String> = std::iter::once(prompt()).chain(lines.iter().cloned()).collect();
    assert_eq!(found(&session), expected, "{}", session.join("\n"));
}

#[test]
fn what_the_client_takes() {
    finds(&[line("assistant", 2, TEXT)], &[]);
    finds(&[line("assistant", 2, CALL), line("user", 3, RESULT)], &[]);
    let minimal = line("assistant", 2, TEXT).replace("u2", "any name");
    finds(&[minimal, "{\"type\":\"last-prompt\"}".to_owned(), String::new(), "  ".to_owned()], &[]);
    let reordered = [line("assistant", 2, TEXT), line("user", 3, "\"more\"")];
    finds(&[reordered[0].clone(), reordered[1].clone()], &[]);
    let signed =
        r#"[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"x"}]"#;
    finds(&[line("assistant", 2, signed)], &[]);
    finds(&[line("assistant", 2, TEXT).replace("uuid\":\"u2\"", "uuid\":\"u2\",\"_own\":1")], &[]);
    let system = line("system", 2, "null").replace("\"message\":{\"content\":null},", "");
    finds(&[system, line("user", 3, "\"x\"")], &[]);
}

#[test]
fn what_stops_a_session() {
    finds(&[line("user", 2, "\"\"")], &[(2, "empty-prompt", true)]);
    let own = r#"[{"type":"text","text":"x","_own":""}]"#;
    finds(&[line("assistant", 2, own)], &[(2, "block-member", true)]);
    let answered = |call: String, id: &str| {
        [line("assistant", 2, &call), line("user", 3, &RESULT.replace("\"t\"", id))]
    };
    finds(&answered(CALL.replace("\"t\"", "\"a b\""), "\"a b\""), &[(2, "tool-id", true)]);
    finds(&answered(CALL.replace("Read", "Read it"), "\"t\""), &[(2, "tool-name", true)]);
    let long = "x".repeat(129);
    finds(&answered(CALL.replace("Read", &long), "\"t\""), &[(2, "tool-name", true)]);
    finds(&answered(CALL.replace("{}", "[]"), "\"t\""), &[(2, "tool-input", true)]);
    let bare = prompt().replace("\"uuid\"", "\"id\"");
    assert_eq!(found(&[bare]), [(1, "uuid", false)]);
    let mute = prompt().replace("\"content\"", "\"text\"");
    assert_eq!(found(&[mute]), [(1, "message", false), (1, "no-conversation", true)]);
    let aside = prompt().replace("\"type\"", "\"isSidechain\":true,\"type\"");
    assert_eq!(found(std::slice::from_ref(&aside)), [(1, "no-conversation", true)]);
    let agent = aside.replace("\"type\"", "\"agentId\":\"a\",\"type\"");
    assert_eq!(found(&[agent]), [(1, "sub-agent", false)]);
}

#[test]
fn what_is_no_session_is_no_error() {
    assert_eq!(validate(b"").iter().map(|it| it.rule).collect::<Vec<_>>(), ["empty"]);
    let queue = r#"{"type":"queue-operation","operation":"enqueue"}"#.to_owned();
    assert_eq!(found(&[queue]), [(1, "empty", false)]);
}

#[test]
fn lines_that_are_skipped() {
    finds(&["{\"torn".to_owned()], &[(2, "json", false)]);
    finds(&["5".to_owned()], &[(2, "object", false)]);
    let marked = format!("\u{feff}{}", prompt());
    assert_eq!(found(&[marked]), [(1, "byte-order-mark", false)]);
    finds(&[line("assistant", 2, TEXT).replace("\"uuid\"", "\"id\"")], &[(2, "uuid", false)]);
    finds(&[line("assistant", 2, "null")], &[(2, "message", false)]);
    let mute = line("assistant", 2, TEXT).replace("\"content\":[", "\"text\":[");
    finds(&[mute], &[(2, "message", false)]);
    finds(&[line("user", 2, "[]")], &[(2, "empty-text", false)]);
}

#[test]
fn the_chain() {
    let root = line("user", 2, "\"x\"").replace("\"u1\"", "null");
    finds(std::slice::from_ref(&root), &[(2, "second-root", false)]);
    let boundary = line("system", 2, "null").replace("\"u1\"", "null");
    finds(&[boundary, line("user", 3, "\"summary\"")], &[]);
    finds(&[line("user", 2, "\"x\"").replace("u1", "u0")], &[(2, "dangling-parent", false)]);
    finds(
        &[line("user", 2, "\"x\"").replace("\"parentUuid\":\"u1\",", "")],
        &[(2, "parent-uuid", false)],
    );
    let branch = line("user", 3, "\"y\"").replace("\"u2\"", "\"u1\"");
    finds(&[line("user", 2, "\"x\""), branch], &[(3, "branch", false)]);
    let other = CALL.replace("\"t\"", "\"s\"");
    let results = [
        line("assistant", 2, CALL),
        line("assistant", 3, &other).replace("m3", "m2"),
        line("user", 4, RESULT).replace("\"u3\"", "\"u2\""),
        line("user", 5, &RESULT.replace("\"t\"", "\"s\"")).replace("\"u4\"", "\"u3\""),
    ];
    finds(&results, &[(4, "parallel-branch", false)]);
    finds(&[line("user", 2, "\"x\""), line("user", 2, "\"x\"")], &[]);
    let other = line("user", 2, "\"x\"").replace("u1", "u0");
    finds(&[line("user", 2, "\"x\""), other], &[(3, "duplicate-uuid", false)]);
    let cycle = prompt().replace("null", "\"u2\"");
    let problems = found(&[cycle, line("assistant", 2, TEXT)]);
    assert_eq!(problems, [(2, "cycle", false)]);
    let late = [line("user", 3, "\"x\""), line("assistant", 2, TEXT)];
    finds(&late, &[(3, "timestamp-order", false)]);
    let unknown = line("note", 2, "\"x\"");
    finds(&[unknown], &[(2, "chain-type", false)]);
}

#[test]
fn times() {
    for time in ["\"soon\"", "5", "null"] {
        let odd = line("user", 2, "\"x\"").replace("\"2026-01-01T10:00:02.000Z\"", time);
        finds(&[odd], &[(2, "timestamp", false)]);
    }
    let same = line("user", 2, "\"x\"").replace("00:02", "00:01");
    finds(&[same], &[(2, "timestamp-order", false)]);
}

#[test]
fn calls_and_results() {
    finds(&[line("assistant", 2, CALL)], &[(2, "open-call", false)]);
    finds(&[line("user", 2, RESULT)], &[(2, "orphan-result", false)]);
    finds(&[line("user", 2, RESULT), line("assistant", 3, CALL)], &[]);
    let twice = [line("assistant", 2, CALL), line("user", 3, RESULT), line("user", 4, RESULT)];
    finds(&twice, &[(4, "result-twice", false)]);
    let twice = [line("assistant", 2, CALL), line("user", 3, RESULT), line("assistant", 4, CALL)];
    finds(&twice, &[(4, "duplicate-call", false), (4, "open-call", false)]);
}

#[test]
fn what_the_client_leaves_out() {
    for text in ["", " \\n", "(no content)"] {
        let content = TEXT.replace("\"x\"", &format!("\"{text}\""));
        finds(&[line("assistant", 2, &content)], &[(2, "empty-text", false)]);
    }
    finds(&[line("user", 2, r#"[{"type":"text","text":""}]"#)], &[(2, "empty-text", false)]);
    finds(&[line("assistant", 2, "\"x\"")], &[(2, "content-string", false)]);
    let unsigned = r#"[{"type":"thinking","thinking":"x"},{"type":"text","text":"x"}]"#;
    finds(&[line("assistant", 2, unsigned)], &[(2, "unsigned-thinking", false)]);
    let signed = unsigned
        .replace("\"x\"}", "\"x\",\"signature\":\"s\"}")
        .replace("\"text\":\"x\",\"signature\":\"s\"", "\"text\":\"x\"");
    let other = line("assistant", 2, &signed).replace("\"m2\"", "\"m2\",\"model\":\"gpt-5\"");
    finds(std::slice::from_ref(&other), &[(2, "foreign-model", false)]);
    finds(&[other.replace("gpt-5", "claude-opus-4")], &[]);
    let alone = r#"[{"type":"thinking","thinking":"x","signature":"s"}]"#;
    finds(&[line("assistant", 2, alone)], &[(2, "only-thinking", false)]);
    let half = TEXT.replace("\"x\"", "\"\\ud800\"");
    finds(&[line("assistant", 2, &half)], &[(2, "surrogate", false)]);
    let said = line("assistant", 1, TEXT);
    let problems = found(&[said]);
    assert_eq!(problems, [(1, "prompt-first", true), (1, "unlisted", false)]);
    let picture =
        r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]"#;
    assert_eq!(found(&[line("user", 1, picture)]), [(1, "unlisted", false)]);
}

/// 20,000 lines in backward order take linear time.
#[test]
fn lines_in_backward_order_are_checked_in_one_pass() {
    const N: usize = 20_000;
    let line = |n: usize| {
        let kind = if n.is_multiple_of(2) { "user" } else { "assistant" };
        let parent = (n + 1) % N;
        format!(
            r#"{{"parentUuid":"u{parent}","type":"{kind}","message":{{"content":{TEXT}}},"uuid":"u{n}","timestamp":"2026-01-01T10:00:00.000Z"}}"#
        )
    };
    let lines: Vec<String> = (0..N).map(line).collect();
    assert!(found(&lines).contains(&(N as u64, "cycle", false)));
}

/// Huge usage makes 2.0 compact.
#[test]
fn what_makes_an_old_client_compact() {
    let usage = |number, tokens: [u64; 4]| {
        let [input, created, read, output] = tokens;
        let usage = format!(
            r#"{{"input_tokens":{input},"cache_creation_input_tokens":{created},"cache_read_input_tokens":{read},"output_tokens":{output}}}"#
        );
        line("assistant", number, TEXT).replace("\"id\"", &format!("\"usage\":{usage},\"id\""))
    };
    let huge = usage(2, [1, 2, 154_000, 997]);
    finds(std::slice::from_ref(&huge), &[(2, "huge-usage", false)]);
    finds(&[usage(2, [1, 2, 154_000, 996])], &[]);
    finds(&[usage(2, [u64::MAX, 1, 0, 0])], &[(2, "huge-usage", false)]);
    finds(&[huge.clone(), line("user", 3, "\"x\""), usage(4, [5, 0, 0, 5])], &[]);
    let boundary = line("system", 3, "null").replace("\"u2\"", "null");
    let boundary = boundary.replace("\"uuid\"", "\"subtype\":\"compact_boundary\",\"uuid\"");
    finds(&[huge.clone(), boundary, line("user", 4, "\"x\"")], &[]);
    finds(&[huge.replace("154000", "\"many\"")], &[]);
}

/// The name is a UUID in lower case.
#[test]
fn names_that_the_client_finds() {
    let rules = |stem| {
        let mut rules = Vec::new();
        let mut check = Check::new((FORMAT.checker)());
        check.name(stem, &mut |problem| rules.push((problem.line, problem.rule, problem.stops())));
        rules
    };
    for stem in ["2a86484a-eb59-46ef-ac4a-848742436c10", "agent-a1d4d82"] {
        assert_eq!(rules(stem), []);
    }
    for stem in ["2A86484A-EB59-46EF-AC4A-848742436C10", "2a86484aeb5946efac4a848742436c10", "s"] {
        assert_eq!(rules(stem), [(1, "file-name", false)], "{stem}");
    }
}

#[test]
fn what_lists_do_not_find() {
    let filler = format!("{{\"type\":\"x\",\"y\":\"{}\"}}", "z".repeat(70_000));
    assert_eq!(found(&[filler.clone(), prompt()]), [(2, "late-prompt", false)]);
    let title = r#"{"type":"custom-title","customTitle":"T"}"#.to_owned();
    finds(&[filler.clone(), title.clone()], &[]);
    finds(&[filler.clone(), title, filler], &[(3, "early-title", false)]);
}
