//! Tests with hostile input: the files of the shared data, compared with their manifest, and generated
//! ones that are too large to store.

use std::{collections::BTreeMap, fs, thread};

use convert::{CarryMode, Conversion, Converted, FORMATS, Report, by_name};
use core_model::{Check, Format, Options};
use format_claude_code::{DamageKind, Transcript};
use jsonl::Scanner;

use crate::shared::{
    data::{data, root},
    fixtures::fixtures,
    parallel::check_all,
    turns::{chosen, share},
    ways::{others, there_and_back},
};

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

fn converted(bytes: &[u8], from: &str, to: &str, carry: CarryMode) -> (Vec<u8>, Report) {
    let (from, to) = (format(from), format(to));
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let Converted { bytes: target, report, .. } =
        conversion.convert(bytes, None).expect("in memory");
    (target, report)
}

/// Returns the files of the hostile set by their names in the manifest; none without the data.
fn hostile() -> BTreeMap<String, Vec<u8>> {
    let files = data(&["hostile"]).into_iter();
    files.map(|(name, bytes)| (name.trim_start_matches("hostile/").to_owned(), bytes)).collect()
}

#[test]
fn each_file_has_the_records_that_its_manifest_says() {
    let files = hostile();
    if files.is_empty() {
        return;
    }
    let manifest = fs::read(root().join("hostile/MANIFEST.json")).expect("the manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    let entries = manifest["files"].as_array().expect("the files");
    assert_eq!(entries.len(), files.len());
    let mut n_checked = 0;
    for entry in entries {
        let name = entry["file"].as_str().expect("a name");
        // One is refused, one is not text, one is an array over several lines.
        let Some(expected) = entry["records_recoverable"].as_u64() else { continue };
        if name == "framing/utf16le.jsonl" || name.starts_with("jts_") {
            continue;
        }
        let bytes = &files[name];
        let mut scanner = Scanner::default();
        let is_object = |line: &jsonl::Line<'_>| scanner.scan(line).is_ok_and(|it| it.is_object());
        let n_objects = jsonl::lines(bytes).filter(is_object).count() as u64;
        let (_, report) = converted(bytes, "claude-code", "clido", CarryMode::Inline);
        // Each line with an object counts. The manifest does not count an empty object.
        let n_empty = u64::from(name == "structure/top_empty_obj.jsonl");
        assert_eq!(n_objects + report.n_recovered - n_empty, expected, "{name}");
        assert_eq!(report.lines_in, jsonl::lines(bytes).count() as u64, "{name}");
        n_checked += 1;
    }
    assert_eq!(n_checked, 84);
}

#[test]
fn every_file_is_itself_in_every_format_and_comes_back_from_every_other() {
    let files: Vec<_> = hostile().into_iter().collect();
    if files.is_empty() {
        return;
    }
    check_all(
        &files,
        |(name, _)| name.clone(),
        |(_, bytes)| {
            let mut wrong = Vec::new();
            for from in FORMATS.iter().copied() {
                let copy = converted(bytes, from.name, from.name, CarryMode::Inline).0;
                wrong.extend((copy != *bytes).then(|| format!("{}: no copy", from.name)));
                let back = |to| there_and_back(bytes, from, to, CarryMode::Inline);
                wrong.extend(others(&[from]).filter_map(back));
            }
            wrong
        },
    );
}

/// A record of each format, with a placeholder for an unknown value.
const RECORDS: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"x"},"x":"#,
        "}",
    ),
    (
        "clido",
        r#"{"type":"user_message","role":"user","content":[{"text":"x","type":"text"}],"x":"#,
        "}",
    ),
    (
        "sdk-stream",
        r#"{"type": "user_message", "content": "x", "timestamp": "2026-01-01T10:00:00Z", "x": "#,
        "}",
    ),
    (
        "sdk-stream:wire",
        r#"{"type":"user","message":{"role":"user","content":"x"},"session_id":"s","uuid":"u","x":"#,
        "}",
    ),
];

/// Files of JSONTestSuite that RFC 8259 leaves open and that JSON.parse refuses.
const CLIENT_REFUSES: &[&str] = &[
    "i_string_UTF-16LE_with_BOM",
    "i_string_utf16BE_no_BOM",
    "i_string_utf16LE_no_BOM",
    "i_structure_UTF-8_BOM_empty_object",
];

