//! Tests of `convert tables`, with the feature `parquet`.

use std::fs;

use crate::shared::program::run;

/// A session of one line.
const LINE: &str =
    r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hi"}}"#;

#[test]
fn tables_are_not_written_beside_parts_of_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("s1.jsonl"), format!("{LINE}\n")).expect("written");
    let tables = || run(folder.path(), &["tables", "s1.jsonl", "-o", "out", "-q"]);
    for part in ["out/events/part-00001.parquet", "out/sessions/part-00007.parquet"] {
        let part = path(part);
        fs::create_dir_all(part.parent().expect("a folder")).expect("made");
        fs::write(&part, "of a run that was killed").expect("written");
        // Readers take all parts of a folder.
        let (status, words) = tables();
        assert_eq!(status, Some(2), "{words}");
        assert!(words.contains("is a part of other tables"), "{words}");
        assert!(!path("out/sessions/part-00000.parquet").exists());
        assert!(!path("out/events/part-00000.parquet").exists());
        fs::remove_file(&part).expect("removed");
    }
    fs::write(path("out/events/notes.txt"), "no part").expect("written");
    assert_eq!(tables(), (Some(0), String::new()));
}

#[test]
fn tables_without_an_input_say_how_to_add_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("in")).expect("made");
    fs::write(path("in/s1.jsonl"), format!("{LINE}\n")).expect("written");
    // The start of a compressed file.
    fs::write(path("in/s2.jsonl.gz"), b"\x1f\x8b\x08").expect("written");
    let (status, words) = run(folder.path(), &["tables", "in", "-o", "out", "-q"]);
    assert_eq!(status, Some(1), "{words}");
    assert!(words.contains("in/s2.jsonl.gz: "), "{words}");
    let said = "out lacks 1 of the inputs; to add them, remove it and write the tables again\n";
    assert!(words.ends_with(said), "{words}");
}

#[test]
fn a_missing_part_is_said_when_files_are_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    fs::create_dir(path("in")).expect("made");
    fs::write(path("in/a.jsonl"), format!("{LINE}\n")).expect("written");
    fs::write(path("in/b.jsonl"), format!("{LINE}\n{{\n\n{LINE}\n")).expect("written");
    fs::write(path("in/empty.jsonl"), "").expect("written");
    assert_eq!(run(&["tables", "in", "-o", "t", "-q", "--with-raw"]).0, Some(0));
    assert_eq!(run(&["restore", "t", "-o", "whole"]), (Some(0), String::new()));
    for name in ["a.jsonl", "b.jsonl", "empty.jsonl"] {
        assert_eq!(
            fs::read(path("whole").join(name)).expect("restored"),
            fs::read(path("in").join(name)).expect("written"),
        );
    }
    let part = "t/events/part-00000.parquet";
    let bytes = fs::read(path(part)).expect("a part");
    fs::write(path(part), &bytes[..bytes.len() - 9]).expect("cut");
    let (status, words) = run(&["restore", "t", "-o", "cut"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.starts_with(&format!("convert: {part}: ")), "{words}");
    fs::remove_file(path(part)).expect("removed");
    let (status, words) = run(&["restore", "t", "-o", "lost"]);
    assert_eq!(status, Some(1), "{words}");
    let said = format!("a.jsonl: the tables have 0 of its {} bytes (2 such files)", LINE.len() + 1);
    assert!(words.contains(&said), "{words}");
    assert!(path("lost/empty.jsonl").exists(), "a file without a line is there");
}
