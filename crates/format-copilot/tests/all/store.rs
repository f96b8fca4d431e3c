//! Tests of lists.

use std::fs;

use format_copilot::list_sessions;

#[test]
fn sessions_are_listed_with_their_titles() {
    let home = tempfile::tempdir().expect("a folder");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/copilot/");
    for (name, beside) in [
        ("one-call", Some("id: x\nname: Mine\nuser_named: true\n")),
        ("titles", None),
        ("no-start", None),
    ] {
        let folder = home.path().join("session-state").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let file = format!("{fixtures}{name}.jsonl");
        fs::copy(file, folder.join("events.jsonl")).expect("copied");
        if let Some(beside) = beside {
            fs::write(folder.join("workspace.yaml"), beside).expect("written");
        }
    }
    fs::create_dir_all(home.path().join("session-state/empty")).expect("a folder");
    let mut sessions = list_sessions(home.path()).expect("folders");
    sessions.sort_by(|one, other| one.first_prompt.cmp(&other.first_prompt));
    let shown: Vec<_> = sessions
        .iter()
        .map(|it| (it.first_prompt.as_str(), it.name.as_deref(), it.n_messages))
        .collect();
    assert_eq!(shown, [("Go", Some("Another trip"), 2), ("List the files", Some("Mine"), 4)]);
    assert_eq!(sessions[0].cwd, "/home/ada/app");
    assert_eq!(list_sessions(home.path().join("none")).expect("no folder"), []);
}
