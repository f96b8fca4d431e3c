//! Tests of `repair`: whatever it writes is accepted by `check`, and its input stays.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::shared::turns::share;

fn convert(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_convert")).args(args).output().expect("it runs")
}

/// Repairs a session. Returns what was written and the messages; `None` if nothing was written.
fn repaired(input: &Path, folder: &Path) -> (Option<Vec<u8>>, String) {
    let before = fs::read(input).expect("read");
    let (input, output) = (input.to_str().expect("UTF-8"), folder.join("out.jsonl"));
    _ = fs::remove_file(&output);
    let ran = convert(&["repair", input, "-o", output.to_str().expect("UTF-8")]);
    let message = String::from_utf8(ran.stderr).expect("UTF-8");
    assert_eq!(fs::read(input).expect("read"), before, "{input}");
    assert_eq!(ran.status.success(), output.exists(), "{input}: {message}");
    (fs::read(&output).ok(), message)
}

/// Asserts that `check` accepts a session for the client of a format.
fn assert_accepted(path: &Path, message: &str) {
    let format = message.rsplit_once(" (").and_then(|(_, rest)| rest.split_once(')'));
    let (format, _) = format.expect("a format");
    let checked = convert(&["check", "--as", format, path.to_str().expect("UTF-8")]);
    let found = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{message}{found}");
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    let mut files = Vec::new();
    for folder in fs::read_dir(root).expect("read").flatten().filter(|it| it.path().is_dir()) {
        let names = fs::read_dir(folder.path()).expect("read").flatten().map(|it| it.path());
        files.extend(names.filter(|path| path.extension() == Some("jsonl".as_ref())));
    }
    files.sort();
    files
}

/// One in nine fixtures, other ones each day.
#[test]
fn what_is_written_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.jsonl");
    let (mut n_repaired, mut n_same) = (0, 0);
    for path in share(fixtures(), 9) {
        let (written, message) = repaired(&path, folder.path());
        let Some(written) = written else { continue };
        assert_accepted(&output, &message);
        let is_same = written == fs::read(&path).expect("read");
        assert_eq!(is_same, message.contains("nothing to repair"), "{message}");
        *if is_same { &mut n_same } else { &mut n_repaired } += 1;
        // A repaired session needs no repair.
        let again = folder.path().join("again.jsonl");
        fs::write(&again, &written).expect("written");
        let (same, message) = repaired(&again, folder.path());
        assert_eq!(same.as_deref(), Some(&*written), "{}: {message}", path.display());
    }
    assert!(n_repaired > 1 && n_same > 4, "{n_repaired} repaired, {n_same} the same");
}

#[test]
fn a_session_that_was_cut_anywhere_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("cut.jsonl"), folder.path().join("out.jsonl"));
    for name in ["claude-code/parallel-calls-interleaved", "clido/open-tool-call", "pi/one-call"] {
        let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/{}.jsonl"), name);
        let session = fs::read(path).expect("a fixture");
        let mut n_written = 0;
        for end in (1..session.len()).step_by(97) {
            fs::write(&input, &session[..end]).expect("written");
            let (written, message) = repaired(&input, folder.path());
            if let Some(written) = written {
                assert_accepted(&output, &message);
                // What was whole is there as it was.
                let n_whole = session[..end].iter().rposition(|byte| *byte == b'\n');
                let whole = &session[..n_whole.map_or(0, |at| at + 1)];
                assert_eq!(written.get(..whole.len()), Some(whole), "{name}, cut at {end}");
                n_written += 1;
            }
        }
        assert!(n_written > 3, "{name}: {n_written}");
    }
}

/// Without the limit, 12.7 kB of compressed newlines took 16 GB.
#[test]
fn a_session_of_a_million_records_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("long.jsonl");
    let prompt = concat!(
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","#,
        r#""timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Hi"}}"#
    );
    // Each line has at most 65,536 records.
    let records = format!("{}\n", "{}".repeat(65_000)).repeat(16);
    let cases = [("\n".repeat(1_000_000), "lines"), (records, "records")];
    for (rest, units) in cases {
        fs::write(&input, format!("{prompt}\n{rest}")).expect("written");
        let (written, message) = repaired(&input, folder.path());
        assert_eq!(written, None, "{message}");
        assert!(message.contains(&format!("it has more than 1000000 {units};")), "{message}");
    }
    fs::write(&input, format!("{prompt}\n{}", "\n".repeat(1_000_001))).expect("written");
    let forked = convert(&["fork", input.to_str().expect("UTF-8")]);
    let message = String::from_utf8_lossy(&forked.stderr);
    assert!(message.contains("it has more than 1000000 lines;"), "{message}");
    assert_eq!((forked.status.code(), forked.stdout.as_slice()), (Some(2), &b""[..]), "{message}");
}
