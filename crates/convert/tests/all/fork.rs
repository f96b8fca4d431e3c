//! Tests of `fork`, which copies a session under a new id, and of `stale`, which lists changed files.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn convert(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("CLIDO_SESSION_DIR")
        .output()
        .expect("it runs")
}

fn fixture(name: &str) -> Vec<u8> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    fs::read(root.join(name)).expect("a fixture")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_copy_has_an_id_of_its_own_and_is_accepted() {
    for (name, program) in
        [("clido/plain.jsonl", "clido --resume"), ("claude-code/plain.jsonl", "claude --resume")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let source = fixture(name);
        fs::write(folder.path().join("s.jsonl"), &source).expect("written");
        let ran = convert(folder.path(), &["fork", "s.jsonl", "--install"]);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let id = text(&ran.stdout).trim_end().strip_prefix(program).expect("the command").trim();
        let copy = folder.path().join(format!("{id}.jsonl"));
        let copied = fs::read(&copy).expect("the copy");
        assert_eq!(fs::read(folder.path().join("s.jsonl")).expect("read"), source);
        let copy = copy.to_str().expect("UTF-8");
        let checked = convert(folder.path(), &["check", copy]);
        assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
        let listed = convert(folder.path(), &["list", "--columns", "id", copy]);
        assert_eq!(text(&listed.stdout), format!("ID\n{id}\n"));
        // The same is said.
        let shown = |path: &str| {
            let args = ["show", "--type", "user,assistant", "--markdown", path];
            let said = convert(folder.path(), &args).stdout;
            let lines = text(&said).lines().filter(|line| !line.starts_with("## "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(shown(copy), shown("s.jsonl"), "{name}");
        if name.starts_with("clido") {
            let first = copied.iter().position(|byte| *byte == b'\n').expect("lines") + 1;
            assert_eq!(copied[first..], source);
        }
        let again = convert(folder.path(), &["fork", "s.jsonl", "--install"]);
        assert!(again.status.success() && again.stdout != ran.stdout, "{name}");
        assert_eq!(convert(folder.path(), &["fork", "s.jsonl"]).stdout, copied, "{name}");
        // No file is overwritten.
        let refused = convert(folder.path(), &["fork", "s.jsonl", "-o", "s.jsonl"]);
        assert_eq!(refused.status.code(), Some(2));
        assert_eq!(fs::read(folder.path().join("s.jsonl")).expect("read"), source);
    }
}

#[test]
fn sessions_of_other_clients_are_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.jsonl"), fixture("codex/one-call.jsonl")).expect("written");
    let ran = convert(folder.path(), &["fork", "s.jsonl"]);
    assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(2), ""));
    assert!(text(&ran.stderr).contains("this is one of codex"), "{}", text(&ran.stderr));
}

#[test]
fn changed_files_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, words: &str| fs::write(folder.path().join(name), words);
    write("same.txt", "same").expect("written");
    write("other.txt", "other").expect("written");
    let modified = |name: &str| {
        let metadata = fs::metadata(folder.path().join(name)).expect("a file");
        let time = metadata.modified().expect("a time");
        time.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos()
    };
    // The SHA-256 of `same`, and twice that of no bytes.
    let same = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5";
    let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let mut session = String::from(
        "{\"type\":\"meta\",\"session_id\":\"s\",\"schema_version\":1,\
         \"start_time\":\"2026-01-17T10:00:00Z\",\"project_path\":\"/p\"}\n",
    );
    let files = [
        ("same.txt", same, modified("same.txt")),
        ("other.txt", none, modified("other.txt")),
        ("gone.txt", none, 1),
    ];
    for (n, (path, hash, time)) in files.iter().enumerate() {
        session.push_str(&format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"x\",\
             \"is_error\":false,\"path\":\"{path}\",\"content_hash\":\"{hash}\",\
             \"mtime_nanos\":{time}}}\n"
        ));
    }
    write("s.jsonl", &session).expect("written");
    let ran = convert(folder.path(), &["stale", "s.jsonl"]);
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert_eq!(
        text(&ran.stdout),
        "s.jsonl: gone.txt: gone\ns.jsonl: other.txt: changed\n",
        "{}",
        text(&ran.stderr)
    );
    assert_eq!(text(&ran.stderr), "2 of 3 files are not as clido left them\n");
    let objects = convert(folder.path(), &["stale", "--json", "s.jsonl"]);
    let first = text(&objects.stdout).lines().next().map(str::to_owned);
    let expected = r#"{"session":"s.jsonl","path":"gone.txt","state":"gone"}"#;
    assert_eq!(first.as_deref(), Some(expected));
    write("plain.jsonl", text(&fixture("clido/plain.jsonl"))).expect("written");
    let none = convert(folder.path(), &["stale", "plain.jsonl"]);
    assert_eq!((none.status.code(), text(&none.stdout)), (Some(0), ""));
}
