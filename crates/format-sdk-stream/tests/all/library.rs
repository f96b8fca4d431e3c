//! Tests of the library: reading and writing streams, the recipes' results, the orchestrator's
//! sessions.

use std::{
    fs,
    path::{Path, PathBuf},
    slice,
};

use core_model::{SaidBlock, SdkVersion};
use format_sdk_stream::{
    Dialect, Flavor, Message, Progress, SessionMeta, StreamReader, StreamWriter, Written,
    agent_sessions, assistant_texts, count_tool_uses, interactions, prompts, result, result_of,
    status, status_of, tool_invocations, tool_results, total_cost,
};

use crate::skipped::say_skipped;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).expect("a fixture")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn data() -> PathBuf {
    std::env::var_os("CONVERT_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

/// Writes the lines of streams through the library and returns the file.
fn written(streams: &[Vec<u8>], dialect: Dialect) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    let mut writer = StreamWriter::create(&path, dialect).expect("new");
    for line in streams.iter().flat_map(|stream| jsonl::lines(stream)) {
        let line = String::from_utf8_lossy(line.content());
        // Text between the lines is not a line of a stream.
        _ = writer.write_line(&line);
    }
    writer.finish().expect("written");
    fs::read(path).expect("there")
}

/// The dumps beside this file were made from `fixtures/sdk-wire`, in the order of the names, by the
/// real SDKs: `json.dumps(dataclasses.asdict(parse_message(json.loads(line))))`.
#[test]
fn what_is_written_is_what_the_sdk_dumps() {
    let folder = format!("{}/../../fixtures/sdk-wire", env!("CARGO_MANIFEST_DIR"));
    let streams: Vec<_> =
        files(Path::new(&folder)).iter().map(|path| fs::read(path).expect("a fixture")).collect();
    assert!(streams.len() > 15);
    for (version, expected) in [
        (SdkVersion::V0_1_6, include_str!("dumped-0.1.6.jsonl")),
        (SdkVersion::V0_2_187, include_str!("dumped-0.2.187.jsonl")),
    ] {
        let written = written(&streams, Dialect::Dump(version));
        let written: Vec<_> = std::str::from_utf8(&written).expect("ASCII").lines().collect();
        let expected: Vec<_> = expected.lines().collect();
        assert_eq!(written, expected);
    }
}

#[test]
fn what_the_sdk_dumped_is_written_again() {
    let mut n_files = 0;
    for (folder, version) in [
        ("sdk-dump/0.1.6", SdkVersion::V0_1_6),
        ("sdk-dump/0.2.187", SdkVersion::V0_2_187),
        ("clients/sdk", SdkVersion::V0_2_187),
    ] {
        for path in files(&data().join(folder)) {
            let stream = fs::read(&path).expect("a file");
            let again = written(slice::from_ref(&stream), Dialect::Dump(version));
            assert!(again == stream, "{}", path.display());
            n_files += 1;
        }
    }
    if n_files == 0 {
        say_skipped(format_args!("no data in {}", data().display()));
    }
}

#[test]
fn dialects_there_and_back() {
    let dump = fixture("sdk-stream/seed-002-seven-lines");
    let wire = written(slice::from_ref(&dump), Dialect::Wire);
    assert_eq!(jsonl::lines(&wire).count(), 7);
    let mut reader = StreamReader::from_slice(&wire);
    assert!(reader.by_ref().all(|message| message.is_ok()));
    assert_eq!(reader.flavor(), Some(Flavor::Wire));
    assert_eq!(prompts(&wire), prompts(&dump));
    assert_eq!(assistant_texts(&wire), assistant_texts(&dump));
    assert_eq!(tool_invocations(&wire)[0].name, tool_invocations(&dump)[0].name);
    assert_eq!(total_cost(&wire), total_cost(&dump));
}

#[test]
fn what_became_of_a_line_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    let dialect = Dialect::Dump(SdkVersion::V0_2_187);
    let mut stream = StreamWriter::create(&path, dialect).expect("new");
    let assistant = |block: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{block}],"model":"m"}},"session_id":"s"}}"#
        )
    };
    let text = assistant(r#"{"type":"text","text":"x"}"#);
    let cases = [
        (text.clone(), Written::Whole),
        (assistant(r#"{"type":"redacted_thinking","data":"x"}"#), Written::InPart),
        (assistant(r#"{"type":"text"}"#), Written::Dropped),
        ("{\"type\":\"auth_status\",\"session_id\":\"s\"}".to_owned(), Written::Dropped),
    ];
    for (line, expected) in cases {
        assert_eq!(stream.write_line(&line).expect("a line"), expected, "{line}");
    }
    for line in ["", "{", "{}\n{}"] {
        assert!(stream.write_line(line).is_err(), "{line}");
    }
    assert!(StreamWriter::create(&path, dialect).is_err());
    let mut stream = StreamWriter::append(&path, dialect).expect("there");
    stream.write_line(&text).expect("a line");
    assert_eq!(fs::read_to_string(&path).expect("there").lines().count(), 3);
}

#[test]
fn messages_of_both_flavors_are_the_same() {
    let wire = fixture("sdk-wire/every-message");
    let dump = written(slice::from_ref(&wire), Dialect::Dump(SdkVersion::V0_2_187));
    let read = |stream: &[u8]| -> Vec<Message> {
        StreamReader::from_slice(stream).collect::<Result<_, _>>().expect("all lines are messages")
    };
    let (wire, dump) = (read(&wire), read(&dump));
    assert_eq!(wire.len(), 12);
    // As written the two differ, because Python adds spaces between tokens.
    let meaning = |message: &Message| {
        let mut debug = format!("{message:?}");
        debug.retain(|char| char != ' ');
        debug
    };
    for (wire, dump) in wire.iter().zip(&dump) {
        let is_same = match (wire, dump) {
            (Message::System { subtype: a, .. }, Message::System { subtype: b, .. }) => a == b,
            // An advisor's result has no type in a dump.
            (Message::Assistant { content: a, .. }, Message::Assistant { content: b, .. }) => {
                a[0] == b[0]
            }
            _ => meaning(wire) == meaning(dump),
        };
        assert!(is_same, "{wire:?}\n{dump:?}");
    }
}

#[test]
fn text_between_the_lines_is_an_error_of_its_line() {
    let stream = fixture("sdk-wire/text-between-lines");
    let errors: Vec<_> = StreamReader::from_slice(&stream)
        .filter_map(|message| message.err()?.problem().map(|problem| (problem.line, problem.rule)))
        .collect();
    assert!(!errors.is_empty() && errors.iter().all(|(_, rule)| *rule == "json"), "{errors:?}");
    let n_read = StreamReader::from_slice(&stream).filter(Result::is_ok).count();
    let n_blank = jsonl::lines(&stream).filter(|line| line.is_blank()).count();
    assert_eq!(n_read + errors.len() + n_blank, jsonl::lines(&stream).count());
}

#[test]
fn what_the_recipes_mean_to_show() {
    let stream =
        [fixture("sdk-stream/seed-002-four-lines"), fixture("sdk-stream/seed-002-seven-lines")]
            .concat();
    assert_eq!(prompts(&stream), ["What is 2+2?", "Use the Bash tool to run tree..."]);
    let texts = assistant_texts(&stream);
    assert_eq!((texts.len(), texts[0].as_str()), (3, "4"));
    let tools = tool_invocations(&stream);
    assert_eq!((tools.len(), count_tool_uses(&stream)), (1, 1));
    assert_eq!(tools[0].name, "Bash");
    assert!(tools[0].input.as_deref().is_some_and(|input| input.contains("tree -L 2")));
    let results = tool_results(&stream);
    assert_eq!((results.len(), results[0].is_error), (1, Some(false)));
    assert!(results[0].result.as_deref().is_some_and(|text| text.starts_with("commands/\n")));
    let costs: f64 = interactions(&stream).iter().filter_map(|one| one.ending.as_ref()?.cost).sum();
    assert_eq!(total_cost(&stream), Some(costs));
    assert_eq!(total_cost(&fixture("sdk-stream/seed-002-four-lines")), Some(0.0051445));
    assert_eq!(total_cost(b""), None);
    // The orchestrator's own recipe prints `null` for a message that starts with thinking.
    let thinking = assistant_texts(&fixture("sdk-stream/thinking"));
    assert!(!thinking.is_empty(), "{thinking:?}");
}

fn meta(name: &str) -> SessionMeta {
    SessionMeta {
        session_name: name.to_owned(),
        session_id: Some("d796e8ba".to_owned()),
        agent: Some("writer".to_owned()),
        project_dir: "/p".to_owned(),
        agents_dir: "/p/agents".to_owned(),
        created_at: "2025-11-12T13:54:29Z".to_owned(),
        last_resumed_at: "2025-11-12T13:54:29Z".to_owned(),
        schema_version: "1.0".to_owned(),
    }
}

#[test]
fn sessions_of_the_orchestrator() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let done = fixture("sdk-stream/seed-002-four-lines");
    let open = fixture("sdk-stream/open");
    for (name, stream) in [("done", Some(&done)), ("going-on", Some(&open)), ("new", None)] {
        meta(name).write(folder).expect("written");
        if let Some(stream) = stream {
            fs::write(folder.join(format!("{name}.jsonl")), stream).expect("written");
        }
    }
    fs::write(folder.join("torn.meta.json"), "{\"session_name\": \"torn\"}").expect("written");
    fs::write(folder.join("no name.meta.json"), "{}").expect("written");
    fs::write(folder.join("stray.jsonl"), &done).expect("written");
    let sessions = agent_sessions(folder).expect("a folder");
    let seen: Vec<_> = sessions
        .iter()
        .map(|session| (session.name.as_str(), session.meta.is_ok(), session.progress))
        .collect();
    assert_eq!(
        seen,
        [
            ("done", true, Progress::Finished),
            ("going-on", true, Progress::Running),
            ("new", true, Progress::Running),
            ("torn", false, Progress::Running),
        ]
    );
    assert_eq!(sessions[0].meta.as_ref().ok(), Some(&meta("done")));
    assert_eq!(status_of(folder, "stray").expect("readable"), None);
    assert_eq!(status_of(folder, "../done").expect("readable"), None);
    assert_eq!(result_of(folder, "done").expect("readable").as_deref(), Some("4"));
    assert_eq!(result_of(folder, "new").expect("readable"), None);
    assert!(agent_sessions(folder.join("none")).expect("nothing").is_empty());
    // A settings file is replaced as a whole.
    let later = SessionMeta { last_resumed_at: "2025-11-13T00:00:00Z".to_owned(), ..meta("done") };
    later.write(folder).expect("written");
    assert_eq!(SessionMeta::read(folder, "done").expect("readable"), later);
    assert!(!folder.join("done.meta.json.tmp").exists());
    assert!(SessionMeta { session_name: "../x".to_owned(), ..later }.write(folder).is_err());
    assert!(SessionMeta::read(folder, "../done").is_err());
}

#[test]
fn any_bytes_are_read_to_their_end() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths = Vec::new();
    for folder in ["damaged", "sdk-stream", "sdk-wire", "claude-code", "foreign"] {
        paths.extend(files(&fixtures.join(folder)));
    }
    for folder in ["sdk", "structure", "encoding", "framing", "numbers", "security"] {
        paths.extend(files(&data().join("hostile").join(folder)));
    }
    paths.retain(|path| path.is_file());
    assert!(paths.len() > 100);
    for path in paths {
        let stream = fs::read(&path).expect("a file");
        let n_blank = jsonl::lines(&stream).filter(|line| line.is_blank()).count();
        let n_read = StreamReader::from_slice(&stream).count();
        assert_eq!(n_read + n_blank, jsonl::lines(&stream).count(), "{}", path.display());
        assert_eq!(count_tool_uses(&stream), tool_invocations(&stream).len() as u64);
        assert!(tool_results(&stream).iter().all(|run| run.answered.is_some()));
        assert!(interactions(&stream).iter().all(|one| one.first.line <= one.last.line));
        for dialect in [Dialect::Dump(SdkVersion::V0_1_6), Dialect::Wire] {
            for line in jsonl::lines(&written(slice::from_ref(&stream), dialect)) {
                assert!(jsonl::validate(line.content()).is_ok(), "{}", path.display());
            }
        }
    }
}

#[test]
fn the_last_line_is_found_from_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    meta("s").write(folder).expect("written");
    let end = "{\"subtype\": \"success\", \"result\": \"x\"}";
    let mut cases = vec![String::new(), "\n".to_owned(), "\n\n".to_owned(), "x".to_owned()];
    for length in [0, 1, 65_490, 65_500, 65_535, 65_536, 65_537, 131_072, 200_000] {
        let filler = "y".repeat(length);
        cases.push(format!("{filler}\n{end}"));
        cases.push(format!("{filler}\n{end}\n"));
        cases.push(format!("{filler}\n{end}\n\n"));
        cases.push(format!("{filler}{end}\n"));
        cases.push(format!("a\n{{\"subtype\": \"success\", \"result\": \"{filler}z\"}}\n"));
    }
    for case in cases {
        fs::write(folder.join("s.jsonl"), &case).expect("written");
        let bytes = case.as_bytes();
        assert_eq!(status_of(folder, "s").expect("readable"), Some(status(bytes)));
        assert_eq!(result_of(folder, "s").expect("readable"), result(bytes), "{}", case.len());
    }
}

#[test]
fn blocks_are_told_by_their_members() {
    let line = br#"{"content": [{"thinking": "h", "signature": "s"}, {"id": "t", "name": "N", "input": {"a": 1}}, {"tool_use_id": "t", "content": [{"type": "text", "text": "r"}], "is_error": null}, {"text": "x"}, {"data": 1}], "model": "m", "parent_tool_use_id": null}"#;
    let mut stream = StreamReader::from_slice(line);
    let Some(Ok(Message::Assistant { content, .. })) = stream.next() else { panic!("a message") };
    let expected = [
        SaidBlock::Thinking("h".to_owned()),
        SaidBlock::ToolUse {
            id: "t".to_owned(),
            name: "N".to_owned(),
            input: "{\"a\": 1}".to_owned(),
        },
        SaidBlock::ToolResult {
            tool_use_id: "t".to_owned(),
            is_error: None,
            content: vec![SaidBlock::Text("r".to_owned())],
        },
        SaidBlock::Text("x".to_owned()),
        SaidBlock::Other { kind: None, raw: "{\"data\": 1}".to_owned() },
    ];
    assert_eq!(content, expected);
}
