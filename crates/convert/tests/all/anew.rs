//! Tests of a folder that is converted again with other options: its files equal the files of a new folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Options that write different files. Each pair of them is tested.
const OPTIONS: [&[&str]; 8] = [
    &["--to", "clido"],
    &["--to", "clido", "--subagents", "carry"],
    &["--to", "clido", "--subagents", "drop"],
    &["--to", "clido", "--carry", "sidecar"],
    &["--to", "clido", "--carry", "none"],
    &["--to", "clido", "--compress", "zst"],
    &["--to", "sdk-stream"],
    &["--to", "claude-code"],
];

fn convert(folder: &Path, output: &str, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    command.current_dir(folder).args(["in", "-o", output]).args(options).output().expect("it runs")
}

/// Copies a session with a sub-agent and an output beside it.
fn sides(folder: &Path) {
    let sides = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/sides.in/project");
    let copied = Command::new("cp").args(["-r", sides]).arg(folder.join("in")).status();
    assert!(copied.expect("it runs").success());
}

/// Returns the files of a folder, without its journal.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != ".convert-journal.jsonl") {
                let name = path.strip_prefix(root).expect("below").to_owned();
                files.insert(name, fs::read(path).expect("a file"));
            }
        }
    }
    files
}

#[test]
fn with_other_options_nothing_is_left_of_the_older_run() {
    let folder = tempfile::tempdir().expect("a folder");
    sides(folder.path());
    let fresh: Vec<_> = (0..OPTIONS.len())
        .map(|n| {
            let name = format!("fresh{n}");
            let output = convert(folder.path(), &name, OPTIONS[n]);
            assert_eq!(output.status.code(), Some(0), "{:?}", OPTIONS[n]);
            files(&folder.path().join(name))
        })
        .collect();
    for (first, before) in OPTIONS.iter().enumerate() {
        for (second, after) in OPTIONS.iter().enumerate().filter(|(second, _)| *second != first) {
            let name = format!("{first}-{second}");
            convert(folder.path(), &name, before);
            let refused = convert(folder.path(), &name, after);
            assert_eq!(refused.status.code(), Some(2), "{before:?} then {after:?}");
            assert!(files(&folder.path().join(&name)) == fresh[first], "{before:?} then {after:?}");
            let anew = convert(folder.path(), &name, &[*after, &["--force"]].concat());
            let words = String::from_utf8_lossy(&anew.stderr);
            assert_eq!(anew.status.code(), Some(0), "{before:?} then {after:?}: {words}");
            let found = files(&folder.path().join(&name));
            let names: Vec<_> = found.keys().collect();
            assert!(found == fresh[second], "{before:?} then {after:?}: {names:?}");
        }
    }
}

/// Asserts that a folder has the files that a new folder gets.
fn assert_as_new(folder: &Path, output: &str, options: &[&str]) {
    let new = folder.join("new");
    assert_eq!(convert(folder, "new", options).status.code(), Some(0), "{options:?}");
    assert!(files(&folder.join(output)) == files(&new), "{options:?}");
    fs::remove_dir_all(new).expect("removed");
}

#[test]
fn with_redact_a_changed_source_is_converted_anew() {
    for options in
        [&["--to", "clido", "--redact"][..], &["--to", "clido", "--redact", "--compress", "zst"]]
    {
        let folder = tempfile::tempdir().expect("a folder");
        sides(folder.path());
        let plain = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/plain.jsonl");
        fs::copy(plain, folder.path().join("in/plain.jsonl")).expect("copied");
        convert(folder.path(), "out", options);
        for name in ["in/plain.jsonl", "in/s1.jsonl", "in/s1/subagents/agent-a1d4d82.jsonl"] {
            let path = folder.path().join(name);
            let source = fs::read_to_string(&path).expect(name);
            let changed = source.replacen("\"type\":\"user\"", "\"type\" :\"user\"", 1);
            assert_ne!(changed, source);
            fs::write(&path, changed).expect("written");
            assert_eq!(convert(folder.path(), "out", options).status.code(), Some(0));
            assert_as_new(folder.path(), "out", options);
        }
        // All files are converted anew, and none of them has changed.
        let forced = [options, &["--force"]].concat();
        assert_eq!(convert(folder.path(), "out", &forced).status.code(), Some(0));
        assert_as_new(folder.path(), "out", options);
    }
}

#[test]
fn a_source_whose_sidecar_alone_changed_is_converted_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, options) = (folder.path().join("in"), ["--to", "claude-code"]);
    fs::create_dir(&home).expect("made");
    let source = home.join("s.jsonl");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/plain.jsonl");
    let there = |carry| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let arguments = [fixture, "--to", "clido", "--carry", carry, "--force", "-o"];
        let output = command.args(arguments).arg(&source).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
    };
    there("sidecar");
    let sidecar = home.join("s.jsonl.carry");
    let whole = fs::read(&sidecar).expect("a sidecar");
    // The sidecar is missing, comes, and is cut.
    fs::remove_file(&sidecar).expect("removed");
    convert(folder.path(), "out", &options);
    fs::write(&sidecar, &whole).expect("written");
    assert_eq!(convert(folder.path(), "out", &options).status.code(), Some(0));
    assert_eq!(fs::read(folder.path().join("out/s.jsonl")).ok(), fs::read(fixture).ok());
    assert_as_new(folder.path(), "out", &options);
    // A copy with the same bytes is the same sidecar.
    fs::remove_file(&sidecar).expect("removed");
    fs::write(&sidecar, &whole).expect("written");
    let unchanged = convert(folder.path(), "out", &options);
    assert!(String::from_utf8_lossy(&unchanged.stderr).contains("1 up to date"));
    fs::write(&sidecar, &whole[..whole.len() / 2]).expect("written");
    assert_eq!(convert(folder.path(), "out", &options).status.code(), Some(2));
}

#[test]
fn what_somebody_edited_stays_or_is_kept_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    sides(folder.path());
    let edited = folder.path().join("out/s1_a1d4d82.jsonl");
    for options in [OPTIONS[1], OPTIONS[2], OPTIONS[6]] {
        convert(folder.path(), "out", OPTIONS[0]);
        fs::write(&edited, "mine\n").expect("written");
        convert(folder.path(), "out", &[options, &["--force"]].concat());
        assert_eq!(fs::read_to_string(&edited).ok().as_deref(), Some("mine\n"), "{options:?}");
        fs::remove_dir_all(folder.path().join("out")).expect("removed");
    }
    convert(folder.path(), "out", OPTIONS[3]);
    let sidecar = folder.path().join("out/s1.jsonl.carry");
    fs::write(&sidecar, "mine\n").expect("written");
    convert(folder.path(), "out", &[OPTIONS[4], &["--force"]].concat());
    let kept = fs::read_to_string(sidecar.with_extension("carry.bak"));
    assert_eq!(kept.ok().as_deref(), Some("mine\n"));
}
