//! Tests of an unreadable folder beside a single input: the folder is reported, and the same command later
//! converts the whole session.

use std::{fs, process::Command};

use super::stage::{Stage, has_strace, text};

/// The folders of the other files of a session.
const FOLDERS: [&str; 4] = ["in", "in/s1", "in/s1/subagents", "in/s1/tool-results"];

#[test]
fn a_folder_that_cannot_be_read_has_a_status() {
    if !has_strace() {
        return;
    }
    for folder in FOLDERS {
        for call in ["openat", "getdents64"] {
            let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
            let sides = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/sides.in/project");
            let copied = Command::new("cp").args(["-r", sides]).arg(stage.path("in")).status();
            assert!(copied.expect("it runs").success());
            let mut strace = Command::new("strace");
            strace.current_dir(stage.folder.path()).args(["-f", "-qq", "-o", "trace"]);
            strace.args(["-P", folder, "-e", &format!("inject={call}:error=EACCES")]);
            strace.arg(env!("CARGO_BIN_EXE_convert"));
            strace.args(["in/s1.jsonl", "--to", "clido", "-o", "out.jsonl", "--report", "report"]);
            let output = strace.output().expect("it runs");
            let place = format!("{folder}: {call}: {}", text(&output));
            let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
            assert!(trace.contains("(INJECTED)"), "{place}: {trace}");
            assert_eq!(output.status.code(), Some(2), "{place}");
            assert!(text(&output).contains("files of in/s1.jsonl may be missing"), "{place}");
            let report = fs::read_to_string(stage.path("report")).expect("a report");
            let status = format!("\"source\":\"{folder}\",\"status\":\"PermissionDenied\"");
            assert!(report.contains(&status), "{place}: {report}");
            assert!(!stage.path("out.jsonl").exists(), "{place}");
        }
    }
}
