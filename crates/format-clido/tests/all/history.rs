//! Tests of the conversation, the list, the stale files and the repair of a session.

use std::{fs, path::Path};

use core_model::{Environment, ReadError, Role, System};
use format_clido::{
    BadLines, ContentBlock, HistoryMessage, SessionLine, SessionReader, find, list_sessions,
    repair, stale_file_records, stale_paths, to_messages, validate_file, validate_strict,
};

use crate::shared::data::data;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in ["fixtures/clido", "fixtures/damaged"] {
        let folder = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            files.push((path.display().to_string(), fs::read(path).expect("a file")));
        }
    }
    files.sort();
    files.extend(data("clients/clido"));
    files
}

fn load(session: &[u8]) -> Result<Vec<SessionLine>, ReadError> {
    SessionReader::from_slice(session).strict().collect()
}

fn messages(session: &[u8]) -> Vec<HistoryMessage> {
    to_messages(&load(session).expect("loadable")).expect("resumable")
}

/// Spells a conversation: a letter for each role, and a letter for each block.
fn shape(messages: &[HistoryMessage]) -> String {
    let mut shape = String::new();
    for message in messages {
        shape.push(if message.role == Role::User { 'U' } else { 'A' });
        for block in &message.content {
            shape += &match block {
                ContentBlock::Text { .. } => " text".to_owned(),
                ContentBlock::ToolUse { id, .. } => format!(" use-{id}"),
                ContentBlock::ToolResult { tool_use_id, content, is_error } => {
                    let made_up = "[interrupted — tool execution did not complete]";
                    assert!(content != made_up || *is_error);
                    let kind = if content == made_up { "none" } else { "result" };
                    format!(" {kind}-{tool_use_id}")
                }
                ContentBlock::Thinking { .. } => " thinking".to_owned(),
                ContentBlock::Image { .. } => " image".to_owned(),
            };
        }
        shape.push('\n');
    }
    shape
}

fn user(blocks: &str) -> String {
    format!("{{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{blocks}]}}\n")
}

fn assistant(ids: &[&str]) -> String {
    let uses: Vec<_> = ids
        .iter()
        .map(|id| format!(r#"{{"id":"{id}","input":{{}},"name":"N","type":"tool_use"}}"#))
        .collect();
    format!("{{\"type\":\"assistant_message\",\"content\":[{}]}}\n", uses.join(","))
}

fn result(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"\",\"is_error\":false}}\n"
    )
}

fn block(id: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"","is_error":false}}"#)
}

const TEXT: &str = r#"{"text":"x","type":"text"}"#;
const TITLE: &str = "{\"type\":\"title\",\"title\":\"x\"}\n";

