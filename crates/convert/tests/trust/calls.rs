//! Calls of the system that fail, and their order; with strace.

use std::{fs, process::Command};

use super::stage::{Files, Stage, files, has, rounds, tell, text};

/// What a run calls, and how each may fail.
const CALLS: &[(&str, [&str; 3])] = &[
    ("openat", ["EACCES", "EMFILE", "EIO"]),
    ("read", ["EIO", "EINTR", "EISDIR"]),
    ("write", ["EIO", "ENOSPC", "EDQUOT"]),
    ("fsync", ["EIO", "ENOSPC", "EDQUOT"]),
    ("fdatasync", ["EIO", "ENOSPC", "EDQUOT"]),
    ("renameat2", ["EIO", "ENOSPC", "EINVAL"]),
    ("renameat", ["EIO", "ENOSPC", "EACCES"]),
    ("linkat", ["EIO", "EPERM", "EMLINK"]),
    ("close", ["EIO", "EINTR", "ENOSPC"]),
    ("unlinkat", ["EIO", "EACCES", "EBUSY"]),
    ("mkdirat", ["EIO", "ENOSPC", "EACCES"]),
    ("mkdir", ["EIO", "ENOSPC", "EACCES"]),
    ("fchmod", ["EIO", "EPERM", "EROFS"]),
    ("flock", ["EIO", "ENOLCK", "EINTR"]),
    ("ftruncate", ["EIO", "EINVAL", "EPERM"]),
    ("lseek", ["EIO", "ESPIPE", "EINVAL"]),
    ("statx", ["EIO", "EACCES", "ENOENT"]),
    ("fstat", ["EIO", "EACCES", "ENOMEM"]),
    ("newfstatat", ["EIO", "EACCES", "ENOENT"]),
    // ENOENT is the end of a folder that was removed (POSIX), and no failure.
    ("getdents64", ["EIO", "EACCES", "ENOMEM"]),
];

fn has_strace() -> bool {
    has("strace", &["-o", "/dev/null", "true"])
}

fn traced(stage: &Stage, filter: &str) -> Command {
    let mut run = Command::new("strace");
    run.args(["-f", "-y", "-qq", "-s", "4096", "-o"]).arg(stage.path("trace")).args(["-e", filter]);
    run.arg(env!("CARGO_BIN_EXE_convert")).arg(stage.path("in")).args(["--to", "clido", "-o"]);
    run.arg(stage.path("out")).args(["--carry", "sidecar", "--jobs", "1"]);
    run.stdout(std::process::Stdio::null());
    run
}

/// Every call of a run fails once, in each of three ways: then every output is old or new, and who
/// says that all is well has written all.
#[test]
fn any_call_may_fail() {
    if !has_strace() {
        return;
    }
    let stage = Stage::new(3, 3);
    let expected = stage.expected(&["--carry", "sidecar"]);
    let (mut n_runs, mut n_failed) = (0, 0);
    let (step, ways) = (rounds(17, 1), rounds(1, 3));
    for (call, errors) in CALLS {
        for error in &errors[..ways] {
            for k in (1..).step_by(step) {
                _ = fs::remove_dir_all(stage.path("out"));
                let filter = format!("inject={call}:error={error}:when={k}");
                let output = traced(&stage, &filter).output().expect("it runs");
                let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
                if !trace.contains("(INJECTED)") {
                    break;
                }
                n_runs += 1;
                let place = format!("{filter}: {}", text(&output));
                assert!(!text(&output).contains("panicked"), "{place}");
                let code = output.status.code();
                n_failed += usize::from(code != Some(0));
                let written = files(&stage.path("out"));
                // What could not be removed is removed by the next run.
                let named: Files = written
                    .into_iter()
                    .filter(|(name, _)| !name.to_string_lossy().contains(".tmp-"))
                    .collect();
                for (name, bytes) in &named {
                    assert_eq!(Some(bytes), expected.get(name), "{}: {place}", name.display());
                }
                assert!(code.is_some(), "ended by a signal: {place}");
                assert!(code != Some(0) || named == expected, "all is said to be well: {place}");
            }
        }
    }
    tell(&format!(
        "{n_runs} calls failed, {n_failed} of the runs said so; 0 panics, 0 torn, 0 silent"
    ));
}

/// The bytes reach the disk before the name, the name before the journal.
#[test]
fn a_power_cut_finds_names_of_whole_files_only() {
    if !has_strace() {
        return;
    }
    for durability in ["file", "batch"] {
        let stage = Stage::new(100, 3);
        let mut run = traced(&stage, "trace=fsync,renameat2,write");
        let output = run.args(["--durability", durability]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
        let mut n_names = 0;
        let lines: Vec<&str> = trace.lines().collect();
        for (n, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("renameat2(")) {
            n_names += 1;
            let mut words = line.split('"');
            let (temporary, name) = (words.nth(1).expect("a name"), words.nth(1).expect("a name"));
            let folder =
                line.split('<').nth(1).and_then(|it| it.split('>').next()).expect("a path");
            let at = |what: &str| lines.iter().position(|line| line.contains(what));
            let bytes = lines.iter().position(|it| it.contains("fsync(") && it.contains(temporary));
            assert!(bytes.is_some_and(|bytes| bytes < n), "{name}: named before its bytes");
            let names = lines[n..]
                .iter()
                .position(|it| it.contains("fsync(") && it.contains(&format!("<{folder}>")));
            let names = n + names.expect("the folder is synced");
            let short = folder.rsplit('/').next().unwrap_or_default();
            let told = at(&format!("\\\"dst\\\":\\\"{short}/{name}\\\""));
            let told = told.expect("a line of the journal");
            assert!(names < told, "{name}: told before it is named");
        }
        // A session and its sidecar each.
        assert_eq!(n_names, 200, "{durability}: {} lines", lines.len());
        tell(&format!("{durability}: the order holds for {n_names} of {n_names} files"));
    }
}
