//! Tests of queries over a transcript.

use std::{fs, path::Path};

use core_model::{CompactionRule, DurationRule, ErrorPolicy, Markdown, ReadError};
use format_claude_code::{
    ChainRule, DamageKind, Filter, Fork, SessionInfo, StringContent, TitleSource, Transcript,
    estimate_tokens, fork,
};

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/{name}.jsonl"))
}

fn open(name: &str) -> Transcript<'static> {
    Transcript::open(&path(name)).expect("a fixture")
}

#[test]
fn what_is_no_object_is_a_bad_line() {
    let transcript = open("damaged/lines-of-no-object");
    assert!(!transcript.bad_lines().is_empty());
    let strict = Transcript::open_strict(&path("damaged/lines-of-no-object"));
    assert!(matches!(strict, Err(ReadError::Line(_))));
    assert!(Transcript::open_strict(&path("claude-code/plain")).is_ok());
    assert!(matches!(Transcript::open_strict(Path::new("no such file")), Err(ReadError::Io(_))));
    // Blank lines are not bad.
    assert_eq!(open("damaged/blank-lines").bad_lines(), []);
}

#[test]
fn records_on_a_damaged_line_are_entries() {
    let transcript = open("damaged/two-records-on-a-line");
    let bad_line = transcript.bad_lines()[0];
    assert_eq!(bad_line.n_records, 2);
    let (mut entries, mut on_the_line) = (transcript.entries(), 0);
    while let Some(entry) = entries.next() {
        on_the_line += usize::from(entry.place.line == bad_line.place.line);
    }
    assert_eq!(on_the_line, 2);
}

#[test]
fn pages_are_parts_of_the_entries() {
    let transcript = open("claude-code/compaction");
    let page = |offset, limit| {
        let (mut entries, mut idx) = (transcript.page(offset, limit), Vec::new());
        while let Some(entry) = entries.next() {
            idx.push(entry.idx);
        }
        idx
    };
    assert_eq!(page(0, 2), [0, 1]);
    assert_eq!(page(4, 10), [4, 5]);
    assert_eq!(page(6, 1), [0; 0]);
    assert_eq!(page(usize::MAX, usize::MAX), [0; 0]);
}

/// Content that is a string has no calls.
#[test]
fn tool_calls_in_the_order_of_the_file() {
    let calls = open("claude-code/parallel-calls-interleaved").find_tool_calls();
    let calls: Vec<_> =
        calls.iter().map(|call| (call.name.as_str(), call.input.as_str())).collect();
    assert_eq!(calls, [("Bash", r#"{"command":"true"}"#), ("Bash", r#"{"command":"false"}"#)]);
    let file = br#"{"type":"assistant","message":{"content":"tool_use"}}"#;
    assert_eq!(Transcript::from_slice(file).find_tool_calls(), []);
}

/// Lists and null as content do not stop the search.
#[test]
fn errors_in_content_of_any_form() {
    for name in ["claude-code/tool-result-forms", "claude-code/is-error-three-states"] {
        let transcript = open(name);
        let either = transcript.find_errors(ErrorPolicy::Either).len();
        let flag = transcript.find_errors(ErrorPolicy::Flag).len();
        let text = transcript.find_errors(ErrorPolicy::Text).len();
        assert!(either >= flag.max(text) && either <= flag + text, "{name}");
    }
    let errors = open("claude-code/parallel-calls-interleaved").find_errors(ErrorPolicy::default());
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].place.line, errors[0].is_error), (6, Some(true)));
    assert_eq!(errors[0].timestamp.as_deref(), Some("2026-02-03T10:00:09.000Z"));
}

/// Times as a float in the message are times.
#[test]
fn durations_of_float_times() {
    let file = br#"{"type":"user","message":{"content":[],"timestamp":1700000000.0}}
{"type":"assistant","message":{"content":[],"timestamp":1700000090.5}}"#;
    let transcript = Transcript::from_slice(file);
    for rule in [DurationRule::FirstLastLine, DurationRule::FirstLastSeen, DurationRule::MinMax] {
        assert_eq!(transcript.duration(rule), Some(90_500));
    }
}

/// Lines that cannot be read are counted separately.
#[test]
fn counts_leave_bad_lines_out() {
    let file = b"{\"type\":\"user\"}\nnot JSON\n{\"uuid\":\"u\"}\n{\"type\":5}\n";
    let transcript = Transcript::from_slice(file);
    let counts = transcript.count_by_type();
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("unknown", 2), ("user", 1)]);
    assert_eq!(transcript.bad_lines().len(), 1);
}

/// The last slug is the plan that counts.
#[test]
fn slugs_each_once_in_order() {
    let file = br#"{"slug":"b"}
{"slug":"a"}
{"slug":"b"}
{"slug":5}"#;
    assert_eq!(Transcript::from_slice(file).slugs(), ["b", "a"]);
}

