//! Tests of the facts that lists show of a session.

use std::{fs, path::PathBuf};

use format_claude_code::{
    Project, SessionInfo, Transcript, folders_named, head_tail_scan, list_sessions,
};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("listing-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn prompt(text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u","timestamp":"2026-01-17T20:31:59.197Z","cwd":"/p","gitBranch":"main","message":{{"content":"{text}"}}}}"#
    ) + "\n"
}

const ID: &str = "5f3c2a10-0000-4000-8000-00000000000";

#[test]
fn the_ends_of_a_large_file() {
    let folder = folder("ends");
    let filler =
        format!("{{\"type\":\"progress\",\"data\":\"{}\"}}\n", "x".repeat(1000)).repeat(500);
    let title =
        "{\"type\":\"custom-title\",\"customTitle\":\"A \\u00e9 title\",\"sessionId\":\"s\"}\n";
    let path = folder.join(format!("{ID}1.jsonl"));
    fs::write(&path, prompt("Fix it") + &filler + title).expect("a file");
    let info = head_tail_scan(&path).expect("a file").expect("not empty");
    assert_eq!(info.summary.as_deref(), Some("A é title"));
    assert_eq!(info.first_prompt.as_deref(), Some("Fix it"));
    assert_eq!((info.cwd.as_deref(), info.git_branch.as_deref()), (Some("/p"), Some("main")));
    assert!(info.size > 500_000 && info.modified.is_some() && info.is_listed());
    // Lists do not see a title in the middle of a file.
    fs::write(&path, prompt("Fix it") + &filler + title + &filler).expect("a file");
    let info = head_tail_scan(&path).expect("a file").expect("not empty");
    assert_eq!((info.custom_title, info.summary.as_deref()), (None, Some("Fix it")));
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn what_the_client_lists() {
    let folder = folder("listed");
    let side = r#"{"isSidechain":true,"type":"user","message":{"content":"x"}}"#;
    let files = [
        (format!("{ID}2"), prompt("one")),
        (format!("{ID}3"), String::new()),
        (format!("{ID}4"), side.to_owned()),
        (format!("{ID}5"), r#"{"type":"queue-operation"}"#.to_owned()),
        ("agent-a1d4d82".to_owned(), prompt("two")),
    ];
    for (name, text) in files {
        fs::write(folder.join(format!("{name}.jsonl")), text).expect("a file");
    }
    let listed: Vec<SessionInfo> = list_sessions(&folder).expect("a folder");
    let ids: Vec<_> = listed.iter().map(|info| info.session_id.as_str()).collect();
    assert_eq!(ids, [format!("{ID}2")]);
    assert_eq!(list_sessions(folder.join("none")).expect("no folder, no sessions"), []);
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn small_files_have_the_title_and_prompt_of_a_whole_read() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
    for entry in fs::read_dir(root).expect("fixtures").flatten() {
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        let info = SessionInfo::of_ends("s", &bytes, &bytes, bytes.len() as u64);
        let transcript = Transcript::from_slice(&bytes);
        assert_eq!(info.first_prompt, transcript.first_prompt(), "{:?}", entry.path());
        // A list finds members such as `summary` in any line, so it may show more than the
        // transcript.
        if let Some(title) = transcript.title() {
            assert!(info.summary.is_some(), "{:?}: {title:?}", entry.path());
        }
    }
}

#[test]
fn projects_by_their_path_or_by_what_their_sessions_say() {
    let config = folder("projects");
    let project = config.join("projects/-home-u-my-app");
    let renamed = config.join("projects/renamed");
    for (folder, id, cwd) in [(&project, 6, "/home/u/my.app"), (&renamed, 7, "/somewhere/else")] {
        fs::create_dir_all(folder).expect("a folder");
        let text = prompt("Hello").replace("\"/p\"", &format!("{cwd:?}"));
        fs::write(folder.join(format!("{ID}{id}.jsonl")), text).expect("a file");
    }
    let find = |path: &str| Project::find(&config, path.as_ref()).expect("folders");
    assert_eq!(find("/home/u/my.app"), Some(Project::new("/home/u/my.app")));
    assert_eq!(find("/home/u/my.app/src/deep"), Some(Project::new("/home/u/my.app")));
    assert_eq!(find("/somewhere/else/src"), Some(Project::new("/somewhere/else")));
    assert_eq!(find("/home/u"), None);
    let found = Project::new("/home/u/my.app").sessions(&config).expect("folders");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, project.join(format!("{ID}6.jsonl")));
    let session = Project::new("/home/u/my.app").session(&config, &format!("{ID}6"));
    assert_eq!(session.expect("folders").len(), 1);
    assert_eq!(folders_named(&config, "my-app").expect("folders"), std::slice::from_ref(&project));
    assert_eq!(folders_named(&config, "home").expect("folders"), [project]);
    fs::remove_dir_all(config).expect("the folder");
}
