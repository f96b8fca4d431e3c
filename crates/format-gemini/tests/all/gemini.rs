//! Reads, plans and writes logs of Gemini CLI.

use format_gemini::{
    GEMINI, GeminiReader, GeminiWriter,
    core_model::{Block, Body, Event, Facts, Hidden, LossKind, NoticeKind, Options, Plan, Role},
    jsonl::{Scanner, Value, lines},
    list_gemini_sessions, validate_gemini,
};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/gemini/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).expect("a fixture")
}

fn each(session: &[u8], mut see: impl FnMut(u64, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            GEMINI.for_each_event(value, |event| {
                see(line.offset(), event);
                true
            });
        }
    }
}

fn plan_of(session: &[u8], options: &Options) -> Plan {
    let mut planner = GEMINI.planner.expect("a planner")(options);
    each(session, |offset, event| planner.observe(offset, event));
    planner.finish()
}

/// Returns the reasons for which lines are hidden, in the order of the file.
fn reasons(plan: &Plan) -> Vec<&'static str> {
    plan.hidden.iter().map(|Hidden { field, .. }| *field).collect()
}

/// Returns what a message says.
fn words(event: &Event<'_>) -> Vec<String> {
    let role = event.message().map(|message| message.role);
    let blocks = event.message().into_iter().flat_map(|message| message.blocks());
    let words = blocks.map(|(block, _)| match block {
        Block::Text(text) if role == Some(Role::User) => format!("user {}", text.decode()),
        Block::Text(text) => text.decode().into_owned(),
        Block::Thinking { text, .. } => format!("thinking {}", text.decode()),
        Block::ToolUse(tool) => format!("{} {}", tool.id.decode(), tool.input.json()),
        Block::ToolResult(result) => {
            let is_error = result.is_error.value() == Some(true);
            format!("{} {} {is_error}", result.tool_use_id.decode(), result.content.joined())
        }
        Block::Image { .. } => "image".to_owned(),
        _ => "other".to_owned(),
    });
    words.collect()
}

/// Returns what the session says, by its plan.
fn said(session: &[u8], options: &Options) -> Vec<String> {
    let plan = plan_of(session, options);
    let mut said = Vec::new();
    each(session, |offset, event| {
        if plan.hides(offset).is_none() {
            said.extend(words(event));
        }
    });
    said
}

#[test]
fn a_response_is_its_last_line_and_each_result_is_read_once() {
    let session = bytes("one-call");
    let said = said(&session, &Options::default());
    let expected = [
        "user Read the notes",
        "Let me read it.",
        "read_file__read_file_1772359201000_0 {\"file_path\":\"/home/user/project/notes.txt\"}",
        "read_file__read_file_1772359201000_0 one\nzwei é\n false",
        "I read it: done ✓ é",
    ];
    assert_eq!(said, expected);
    let plan = plan_of(&session, &Options::default());
    assert_eq!(reasons(&plan), ["checkpoint", "replaced", "repeated"]);
}