/// Returns sessions, the conversation of each in clido, and the calls without a result.
fn cases() -> Vec<(String, &'static str, &'static [&'static str])> {
    vec![
        (
            [user(TEXT), assistant(&["a", "b"]), result("a"), TITLE.to_owned(), result("b")]
                .concat(),
            "U text\nA use-a use-b\nU result-a result-b\n",
            &[],
        ),
        ([user(TEXT), assistant(&["a"])].concat(), "U text\nA use-a\nU none-a\n", &["a"]),
        (
            [user(TEXT), assistant(&["a", "b"]), result("b"), user(TEXT)].concat(),
            "U text\nA use-a use-b\nU result-b none-a\nU text\n",
            &["a"],
        ),
        (
            [assistant(&["a"]), assistant(&["b"]), result("a"), result("b")].concat(),
            "A use-a\nU none-a\nA use-b\nU result-a result-b\n",
            &["a"],
        ),
        (
            [assistant(&["a", "b"]), user(&format!("{},{TEXT}", block("a")))].concat(),
            "A use-a use-b\nU result-a text none-b\n",
            &["b"],
        ),
        (
            [assistant(&["a", "b"]), result("a"), user(&block("b"))].concat(),
            "A use-a use-b\nU result-a none-b\nU result-b\n",
            &["b"],
        ),
        (
            [assistant(&["a"]), user(TEXT), result("a")].concat(),
            "A use-a\nU none-a\nU text\nU result-a\n",
            &["a"],
        ),
        ([result("early"), assistant(&[])].concat(), "U result-early\nA\n", &[]),
    ]
}

#[test]
fn conversations_as_clido_makes_them() {
    for (session, expected, _) in cases() {
        assert_eq!(shape(&messages(session.as_bytes())), expected, "{session}");
    }
}

#[test]
fn a_mended_session_is_the_same_conversation() {
    for (session, expected, closed) in cases() {
        let repaired = repair(session.as_bytes(), BadLines::Drop);
        assert_eq!(repaired.closed, closed, "{session}");
        assert_eq!(shape(&messages(&repaired.session)), expected, "{session}");
        let again = repair(&repaired.session, BadLines::Drop);
        assert_eq!((again.session, again.closed.len()), (repaired.session, 0), "{session}");
    }
    for (name, session) in fixtures() {
        let repaired = repair(&session, BadLines::Drop);
        let problems = validate_strict(&repaired.session);
        let wrong = |rule: &str| problems.iter().any(|problem| problem.rule == rule);
        assert!(!problems.iter().any(|problem| problem.stops()) && !wrong("open-call"), "{name}");
        if let Ok(lines) = load(&session)
            && let Ok(before) = to_messages(&lines)
        {
            assert_eq!(messages(&repaired.session), before, "{name}");
            let is_whole = session.ends_with(b"\n") && repaired.closed.is_empty();
            assert!(!is_whole || repaired.session == session, "{name}");
        }
        let kept = repair(&session, BadLines::Keep);
        assert_eq!(kept.bad_lines, repaired.bad_lines, "{name}");
    }
}

#[test]
fn every_cut_of_a_session_can_be_mended() {
    for (name, session) in fixtures() {
        for end in (0..session.len()).step_by(11) {
            let repaired = repair(&session[..end], BadLines::Drop);
            let problems = validate_strict(&repaired.session);
            let is_in_order = |rule: &str| rule != "open-call";
            assert!(
                problems.iter().all(|problem| !problem.stops() && is_in_order(problem.rule)),
                "{name} to {end}: {problems:?}"
            );
            assert_eq!(repair(&repaired.session, BadLines::Drop).session, repaired.session);
        }
    }
}

#[test]
fn any_bytes_are_read_to_their_end() {
    let mut sessions = fixtures();
    for folder in ["hostile", "hostile/clido", "hostile/structure", "hostile/encoding"] {
        sessions.extend(data(folder));
    }
    for (name, session) in sessions {
        let lines: Vec<_> = SessionReader::from_slice(&session)
            .lines_raw()
            .collect::<Result<_, _>>()
            .expect("in memory");
        let joined: Vec<u8> = lines.iter().flat_map(|line| line.bytes.clone()).collect();
        assert!(joined == session, "{name}");
        let lines: Vec<_> = lines.into_iter().filter_map(|line| line.line.ok()?).collect();
        _ = to_messages(&lines);
        _ = stale_file_records(&lines);
        let kept = repair(&session, BadLines::Keep);
        assert!(kept.session.len() >= session.len(), "{name}");
        _ = format_clido::interactions(&session);
        _ = format_clido::tool_calls(&session);
    }
}

#[test]
fn bad_lines_and_blocks_are_left_out_or_kept() {
    let session = [
        user(&format!("{TEXT},{{\"type\":\"document\"}}")),
        "{\"type\":\"future\"}\r\n".to_owned(),
        "\n".to_owned(),
        assistant(&["a"]),
        "{\"type\":\"tool_res".to_owned(),
    ];
    let closed = r#"{"type":"tool_result","tool_use_id":"a","content":"[interrupted — tool execution did not complete]","is_error":true}"#;
    let dropped = repair(session.concat().as_bytes(), BadLines::Drop);
    let expected = format!("{}\n{}{closed}\n", user(TEXT), session[3]);
    assert_eq!(String::from_utf8_lossy(&dropped.session), expected);
    let lines: Vec<_> = dropped.bad_lines.iter().map(|it| (it.line, it.rule)).collect();
    assert_eq!(lines, [(2, "type"), (5, "json")]);
    assert_eq!(dropped.bad_blocks[0].as_str(), "{\"type\":\"document\"}");
    let kept = repair(session.concat().as_bytes(), BadLines::Keep);
    assert_eq!(String::from_utf8_lossy(&kept.session), session.concat() + "\n" + closed + "\n");
    assert_eq!((kept.bad_lines.len(), kept.bad_blocks.len()), (2, 0));
}

#[test]
fn a_conversation_is_refused_where_the_check_finds_a_bad_block() {
    for (name, session) in fixtures() {
        let Ok(lines) = load(&session) else { continue };
        let is_refused = validate_strict(&session).iter().any(|problem| problem.stops());
        assert_eq!(to_messages(&lines).is_err(), is_refused, "{name}");
    }
    let session = [TITLE.to_owned(), user(&format!("{TEXT},{{\"type\":\"x\"}}"))].concat();
    let error = to_messages(&load(session.as_bytes()).expect("loadable")).expect_err("a bad block");
    assert_eq!(error.to_string(), "line 1 user content[1]: {\"type\":\"x\"}");
}

#[test]
fn files_changed_since_are_stale() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.txt"), "hello").expect("written");
    let modified = folder.path().join("a.txt").metadata().expect("there").modified().expect("set");
    let nanos = modified.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos();
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let line = |path: &str, hash: &str, nanos: u128| {
        format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"\",\"is_error\":false,\"path\":\"{path}\",\"content_hash\":\"{hash}\",\"mtime_nanos\":{nanos}}}\n"
        )
    };
    let stale = |line: String| {
        let records = stale_file_records(&load(line.as_bytes()).expect("loadable"));
        assert_eq!(records.len(), 1);
        !stale_paths(&records, folder.path()).is_empty()
    };
    assert!(!stale(line("a.txt", hash, nanos)));
    let absolute = folder.path().join("a.txt").display().to_string();
    assert!(!stale(line(&absolute, hash, nanos)));
    assert!(stale(line("a.txt", &format!("sha256:{hash}"), nanos)));
    assert!(stale(line("a.txt", &hash.replace('2', "3"), nanos)));
    assert!(stale(line("a.txt", hash, nanos + 1)));
    assert!(stale(line("b.txt", hash, nanos)) && stale(line(".", hash, nanos)));
    assert!(stale(line("/dev/zero", hash, nanos)));
    let without_time = line("a.txt", hash, nanos).replace(&format!(",\"mtime_nanos\":{nanos}"), "");
    assert_eq!(stale_file_records(&load(without_time.as_bytes()).expect("loadable")), []);
}

