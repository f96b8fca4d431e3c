//! Tests of failing system calls, and of their order, with strace.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use super::stage::{Files, Stage, files, has_strace, rounds, session, tell, text};
use crate::turns::chosen;

/// The errors that are injected into calls with meaningful errors.
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
    // ENOENT means the end of a removed folder (POSIX), and is no failure.
    ("getdents64", ["EIO", "EACCES", "ENOMEM"]),
    ("fcntl", ["EIO", "EMFILE", "EINVAL"]),
];

/// The errors of all other calls.
const OTHERS: [&str; 3] = ["EIO", "EACCES", "ENOMEM"];

/// Calls of the loader, threads, signals and memory. They fail before the program starts, or for lack of
/// memory, where Rust aborts.
const NOT_OURS: &[&str] = &[
    "access",
    "arch_prctl",
    "brk",
    "clone3",
    "execve",
    "exit",
    "exit_group",
    "futex",
    "getpid",
    "gettid",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "poll",
    "prctl",
    "pread64",
    "prlimit64",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    // Hash maps of the standard library need this call, and panic without it.
    "getrandom",
];

/// A run in which any system call may fail: its name, command, input and arguments.
struct Run {
    name: &'static str,
    command: Option<&'static str>,
    input: &'static str,
    more: &'static [&'static str],
}

const RUNS: &[Run] = &[
    conversion("folder", "in", &["--to", "clido", "--jobs", "1", "--carry", "sidecar"]),
    conversion("session of several files", "sides", &["--to", "clido", "--jobs", "1"]),
    conversion(
        "compressed",
        "packed",
        &["--to", "clido", "--jobs", "1", "--compress", "zst", "--verify"],
    ),
    Run { name: "pages", command: Some("export"), input: "sides", more: &["--html", "-j", "1"] },
    #[cfg(feature = "parquet")]
    Run { name: "tables", command: Some("tables"), input: "in", more: &["--with-raw"] },
];

const fn conversion(name: &'static str, input: &'static str, more: &'static [&'static str]) -> Run {
    Run { name, command: None, input, more }
}

fn traced(stage: &Stage, run: &Run, filter: &[&str]) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-qq", "-s", "4096", "-o"]).arg(stage.path("trace")).args(filter);
    traced.arg(env!("CARGO_BIN_EXE_convert")).args(run.command).arg(stage.path(run.input));
    traced.arg("-o").arg(stage.path("out")).args(run.more).stdout(std::process::Stdio::null());
    traced
}

/// Returns a stage with the inputs of the runs.
fn stage() -> Stage {
    let stage = Stage::new(3, 3);
    let sides = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/sides.in/project");
    let copied = Command::new("cp").args(["-r", sides]).arg(stage.path("sides")).status();
    assert!(copied.expect("it runs").success());
    fs::create_dir(stage.path("packed")).expect("made");
    let packed = zstd::encode_all(session(40, "packed").as_bytes(), 1).expect("encoded");
    fs::write(stage.path("packed/s.jsonl.zst"), packed).expect("written");
    stage
}

