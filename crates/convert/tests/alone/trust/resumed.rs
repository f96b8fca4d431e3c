//! Tests of a second run over the same folder.

use std::{fs, io::Write, path::Path};

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

        // A changed source, a missing output, a torn journal.
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

        // A source that changed again, and an edited output, which stays.
        let edited = stage.path("out/d2/s2.jsonl");
        fs::write(&edited, "edited\n").expect("written");
        let output = stage.run("out", &more);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("s2.jsonl exists"), "{}", text(&output));
        assert_eq!(fs::read(&edited).expect("there"), b"edited\n");
    }
}

#[test]
fn other_options_are_refused_or_convert_all_anew() {
    let stage = Stage::new(6, 3);
    let plain = stage.expected(&[]);
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    for more in [
        &["--compress", "zst"][..],
        &["--carry", "none"],
        &["--redact"],
        &["--dry-run", "--redact"],
    ] {
        let output = stage.run("out", more);
        let words = text(&output);
        assert_eq!(output.status.code(), Some(2), "{words}");
        let asked = "--to clido --carry inline --subagents files --sdk-version 0.2.187";
        assert!(words.contains("other options") && words.contains(asked), "{words}");
        assert!(words.contains("another folder") && words.contains("--force"), "{words}");
        assert!(files(&stage.path("out")) == plain, "{more:?}");
    }
    // Options that do not change outputs do not count.
    let output = stage.run("out", &["--verify", "--fail-on-loss", "--max-line", "1GiB"]);
    assert_eq!(up_to_date(&text(&output)), "6 up to date", "{}", text(&output));

    // After a conversion with other options, the outputs of the old ones are removed, except an edited
    // one.
    let edited = stage.path("out/d2/s2.jsonl");
    fs::write(&edited, "edited\n").expect("written");
    let packed = ["--compress", "zst"];
    let mut expected = stage.expected(&packed);
    let output = stage.run("out", &["--compress", "zst", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    expected.insert("d2/s2.jsonl".into(), b"edited\n".to_vec());
    assert!(files(&stage.path("out")) == expected);
    let output = stage.run("out", &packed);
    assert_eq!(up_to_date(&text(&output)), "6 up to date", "{}", text(&output));
    assert_eq!(stage.run("out", &[]).status.code(), Some(2));
}

/// With `--force`, an earlier output of ours does not replace the backup of the user's file.
#[test]
fn an_older_file_that_was_kept_stays_kept() {
    let stage = Stage::new(2, 3);
    let (name, kept) = (stage.path("out/d0/s0.jsonl"), stage.path("out/d0/s0.jsonl.bak"));
    fs::create_dir_all(stage.path("out/d0")).expect("made");
    fs::write(&name, "mine\n").expect("written");
    for n in 3..6 {
        stage.write(2, n, "changed");
        let output = stage.run("out", &["--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert_eq!(fs::read(&kept).expect("kept"), b"mine\n", "{n}");
        assert!(fs::read(&name).expect("written") == stage.expected(&[])[Path::new("d0/s0.jsonl")]);
    }
    // An edited output becomes another backup.
    fs::write(&name, "edited\n").expect("written");
    assert_eq!(stage.run("out", &["--force"]).status.code(), Some(0));
    assert_eq!(fs::read(&kept).expect("kept"), b"mine\n");
    assert_eq!(fs::read(stage.path("out/d0/s0.jsonl.bak2")).expect("kept"), b"edited\n");
}

/// Returns whether a line of the journal was written before its file got its name.
fn is_begun(line: &str) -> bool {
    line.contains("\"begun\":")
}

/// Returns the lines of the journal as version 0.1.0 wrote them for `--to clido`.
fn as_0_1_0_wrote_it(journal: &str) -> String {
    let line = |line: &str| {
        let (start, rest) = line.split_once(",\"options\":").expect("options");
        let rest = &rest[rest.find(",\"src\":").expect("a source")..];
        let (source, rest) = rest.split_once(",\"ctime_ns\":").expect("a time");
        let rest = &rest[rest.find(",\"src_xxh3\":").expect("a hash")..];
        format!("{start},\"opts_hash\":\"ba4fedbbfb5610ef\"{source}{rest}\n")
    };
    journal.lines().filter(|it| !is_begun(it)).map(line).collect()
}

#[test]
fn what_0_1_0_wrote_is_up_to_date() {
    let stage = Stage::new(6, 3);
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    let journal = stage.path("out/.convert-journal.jsonl");
    let old = as_0_1_0_wrote_it(&fs::read_to_string(&journal).expect("text"));
    fs::write(&journal, &old).expect("written");
    let output = stage.run("out", &[]);
    assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "6 up to date"));
    assert_eq!(fs::read_to_string(&journal).expect("text"), old, "nothing was done");
    let output = stage.run("out", &["--compress", "gz"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("(--to clido --carry inline"), "{}", text(&output));
    fs::write(stage.path("in/d0/s0.jsonl"), session(7, "changed")).expect("written");
    let output = stage.run("out", &[]);
    assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "5 up to date"));
}

/// A source with other bytes, the same length and its old modification time counts as changed.
#[test]
fn a_source_that_is_put_back_in_time_is_another() {
    let stage = Stage::new(3, 3);
    let source = stage.path("in/d0/s0.jsonl");
    let (old, new) = (session(3, "what it was"), session(3, "what it is "));
    assert_eq!(old.len(), new.len());
    let long_ago =
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let write = |text: &str, path: &Path| {
        fs::write(path, text).expect("written");
        let file = fs::File::options().append(true).open(path).expect("opened");
        file.set_modified(long_ago).expect("set");
    };
    write(&old, &source);
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    write(&new, &source);
    let output = stage.run("out", &[]);
    assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "2 up to date"));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
    // Another file replaces it, with the same times except the time of the change.
    write(&old, &stage.path("other"));
    fs::rename(stage.path("other"), &source).expect("renamed");
    let output = stage.run("out", &[]);
    assert_eq!((output.status.code(), up_to_date(&text(&output))), (Some(0), "2 up to date"));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
}

