//! Tests of folders whose written files were deleted, emptied, exchanged or stripped of their carries: the run back says so
//! if something in the folder proves it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shared::program::run;

/// A folder with converted files.
struct Archive(tempfile::TempDir);

impl Archive {
    /// Converts fixtures, which get these names in `in`, to `out`.
    fn new(files: &[(&str, &str)], options: &[&str]) -> Self {
        let archive = Self(tempfile::tempdir().expect("a folder"));
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        for (fixture, name) in files {
            let to = archive.path("in").join(name);
            fs::create_dir_all(to.parent().expect("a folder")).expect("created");
            fs::copy(fixtures.join(fixture), to).expect("copied");
        }
        let (status, words) = archive.run(&[&["in", "-o", "out"], options].concat());
        assert_eq!(status, Some(0), "{words}");
        archive
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        run(self.0.path(), args)
    }

    /// Restores an input, and returns the words of a fault; `None` without one.
    fn fault(&self, input: &str, to: &str, options: &[&str]) -> Option<String> {
        _ = fs::remove_dir_all(self.path("home"));
        fs::create_dir(self.path("home")).expect("created");
        let (status, words) = self.run(&[&[input, "--to", to, "-o", "home"], options].concat());
        let faults = words.lines().filter(|line| line.starts_with("convert: ")).collect::<Vec<_>>();
        assert_eq!(status == Some(0), faults.is_empty(), "{words}");
        (status != Some(0)).then(|| faults.join("\n"))
    }
}

const AGENTS: &str = "claude-code/with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf";

/// The journal lists each file with the number of its carries.
#[test]
fn a_journal_says_which_files_lost_their_carry_or_are_gone() {
    let files = [
        ("claude-code/plain.jsonl", "a.jsonl"),
        ("claude-code/one-tool-call.jsonl", "deep/b.jsonl"),
    ];
    let archive = Archive::new(&files, &["--to", "clido"]);
    let (a, b) = (archive.path("out/a.jsonl"), archive.path("out/deep/b.jsonl"));
    let bytes = fs::read(&b).expect("read");
    let fault = |options: &[&str]| archive.fault("out", "claude-code", options);
    assert_eq!(fault(&[]), None);
    // The carries are gone, or all that was in the file.
    let text = String::from_utf8(bytes.clone()).expect("text");
    let stripped = text.lines().map(|line| match line.split_once(",\"_carried\"") {
        Some((line, _)) => format!("{line}}}\n"),
        None => panic!("{line}"),
    });
    for (changed, words) in [
        (stripped.collect::<String>().into_bytes(), "b.jsonl: its carry is missing"),
        (Vec::new(), "b.jsonl: its carry is missing"),
        (vec![0; bytes.len()], "b.jsonl: is no session any more"),
    ] {
        fs::write(&b, changed).expect("written");
        let said = fault(&[]).expect("said");
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
    }
    assert_eq!(fault(&["--ignore-carry"]), None);
    // The file is gone, or has another name.
    fs::rename(&b, archive.path("b")).expect("moved");
    let said = fault(&[]).expect("said");
    assert!(said.contains("b.jsonl: the journal of the folder says"), "{said}");
    assert!(said.lines().count() == 1, "{said}");
    assert_eq!(fault(&["--ignore-carry"]), None);
    fs::write(archive.path("out/c.jsonl"), &bytes).expect("written");
    assert_eq!(fault(&[]), None);
    fs::write(&b, &bytes).expect("written");
    fs::remove_file(archive.path("out/c.jsonl")).expect("removed");
    // The format of the written files is the target.
    fs::remove_file(&a).expect("removed");
    assert_eq!(archive.fault("out", "clido", &[]), None);
    // A run without carries, after which nothing is lost.
    let anew = ["in", "--to", "clido", "--carry", "none", "-o", "out", "--force"];
    assert_eq!(archive.run(&anew).0, Some(0));
    assert_eq!(fault(&[]), None);
}