/// Returns the calls of a run that can fail.
fn calls_of(stage: &Stage, run: &Run) -> Vec<String> {
    _ = fs::remove_dir_all(stage.path("out"));
    let output = traced(stage, run, &[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
    let name = |line: &str| {
        let call = line.split_once(' ')?.1.trim_start().split_once('(')?.0;
        let is_name = call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_name && !NOT_OURS.contains(&call)).then(|| call.to_owned())
    };
    let calls: BTreeSet<String> = trace.lines().filter_map(name).collect();
    assert!(calls.contains("openat") && calls.contains("fsync"), "{calls:?}");
    calls.into_iter().collect()
}

/// Fails every call of a run once, in each of three ways. Every output must be the old or the new one,
/// and exit status 0 means that all were written.
/// Two of the runs, in turn, or all with `cargo xtask trust`.
#[test]
fn any_call_may_fail() {
    if !has_strace() {
        return;
    }
    let stage = stage();
    let (step, ways) = (rounds(29, 1), rounds(1, 3));
    for run in chosen("calls", RUNS.iter(), rounds(2, RUNS.len())) {
        let (mut n_runs, mut n_failed) = (0, 0);
        let calls = calls_of(&stage, run);
        let expected = files(&stage.path("out"));
        let lesser = lesser(&stage, run);
        for call in &calls {
            let errors = CALLS.iter().find(|(name, _)| name == call);
            for error in &errors.map_or(OTHERS, |(_, errors)| *errors)[..ways] {
                for k in (1..).step_by(step) {
                    _ = fs::remove_dir_all(stage.path("out"));
                    let filter = format!("inject={call}:error={error}:when={k}");
                    let output = traced(&stage, run, &["-e", &filter]).output().expect("it runs");
                    let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
                    if !trace.contains("(INJECTED)") {
                        break;
                    }
                    n_runs += 1;
                    let place = format!("{}: {filter}: {}", run.name, text(&output));
                    n_failed += usize::from(output.status.code() != Some(0));
                    check(&output, files(&stage.path("out")), &expected, &lesser, &place);
                }
            }
        }
        tell(&format!(
            "{}: {} kinds of calls, {n_runs} calls failed, {n_failed} of the runs said so; \
             0 panics, 0 torn, 0 silent",
            run.name,
            calls.len()
        ));
    }
}

/// If the main file of a session cannot be found or read, nothing of the session is converted: without
/// it, its sub-agents would look like sessions.
#[test]
fn a_session_that_cannot_be_read_takes_its_sub_agents_along() {
    if !has_strace() {
        return;
    }
    let stage = stage();
    let run = &RUNS[1];
    let output = traced(&stage, run, &[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let expected = files(&stage.path("out"));
    let main = stage.path(run.input).join("s1.jsonl");
    for fault in ["openat:error=EACCES", "openat:error=EIO"] {
        _ = fs::remove_dir_all(stage.path("out"));
        let filter = ["-P", main.to_str().expect("text"), "-e", &format!("inject={fault}")];
        let output = traced(&stage, run, &filter).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{fault}: {}", text(&output));
        assert_eq!(files(&stage.path("out")), Files::new(), "{fault}");
        let words = text(&output);
        assert!(words.contains("agent-a1d4d82.jsonl: its session was not converted"), "{words}");
    }
    let lesser = lesser(&stage, run);
    for error in ["EIO", "ENOENT"] {
        for k in 1..8 {
            _ = fs::remove_dir_all(stage.path("out"));
            let filter = format!("inject=statx:error={error}:when={k}");
            let output = traced(&stage, run, &["-e", &filter]).output().expect("it runs");
            check(&output, files(&stage.path("out")), &expected, &lesser, &filter);
        }
    }
}

/// Returns the outputs of a run if a folder of the session, or of the input, is missing.
fn lesser(stage: &Stage, run: &Run) -> Vec<Files> {
    let mut lesser = Vec::new();
    for folder in ["s1", "s1/subagents", "s1/tool-results", "d0", "d1", "d2"] {
        let (folder, away) = (stage.path(run.input).join(folder), stage.path("away"));
        if fs::rename(&folder, &away).is_err() {
            continue;
        }
        _ = fs::remove_dir_all(stage.path("out"));
        let output = traced(stage, run, &[]).output().expect("it runs");
        assert!(output.status.code().is_some(), "{}", text(&output));
        lesser.push(files(&stage.path("out")));
        fs::rename(&away, &folder).expect("renamed");
    }
    lesser
}

/// Checks the outputs of a run with a failed call. The reported failure may be a folder of the session,
/// or a file of the tables, which are then written without it.
fn check(output: &Output, written: Files, expected: &Files, lesser: &[Files], place: &str) {
    assert!(!text(output).contains("panicked"), "{place}");
    // The next run removes files that could not be removed.
    let is_named = |(name, _): &(PathBuf, Vec<u8>)| !name.to_string_lossy().contains(".tmp-");
    let named: Files = written.into_iter().filter(is_named).collect();
    let code = output.status.code();
    for (name, bytes) in &named {
        let is_it = |files: &Files| files.get(name) == Some(bytes);
        let is_told = code != Some(0) && lesser.iter().any(is_it);
        assert!(is_it(expected) || is_told, "{}: {place}", name.display());
    }
    assert!(code.is_some(), "ended by a signal: {place}");
    assert!(code != Some(0) || named == *expected, "all is said to be well: {place}");
}

/// Checks the order: bytes and the short line of the journal are flushed before the name appears, and the name before
/// the journal entry.
#[test]
fn a_power_cut_finds_names_of_whole_files_only() {
    if !has_strace() {
        return;
    }
    for durability in ["file", "batch"] {
        let stage = Stage::new(100, 3);
        let filter = ["-s", "1000000", "-e", "trace=fsync,fdatasync,renameat2,write"];
        let mut run = traced(&stage, &RUNS[0], &filter);
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
            let begun = at(&format!("\\\"begun\\\":\\\"{short}/{name}\\\""));
            let begun = begun.expect("a line before the name");
            let is_flushed =
                |it: &&str| it.contains("fdatasync(") && it.contains(".convert-journal.jsonl");
            assert!(lines[begun..n].iter().any(is_flushed), "{name}: named before its line");
            let told = at(&format!("\\\"dst\\\":\\\"{short}/{name}\\\""));
            let told = told.expect("a line of the journal");
            assert!(names < told, "{name}: told before it is named");
        }
        // Each session has a sidecar.
        assert_eq!(n_names, 200, "{durability}: {} lines", lines.len());
        tell(&format!("{durability}: the order holds for {n_names} of {n_names} files"));
    }
}

/// Fails to close each file and folder once. A command that only reads has nothing to lose by it, and
/// the standard library would panic about a folder.
#[test]
fn a_folder_that_cannot_be_closed_is_read() {
    if !has_strace() {
        return;
    }
    let stage = Stage::new(2, 3);
    let project = stage.path("home/.claude/projects/-x");
    fs::create_dir_all(&project).expect("made");
    fs::write(project.join("s.jsonl"), session(3, "home")).expect("written");
    let project = project.display().to_string();
    let commands = [&["check", "s"][..], &["list", &project], &["show", "s"]];
    // A zone in another case is looked for in the lists of its folders.
    for (command, zone) in
        commands.map(|it| (it, None)).into_iter().chain([(commands[1], Some("europe/berlin"))])
    {
        for n in 1.. {
            let mut traced = Command::new("strace");
            traced.args(["-f", "-qq", "-o"]).arg(stage.path("trace")).args(["-e", "trace=close"]);
            traced.args(["-e", &format!("inject=close:error=EIO:when={n}")]);
            traced.arg(env!("CARGO_BIN_EXE_convert")).args(command).env_remove("TZ");
            traced.envs(zone.map(|zone| ("TZ", zone)));
            let output = traced.env("HOME", stage.path("home")).output().expect("it runs");
            let place = format!("{command:?}: close {n}: {}", text(&output));
            assert!(output.status.code() != Some(101), "{place}");
            let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
            if !trace.contains("(INJECTED)") {
                assert_eq!(output.status.code(), Some(0), "{place}");
                break;
            }
        }
    }
}

/// Refuses all threads, as a limit on the processes of a user does. A command goes on with one thread, or
/// names the thread that the system refused.
#[test]
fn without_threads_no_command_ends_in_a_panic() {
    if !has_strace() {
        return;
    }
    let stage = Stage::new(2, 3);
    fs::write(stage.path("large.jsonl"), session(60_000, "large")).expect("written");
    let plan = ["plan", "in", "--to", "clido", "-o", "out"];
    let run = |command: &[&str], filter: &[&str]| {
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o"]).arg(stage.path("trace")).args(["-e", "trace=clone3"]);
        traced.args(filter).arg(env!("CARGO_BIN_EXE_convert")).args(command);
        traced.current_dir(stage.folder.path()).output().expect("it runs")
    };
    fs::write(stage.path("plan"), run(&plan, &[]).stdout).expect("written");
    for (command, expected) in [
        (&["work", "plan"][..], "a thread that reads the plan could not be started"),
        (&["merge", "--plan", "plan"], "2 of 2 units have no receipt"),
        (&["in", "--to", "clido", "-o", "json", "--progress", "json"], "no progress is reported"),
        (&["in", "--to", "clido", "-o", "plain", "--progress", "plain"], "no progress is reported"),
        (
            &["large.jsonl", "--to", "clido", "-o", "l", "-j", "2"],
            "a thread that scans it could not",
        ),
        (&["list", "in"], ""),
        (&["stats", "in"], ""),
        (&["usage", "in"], ""),
        (&["lineage", "in"], ""),
        (&["export", "--html", "in", "-o", "pages"], ""),
    ] {
        let output = run(command, &["-e", "inject=clone3:error=EAGAIN"]);
        let place = format!("{command:?}: {}", text(&output));
        let status = if expected.starts_with("a thread") {
            Some(2)
        } else {
            run(command, &[]).status.code()
        };
        assert_eq!(output.status.code(), status, "{place}");
        assert!(place.contains(expected), "{place}");
    }
}

/// Fails to remove a file of a temporary folder, which has parts of a session: once, so that a second attempt removes it,
/// and in both attempts.
#[test]
fn a_temporary_folder_that_cannot_be_removed_is_said() {
    if !has_strace() {
        return;
    }
    let stage = stage();
    let temporary = stage.path("tmp");
    fs::create_dir(&temporary).expect("made");
    let run = Run { more: &["--to", "clido", "--redact"], ..RUNS[1] };
    let said = |filter: &str| {
        _ = fs::remove_dir_all(stage.path("out"));
        let mut traced = traced(&stage, &run, &["-e", "trace=unlinkat", "-e", filter]);
        let output = traced.env("TMPDIR", &temporary).output().expect("it runs");
        let words = text(&output);
        assert_eq!(output.status.code(), Some(0), "{words}");
        words
    };
    let trace = || fs::read_to_string(stage.path("trace")).expect("a trace");
    said("signal=none");
    let n_calls = trace().matches("unlinkat(").count();
    let words = said("inject=unlinkat:error=EIO:when=1");
    assert!(trace().contains("(INJECTED)") && !words.contains("removed"), "{words}");
    assert_eq!(files(&temporary).len(), 0);
    assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 0);
    // The second attempt has the same calls.
    let words = said(&format!("inject=unlinkat:error=EIO:when=1+{n_calls}"));
    assert!(words.contains("could not be removed: Input/output error"), "{words}");
    assert!(words.contains(&format!("{}/.convert.tmp-", temporary.display())), "{words}");
    assert_eq!(files(&temporary).len(), 1, "the other files are removed");
}