#[test]
fn empty_and_warmup_sessions() {
    let user = r#"{"type":"user","message":{"content":"hello"}}"#;
    let answer = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}"#;
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}}"#;
    let blank = r#"{"type":"user","message":{"content":"  "}}"#;
    let other = r#"{"type":"summary","summary":"S"}"#;
    for (lines, is_empty) in [
        (vec![], true),
        (vec![user, answer], true),
        (vec![user, answer, other], false),
        (vec![blank, answer, other], true),
        (vec![user, call, other], true),
        (vec![other, other, other], true),
    ] {
        let file = lines.join("\n");
        assert_eq!(Transcript::from_slice(file.as_bytes()).is_empty(), is_empty, "{lines:?}");
    }
    let warmup =
        r#"{"type":"user","message":{"content":[{"type":"text","text":"WarmUp please"}]}}"#;
    for (lines, is_warmup) in [
        (vec![other, warmup], true),
        (vec![user, warmup], false),
        (vec![r#"{"type":"assistant","message":{"content":"warmup"}}"#, user], false),
        (vec![], false),
    ] {
        let file = lines.join("\n");
        assert_eq!(Transcript::from_slice(file.as_bytes()).is_warmup(), is_warmup, "{lines:?}");
    }
}

/// Characters, not bytes.
#[test]
fn estimates_by_characters() {
    assert_eq!((estimate_tokens(""), estimate_tokens("abc"), estimate_tokens("abcd")), (0, 0, 1));
    assert_eq!(estimate_tokens("🎉🎉🎉🎉"), 1);
}

#[test]
fn key_messages_and_tool_results_of_a_session() {
    let transcript = open("claude-code/seed-004");
    let messages = transcript.key_messages(StringContent::Include);
    let texts: Vec<_> = messages.iter().map(|said| (&*said.kind, &*said.text)).collect();
    assert_eq!(
        texts,
        [
            ("user", "User message content"),
            ("assistant", "Assistant response"),
            ("user", "Simple text")
        ]
    );
    assert_eq!(messages[0].timestamp.as_deref(), Some("2026-01-17T20:31:59.197Z"));
    let results = transcript.tool_results();
    let ids: Vec<_> = results.iter().filter_map(|found| found.tool_use_id.as_deref()).collect();
    assert_eq!(ids, ["toolu_xyz123", "toolu_delegate"]);
    assert!(results[1].content.as_deref().is_some_and(|content| content.starts_with("[{")));
    assert!(!results[1].is_error);
}

#[test]
fn titles_by_their_rank() {
    let cases = [
        (r#"{"type":"custom-title","customTitle":"C"}"#, "C", TitleSource::Custom),
        (r#"{"type":"ai-title","aiTitle":"A"}"#, "A", TitleSource::Model),
        (r#"{"type":"last-prompt","lastPrompt":"L"}"#, "L", TitleSource::LastPrompt),
        (r#"{"type":"summary","summary":"S"}"#, "S", TitleSource::Summary),
        (r#"{"type":"user","message":{"content":"F"}}"#, "F", TitleSource::FirstPrompt),
    ];
    let mut lines: Vec<&str> = cases.iter().map(|(line, ..)| *line).collect();
    for (_, text, source) in cases {
        let file = lines.join("\n");
        let title = Transcript::from_slice(file.as_bytes()).title().expect("a title");
        assert_eq!((title.text.as_str(), title.source), (text, source));
        lines.remove(0);
    }
    assert_eq!(Transcript::from_slice(b"").title(), None);
}

#[test]
fn compactions_are_indices_of_entries() {
    let transcript = open("claude-code/compaction");
    assert_eq!(transcript.compaction_boundaries(CompactionRule::Any), [2]);
    assert_eq!(transcript.compaction_boundaries(CompactionRule::SummaryLine), [0; 0]);
    assert_eq!(transcript.generations(CompactionRule::default()).len(), 2);
}

/// Calls every query.
fn ask(transcript: &Transcript<'_>) {
    let mut n_entries = 0;
    transcript.for_each(|_| n_entries += 1);
    assert_eq!(n_entries, transcript.n_entries());
    _ = (transcript.find_tool_calls(), transcript.tool_runs(), transcript.tool_results());
    _ = (transcript.title(), transcript.is_empty(), transcript.is_warmup());
    _ = (transcript.overview().to_string(), transcript.usage_totals(), transcript.slugs());
    _ = (transcript.diagnose(), transcript.key_messages(StringContent::default()));
    for rule in [ChainRule::Cli, ChainRule::Sdk] {
        let chain = transcript.active_chain(rule);
        assert!(chain.iter().all(|idx| *idx < n_entries));
    }
    let ids = Fork { source_id: "s", session_id: "t", up_to: None, title: None, now: 0 };
    if let Ok(copy) = fork(transcript, &ids) {
        assert_eq!(Transcript::from_slice(copy.as_bytes()).bad_lines(), []);
    }
    let mut out = String::new();
    transcript.for_each(|entry| Markdown::default().event(&entry.event, 1, None, &mut out));
    let bytes = transcript.bytes();
    _ = SessionInfo::of_ends("s", bytes, bytes, bytes.len() as u64);
}

#[test]
fn no_file_stops_a_question_wherever_it_is_cut() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for folder in ["claude-code", "damaged", "foreign", "clido", "sdk-stream", "sdk-wire"] {
        for entry in fs::read_dir(root.join(folder)).expect("fixtures").flatten() {
            let Ok(bytes) = fs::read(entry.path()) else { continue };
            ask(&Transcript::from_slice(&bytes));
            for end in (0..bytes.len()).step_by(97) {
                ask(&Transcript::from_slice(&bytes[..end]));
                ask(&Transcript::from_slice(&bytes[end..]));
            }
        }
    }
}

#[test]
fn the_sdk_takes_carriage_returns_for_newlines() {
    for name in ["damaged/lone-carriage-returns", "damaged/record-separators"] {
        assert_eq!(open(name).active_chain(ChainRule::Sdk), [0, 1, 2, 3], "{name}");
    }
    // The SDK loses two records without a line break between them.
    let chain = open("damaged/two-records-on-a-line").active_chain(ChainRule::Sdk);
    assert!(chain.len() < open("damaged/two-records-on-a-line").n_entries());
}

#[test]
fn conversations_by_the_rule_of_the_client() {
    for (name, expected) in [
        ("claude-code/rewind", None),
        ("claude-code/forward-parent", None),
        ("claude-code/sidechain-inline", Some(vec![0, 1, 6, 7])),
        ("claude-code/compaction", Some(vec![0, 1, 3, 4, 5])),
    ] {
        let transcript = open(name);
        let chain = transcript.active_chain(ChainRule::Cli);
        if let Some(expected) = expected {
            assert_eq!(chain, expected, "{name}");
        }
        let sdk = transcript.active_chain(ChainRule::Sdk);
        assert!(sdk.iter().all(|idx| chain.contains(idx)), "{name}: {sdk:?} in {chain:?}");
    }
}

/// By type and time, in pages.
#[test]
fn filters() {
    let transcript = open("claude-code/seed-004");
    let by_kind = Filter { kinds: vec!["assistant".to_owned()], ..Filter::default() };
    assert_eq!(transcript.select(&by_kind), [1, 5]);
    let at = |time: &str| Filter::time(time);
    assert_eq!(at("2026-01-17T20:32:02.456Z"), Some(1768681922456));
    assert_eq!(at("soon"), None);
    let by_time = Filter { from: at("2026-01-17T20:32:02.456Z"), ..Filter::default() };
    assert_eq!(transcript.select(&by_time), [2, 3, 6]);
    let until = at("2026-01-17T20:32:02.456Z");
    let both = Filter { kinds: vec!["user".to_owned()], to: until, ..Filter::default() };
    assert_eq!(transcript.select(&both), [0]);
    assert_eq!(transcript.select(&Filter::default()).len(), transcript.n_entries());
}

#[test]
fn every_kind_of_damage_is_found_in_its_fixture() {
    for (name, kind) in [
        ("claude-code/phantom-parent", DamageKind::PhantomParent),
        ("claude-code/orphan-tool-result", DamageKind::OrphanResult),
        ("claude-code/unanswered-call-in-the-middle", DamageKind::OpenCall),
        ("claude-code/duplicate-uuid", DamageKind::DuplicateUuid),
        ("claude-code/duplicate-uuid", DamageKind::RepeatedLine),
        ("claude-code/snapshots-three-shapes", DamageKind::SnapshotCollision),
        ("claude-code/parent-cycle", DamageKind::Cycle),
        ("damaged/two-records-on-a-line", DamageKind::JoinedRecords),
        ("damaged/torn-tail", DamageKind::Torn),
    ] {
        let kinds: Vec<_> = open(name).diagnose().iter().map(|found| found.kind).collect();
        assert!(kinds.contains(&kind), "{name}: {kinds:?}");
    }
    assert_eq!(open("claude-code/plain").diagnose(), []);
    let file = br#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}}
{"type":"system","uuid":"b","parentUuid":"a"}
{"type":"assistant","uuid":"c","message":{"content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}}"#;
    let found = Transcript::from_slice(file).diagnose();
    let split = found.iter().find(|found| found.kind == DamageKind::SplitServerTool);
    assert_eq!(split.map(|found| found.place.line), Some(2), "{found:?}");
    // Two lines with one id and one parent, and different contents.
    let file = br#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"x"}}
{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"y"}}"#;
    let found = Transcript::from_slice(file).diagnose();
    let kinds: Vec<_> = found.iter().map(|found| (found.place.line, found.kind)).collect();
    assert_eq!(kinds, [(2, DamageKind::DuplicateUuid)]);
}