#[test]
fn a_file_of_another_shape_that_has_a_carry_is_no_file_of_another_program() {
    let files = [("claude-code/plain.jsonl", "a.jsonl"), ("claude-code/titles.jsonl", "b.jsonl")];
    let archive = Archive::new(&files, &["--to", "clido"]);
    fs::remove_file(archive.path("out/.convert-journal.jsonl")).expect("removed");
    let b = archive.path("out/b.jsonl");
    let text = fs::read_to_string(&b).expect("read");
    let broken = text.replace(",\"", ",\n  \"").replace("\":", "\": ");
    let wrapped = text.lines().map(|line| {
        let line = line.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{{\"log\":\"{line}\"}}\n")
    });
    for changed in [broken, wrapped.collect()] {
        fs::write(&b, changed).expect("written");
        let said = archive.fault("out", "claude-code", &[]).expect("said");
        assert!(said.contains("b.jsonl: not a session in a known format"), "{said}");
    }
    fs::write(&b, "{\"log\":\"_carried\"}\n").expect("written");
    assert_eq!(archive.fault("out", "claude-code", &[]), None);
}

#[test]
fn a_sidecar_that_is_compressed_or_without_its_file_is_said() {
    let files = [("claude-code/plain.jsonl", "a.jsonl"), ("claude-code/titles.jsonl", "b.jsonl")];
    let archive = Archive::new(&files, &["--to", "pi", "--carry", "sidecar"]);
    fs::remove_file(archive.path("out/.convert-journal.jsonl")).expect("removed");
    let (sidecar, packed) =
        (archive.path("out/b.jsonl.carry"), archive.path("out/b.jsonl.carry.gz"));
    fs::rename(&sidecar, &packed).expect("renamed");
    let said = archive.fault("out/b.jsonl", "claude-code", &[]).expect("said");
    assert!(said.contains("b.jsonl.carry.gz beside it is its sidecar, compressed"), "{said}");
    fs::rename(&packed, &sidecar).expect("renamed");
    fs::remove_file(archive.path("out/b.jsonl")).expect("removed");
    let said = archive.fault("out", "claude-code", &[]).expect("said");
    assert!(said.contains("b.jsonl.carry: no file has this sidecar"), "{said}");
    assert_eq!(archive.fault("out", "claude-code", &["--ignore-carry"]), None);
}

/// Without the journal, the records that the sidecar does not have may have been added by the client.
#[test]
fn the_sidecar_of_another_version_is_said_if_the_journal_lists_both() {
    let archive = Archive::new(
        &[("claude-code/one-tool-call.jsonl", "a.jsonl")],
        &["--to", "clido", "--carry", "sidecar"],
    );
    let text = fs::read_to_string(archive.path("in/a.jsonl")).expect("read");
    let older = text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    fs::create_dir(archive.path("older")).expect("created");
    fs::write(archive.path("older/a.jsonl"), older).expect("written");
    let there = ["older/a.jsonl", "--to", "clido", "--carry", "sidecar", "-o", "b.jsonl"];
    assert_eq!(archive.run(&there).0, Some(0));
    assert_eq!(archive.fault("out", "claude-code", &[]), None);
    fs::copy(archive.path("b.jsonl.carry"), archive.path("out/a.jsonl.carry")).expect("copied");
    let said = archive.fault("out", "claude-code", &[]).expect("said");
    assert!(
        said.contains("1 sidecar is not the one that the journal of the folder lists"),
        "{said}"
    );
    // Both are of the other version.
    fs::copy(archive.path("b.jsonl"), archive.path("out/a.jsonl")).expect("copied");
    assert_eq!(archive.fault("out", "claude-code", &[]), None);
}

#[test]
fn the_file_of_a_sub_agent_is_not_taken_for_its_session() {
    let (main, agent) =
        (format!("{AGENTS}.jsonl"), format!("{AGENTS}/subagents/agent-a7f3c21.jsonl"));
    let files = [(&*main, "s1.jsonl"), (&*agent, "s1/subagents/agent-a7f3c21.jsonl")];
    let archive = Archive::new(&files, &["--to", "qwen"]);
    fs::remove_file(archive.path("out/.convert-journal.jsonl")).expect("removed");
    let name = "out/s1_agent-a7f3c21.jsonl";
    let (main, agent) = (archive.path("out/s1.jsonl"), archive.path(name));
    assert_eq!(archive.fault(name, "claude-code", &[]), None);
    let words = "its carry is of the sub-agent a7f3c21, and the session is not restored";
    fs::copy(&agent, &main).expect("copied");
    let said = archive.fault("out", "claude-code", &[]).expect("said");
    assert!(said.contains(words) && said.contains("s1.jsonl: its"), "{said}");
    fs::remove_file(&main).expect("removed");
    for input in ["out", name] {
        let said = archive.fault(input, "claude-code", &[]).expect("said");
        assert!(said.contains(words), "{said}");
    }
}
