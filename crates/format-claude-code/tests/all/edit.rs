//! Tests that edits change no existing byte.

use std::{
    fs,
    io::{self, Read},
    path::PathBuf,
};

use core_model::Role;
use format_claude_code::{
    Appender, ChainRule, Fork, ForkError, ForkPlan, NewMessage, Thread, Transcript,
    create_transcript, fork, head_tail_scan, rename, tag, validate,
};
use jsonl::RawBuf;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/claude-code/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).expect("a fixture")
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("edit-{name}-{}", std::process::id()));
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

const ID: &str = "2a86484a-eb59-46ef-ac4a-848742436c10";

#[test]
fn a_message_goes_on_where_the_conversation_ends() {
    let folder = scratch("append");
    for name in ["plain", "rewind", "compaction", "sidechain-inline", "parallel-calls-interleaved"]
    {
        let before = fixture(name);
        let path = folder.join(format!("{ID}.jsonl"));
        // A torn last line gets its newline first.
        let before = before.strip_suffix(b"\n").unwrap_or(&before).to_vec();
        fs::write(&path, &before).expect("a file");
        let mut appender = Appender::open(&path).expect("a file");
        let user = appender.append(&NewMessage::user("And \"now\"?", 0)).expect("written");
        let message =
            RawBuf::new(r#"{"role":"assistant","content":[{"type":"text","text":"So."}]}"#);
        let said = NewMessage { role: Role::Assistant, message: message.expect("JSON"), time: 0 };
        let answer = appender.append(&said).expect("written");
        assert_ne!(user, answer);
        let after = fs::read(&path).expect("a file");
        assert!(after.starts_with(&before), "{name}: not a byte that is there is changed");
        let old = Transcript::from_slice(&before);
        let transcript = Transcript::from_slice(&after);
        assert_eq!(transcript.n_entries(), old.n_entries() + 2, "{name}");
        let n = transcript.n_entries();
        for rule in [ChainRule::Cli, ChainRule::Sdk] {
            let mut expected = old.active_chain(rule);
            expected.extend([n - 2, n - 1]);
            assert_eq!(transcript.active_chain(rule), expected, "{name}");
        }
        // The edit adds no problem for the client.
        let rules = |bytes: &[u8]| validate(bytes).iter().map(|it| it.rule).collect::<Vec<_>>();
        assert_eq!(rules(&after), rules(&before), "{name}");
    }
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn a_time_that_no_calendar_has_is_not_the_latest() {
    let folder = scratch("time");
    let path = folder.join(format!("{ID}.jsonl"));
    fs::write(&path, fixture("time-beyond-calendars")).expect("a file");
    let mut appender = Appender::open(&path).expect("a file");
    appender.append(&NewMessage::user("Now?", 0)).expect("written");
    let after = fs::read(&path).expect("a file");
    let (mut scanner, transcript) = (jsonl::Scanner::default(), Transcript::from_slice(&after));
    let said = transcript.entry(2, &mut scanner).expect("what was appended");
    assert_eq!(said.millis(), Some(1_770_120_000_001));
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn a_new_file_is_its_owners_and_new() {
    let folder = scratch("create");
    let path = folder.join(format!("{ID}.jsonl"));
    let mut appender = Appender::create(&path, Thread::default()).expect("a new file");
    assert_eq!(appender.thread().session_id, ID);
    let text = RawBuf::new("\"words\"").expect("JSON");
    let words = NewMessage { role: Role::User, message: text, time: 0 };
    assert!(appender.append(&words).is_err(), "the message is not a JSON object");
    assert!(create_transcript(&path).is_err(), "there is a file already");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(rename(&path, "A title").is_err(), "the file is empty, so it is not a session");
    appender.append(&NewMessage::user("Hello", 1_768_681_919_197)).expect("written");
    rename(&path, "First").expect("written");
    tag(&path, Some("later")).expect("written");
    rename(&path, " Second ").expect("written");
    let info = head_tail_scan(&path).expect("a file").expect("not empty");
    assert_eq!((info.summary.as_deref(), info.tag.as_deref()), (Some("Second"), Some("later")));
    tag(&path, None).expect("written");
    let info = head_tail_scan(&path).expect("a file").expect("not empty");
    assert_eq!(info.tag, None);
    assert!(rename(&path, "  ").is_err() && tag(&path, Some("\u{200b}")).is_err());
    assert!(rename(&folder.join("none.jsonl"), "x").is_err(), "no file is made");
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn a_fork_says_the_same_under_new_ids() {
    let new =
        Fork { source_id: "s", session_id: ID, up_to: None, title: None, now: 1_800_000_000_000 };
    for name in ["plain", "rewind", "compaction", "sidechain-inline", "attachments-in-the-chain"] {
        let bytes = fixture(name);
        let source = Transcript::from_slice(&bytes);
        let copy = fork(&source, &new).expect("messages");
        assert_eq!(copy, fork(&source, &new).expect("messages"), "the same again");
        let copy = Transcript::from_slice(copy.as_bytes());
        let said = |transcript: &Transcript<'_>| {
            let mut scanner = jsonl::Scanner::default();
            let chain = transcript.active_chain(ChainRule::Sdk).into_iter();
            let said = chain.map(|idx| {
                let entry = transcript.entry(idx, &mut scanner).expect("an entry");
                entry.value.get("message").map(|message| message.raw().to_string())
            });
            said.collect::<Vec<_>>()
        };
        assert_eq!(said(&copy), said(&source), "{name}");
        assert_eq!(copy.session_ids(), [ID], "{name}");
        let mut scanner = jsonl::Scanner::default();
        let entry = copy.entry(0, &mut scanner).expect("an entry");
        let origin = entry.value.get("forkedFrom").and_then(|it| it.get("sessionId")?.text());
        assert!(origin.is_some_and(|id| id.is("s")), "{name}");
    }
    let bytes = fixture("progress-only");
    assert_eq!(fork(&Transcript::from_slice(&bytes), &new), Err(ForkError::Empty));
    let lost = Fork { up_to: Some("lost"), ..new };
    let bytes = fixture("plain");
    assert_eq!(fork(&Transcript::from_slice(&bytes), &lost), Err(ForkError::UnknownMessage));
}

/// A file that must not be read.
struct Unread;

impl Read for Unread {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("it is read"))
    }
}

#[test]
fn nothing_behind_the_last_copied_line_is_read() {
    let up_to = b"{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}\n";
    let rest = b"{\"type\":\"progress\",\"uuid\":\"b\"}\n{\"type\":\"user\",\"uuid\":\"c\"}\n";
    let new = Fork { source_id: "s", session_id: ID, up_to: Some("a"), title: None, now: 0 };
    let whole = [&up_to[..], rest].concat();
    let copy = fork(&Transcript::from_slice(&whole), &new).expect("messages");
    let mut plan = ForkPlan::read(&whole[..], new).expect("read").expect("messages");
    let mut written = Vec::new();
    plan.write(up_to.chain(Unread), &mut written).expect("written");
    assert_eq!(written, copy.as_bytes());
}

#[test]
fn a_fork_passes_progress_over_however_long_or_round() {
    let mut lines = vec![r#"{"type":"user","uuid":"a","message":{"content":"x"}}"#.to_owned()];
    for n in 0..20_000 {
        let parent = if n == 0 { "a".to_owned() } else { format!("p{}", n - 1) };
        lines.push(format!(r#"{{"type":"progress","uuid":"p{n}","parentUuid":"{parent}"}}"#));
    }
    lines.push(r#"{"type":"progress","uuid":"r1","parentUuid":"r2"}"#.to_owned());
    lines.push(r#"{"type":"progress","uuid":"r2","parentUuid":"r1"}"#.to_owned());
    for n in 0..5_000 {
        let parent = if n % 2 == 0 { "p19999" } else { "r1" };
        lines.push(format!(
            r#"{{"type":"user","uuid":"u{n}","parentUuid":"{parent}","message":{{"content":"y"}}}}"#
        ));
    }
    let source = lines.join("\n");
    let new = Fork { source_id: "s", session_id: ID, up_to: None, title: None, now: 0 };
    let copy = fork(&Transcript::from_slice(source.as_bytes()), &new).expect("messages");
    let copy = Transcript::from_slice(copy.as_bytes());
    let (mut first, mut parents) = (None, [0, 0]);
    copy.for_each(|entry| {
        let context = &entry.event.context;
        let uuid = context.uuid.map(|uuid| uuid.decode().into_owned());
        match context.parent.value() {
            Some(parent) => {
                assert_eq!(Some(parent.decode().into_owned()), first);
                parents[0] += 1;
            }
            None => parents[1] += 1,
        }
        first = first.take().or(uuid);
    });
    // The first line, lines after a circle, and the title have no parent.
    assert_eq!(parents, [2_500, 2_502]);
}