#[test]
fn thoughts_and_failed_calls_are_read() {
    let said = said(&bytes("parallel-calls"), &Options::default());
    let expected = [
        "user Do two things",
        "thinking Two commands will do.",
        "thinking Then the answer.",
        "c_1 {\"command\":\"echo one\"}",
        "c_2 {\"file_path\":\"/home/user/project/gone\"}",
        "c_1 one false",
        "c_2 File not found: é 世界 true",
        "One worked.",
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_checkpoint_of_known_messages_adds_nothing() {
    let session = bytes("resumed");
    let plan = plan_of(&session, &Options::default());
    assert_eq!(reasons(&plan), ["checkpoint", "repeated", "checkpoint", "checkpoint"]);
    let said = said(&session, &Options::default());
    assert_eq!(said.last().map(String::as_str), Some("And done."));
    assert_eq!(said.iter().filter(|words| words.contains("First")).count(), 1);
}

#[test]
fn messages_that_were_taken_back_are_a_branch() {
    let session = bytes("rewind");
    let prompts = |options: &Options| {
        let mut said = said(&session, options);
        said.retain(|words| words.starts_with("user"));
        said
    };
    assert_eq!(prompts(&Options::default()), ["user right", "user better"]);
    let branch = Options { branch: Some("u2".to_owned()), ..Options::default() };
    assert_eq!(prompts(&branch), ["user right", "user wrong"]);
    let all = Options { all_branches: true, ..Options::default() };
    assert_eq!(prompts(&all), ["user right", "user wrong", "user better"]);
}

/// When the client masks results, it writes the history once more under new ids (0.61.0).
#[test]
fn messages_under_new_ids_are_shown_once() {
    let before = [
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-26T10:00:00.000Z"}"#,
        r#"{"id":"u1","type":"user","content":[{"text":"go on"}]}"#,
        r#"{"id":"g1","type":"gemini","content":[{"text":"Reading."}],"toolCalls":[{"id":"c1","name":"read","args":{},"result":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"long"}}}]}]}"#,
        r#"{"id":"u2","type":"user","content":[{"text":"go on"}]}"#,
        r#"{"id":"g2","type":"gemini","content":[{"text":"Done."}]}"#,
    ];
    let again = [
        r#"{"id":"n1","type":"user","content":[{"text":"<session_context>\n"},{"text":"go on"}]}"#,
        r#"{"id":"n2","type":"gemini","content":[{"text":"Reading. "},{"functionCall":{"id":"c1","name":"read","args":{}}}]}"#,
        r#"{"id":"n3","type":"user","content":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"<tool_output_masked>"}}}]}"#,
        r#"{"id":"n4","type":"user","content":[{"text":"go on"}]}"#,
        r#"{"id":"n5","type":"gemini","content":[{"text":"Done."}]}"#,
        r#"{"$set":{"messages":[{"id":"n1"},{"id":"n2"},{"id":"n3"},{"id":"n4"},{"id":"n5"}]}}"#,
    ];
    let after = [r#"{"id":"u3","type":"user","content":[{"text":"go on"}]}"#];
    let session = |parts: &[&[&str]]| parts.concat().join("\n").into_bytes();
    let once = said(&session(&[&before, &after]), &Options::default());
    assert_eq!(once.iter().filter(|words| *words == "user go on").count(), 3, "{once:?}");
    let options = Options::default();
    assert_eq!(said(&session(&[&before, &again, &after]), &options), once);
    // The client joins a prompt with the result before it, which it writes twice.
    let merged = [
        again[0],
        again[1],
        r#"{"id":"n3","type":"user","content":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"<tool_output_masked>"}}},{"functionResponse":{"id":"c1","name":"read","response":{"output":"long"}}},{"text":"go on"}]}"#,
        again[4],
        r#"{"$set":{"messages":[{"id":"n1"},{"id":"n2"},{"id":"n3"},{"id":"n5"}]}}"#,
    ];
    assert_eq!(said(&session(&[&before, &merged, &after]), &options), once);
    // At the next start the client lists the new turns, too. One says the words of an old one.
    let list = r#"{"$set":{"messages":[{"id":"n1"},{"id":"n2"},{"id":"n3"},{"id":"n4"},{"id":"n5"},{"id":"u3"}]}}"#;
    assert_eq!(said(&session(&[&before, &again, &after, &[list]]), &options), once);
    // Without the checkpoint, they are turns like all others.
    let (turns, _) = again.split_at(5);
    assert_ne!(said(&session(&[&before, turns, &after]), &options), once);
}

/// A response of thoughts alone says nothing that could be a copy.
#[test]
fn thoughts_alone_are_no_copy() {
    let session = [
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-26T10:00:00.000Z"}"#,
        r#"{"id":"u1","type":"user","content":[{"text":"go on"}]}"#,
        r#"{"id":"g1","type":"gemini","content":"","thoughts":[{"subject":"Plan","description":"Read."}]}"#,
    ]
    .join("\n");
    let listed = format!("{session}\n{}", r#"{"$set":{"messages":[{"id":"u1"},{"id":"g1"}]}}"#);
    let [alone, listed] = [session, listed].map(|it| said(it.as_bytes(), &Options::default()));
    assert_eq!(listed, alone);
    assert!(alone.iter().any(|words| words.contains("Read.")), "{alone:?}");
}

/// The client's own summary is what is sent, with the messages that it keeps.
#[test]
fn a_compression_is_a_boundary_a_summary_and_repeated_messages() {
    let session = bytes("compression");
    let mut found = Vec::new();
    let plan = plan_of(&session, &Options { from_last_compaction: true, ..Options::default() });
    each(&session, |offset, event| {
        if plan.hides(offset).is_some() {
            return;
        }
        found.push(match &event.body {
            Body::Notice(notice) if notice.kind == NoticeKind::Compaction => "boundary",
            Body::Message(message) if message.is_summary => "summary",
            Body::Message(message) if message.role == Role::Assistant => "answer",
            Body::Message(message) if message.is_meta => "repeated",
            Body::Message(_) => "prompt",
            _ => return,
        });
    });
    let expected =
        ["boundary", "repeated", "summary", "answer", "repeated", "answer", "prompt", "answer"];
    assert_eq!(found, expected);
    assert_eq!(reasons(&plan).iter().filter(|it| **it == "compacted").count(), 4);
}

/// A message that is replaced keeps its place: what followed its first line still follows it.
#[test]
fn a_replaced_message_keeps_its_place() {
    let session = br#"{"sessionId":"s","projectHash":"h"}
{"id":"a","type":"gemini","content":"first"}
{"id":"b","type":"user","content":"typed meanwhile"}
{"id":"a","type":"gemini","content":"first, complete"}
{"id":"c","type":"user","content":"then"}
"#;
    let plan = plan_of(session, &Options::default());
    assert_eq!(reasons(&plan), ["replaced"]);
    let [late] = plan.late.as_slice() else { panic!("{:?}", plan.late) };
    let line_at = |offset: u64| {
        let rest = &session[usize::try_from(offset).expect("small")..];
        String::from_utf8_lossy(rest).lines().next().expect("a line").to_owned()
    };
    assert!(line_at(late.offset).contains("typed meanwhile"));
    assert!(line_at(late.after).contains("first, complete"));
}

/// A session of this format, written anew, says the same.
#[test]
fn what_is_written_is_read_again() {
    for name in [
        "one-call",
        "parallel-calls",
        "images",
        "resumed",
        "rewind",
        "minimal",
        "title-and-notices",
        "odd-results",
    ] {
        let session = bytes(name);
        let plan = plan_of(&session, &Options::default());
        let mut facts = Facts::default();
        each(&session, |offset, event| {
            if plan.hides(offset).is_none() {
                facts.observe(event);
            }
        });
        let mut writer = GeminiWriter::new(Vec::new(), facts);
        for record in GeminiReader::open(fixture(name)).expect("a fixture") {
            let record = record.expect("a record");
            if plan.hides(record.place().offset).is_none() {
                writer.write(&record.as_ref()).expect("written");
            }
        }
        let written = writer.finish().expect("written").target;
        let said = |bytes: &[u8]| {
            let mut said = said(bytes, &Options::default());
            // An object in a result is written as its JSON.
            said.iter_mut().for_each(|words| *words = words.replace("other", ""));
            said
        };
        if name != "odd-results" {
            assert_eq!(said(&written), said(&session), "{name}");
        }
        assert_eq!(validate_gemini(&written), [], "{name}");
    }
}

#[test]
fn a_result_is_written_once_beside_its_call() {
    let mut facts = Facts::default();
    let path = format!("{}/../../fixtures/qwen/parallel-calls.jsonl", env!("CARGO_MANIFEST_DIR"));
    for record in format_gemini::Reader::open(&path).expect("a fixture") {
        facts.observe(&record.expect("a record").event());
    }
    let mut writer = GeminiWriter::new(Vec::new(), facts);
    for record in format_gemini::Reader::open(&path).expect("a fixture") {
        writer.write(&record.expect("a record").as_ref()).expect("written");
    }
    let written = writer.finish().expect("written");
    let text = String::from_utf8(written.target).expect("text");
    assert_eq!(text.matches("functionResponse").count(), 2, "{text}");
    assert_eq!(text.matches("\"toolCalls\"").count(), 1, "{text}");
    let losses: Vec<_> = written.losses.iter().map(|(kind, field, _)| (kind, field)).collect();
    assert!(losses.contains(&(LossKind::Flattened, "thinking")), "{losses:?}");
}

/// The client takes such texts for commands, so the report names them.
#[test]
fn texts_that_the_client_does_not_send_are_reported() {
    let problems = validate_gemini(&bytes("commands"));
    let rules: Vec<_> = problems.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, ["not-sent", "not-sent", "empty-text"]);
    assert!(problems.iter().all(|problem| !problem.stops()));
}

#[test]
fn faults_are_named() {
    let header = r#"{"sessionId":"s","projectHash":"h"}"#;
    let user = r#"{"id":"a","type":"user","content":"q"}"#;
    for (lines, rule, stops) in [
        (vec![user], "no-header", true),
        (vec![r#"{"sessionId":"","projectHash":""}"#, user], "no-header", true),
        (vec![header], "empty", false),
        (vec![header, user, "{cut"], "json", false),
        (vec![header, user, "{\"a\":1}"], "line", false),
        (vec![header, user, r#"{"$rewindTo":"x"}"#], "rewind", false),
        (vec![header, user, r#"{"id":"b","type":"gemini","content":[null]}"#], "part", true),
        (
            vec![header, user, r#"{"id":"b","type":"gemini","content":"","toolCalls":[null]}"#],
            "item",
            true,
        ),
        (vec![header, user, r#"{"id":"b","type":"later","content":"x"}"#], "type", false),
        (vec![header, user, r#"{"$set":{"messages":[{"type":"user"}]}}"#], "id", false),
        (
            vec![
                header,
                user,
                r#"{"id":"b","type":"gemini","content":"","toolCalls":[{"id":"t","name":"n","args":{}}]}"#,
            ],
            "open-call",
            false,
        ),
    ] {
        let problems = validate_gemini((lines.join("\n") + "\n").as_bytes());
        let found = problems.iter().find(|problem| problem.rule == rule);
        let found = found.unwrap_or_else(|| panic!("{rule}: {problems:?}"));
        assert_eq!(found.stops(), stops, "{rule}");
    }
    for name in ["one-call", "parallel-calls", "resumed", "minimal", "one-line"] {
        assert_eq!(validate_gemini(&bytes(name)), [], "{name}");
    }
}

#[test]
fn sessions_are_listed_by_their_prompts() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, of) in [
        ("session-2026-03-01T10-00-71de4fac", "title-and-notices"),
        ("session-2026-03-01T10-00-00000000", "sub-agent"),
        ("notes", "one-call"),
    ] {
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::copy(fixture(of), path).expect("copied");
    }
    let sessions = list_gemini_sessions(folder.path()).expect("listed");
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!(session.id, "71de4fac-a477-400c-b3c5-34bbe2c339ed");
    assert_eq!((session.first_prompt.as_str(), session.n_messages), ("q1", 2));
    assert_eq!(session.title.as_deref(), Some("Fix the build"));
}

/// Each member of a line that no event holds has a name in reports.
#[test]
fn members_without_a_place_are_named() {
    let mut found = Vec::new();
    each(&bytes("unknown-members"), |_, event| {
        (event.vocabulary.list)(event, &mut |name| found.push(name.to_owned()));
    });
    for name in [
        "mood",
        "displayContent",
        "extra",
        "tokens.total",
        "toolCalls.agentId",
        "toolCalls.mood",
        "functionResponse.scheduling",
        "response.more",
        "finish",
        "thoughts.mood",
        "beside",
    ] {
        assert!(found.iter().any(|it| it == name), "{name}: {found:?}");
    }
}

#[test]
fn a_line_is_detected_by_what_it_does() {
    let mut scanner = Scanner::default();
    let mut detect = |line: &str| {
        let value: Value<'_> = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
        format_gemini::detect_gemini(value)
    };
    for line in [
        r#"{"sessionId":"s","projectHash":"h"}"#,
        r#"{"$set":{}}"#,
        r#"{"$rewindTo":"a"}"#,
        r#"{"id":"a","type":"error","content":""}"#,
    ] {
        assert!(detect(line), "{line}");
    }
    for line in [
        r#"{"sessionId":"s"}"#,
        r#"{"$set":1}"#,
        r#"{"id":"a","type":"message","content":""}"#,
        r#"{"id":"a","type":"user","message":{}}"#,
        r#"{"uuid":"u","sessionId":"s","type":"user","message":{"parts":[]}}"#,
    ] {
        assert!(!detect(line), "{line}");
    }
}

/// An older session is one document, whose messages are written as in a log.
#[test]
fn an_older_session_has_a_start_a_title_and_messages() {
    use format_gemini::{
        GEMINI_DOCUMENT,
        jsonl::{Records, UnitScanner},
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gemini-document/one-call.json");
    let document = std::fs::read(path).expect("a fixture");
    let framing = GEMINI_DOCUMENT.framing;
    let (mut records, mut units) = (Records::new(&document[..], framing), UnitScanner::default());
    let (mut said, mut titles, mut n_starts) = (Vec::new(), Vec::new(), 0);
    while let Some(unit) = records.next().expect("a slice") {
        let (_, value) = units.scan(&unit, framing.paths());
        let Ok(value) = value else { continue };
        GEMINI_DOCUMENT.for_each_event(value, |event| {
            match &event.body {
                Body::Start(_) => n_starts += 1,
                Body::Title(title) => titles.push(title.text.decode().into_owned()),
                _ => {}
            }
            said.extend(words(event));
            true
        });
    }
    assert!(n_starts > 0);
    assert!(titles.iter().all(|title| title == "List files in the folder") && !titles.is_empty());
    let id = "list_directory-1764734744229-a1b2";
    let expected = [
        "user List the files".to_owned(),
        "thinking I will list them.".to_owned(),
        format!("{id} {{\n          \"dir_path\": \".\"\n        }}"),
        format!("{id} a.rs\nb.rs false"),
        "Two files: a.rs and b.rs — é".to_owned(),
    ];
    let flat = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: Vec<String> = said.iter().map(|words| flat(words)).collect();
    assert_eq!(said, expected.map(|words| flat(&words)));
}

#[test]
fn a_checkpoint_of_many_messages_takes_linear_time() {
    let messages: Vec<String> = (0..5000)
        .map(|n| format!(r#"{{"id":"m{n}","type":"user","content":[{{"text":"t{n}"}}]}}"#))
        .collect();
    let checkpoint = format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","));
    let (mut n_events, start) = (0, std::time::Instant::now());
    each(checkpoint.as_bytes(), |_, event| {
        assert_eq!((event.nth, event.has_next), (n_events, n_events < 4999));
        n_events += 1;
    });
    assert_eq!(n_events, 5000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
