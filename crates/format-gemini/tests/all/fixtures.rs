//! Reads fixtures, and writes sessions as Qwen Code does.

use format_gemini::{
    QWEN, Reader, Writer,
    core_model::{Block, Body, Facts, Role},
    jsonl::Scanner,
    list_sessions,
};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/qwen/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_failed_call_and_both_kinds_of_thoughts_are_read() {
    let (mut thoughts, mut results) = (Vec::new(), Vec::new());
    for record in Reader::open(fixture("parallel-calls")).expect("a fixture") {
        let record = record.expect("a record");
        let event = record.event();
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::Thinking { signature, .. } => thoughts.push(signature.is_some()),
                Block::ToolResult(result) => {
                    results.push((result.content.joined().into_owned(), result.is_error.value()));
                }
                _ => {}
            }
        }
    }
    assert_eq!(thoughts, [true, false]);
    let failed = "File not found: é 世界".to_owned();
    assert_eq!(results, [("one".to_owned(), Some(false)), (failed, Some(true))]);
}

/// A compression has an event for its boundary, and one for each message that it keeps.
#[test]
fn a_compression_is_a_boundary_a_summary_and_repeated_messages() {
    let mut found = Vec::new();
    for record in Reader::open(fixture("compression")).expect("a fixture") {
        let record = record.expect("a record");
        if record.record().compressed_history().is_none() {
            continue;
        }
        record.for_each_event(|event| {
            found.push(match &event.body {
                Body::Notice(_) => "boundary",
                Body::Message(message) if message.is_summary => "summary",
                Body::Message(message) if message.role == Role::Assistant => "answer",
                Body::Message(message) if message.is_meta => "repeated",
                _ => "other",
            });
            true
        });
    }
    assert_eq!(found, ["boundary", "summary", "answer", "repeated"]);
}

/// A session of this format, written anew, has the same messages.
#[test]
fn what_is_written_is_read_again() {
    for name in ["one-call", "parallel-calls", "images", "title-and-notices"] {
        let mut facts = Facts::default();
        for record in Reader::open(fixture(name)).expect("a fixture") {
            facts.observe(&record.expect("a record").event());
        }
        let mut writer = Writer::new(Vec::new(), facts);
        let mut said = Vec::new();
        for record in Reader::open(fixture(name)).expect("a fixture") {
            let record = record.expect("a record");
            said.extend(words(record.value()));
            writer.write(&record.as_ref()).expect("written");
        }
        let bytes = writer.finish().expect("written").target;
        let mut scanner = Scanner::default();
        let mut written = Vec::new();
        for line in format_gemini::jsonl::lines(&bytes) {
            written.extend(words(scanner.scan(&line).expect("JSON")));
        }
        assert_eq!(written, said, "{name}");
        assert_eq!(format_gemini::validate(&bytes), [], "{name}");
    }
}

fn words(record: format_gemini::jsonl::Value<'_>) -> Vec<String> {
    let mut found = Vec::new();
    QWEN.for_each_event(record, |event| {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            found.push(match block {
                Block::Text(text) => text.decode().into_owned(),
                Block::Thinking { text, .. } => format!("thinking {}", text.decode()),
                Block::ToolUse(tool) => format!("{} {}", tool.id.decode(), tool.input.json()),
                Block::ToolResult(result) => result.content.joined().into_owned(),
                _ => "other".to_owned(),
            });
        }
        true
    });
    found
}

#[test]
fn only_files_named_by_a_uuid_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = std::fs::read(fixture("title-and-notices")).expect("a fixture");
    let id = "6e47e829-b0aa-4753-a26b-636f4a629329";
    for name in [id, "notes", "01a204d9-c1ad-7020-8220-65475b8a1298"] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), &session).expect("written");
    }
    let sessions = list_sessions(folder.path()).expect("listed");
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((session.id.as_str(), session.first_prompt.as_str()), (id, "q1"));
    assert_eq!(session.title.as_deref(), Some("Fix the build"));
    assert_eq!(session.cwd, "/home/user/project");
}
