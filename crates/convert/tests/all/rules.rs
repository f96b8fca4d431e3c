//! Tests the findings of `check`, one row for each rule of the clients: accepted sessions have no
//! finding, and refused ones have one.

use convert::by_name;
use core_model::Check;

/// A rule of a client.
struct Row {
    /// The rule in a few words.
    rule: &'static str,
    /// Sessions that the client accepts.
    passes: Vec<String>,
    /// Sessions that the client refuses or reads differently, with their findings.
    found: Vec<(String, &'static str)>,
}

fn row<const P: usize, const F: usize>(
    rule: &'static str,
    passes: [String; P],
    found: [(String, &'static str); F],
) -> Row {
    Row { rule, passes: passes.into(), found: found.into() }
}

/// Returns the findings for a session, each rule once.
fn findings(format: &str, stem: &str, session: &[u8]) -> Vec<String> {
    let format = by_name(format).expect("a format");
    let mut problems = Vec::new();
    let mut check = Check::new((format.checker)());
    check.name(stem, &mut |problem| problems.push(problem));
    problems.extend(Check::all((format.checker)(), session));
    let words = problems.iter().map(|it| format!("{} {}", it.severity.name(), it.rule));
    let mut words: Vec<String> = words.collect();
    words.dedup();
    words
}

fn assert_rows(format: &str, rows: &[Row]) {
    let stem = "2a86484a-eb59-46ef-ac4a-848742436c10";
    let mut wrong = String::new();
    for Row { rule, passes, found } in rows {
        let passes = passes.iter().map(|session| (session, ""));
        let found = found.iter().map(|(session, expected)| (session, *expected));
        for (session, expected) in passes.chain(found) {
            let found = findings(format, stem, session.as_bytes()).join(", ");
            if found != expected {
                let start: String = session.chars().take(1500).collect();
                wrong += &format!("{rule}: {found:?}, not {expected:?} in\n{start}\n\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const META: &str =
    r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"t","project_path":"/p"}"#;
const PROMPT: &str =
    r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"hi"}]}"#;
const SAID: &str = r#"{"type":"assistant_message","content":[{"type":"text","text":"x"}]}"#;
const CALL: &str = r#"{"type":"assistant_message","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#;
const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"t","content":"","is_error":false}"#;
const OUTCOME: &str =
    r#"{"type":"result","exit_status":"any","total_cost_usd":1,"num_turns":1,"duration_ms":0}"#;

/// Returns a session of clido: a meta line, a prompt, and these lines.
fn clido(lines: &[&str]) -> String {
    [&[META, PROMPT], lines].concat().join("\n")
}

/// Returns a session of a prompt with this meta line.
fn with_meta(from: &str, to: &str) -> String {
    [&META.replace(from, to), PROMPT].join("\n")
}

/// Returns a session with a result line, in which a text is replaced.
fn with_result(from: &str, to: &str) -> String {
    clido(&[CALL, &RESULT.replace(from, to)])
}

fn with_outcome(from: &str, to: &str) -> String {
    clido(&[SAID, &OUTCOME.replace(from, to)])
}

fn with_block(block: &str) -> String {
    clido(&[&format!(r#"{{"type":"assistant_message","content":[{block}]}}"#)])
}

/// The lines that clido accepts (format-clido's FORMAT.md, "Loading").
#[test]
fn clidos_lines() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        clido(&[&format!(r#"{{"type":"title","title":"x","_deep":{open}{close}}}"#)])
    };
    let rows = [
        row(
            "unknown or missing type, malformed, torn, surrogate, range, nesting, duplicate: fatal",
            [nested(126), clido(&[r#"{"type":"title","title":"\ud83d\ude00","_n":1e300}"#])],
            [
                (clido(&[r#"{"type":"note"}"#]), "stops type"),
                (clido(&[r#"{"title":"x"}"#]), "stops type"),
                (clido(&["{'type':'title'}"]), "stops json"),
                (clido(&[r#"{"type":"title","ti"#]), "stops json"),
                (format!("\u{feff}{}", clido(&[])), "stops byte-order-mark"),
                (clido(&[r#"{"type":"title","title":"\ud800"}"#]), "stops value"),
                (clido(&[r#"{"type":"title","title":"x","_n":1e400}"#]), "stops value"),
                (nested(127), "stops value"),
                (
                    clido(&[r#"{"type":"user_message","role":"a","role":"b","content":[]}"#]),
                    "stops duplicate",
                ),
            ],
        ),
        row(
            "blank lines, CRLF, no final newline, key order, type last: fine",
            [
                clido(&["", "  ", SAID, ""]),
                clido(&[SAID]).replace('\n', "\r\n"),
                clido(&[r#"{"content":[{"text":"x","type":"text"}],"type":"assistant_message"}"#]),
            ],
            [],
        ),
        row(
            "unknown members of lines and of blocks: tolerated",
            [clido(&[&SAID.replace("\"type\"", "\"_own\":{\"a\":[1]},\"type\"")])],
            [],
        ),
        row(
            "known types",
            [clido(&[
                r#"{"type":"tool_call","tool_use_id":"t","tool_name":"n","input":null}"#,
                r#"{"type":"system","subtype":"any"}"#,
                r#"{"type":"title","title":""}"#,
                CALL,
                RESULT,
                OUTCOME,
            ])],
            [(clido(&[r#"{"type":"title","title":null}"#]), "stops member")],
        ),
        row(
            "meta: four members, a version of at most 1, first to be listed",
            [with_meta(":1,", ":0,"), with_meta("\"t\"", "\"any\"")],
            [
                (with_meta(":1,", ":1.0,"), "stops member"),
                (with_meta(":1,", ":2,"), "stops schema-version"),
                (with_meta(",\"project_path\":\"/p\"", ""), "stops member"),
                (with_meta("\"session_id\":\"s\",", ""), "stops member"),
                ([PROMPT, META].join("\n"), "warns meta-first"),
                (PROMPT.to_owned(), "warns meta-first"),
            ],
        ),
        row(
            "user_message: any role, an array as content",
            [clido(&[r#"{"type":"user_message","role":"any","content":[]}"#])],
            [
                (
                    clido(&[r#"{"type":"user_message","role":"user","content":"x"}"#]),
                    "stops member",
                ),
                (clido(&[r#"{"type":"user_message","content":[]}"#]), "stops member"),
            ],
        ),
        row(
            "assistant_message: an array as content",
            [clido(&[r#"{"type":"assistant_message","content":[]}"#])],
            [
                (clido(&[r#"{"type":"assistant_message","content":"x"}"#]), "stops member"),
                (clido(&[r#"{"type":"assistant_message"}"#]), "stops member"),
            ],
        ),
        row(
            "tool_call: three members, not needed",
            [clido(&[CALL, RESULT])],
            [(
                clido(&[r#"{"type":"tool_call","tool_use_id":"t","tool_name":"n"}"#]),
                "stops member",
            )],
        ),
        row(
            "tool_result: a string and a truth value; u64 or null beside them",
            [
                with_result("\"is_error\"", "\"duration_ms\":18446744073709551615,\"is_error\""),
                with_result("\"is_error\"", "\"mtime_nanos\":null,\"path\":null,\"is_error\""),
            ],
            [
                (with_result("\"content\":\"\"", "\"content\":[]"), "stops member"),
                (with_result("\"content\":\"\"", "\"content\":null"), "stops member"),
                (with_result("false", "null"), "stops member"),
                (with_result(",\"is_error\":false", ""), "stops member"),
                (with_result("\"is_error\"", "\"duration_ms\":1.5,\"is_error\""), "stops member"),
                (with_result("\"is_error\"", "\"duration_ms\":-1,\"is_error\""), "stops member"),
                (
                    with_result(
                        "\"is_error\"",
                        "\"mtime_nanos\":18446744073709551616,\"is_error\"",
                    ),
                    "stops member",
                ),
            ],
        ),
        row(
            "system: a string, null or nothing as message",
            [
                clido(&[r#"{"type":"system","subtype":"any","message":null}"#]),
                clido(&[r#"{"type":"system","subtype":"any","message":"x"}"#]),
            ],
            [(clido(&[r#"{"type":"system","subtype":"any","message":{}}"#]), "stops member")],
        ),
        row(
            "result: a number as cost, u32 turns, u64 duration; several, anywhere",
            [clido(&[OUTCOME, SAID, OUTCOME]), with_outcome(":1,\"num", ":0.5,\"num")],
            [
                (with_outcome(":1,\"num", ":null,\"num"), "stops member"),
                (with_outcome(":1,\"num", ":\"1\",\"num"), "stops member"),
                (with_outcome("turns\":1", "turns\":4294967296"), "stops member"),
                (with_outcome(",\"duration_ms\":0", ""), "stops member"),
                (with_outcome("turns\":1", "turns\":0"), "warns turns"),
            ],
        ),
        row(
            "integers beyond u64 inside a tool's input load",
            [clido(&[&CALL.replace("{}", "{\"n\":99999999999999999999999}"), RESULT])],
            [],
        ),
    ];
    assert_rows("clido", &rows);
    let mut invalid = clido(&[SAID]).into_bytes();
    invalid.extend_from_slice(b"\n{\"type\":\"title\",\"title\":\"\xff\"}");
    assert_eq!(findings("clido", "s", &invalid), ["stops json"]);
}

/// The histories that clido accepts, and the faults that stop a resume (its FORMAT.md).
#[test]
fn clidos_history() {
    let image = r#"{"type":"image","media_type":"image/png","base64_data":""}"#;
    let block = r#"{"type":"user_message","role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"","is_error":false}]}"#;
    let rows = [
        row(
            "five block types, an image of both shapes, signed thinking",
            [
                with_block(r#"{"type":"thinking","thinking":"x","signature":"s"}"#),
                with_block(image),
                with_block(&image.replace("}", ",\"source\":{}}")),
                clido(&[&CALL.replace("{}", "null"), RESULT]),
            ],
            [
                (with_block(r#"{"type":"redacted_thinking","data":""}"#), "stops block-type"),
                (with_block(r#"{"type":"server_tool_use","id":"t"}"#), "stops block-type"),
                (with_block(r#"{"type":"web_search_tool_result"}"#), "stops block-type"),
                (with_block(r#"{"type":"document","source":{}}"#), "stops block-type"),
                (with_block(r#"{"type":"image","source":{}}"#), "stops block-member"),
                (
                    with_block(r#"{"type":"tool_use","id":"t","name":"n"}"#),
                    "stops block-member, warns open-call",
                ),
            ],
        ),
        row(
            "a call without a result is given one, a result without a call stays",
            [clido(&[CALL, RESULT, SAID])],
            [
                (clido(&[CALL]), "warns open-call"),
                (clido(&[RESULT]), "warns orphan-result"),
                (clido(&[CALL, SAID, RESULT]), "warns open-call, warns orphan-result"),
            ],
        ),
        row(
            "a result as a block works, as a line and a block it is there twice",
            [clido(&[CALL, block])],
            [(clido(&[CALL, RESULT, block]), "warns result-twice")],
        ),
        row(
            "content_hash is bare hexadecimal digits",
            [with_result("\"is_error\"", "\"content_hash\":\"00\",\"is_error\"")],
            [(
                with_result("\"is_error\"", "\"content_hash\":\"sha256:00\",\"is_error\""),
                "warns content-hash",
            )],
        ),
        row(
            "a session without a user message is deleted; stats stumble over other letters in a time",
            [with_meta("\"t\"", "\"2026-11-21T21:20:53.942982378+00:00\"")],
            [
                (META.to_owned(), "warns user-message"),
                (with_meta("\"t\"", "\"20é6\""), "warns start-time"),
            ],
        ),
    ];
    assert_rows("clido", &rows);
}

/// Returns lines of a transcript. The parent of each is the line before it, and its time is one second
/// later.
fn chain(lines: &[(&str, &str)]) -> String {
    let line = |(n, (kind, content)): (usize, &(&str, &str))| {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        let id = if *kind == "assistant" { format!("\"id\":\"m{n}\",") } else { String::new() };
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"timestamp":"2026-01-01T10:00:{n:02}.000Z","sessionId":"s","message":{{{id}"role":"{kind}","content":{content}}}}}"#
        ) + "\n"
    };
    lines.iter().enumerate().map(line).collect()
}

const ASKED: (&str, &str) = ("user", "\"hi\"");
const ANSWERED: (&str, &str) = ("assistant", r#"[{"type":"text","text":"x"}]"#);
const USES: (&str, &str) =
    ("assistant", r#"[{"type":"tool_use","id":"t","name":"Read","input":{}}]"#);
const RETURNS: (&str, &str) =
    ("user", r#"[{"type":"tool_result","tool_use_id":"t","content":"r"}]"#);

/// Returns a conversation of a prompt and these lines.
fn talk(lines: &[(&str, &str)]) -> String {
    chain(&[&[ASKED], lines].concat())
}

/// Returns a prompt and an answer, in which a text is replaced.
fn answered(from: &str, to: &str) -> String {
    talk(&[ANSWERED]).replace(from, to)
}

/// Returns a prompt, a call and its result, in which a text is replaced.
fn called(from: &str, to: &str) -> String {
    talk(&[USES, RETURNS]).replace(from, to)
}

/// The names of folders, the smallest line, and unknown members (format-claude-code's FORMAT.md).
#[test]
fn claude_codes_lines() {
    let timeless = |time: &str| answered("\"2026-01-01T10:00:01.000Z\"", time);
    let rows = [
        row(
            "the minimal line, and nothing but what it needs",
            [
                talk(&[ANSWERED]),
                answered(",\"sessionId\":\"s\"", "").replace("\"id\":\"m1\",", ""),
                answered("\"role\":\"assistant\",", ""),
                talk(&[ANSWERED]).trim_end().to_owned(),
            ],
            [],
        ),
        row(
            "a line without a message or content is skipped; nothing else is no conversation",
            [],
            [
                (answered("\"content\":[", "\"text\":["), "warns message"),
                (talk(&[("assistant", "null")]), "warns message"),
                (
                    chain(&[ASKED]).replace("\"message\"", "\"said\""),
                    "warns message, stops no-conversation",
                ),
            ],
        ),
        row(
            "uuid and parentUuid are required for the chain",
            [talk(&[ANSWERED]).replace("u0", "any name")],
            [
                (answered("\"uuid\":\"u1\",", ""), "warns uuid"),
                (answered("\"parentUuid\":\"u0\",", ""), "warns parent-uuid"),
            ],
        ),
        row(
            "timestamp: 2.0 needs one, and each later than the one before it",
            [timeless("\"2026-01-01T10:00:01Z\"")],
            [
                (timeless("\"soon\""), "warns timestamp"),
                (timeless("5"), "warns timestamp"),
                (answered("\"timestamp\":\"2026-01-01T10:00:01.000Z\",", ""), "warns timestamp"),
                (timeless("\"2026-01-01T10:00:00.000Z\""), "warns timestamp-order"),
                (timeless("\"2026-01-01T09:00:00.000Z\""), "warns timestamp-order"),
            ],
        ),
        row(
            "assistant content as a string: 2.0 fails",
            [talk(&[("user", "\"more\"")])],
            [(talk(&[("assistant", "\"x\"")]), "warns content-string")],
        ),
        row(
            "unknown members of lines and messages are kept; those of blocks are sent",
            [answered("\"uuid\":\"u1\"", "\"_own\":1,\"uuid\":\"u1\"")
                .replace("\"role\"", "\"_own\":1,\"role\"")],
            [
                (answered("\"text\":\"x\"", "\"text\":\"x\",\"_own\":1"), "stops block-member"),
                (called("\"input\":{}", "\"input\":{},\"_own\":1"), "stops block-member"),
            ],
        ),
        row(
            "unknown types: without an id ignored, within the chain 2.1 alone",
            [
                format!("{}{}\n", talk(&[ANSWERED]), r#"{"type":"note","text":"x"}"#),
                talk(&[("system", "null"), ANSWERED]).replace(
                    "\"message\":{\"role\":\"system\",\"content\":null}",
                    "\"subtype\":\"own\"",
                ),
            ],
            [(talk(&[("note", "\"x\""), ANSWERED]), "warns chain-type, warns dangling-parent")],
        ),
        row(
            "malformed lines and lines of no object are skipped; blank ones and CRLF are nothing",
            [format!("\n  \n{}\n", talk(&[ANSWERED])), talk(&[ANSWERED]).replace('\n', "\r\n")],
            [
                (talk(&[ANSWERED]) + "{\"torn", "warns json"),
                (talk(&[ANSWERED]) + "5\n", "warns object"),
                (format!("\u{feff}{}", talk(&[ANSWERED])), "warns byte-order-mark"),
            ],
        ),
        row(
            "a line twice is harmless, two lines of one uuid are not; of duplicate members the last wins",
            [
                {
                    let session = talk(&[ANSWERED]);
                    let last = session.lines().last().expect("a line").to_owned();
                    session + &last
                },
                answered("\"uuid\":\"u1\"", "\"uuid\":\"u9\",\"uuid\":\"u1\""),
            ],
            [(
                talk(&[ANSWERED, ("user", "\"more\"")])
                    .replace("\"uuid\":\"u2\"", "\"uuid\":\"u0\""),
                "warns duplicate-uuid, warns cycle, stops prompt-first",
            )],
        ),
        row(
            "empty files and queues are no errors",
            [],
            [
                (String::new(), "warns empty"),
                (r#"{"type":"queue-operation","operation":"enqueue"}"#.to_owned(), "warns empty"),
            ],
        ),
    ];
    assert_rows("claude-code", &rows);
    let session = talk(&[ANSWERED]);
    for stem in ["session", "2A86484A-EB59-46EF-AC4A-848742436C10"] {
        let found = findings("claude-code", stem, session.as_bytes());
        assert_eq!(found, ["warns file-name"], "directory rule: the name is a UUID as passed");
    }
}

/// The history that Claude Code sends (its FORMAT.md, "The active branch").
#[test]
fn claude_codes_chain() {
    let branch = talk(&[("user", "\"a\""), ("user", "\"b\"")]);
    let boundary = talk(&[ANSWERED, ("system", "null"), ("user", "\"summary\"")])
        .replace("\"parentUuid\":\"u1\"", "\"parentUuid\":null,\"logicalParentUuid\":\"u1\"")
        .replace(
            "\"message\":{\"role\":\"system\",\"content\":null}",
            "\"subtype\":\"compact_boundary\"",
        );
    let aside = |session: String| {
        session.replace("\"type\":\"user\"", "\"isSidechain\":true,\"type\":\"user\"")
    };
    let rows = [
        row(
            "parents up to the root: null cuts, a dangling parent is bridged by 2.1 alone, a cycle",
            [talk(&[ANSWERED, ("user", "\"more\"")])],
            [
                (
                    answered("\"parentUuid\":\"u0\"", "\"parentUuid\":null"),
                    "warns second-root, stops prompt-first",
                ),
                (
                    answered("\"parentUuid\":\"u0\"", "\"parentUuid\":\"lost\""),
                    "warns dangling-parent",
                ),
                (answered("\"parentUuid\":null", "\"parentUuid\":\"u1\""), "warns cycle"),
                (branch.replace("\"parentUuid\":\"u1\"", "\"parentUuid\":\"u0\""), "warns branch"),
            ],
        ),
        row(
            "lines of one message id are one message; parallel results as a straight chain",
            [talk(&[
                USES,
                ("assistant", r#"[{"type":"tool_use","id":"s","name":"Read","input":{}}]"#),
                RETURNS,
                ("user", r#"[{"type":"tool_result","tool_use_id":"s","content":"r"}]"#),
            ])
            .replace("\"m2\"", "\"m1\"")],
            [(
                talk(&[
                    USES,
                    ("assistant", r#"[{"type":"tool_use","id":"s","name":"Read","input":{}}]"#),
                    RETURNS,
                    ("user", r#"[{"type":"tool_result","tool_use_id":"s","content":"r"}]"#),
                ])
                .replace("\"m2\"", "\"m1\"")
                .replace("\"parentUuid\":\"u2\"", "\"parentUuid\":\"u1\""),
                "warns parallel-branch",
            )],
        ),
        row(
            "a compact boundary with a null parent, and its summary",
            [
                boundary.clone(),
                boundary.replace("\"uuid\":\"u3\"", "\"isCompactSummary\":true,\"uuid\":\"u3\""),
                talk(&[ANSWERED, ("user", "\"summary\"")])
                    .replace("\"uuid\":\"u2\"", "\"isCompactSummary\":true,\"uuid\":\"u2\""),
            ],
            [],
        ),
        row(
            "the client's own lines are sent, sidechains are not",
            [
                talk(&[ANSWERED, ("user", "\"own\"")])
                    .replace("\"uuid\":\"u2\"", "\"isMeta\":true,\"uuid\":\"u2\""),
                talk(&[ANSWERED]) + "{\"type\":\"last-prompt\",\"leafUuid\":\"u0\"}\n",
            ],
            [
                (aside(chain(&[ASKED])), "stops no-conversation"),
                (
                    aside(chain(&[ASKED])).replace("\"uuid\"", "\"agentId\":\"a\",\"uuid\""),
                    "warns sub-agent",
                ),
            ],
        ),
    ];
    assert_rows("claude-code", &rows);
}

/// How Claude Code and its lists read contents (its FORMAT.md).
#[test]
fn claude_codes_contents() {
    let says = |content: &str| talk(&[("assistant", content)]);
    let returns = |content: &str| called("\"content\":\"r\"", content);
    let signed =
        r#"[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"x"}]"#;
    let huge = r#""usage":{"input_tokens":160000,"output_tokens":1},"id":"m1""#;
    let filler = format!("{{\"type\":\"x\",\"y\":\"{}\"}}\n", "z".repeat(70_000));
    let title = "{\"type\":\"custom-title\",\"customTitle\":\"T\"}\n";
    let rows = [
        row(
            "a call without a result, in the middle or at the end",
            [talk(&[USES, RETURNS, ANSWERED])],
            [(talk(&[USES]), "warns open-call"), (talk(&[USES, ANSWERED]), "warns open-call")],
        ),
        row(
            "a result without a call; before its call it is put in order",
            [talk(&[RETURNS, USES])],
            [(talk(&[RETURNS]), "warns orphan-result")],
        ),
        row(
            "an id twice, two results for one id",
            [],
            [
                (talk(&[USES, RETURNS, USES, RETURNS]), "warns duplicate-call"),
                (talk(&[USES, RETURNS, RETURNS]), "warns result-twice"),
            ],
        ),
        row(
            "text without words",
            [],
            [
                (talk(&[("user", "\"\""), ANSWERED]), "stops empty-prompt"),
                (talk(&[("user", "[]"), ANSWERED]), "warns empty-text"),
                (says("[]"), "warns empty-text"),
                (says(r#"[{"type":"text","text":""}]"#), "warns empty-text"),
                (says(r#"[{"type":"text","text":" \n"}]"#), "warns empty-text"),
                (says(r#"[{"type":"text","text":"(no content)"}]"#), "warns empty-text"),
            ],
        ),
        row(
            "a result's content: a string, an array, a picture, nothing; is_error null",
            [
                returns("\"content\":\"\""),
                returns(r#""content":[{"type":"text","text":"r"}]"#),
                returns(
                    r#""content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]"#,
                ),
                called(",\"content\":\"r\"", ""),
                returns("\"content\":\"r\",\"is_error\":null"),
            ],
            [],
        ),
        row(
            "odd ids and names, inputs that are no objects: the API decides",
            [called("\"t\"", "\"a-Z_9\"")],
            [
                (called("\"t\"", "\"a b\""), "stops tool-id"),
                (called("Read", "Read it"), "stops tool-name"),
                (called("Read", &"x".repeat(129)), "stops tool-name"),
                (called("\"input\":{}", "\"input\":[]"), "stops tool-input"),
                (called("\"input\":{}", "\"input\":\"x\""), "stops tool-input"),
            ],
        ),
        row(
            "thinking: signed, of a known model, not alone",
            [
                says(signed),
                says(signed).replace("\"id\":\"m1\"", "\"id\":\"m1\",\"model\":\"<synthetic>\""),
            ],
            [
                (
                    says(signed).replace("\"id\":\"m1\"", "\"id\":\"m1\",\"model\":\"gpt-5\""),
                    "warns foreign-model",
                ),
                (says(&signed.replace(",\"signature\":\"s\"", "")), "warns unsigned-thinking"),
                (says(&signed.replace("\"s\"", "\"\"")), "warns unsigned-thinking"),
                (
                    says(r#"[{"type":"thinking","thinking":"x","signature":"s"}]"#),
                    "warns only-thinking",
                ),
            ],
        ),
        row(
            "huge usage of the last response makes 2.0 compact",
            [answered("\"id\":\"m1\"", &huge.replace("160000", "16"))],
            [(answered("\"id\":\"m1\"", huge), "warns huge-usage")],
        ),
        row(
            "half a surrogate pair",
            [answered("\"x\"", "\"\\ud83d\\ude00\"")],
            [(answered("\"x\"", "\"\\ud800\""), "warns surrogate")],
        ),
        row(
            "a user's message first; a prompt in the first 64 KiB, titles in the last",
            [talk(&[ANSWERED]) + &filler + title, talk(&[ANSWERED]) + title],
            [
                (chain(&[ANSWERED, ("user", "\"hi\"")]), "stops prompt-first"),
                (filler.clone() + &talk(&[ANSWERED]), "warns late-prompt"),
                (talk(&[ANSWERED]) + &filler + title + &filler, "warns early-title"),
            ],
        ),
    ];
    assert_rows("claude-code", &rows);
}