#[test]
fn sessions_are_listed_as_clido_lists_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let meta = |id: &str| {
        format!(
            "{{\"type\":\"meta\",\"session_id\":\"{id}\",\"schema_version\":1,\"start_time\":\"t\",\"project_path\":\"/p\"}}\n"
        )
    };
    let end = |cost: f64, turns: u32| {
        format!(
            "{{\"type\":\"result\",\"exit_status\":\"x\",\"total_cost_usd\":{cost},\"num_turns\":{turns},\"duration_ms\":1}}\n"
        )
    };
    let long = format!(r#"{{"text":"  {}","type":"text"}}"#, "word ".repeat(20));
    let image = r#"{"base64_data":"","media_type":"image/png","type":"image"}"#;
    let sessions = [
        ("older", [meta("older"), user(&long), end(0.5, 3), end(0.75, 4)].concat()),
        ("newer", [meta("other"), user(image), user(TEXT), TITLE.to_owned()].concat()),
        ("no-turns", [meta("a"), user(TEXT), end(0.1, 0)].concat()),
        ("no-prompt", meta("b")),
        ("late-meta", [user(TEXT), meta("c")].concat()),
        ("torn", [meta("d"), user(TEXT), "{".to_owned()].concat()),
    ];
    for (second, (name, session)) in sessions.iter().enumerate() {
        let path = folder.path().join(format!("{name}.jsonl"));
        fs::write(&path, session).expect("written");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(second as u64 + 1);
        fs::File::open(&path).and_then(|file| file.set_modified(time)).expect("set");
    }
    fs::write(folder.path().join("notes.txt"), "").expect("written");
    let listing = list_sessions(folder.path()).expect("a folder");
    let seen: Vec<_> = listing
        .sessions
        .iter()
        .map(|it| (it.id.as_str(), it.meta_id.as_str(), it.num_turns, it.total_cost_usd))
        .collect();
    assert_eq!(seen, [("newer", "other", 2, 0.0), ("older", "older", 4, 0.75)]);
    assert_eq!(listing.sessions[0].preview, "x");
    assert_eq!(listing.sessions[0].title.as_deref(), Some("x"));
    assert_eq!(listing.sessions[1].preview, format!("{}…", "word ".repeat(16)));
    let refused: Vec<_> = listing.refused.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(refused, ["torn"]);
    assert!(list_sessions(folder.path().join("none")).expect("nothing").sessions.is_empty());
}

#[test]
fn sessions_are_found_and_loaded_by_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let projects = folder.path().join("sessions");
    for (project, id) in [("_a", "s-1"), ("_a", "s-10"), ("_b", "s-2"), ("_b", "s-1")] {
        fs::create_dir_all(projects.join(project)).expect("made");
        fs::write(projects.join(project).join(format!("{id}.jsonl")), TITLE).expect("written");
    }
    let variable =
        |name: &str| (name == "CLIDO_DATA_DIR").then(|| folder.path().as_os_str().to_owned());
    let environment = Environment::new(System::Unix, &variable);
    let names = |id: &str| -> Vec<String> {
        let found = find(&environment, id).expect("readable");
        let below = |path: &Path| path.strip_prefix(&projects).expect("below").to_owned();
        found.iter().map(|path| below(path).display().to_string()).collect()
    };
    assert_eq!(names("s-1"), ["_a/s-1.jsonl", "_b/s-1.jsonl"]);
    assert_eq!(names("s-10"), ["_a/s-10.jsonl"]);
    assert_eq!(names("s-").len(), 4);
    assert_eq!(names(""), [""; 0]);
    let loaded = SessionReader::load(&environment, "/a", "s-10").expect("loadable");
    assert_eq!(loaded, [SessionLine::Title { title: "x".to_owned() }]);
    for id in ["s-2", "../_b/s-2", ""] {
        assert!(SessionReader::load(&environment, "/a", id).is_err(), "{id}");
    }
}

#[test]
fn a_file_is_checked_like_its_bytes() {
    for name in ["seed-000", "wrong-types", "open-tool-call", "meta-late"] {
        let path = format!("{}/../../fixtures/clido/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let session = fs::read(&path).expect("a fixture");
        assert_eq!(validate_file(&path).expect("readable"), validate_strict(&session));
    }
}
