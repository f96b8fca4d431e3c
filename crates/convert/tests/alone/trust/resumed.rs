//! A second run over the same folder.

use std::{fs, io::Write};

use super::stage::{Stage, files, session, text};

fn up_to_date(said: &str) -> &str {
    said.split(" · ").find(|part| part.ends_with("up to date")).unwrap_or(said)
}

#[test]
fn only_what_changed_is_done_again() {
    for carry in ["inline", "sidecar"] {
        let more = ["--carry", carry];
        let stage = Stage::new(6, 3);
        assert_eq!(stage.run("out", &more).status.code(), Some(0));
        let journal = stage.path("out/.convert-journal.jsonl");
        let first = fs::read(&journal).expect("a journal");
        let output = stage.run("out", &more);
        assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "6 up to date"));
        assert!(fs::read(&journal).expect("a journal") == first, "nothing was done");

        // A source that changed, an output that is gone, a journal that is torn.
        fs::write(stage.path("in/d0/s0.jsonl"), session(7, "changed")).expect("written");
        fs::remove_file(stage.path("out/d1/s1.jsonl")).expect("removed");
        let torn = b"{\"v\":1,\"tool\":\"conv";
        let mut file = fs::File::options().append(true).open(&journal).expect("opened");
        file.write_all(torn).expect("written");
        let output = stage.run("out", &more);
        assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "4 up to date"));
        assert!(files(&stage.path("out")) == stage.expected(&more));
        let lines = fs::read_to_string(&journal).expect("text");
        assert!(
            lines.lines().all(|it| it.starts_with("{\"v\":1,") && it.ends_with('}')),
            "{lines}"
        );

        // Other options are other outputs, and what somebody edited stays.
        let edited = stage.path("out/d2/s2.jsonl");
        fs::write(&edited, "edited\n").expect("written");
        let output = stage.run("out", &["--carry", "none"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("s2.jsonl exists"), "{}", text(&output));
        assert_eq!(fs::read(&edited).expect("there"), b"edited\n");
    }
}

#[test]
fn a_failure_is_told_once() {
    let stage = Stage::new(2, 1);
    let foreign = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/foreign/codex.jsonl");
    let source = stage.path("in/other.jsonl");
    let run = || {
        stage.run("out", &[]);
        let journal = fs::read_to_string(stage.path("out/.convert-journal.jsonl"));
        let journal = journal.expect("a journal");
        journal.lines().filter(|line| line.contains("in/other.jsonl\"")).count()
    };
    fs::copy(foreign, &source).expect("copied");
    assert_eq!([run(), run()], [1, 1]);
    fs::write(&source, session(3, "one of ours")).expect("written");
    assert_eq!([run(), run()], [2, 2]);
    fs::copy(foreign, &source).expect("copied");
    assert_eq!([run(), run()], [3, 3]);
}

#[test]
fn a_session_of_several_files_is_up_to_date_when_all_of_them_are() {
    let stage = Stage::new(1, 1);
    let sides = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/sides.in/project/.");
    let copied =
        std::process::Command::new("cp").args(["-r", sides]).arg(stage.path("in")).status();
    assert!(copied.expect("it runs").success());
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let journal = stage.path("out/.convert-journal.jsonl");
    let first = fs::read(&journal).expect("a journal");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(fs::read(&journal).expect("a journal") == first, "something was done");

    let agent = stage.path("in/s1/subagents/agent-a1d4d82.jsonl");
    let mut file = fs::File::options().append(true).open(agent).expect("opened");
    file.write_all(b"\n").expect("written");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(fs::read(&journal).expect("a journal") != first, "nothing was done");
    assert!(files(&stage.path("out")) == stage.expected(&[]));
}

#[test]
fn a_journal_that_is_lost_is_made_again() {
    let stage = Stage::new(6, 3);
    let expected = stage.expected(&[]);
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    fs::remove_file(stage.path("out/.convert-journal.jsonl")).expect("removed");
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    let output = stage.run("out", &[]);
    assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "6 up to date"));
    assert!(files(&stage.path("out")) == expected);
}

#[test]
fn what_cannot_be_read_and_is_not_carried_stays_beside() {
    let stage = Stage::new(1, 2);
    let damaged = format!("{}no JSON\n{{\"torn\":", session(2, "damaged"));
    fs::write(stage.path("in/d0/s0.jsonl"), damaged).expect("written");
    let output = stage.run("out", &["--carry", "none"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let residue = fs::read(stage.path("out/d0/s0.jsonl.residue")).expect("a residue");
    assert_eq!(residue, b"no JSON\n{\"torn\":\n");
}