#[test]
fn the_json_test_suite_as_a_line_and_as_a_field_of_each_format() {
    let files = hostile();
    if files.is_empty() {
        return;
    }
    let (mut n_accepted, mut n_all, mut n_carried) = (BTreeMap::new(), BTreeMap::new(), 0);
    for (name, bytes) in &files {
        let Some(case) = name.strip_prefix("jts_bare/") else { continue };
        let case = case.trim_end_matches(".jsonl");
        let kind = case.get(..1).expect("y, n or i");
        // Between two good records.
        let length = |line: Option<jsonl::Line<'_>>| line.map_or(0, |line| line.bytes().len());
        let start = length(jsonl::lines(bytes).next());
        let end = bytes.len() - length(jsonl::lines(bytes).last());
        let odd = bytes.get(start..end).unwrap_or_default();
        let odd = odd.strip_suffix(b"\n").unwrap_or(odd);
        let is_json = jsonl::validate(odd).is_ok();
        // On one line, its newline is replaced by a space.
        if case == "n_string_unescaped_newline" {
            assert_eq!(odd, b"[\"new line\"]");
            continue;
        }
        *n_all.entry(kind).or_insert(0) += 1;
        *n_accepted.entry(kind).or_insert(0) += usize::from(is_json);
        let mut is_carried = true;
        for (from, before, after) in RECORDS {
            let field = [before.as_bytes(), odd, after.as_bytes(), b"\n"].concat();
            for to in others(&[format(from)]) {
                for source in [bytes, &field] {
                    let wrong = there_and_back(source, format(from), to, CarryMode::Inline);
                    assert!(wrong.is_none(), "{case} in {from}: {}", wrong.unwrap_or_default());
                    is_carried &= wrong.is_none();
                }
            }
        }
        n_carried += usize::from(kind == "i" && is_carried && !CLIENT_REFUSES.contains(&case));
    }
    assert_eq!(n_all, BTreeMap::from([("i", 35), ("n", 187), ("y", 95)]));
    assert_eq!(n_accepted, BTreeMap::from([("i", 21), ("n", 0), ("y", 95)]));
    assert_eq!(n_carried, 31, "what JSON.parse takes, and what it does not");
}

/// Numbers that some parsers rewrite.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "0.0",
    "1.0",
    "1.10",
    "1E5",
    "1e5",
    "1e+5",
    "1e-05",
    "1E-5",
    "0.1",
    "0.30000000000000004",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "1.7976931348623157e308",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "0.000000000000000000000000000001",
    "1763762450.613171",
    "1e00000000000000000000000000000005",
];