#[test]
fn a_failure_is_told_once() {
    let stage = Stage::new(2, 1);
    let foreign = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/foreign/utf-16-le.jsonl");
    let source = stage.path("in/other.jsonl");
    let run = || {
        stage.run("out", &[]);
        let journal = fs::read_to_string(stage.path("out/.convert-journal.jsonl"));
        let journal = journal.expect("a journal");
        let is_of_it = |line: &&str| line.contains("in/other.jsonl\"") && !is_begun(line);
        journal.lines().filter(is_of_it).count()
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

/// A run is killed after its files got their names, and before the journal has their lines. Then a source grows,
/// one shrinks, and somebody edits an output.
#[test]
fn files_of_a_killed_run_are_its_own() {
    for more in [&[][..], &["--carry", "sidecar"], &["--carry", "sidecar", "--force"]] {
        let stage = Stage::new(6, 3);
        assert_eq!(stage.run("out", more).status.code(), Some(0));
        let journal = stage.path("out/.convert-journal.jsonl");
        let lines = fs::read_to_string(&journal).expect("text");
        let begun: Vec<&str> = lines.lines().filter(|it| is_begun(it)).collect();
        assert_eq!(2 * begun.len(), lines.lines().count());
        fs::write(&journal, format!("{}\n", begun.join("\n"))).expect("written");
        fs::write(stage.path("in/d0/s0.jsonl"), session(7, "old 0")).expect("written");
        fs::write(stage.path("in/d1/s1.jsonl"), session(1, "old 1")).expect("written");
        let output = stage.run("out", more);
        assert_eq!(output.status.code(), Some(0), "{more:?}: {}", text(&output));
        let mut written = files(&stage.path("out"));
        // Only the larger output has the removed records.
        let shrunk = written.remove(Path::new("d1/s1.jsonl.bak")).expect("kept");
        assert!(String::from_utf8_lossy(&shrunk).contains("old 1 2"));
        written.retain(|name, _| name != Path::new("d1/s1.jsonl.carry.bak"));
        assert!(written == stage.expected(more), "{more:?}: {:?}", written.keys());
        // A file that is not as the line says belongs to somebody else.
        fs::write(&journal, format!("{}\n", begun.join("\n"))).expect("written");
        fs::write(stage.path("out/d2/s2.jsonl"), "edited\n").expect("written");
        let output = stage.run("out", more);
        let is_forced = more.contains(&"--force");
        assert_eq!(output.status.code(), Some(if is_forced { 0 } else { 1 }), "{}", text(&output));
        let edited = if is_forced { "out/d2/s2.jsonl.bak" } else { "out/d2/s2.jsonl" };
        assert_eq!(fs::read(stage.path(edited)).expect("there"), b"edited\n");
    }
}

/// Two runs are killed: one after its files got their names, and the next one before they did. Then other options
/// are refused, and the same ones replace the files.
#[test]
fn files_of_two_killed_runs_are_their_own() {
    let stage = Stage::new(3, 3);
    let journal = stage.path("out/.convert-journal.jsonl");
    let begun = || {
        let lines = fs::read_to_string(&journal).expect("text");
        lines.lines().filter(|it| is_begun(it)).map(|it| format!("{it}\n")).collect::<String>()
    };
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    let (first, named) = (begun(), files(&stage.path("out")));
    fs::write(stage.path("in/d0/s0.jsonl"), session(5, "old 0")).expect("written");
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    let second = begun();
    fs::write(stage.path("in/d0/s0.jsonl"), session(6, "old 0")).expect("written");
    for (name, bytes) in named {
        fs::write(stage.path("out").join(name), bytes).expect("written");
    }
    fs::write(&journal, first + &second).expect("written");
    let output = stage.run("out", &["--carry", "none"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("was written with other options"), "{}", text(&output));
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
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
