//! Tests of lists, and of checks that need the folder of a file.

use std::{fs, path::PathBuf};

use format_codex::{list_sessions, read_lineage, validate_file};

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex/");
    fs::read(format!("{folder}{name}.jsonl")).expect("a fixture")
}

fn id(n: u32) -> String {
    format!("01a20000-0000-7000-8000-{n:012}")
}

/// Writes a fixture below Codex's folder.
fn place(home: &tempfile::TempDir, folder: &str, name: &str, n: u32) -> PathBuf {
    let folder = home.path().join(folder);
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("rollout-2026-03-01T10-00-00-{}.jsonl", id(n)));
    fs::write(&path, fixture(name)).expect("written");
    path
}

#[test]
fn sessions_of_all_days_and_archived_ones_are_listed() {
    let home = tempfile::tempdir().expect("a folder");
    place(&home, "sessions/2026/03/01", "one-call", 1);
    place(&home, "sessions/2026/02/28", "minimal", 2);
    place(&home, "archived_sessions", "titles", 32);
    place(&home, "sessions/2026/02/28", "no-first-line", 33);
    let index = format!(
        "{{\"id\":\"{0}\",\"thread_name\":\"Old\"}}\n{{\"id\":\"{0}\",\"thread_name\":\"New\"}}\n",
        id(2)
    );
    fs::write(home.path().join("session_index.jsonl"), index).expect("written");
    let mut sessions = list_sessions(home.path()).expect("folders");
    sessions.sort_by(|one, other| one.id.cmp(&other.id));
    let shown: Vec<_> = sessions
        .iter()
        .map(|it| (it.first_prompt.as_str(), it.name.as_deref(), it.is_archived, it.n_messages))
        .collect();
    let expected = [
        ("List the files", None, false, 6),
        ("Hi", Some("New"), false, 2),
        ("Go", Some("A trip"), true, 2),
    ];
    assert_eq!(shown, expected);
    assert_eq!(sessions[0].cwd, "/home/ada/app");
    assert_eq!(list_sessions(home.path().join("none")).expect("no folder"), []);
}

#[cfg(feature = "zst")]
#[test]
fn compressed_sessions_are_listed_checked_and_forked_from() {
    let home = tempfile::tempdir().expect("a folder");
    let compress = |path: &PathBuf| {
        let bytes = fs::read(path).expect("a file");
        let packed = path.with_extension("jsonl.zst");
        fs::write(&packed, zstd::encode_all(&bytes[..], 3).expect("in memory")).expect("written");
        packed
    };
    let plain = place(&home, "sessions/2026/03/01", "one-call", 1);
    let listed = list_sessions(home.path()).expect("folders");
    // Both files are one session, and Codex reads the plain one.
    let packed = compress(&plain);
    assert_eq!(list_sessions(home.path()).expect("folders"), listed);
    fs::remove_file(&plain).expect("there");
    let mut found = list_sessions(home.path()).expect("folders");
    assert_eq!(found[0].file_name, format!("rollout-2026-03-01T10-00-00-{}.jsonl.zst", id(1)));
    found[0].file_name = listed[0].file_name.clone();
    found[0].modified_nanos = listed[0].modified_nanos;
    assert_eq!(found, listed);
    assert_eq!(validate_file(home.path(), &packed).expect("a file"), []);

    let fork = place(&home, "sessions/2026/03/01", "fork-with-history-base", 17);
    let base = place(&home, "sessions/2026/03/01", "paginated", 7);
    let whole = read_lineage(home.path(), &fork).expect("both files");
    compress(&base);
    fs::remove_file(&base).expect("there");
    assert!(read_lineage(home.path(), &fork).expect("both files") == whole);

    fs::write(&packed, b"no zstd").expect("written");
    assert!(list_sessions(home.path()).is_err());
}

#[test]
fn the_folder_of_a_file_is_checked() {
    let home = tempfile::tempdir().expect("a folder");
    let rules = |path: &PathBuf| {
        let problems = validate_file(home.path(), path).expect("a file");
        problems.iter().map(|it| (it.rule, it.stops())).collect::<Vec<_>>()
    };
    let path = place(&home, "sessions/2026/03/01", "minimal", 2);
    assert_eq!(rules(&path), []);
    assert_eq!(rules(&place(&home, "sessions", "minimal", 2)), [("folder", false)]);
    assert_eq!(rules(&place(&home, "archived_sessions", "minimal", 2)), [("archived", true)]);
    let other = place(&home, "sessions/2026/03/01", "minimal", 9);
    assert_eq!(rules(&other), [("file-name", false)]);
    let odd = path.with_file_name("minimal.jsonl");
    fs::copy(&path, &odd).expect("copied");
    assert_eq!(rules(&odd), [("file-name", false)]);
    let fork = place(&home, "sessions/2026/03/01", "fork-with-history-base", 17);
    assert!(rules(&fork).contains(&("history-base", true)));
    place(&home, "sessions/2026/03/01", "paginated", 7);
    assert!(!rules(&fork).contains(&("history-base", true)));
}
