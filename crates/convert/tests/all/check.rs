//! Tests of `convert check`: its findings, its messages, its exit status.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn convert(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("the program runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

const META: &str =
    r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"t","project_path":"/p"}"#;
const PROMPT: &str =
    r#"{"type":"user_message","role":"user","content":[{"text":"hi","type":"text"}]}"#;

/// Returns the findings for a clido session of a meta line, a prompt, and these lines.
fn found(lines: &str) -> (Vec<String>, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.jsonl"), format!("{META}\n{PROMPT}\n{lines}")).expect("a file");
    let output = convert(&["check", "--as", "clido", "s.jsonl"], folder.path());
    (stdout(&output).lines().map(str::to_owned).collect(), output.status.code())
}

#[test]
fn a_session_in_order_is_ok() {
    assert_eq!(found(""), (vec!["s.jsonl: ok (clido)".to_owned()], Some(0)));
}

#[test]
fn each_row_of_clidos_loading_rules() {
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let fine = [
        "\n  \n".to_owned(),
        "{\"type\":\"title\",\"title\":\"x\"}\r\n".to_owned(),
        r#"{"title":"x","type":"title","_more":1}"#.to_owned(),
        r#"{"type":"user_message","role":"any","content":[]}"#.to_owned(),
        r#"{"type":"system","subtype":"any"}"#.to_owned(),
        r#"{"type":"system","subtype":"any","message":null}"#.to_owned(),
        r#"{"type":"result","exit_status":"any","total_cost_usd":1,"num_turns":1,"duration_ms":0}"#
            .to_owned(),
        r#"{"type":"tool_call","tool_use_id":"t","tool_name":"n","input":null}"#.to_owned(),
        format!(r#"{{"type":"title","title":"x","_deep":{deep}}}"#),
    ];
    for line in fine {
        assert_eq!(found(&line), (vec!["s.jsonl: ok (clido)".to_owned()], Some(0)), "{line}");
    }
    let deeper = format!(r#"{{"type":"title","title":"x","_deep":[{deep}]}}"#);
    let fatal = [
        (r#"{"type":"note"}"#, "type"),
        (r#"{"title":"x"}"#, "type"),
        (r#"{"type":"title","title":"x"#, "json"),
        ("5", "object"),
        (r#"{"type":"title","title":"\ud800"}"#, "value"),
        (r#"{"type":"title","title":"x","_n":1e400}"#, "value"),
        (deeper.as_str(), "value"),
        (r#"{"type":"title","title":"x","title":"y"}"#, "duplicate"),
        (r#"{"type":"user_message","role":"user","content":"x"}"#, "member"),
        (r#"{"type":"user_message","content":[]}"#, "member"),
        (r#"{"type":"assistant_message"}"#, "member"),
        (r#"{"type":"tool_result","tool_use_id":"t","content":[],"is_error":false}"#, "member"),
        (r#"{"type":"tool_result","tool_use_id":"t","content":"","is_error":null}"#, "member"),
        (r#"{"type":"system","subtype":"x","message":{}}"#, "member"),
        (
            r#"{"type":"result","exit_status":"x","total_cost_usd":null,"num_turns":1,"duration_ms":0}"#,
            "member",
        ),
        (
            r#"{"type":"result","exit_status":"x","total_cost_usd":1,"num_turns":4294967296,"duration_ms":0}"#,
            "member",
        ),
        (
            r#"{"type":"meta","session_id":"s","schema_version":2,"start_time":"t","project_path":"/p"}"#,
            "schema-version",
        ),
        (
            r#"{"type":"meta","session_id":"s","schema_version":1.0,"start_time":"t","project_path":"/p"}"#,
            "member",
        ),
        (
            r#"{"type":"assistant_message","content":[{"type":"redacted_thinking","data":""}]}"#,
            "block-type",
        ),
        (r#"{"type":"assistant_message","content":[{"type":"text"}]}"#, "block-member"),
        (
            r#"{"type":"user_message","role":"user","content":[{"type":"image","source":{}}]}"#,
            "block-member",
        ),
    ];
    for (line, rule) in fatal {
        let (lines, status) = found(line);
        assert_eq!(status, Some(1), "{line}");
        let expected = format!("stops {rule}: ");
        assert!(lines[0].starts_with("s.jsonl:3: byte "), "{lines:?}");
        assert!(lines[0].contains(&expected), "{line}: {lines:?}");
    }
}

#[test]
fn what_only_degrades_does_not_fail() {
    let result =
        r#"{"type":"result","exit_status":"x","total_cost_usd":0,"num_turns":0,"duration_ms":0}"#;
    let (lines, status) = found(result);
    assert_eq!(status, Some(0));
    assert_eq!(
        lines,
        [
            "s.jsonl:3: byte 167: warns turns: the last result counts no turns: the session is not listed"
        ]
    );
}

#[test]
fn findings_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("é\u{1b}.jsonl"), format!("{META}\n{PROMPT}\n{{}}\n{{"))
        .expect("a file");
    fs::write(folder.path().join("ok.jsonl"), format!("{META}\n{PROMPT}\n")).expect("a file");
    let output =
        convert(&["check", "--json", "--as", "clido", "é\u{1b}.jsonl", "ok.jsonl"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["file"], "é\u{1b}.jsonl");
    assert_eq!((&lines[0]["line"], &lines[0]["offset"]), (&3.into(), &167.into()));
    assert_eq!((&lines[0]["severity"], &lines[0]["rule"]), (&"stops".into(), &"type".into()));
    assert_eq!((&lines[1]["rule"], &lines[1]["line"]), (&"json".into(), &4.into()));
    assert_eq!((&lines[2]["file"], &lines[2]["ok"]), (&"ok.jsonl".into(), &true.into()));
    assert!(
        output.stdout.iter().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n'))
    );
}

#[test]
fn names_and_lines_reach_the_terminal_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a\u{1b}[31m.jsonl"), format!("{META}\n")).expect("a file");
    let output = convert(&["check", "a\u{1b}[31m.jsonl"], folder.path());
    assert!(stdout(&output).starts_with("a\\u{1b}[31m.jsonl:1: byte 0: warns user-message"));
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn many_findings_of_a_rule_are_counted() {
    let (lines, status) = found(&"{\"type\":\"x\"}\n".repeat(25));
    assert_eq!((lines.len(), status), (11, Some(1)));
    assert_eq!(lines[10], "s.jsonl: 15 more: stops type");
}

#[test]
fn a_folder_holds_sessions_of_all_formats() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let output =
        convert(&["check", "clido/plain.jsonl", "claude-code/plain.jsonl", "sdk-wire"], &fixtures);
    let text = stdout(&output);
    assert!(text.contains("clido/plain.jsonl: ok (clido)"), "{text}");
    assert!(text.contains("sdk-wire/plain.jsonl: ok (sdk-stream:wire)"), "{text}");
    let foreign = convert(&["check", "foreign"], &fixtures);
    assert_eq!(foreign.status.code(), Some(2));
    let nothing = convert(&["check", "foreign/prose.jsonl"], &fixtures);
    assert_eq!(nothing.status.code(), Some(2));
    let empty = convert(&["check", "damaged/empty.jsonl"], &fixtures);
    assert_eq!(stdout(&empty), "damaged/empty.jsonl: ok (empty)\n");
}

#[test]
fn whatever_is_written_of_a_fixture_is_loaded() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folder = tempfile::tempdir().expect("a folder");
    let mut stopped = Vec::new();
    for format in ["claude-code", "clido", "sdk-stream", "sdk-stream:wire"] {
        for source in ["claude-code", "clido", "sdk-stream", "sdk-wire", "damaged"] {
            if source == format || (source, format) == ("sdk-wire", "sdk-stream:wire") {
                continue;
            }
            let out = folder.path().join(format.replace(':', "-")).join(source);
            let out = out.to_str().expect("UTF-8");
            convert(&["-q", "--to", format, "-o", out, source], &fixtures);
            let mut written = Vec::new();
            for entry in fs::read_dir(out).expect("a folder").map(|entry| entry.expect("an entry"))
            {
                let path = entry.path();
                let is_copy = fs::read(fixtures.join(source).join(entry.file_name())).ok()
                    == fs::read(&path).ok();
                // The journal of the run is beside the sessions.
                let is_journal = entry.file_name().as_encoded_bytes().starts_with(b".");
                let is_session = path.extension().is_some_and(|it| it == "jsonl") && !is_journal;
                if path.is_file() && !is_copy && is_session {
                    written.push(path.display().to_string());
                }
            }
            let mut arguments = vec!["check", "--as", format];
            arguments.extend(written.iter().map(String::as_str));
            let output = convert(&arguments, &fixtures);
            if output.status.code() != Some(0) {
                stopped.push(stdout(&output).to_owned());
            }
        }
    }
    assert!(stopped.is_empty(), "{}", stopped.concat());
}

/// clido refuses `-p --resume` if a file that a tool wrote has changed since.
#[test]
fn files_that_changed_since_are_found_if_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.txt");
    fs::write(&file, "hello\n").expect("a file");
    let modified = file.metadata().and_then(|it| it.modified()).expect("a time");
    let nanos = modified.duration_since(std::time::UNIX_EPOCH).expect("since 1970").as_nanos();
    let hash = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let result = |members: String| {
        let call = r#"{"type":"assistant_message","content":[{"type":"tool_use","id":"t","name":"Write","input":{}}]}"#;
        format!(
            "{META}\n{PROMPT}\n{call}\n{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"\",\"is_error\":false{members}}}\n"
        )
    };
    let stamp = |path: &str, hash: &str, nanos: u128| {
        result(format!(",\"path\":\"{path}\",\"content_hash\":\"{hash}\",\"mtime_nanos\":{nanos}"))
    };
    let check = |session: &str, options: &[&str]| {
        fs::write(folder.path().join("s.jsonl"), session).expect("a file");
        let output = convert(&[&["check"], options, &["s.jsonl"]].concat(), folder.path());
        (stdout(&output).to_owned(), output.status.code())
    };
    let ok = ("s.jsonl: ok (clido)\n".to_owned(), Some(0));
    let absolute = file.display().to_string();
    for fine in [
        stamp("a.txt", hash, nanos),
        stamp(&absolute, hash, nanos),
        result(",\"path\":\"gone.txt\"".to_owned()),
        result(format!(",\"path\":\"gone.txt\",\"content_hash\":\"{hash}\"")),
    ] {
        assert_eq!(check(&fine, &["--files"]), ok, "{fine}");
    }
    for stale in [
        stamp("gone.txt", hash, nanos),
        stamp("a.txt", &hash.replace('5', "6"), nanos),
        stamp("a.txt", hash, nanos + 1),
        stamp(".", hash, nanos),
    ] {
        let (words, status) = check(&stale, &["--files"]);
        assert!(
            words.starts_with("s.jsonl:4: byte ") && words.contains(": stops stale-file: "),
            "{words}"
        );
        assert_eq!(status, Some(1), "{words}");
        assert_eq!(check(&stale, &[]), ok, "the disk is looked at without being asked to");
    }
    let (words, status) = check(&stamp("a.txt", &format!("sha256:{hash}"), nanos), &["--files"]);
    assert!(words.contains("stops stale-file") && words.contains("warns content-hash"), "{words}");
    assert_eq!(status, Some(1));
}

/// The client finds a session by a UUID in lower case.
#[test]
fn a_transcript_has_the_name_that_its_client_looks_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = r#"{"parentUuid":null,"type":"user","uuid":"u","timestamp":"2026-01-01T10:00:00.000Z","message":{"content":"hi"}}"#;
    let finds = |stem: &str| {
        let name = format!("{stem}.jsonl");
        fs::write(folder.path().join(&name), line).expect("a file");
        let output = convert(&["check", &name], folder.path());
        assert_eq!(output.status.code(), Some(0), "{name}");
        stdout(&output).contains("warns file-name")
    };
    assert!(finds("session") && finds("2A86484A-EB59-46EF-AC4A-848742436C10"));
    assert!(!finds("2a86484a-eb59-46ef-ac4a-848742436c10"));
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"a\xff.jsonl");
        // Some systems allow no such name.
        if fs::write(folder.path().join(name), line).is_ok() {
            let output = convert(&["check", "."], folder.path());
            let odd = stdout(&output).lines().filter(|line| line.contains("\u{fffd}"));
            assert!(odd.clone().count() == 1 && odd.clone().all(|it| it.contains("file-name")));
        }
    }
}