#[test]
fn numbers_are_copied_and_never_printed_anew() {
    let mut numbers: Vec<String> = NUMBERS.iter().map(|text| (*text).to_owned()).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let asked = std::env::var("NUMBERS_CASES").ok().and_then(|text| text.parse().ok());
    for _ in 0..asked.unwrap_or(100_000) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let float = f64::from_bits(state);
        numbers.extend(float.is_finite().then(|| format!("{float:?}")));
    }
    for some in numbers.chunks(1_000) {
        for to in ["clido", "sdk-stream:wire"] {
            // clido does not load numbers beyond an f64. They are replaced, and reported.
            let is_held = |text: &str| text.parse::<f64>().is_ok_and(|it| it.abs() < 1e308);
            let some = some.iter().map(String::as_str).filter(|it| to != "clido" || is_held(it));
            let some: Vec<_> = some.collect();
            let list = some.join(",");
            let line = format!(
                r#"{{"type":"assistant","uuid":"u","parentUuid":null,"sessionId":"s","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"Bash","input":{{"n":[{list}]}}}}]}}}}"#
            ) + "\n";
            let (target, _) = converted(line.as_bytes(), "claude-code", to, CarryMode::None);
            assert!(text(&target).contains(&format!("[{list}]")), "{to}: {}", text(&target));
        }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn no_depth_ends_the_program() {
    let mut cases = Vec::new();
    for depth in [127, 128, 1_024, 1_025, 10_000, 1_000_000] {
        for (open, close) in
            [("[", "]"), ("{\"a\":", "}"), ("[", ""), ("[{\"a\":", "}]"), ("{\"a\":[", "")]
        {
            cases.push((depth, open, close));
        }
    }
    assert_eq!(cases.len(), 30);
    // A quarter of what a thread gets by default.
    let stack = 512 * 1024;
    for (depth, open, close) in cases {
        let value = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let job = move || {
            for (from, before, after) in &RECORDS[..2] {
                let line = format!("{before}{value}{after}\n");
                // A deep value takes as long as a thousand others.
                let n_targets = if depth > 100_000 { 1 } else { 3 };
                let case = format!("{from} {open} {close}");
                for to in chosen(&case, others(&[format(from)]), n_targets) {
                    let wrong =
                        there_and_back(line.as_bytes(), format(from), to, CarryMode::Inline);
                    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
                }
            }
        };
        let thread = thread::Builder::new().stack_size(stack).spawn(job).expect("a thread");
        assert!(thread.join().is_ok(), "{depth} times {open}, {stack} bytes of stack");
    }
}

#[test]
fn a_message_that_was_spread_into_an_object_of_13_889_characters_comes_back() {
    let spread: Vec<String> = (0..13_889).map(|n| format!("\"{n}\":\"x\"")).collect();
    let line = format!(
        r#"{{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":[],{0}}},"toolUseResult":{{{0}}}}}"#,
        spread.join(",")
    ) + "\n";
    for to in others(&[format("claude-code")]) {
        for mode in [CarryMode::Inline, CarryMode::Sidecar] {
            assert_eq!(there_and_back(line.as_bytes(), format("claude-code"), to, mode), None);
        }
    }
}

/// Returns a transcript in which `parent` chooses the parent of each message.
fn chain(order: impl Iterator<Item = usize>, parent: impl Fn(usize) -> Option<usize>) -> Vec<u8> {
    let uuid = |n: usize| format!("\"00000000-0000-4000-8000-{n:012}\"");
    let line = |n: usize| {
        let parent = parent(n).map_or("null".to_owned(), uuid);
        let (kind, id) = if n.is_multiple_of(2) {
            ("user", String::new())
        } else {
            ("assistant", format!("\"id\":\"m{n}\","))
        };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{kind}\",\"message\":{{{id}\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"{n}\"}}]}},\"uuid\":{},\"timestamp\":\"2026-01-01T10:00:00.000Z\"}}\n",
            uuid(n)
        )
    };
    order.map(line).collect::<String>().into_bytes()
}

#[test]
fn chains_of_20_000_messages_need_no_stack() {
    const LENGTH: usize = 20_000;
    let before = |n: usize| n.checked_sub(1);
    let files = [
        chain(0..LENGTH, before),
        chain((0..LENGTH).rev(), before),
        chain(0..LENGTH, |n| Some((n + LENGTH - 1) % LENGTH)),
        chain(0..LENGTH, |n| n.checked_sub(2)),
        chain(0..LENGTH, |_| Some(0)),
        chain(0..LENGTH, Some),
    ];
    for (n, file) in share(files.into_iter().enumerate().collect(), 3) {
        let job = move || {
            let (target, _) = converted(&file, "claude-code", "clido", CarryMode::Inline);
            let (home, _) = converted(&target, "clido", "claude-code", CarryMode::Inline);
            assert!(home == file, "file {n} comes back");
            Check::all((format("claude-code").checker)(), &file).len()
        };
        let thread = thread::Builder::new().stack_size(512 * 1024).spawn(job).expect("a thread");
        assert!(thread.join().is_ok(), "file {n}");
    }
}

/// Compares the findings of `check` on the graph of a session with `Transcript::diagnose`: files of the
/// shared data, fixtures, and generated files.
///
/// The expectations come from the client, not from the output of the program. "Answer" is a case of
/// `format-claude-code/tests/all/verdicts.jsonl`, which was given to 2.1.330. "Manifest" is
/// MANIFEST.json of the hostile set. "Table" is FORMAT.md, "The active branch".
const FAULTS: &[(&str, &[&str], &[DamageKind])] = &[
    // Manifest: reported, the walk ends. Table: 2.1 survives, 2.0 hangs.
    ("graph/cycle", &["cycle"], &[DamageKind::Cycle]),
    // Manifest: reported. Answers: two calls with one id, and a call without a result, go on; a
    // history that starts with the assistant stops.
    (
        "graph/dup_tool_use_id",
        &["duplicate-call", "open-call", "prompt-first", "unlisted"],
        &[DamageKind::OpenCall],
    ),
    // Manifest: reported, and `diagnose` does. Answer: a line that is there twice goes on, and it is so
    // common that `check` is silent. CLIENTS.md's "one uuid on two lines" stops if it is the first's.
    ("graph/dup_uuid", &[], &[DamageKind::RepeatedLine]),
    // Manifest: both branches are kept. Table: the client walks back from one leaf.
    ("graph/fork", &["branch"], &[]),
    // Manifest: reported. Answer: a result without a call changes what is sent.
    ("graph/orphan_tool_result", &["orphan-result", "unlisted"], &[DamageKind::OrphanResult]),
    // Manifest: the records stay in the order of the file. 2.0 takes times for the order.
    ("graph/out_of_order", &["timestamp-order", "second-root", "timestamp-order"], &[]),
    // Manifest: reported, not linked anew. Table: 2.1 bridges, 2.0 cuts.
    ("graph/phantom_parent", &["dangling-parent"], &[DamageKind::PhantomParent]),
    // Manifest: the walk ends. A cycle of one.
    ("graph/self_parent", &["cycle"], &[DamageKind::Cycle]),
    // Manifest: a snapshot's `messageId` is no uuid, so no line is doubled.
    ("graph/snapshot_messageid_collision", &[], &[DamageKind::SnapshotCollision]),
    ("claude-code/parent-cycle", &["cycle"], &[DamageKind::Cycle]),
    // Answer: two calls with one id go on.
    ("claude-code/duplicate-call-id", &["duplicate-call"], &[]),
    ("claude-code/orphan-tool-result", &["orphan-result"], &[DamageKind::OrphanResult]),
    (
        "claude-code/phantom-parent",
        &["dangling-parent", "dangling-parent"],
        &[DamageKind::PhantomParent, DamageKind::PhantomParent],
    ),
    ("claude-code/self-parent", &["branch", "cycle"], &[DamageKind::Cycle]),
    ("claude-code/snapshots-three-shapes", &[], &[DamageKind::SnapshotCollision]),
    // All of these times are equal, which 2.0 takes for out of order.
    ("made/line-twice", &["timestamp-order"; 3], &[DamageKind::RepeatedLine]),
    ("made/order", &["timestamp-order"; 3], &[]),
    // Answers: two lines with one uuid go on, but that of the first line again stops, since the
    // history then starts with the assistant.
    (
        "claude-code/duplicate-uuid",
        &["duplicate-uuid", "cycle", "prompt-first"],
        &[DamageKind::RepeatedLine, DamageKind::DuplicateUuid, DamageKind::Cycle],
    ),
    // Answer: a call without a result at the end goes on.
    ("claude-code/open-tool-call", &["open-call"], &[DamageKind::OpenCall]),
    ("claude-code/parallel-calls-interleaved", &["parallel-branch"], &[DamageKind::ForkedResults]),
    // Answer: an assistant's message without a parent stops. Table: without parents the client cuts.
    (
        "claude-code/parents-all-null",
        &["second-root", "second-root", "second-root", "prompt-first"],
        &[],
    ),
    ("claude-code/rewind", &["branch"], &[]),
];

/// The files for which the client stops.
const STOPPED: &[&str] =
    &["graph/dup_tool_use_id", "claude-code/duplicate-uuid", "claude-code/parents-all-null"];

#[test]
fn faults_of_the_graph_have_their_rules() {
    let mut files = hostile();
    let has_set = !files.is_empty();
    files.extend(fixtures().into_iter().map(|fixture| (fixture.name, fixture.bytes)));
    let plain = chain(0..4, |n| n.checked_sub(1));
    let last = plain[..plain.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines");
    files.insert("made/line-twice.jsonl".to_owned(), [&plain, &plain[last + 1..]].concat());
    let text = String::from_utf8(plain).expect("text");
    let order = text.replacen("T10:00:00", "T11:00:00", 2);
    files.insert("made/order.jsonl".to_owned(), order.into_bytes());
    let mut wrong = Vec::new();
    for (name, rules, kinds) in FAULTS {
        let Some(bytes) = files.get(&format!("{name}.jsonl")) else {
            assert!(name.starts_with("graph/") && !has_set, "{name} is not there");
            continue;
        };
        let problems = Check::all((format("claude-code").checker)(), bytes);
        let found: Vec<_> = problems.iter().map(|problem| problem.rule).collect();
        let findings = Transcript::from_slice(bytes).diagnose();
        let findings: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        let stops = problems.iter().any(|problem| problem.stops());
        if found != *rules || findings != *kinds || stops != STOPPED.contains(name) {
            wrong.push(format!("{name}: {found:?}, {findings:?}, stops: {stops}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
