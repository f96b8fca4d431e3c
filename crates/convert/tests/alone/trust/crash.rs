//! Tests of crashes at any point of any command, with strace. Each call that changes a file is the last
//! one of a run, or fails. Running the command again must give the same files as an undisturbed run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::stage::{Dice, Stage, has_strace, rounds, session, tell, text};
use crate::turns::chosen;

/// The calls that change a file, or flush it.
const CHANGES: [&str; 12] = [
    "openat",
    "write",
    "fsync",
    "fdatasync",
    "renameat2",
    "renameat",
    "linkat",
    "unlinkat",
    "mkdirat",
    "fchmod",
    "ftruncate",
    "utimensat",
];

/// A command, and the files before it.
struct Case {
    name: &'static str,
    /// Prepares the files before the command; `in` has sessions already.
    prepare: fn(&Stage),
    arguments: &'static [&'static str],
    /// The file that it replaces, and its backup.
    kept: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case {
        name: "install in clido",
        prepare: |stage| several(stage, "in"),
        arguments: &["--to", "clido", "--install", "in/2a86484a.jsonl"],
        kept: &[],
    },
    Case {
        name: "install in claude-code",
        prepare: |stage| {
            several(stage, "first");
            let first = ["first/2a86484a.jsonl", "--to", "clido", "-o", "in/2a86484a.jsonl"];
            stage.clean(&first);
        },
        arguments: &["--to", "claude-code", "--install", "in/2a86484a.jsonl"],
        kept: &[],
    },
    Case {
        name: "install in gemini",
        prepare: |_| {},
        arguments: &["--to", "gemini", "--install", "in/d0/s0.jsonl"],
        kept: &[],
    },
    Case {
        name: "resume at home",
        prepare: |stage| {
            several(stage, "home/.claude/projects/-x");
            let session = "home/.claude/projects/-x/2a86484a.jsonl";
            stage.clean(&["resume", session, "--in", "clido", "--force"]);
            let copy = stage.path("home/.local/share/clido/sessions/_x/2a86484a.jsonl");
            let mut copied = fs::read(&copy).expect("a copy");
            copied.extend_from_slice(
                b"{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":\"More.\",\"type\":\"text\"}]}\n",
            );
            fs::write(copy, copied).expect("written");
        },
        arguments: &["resume", "2a86484a", "--in", "claude-code", "--force"],
        kept: &[],
    },
    Case {
        name: "export",
        prepare: |_| {},
        arguments: &["export", "--html", "in", "-o", "new/out", "-j", "1"],
        kept: &[],
    },
    Case {
        name: "export, one page refused",
        prepare: |stage| {
            several(stage, "in");
            fs::create_dir_all(stage.path("out/d1")).expect("made");
            fs::write(stage.path("out/d1/s1.html"), "mine: page\n").expect("written");
        },
        arguments: &["export", "--html", "in", "-o", "out", "-j", "1"],
        kept: &[],
    },
    Case {
        name: "one file",
        prepare: |_| {},
        arguments: &[
            "in/d0/s0.jsonl",
            "--to",
            "clido",
            "-o",
            "new/a/b/out.jsonl",
            "--carry",
            "sidecar",
        ],
        kept: &[],
    },
    Case {
        name: "one file and its report",
        prepare: |_| {},
        arguments: &[
            "in/d0/s0.jsonl",
            "--to",
            "clido",
            "-o",
            "out.jsonl",
            "--report",
            "new/report",
        ],
        kept: &[],
    },
    Case {
        name: "one file in place of another",
        prepare: |stage| {
            for name in ["out.jsonl", "out.jsonl.carry"] {
                fs::write(stage.path(name), format!("mine: {name}\n")).expect("written");
            }
        },
        arguments: &[
            "in/d0/s0.jsonl",
            "--to",
            "clido",
            "-o",
            "out.jsonl",
            "--force",
            "--carry",
            "sidecar",
        ],
        kept: &[("out.jsonl", "out.jsonl.bak"), ("out.jsonl.carry", "out.jsonl.carry.bak")],
    },
    Case {
        name: "a folder in place of others",
        prepare: |stage| {
            for name in ["out/d0/s0.jsonl", "out/d1/s1.jsonl", "out/d1/s1.jsonl.carry"] {
                fs::create_dir_all(stage.path(name).parent().expect("a folder")).expect("made");
                fs::write(stage.path(name), format!("mine: {name}\n")).expect("written");
            }
        },
        arguments: &["in", "--to", "clido", "-o", "out", "--force", "-j", "1"],
        kept: &[
            ("out/d0/s0.jsonl", "out/d0/s0.jsonl.bak"),
            ("out/d1/s1.jsonl", "out/d1/s1.jsonl.bak"),
            ("out/d1/s1.jsonl.carry", "out/d1/s1.jsonl.carry.bak"),
        ],
    },
    Case {
        name: "other options",
        prepare: |stage| stage.clean(&["in", "--to", "clido", "-o", "out"]),
        arguments: &["in", "--to", "clido", "-o", "out", "--force", "--compress", "zst", "-j", "1"],
        kept: &[],
    },
    Case {
        name: "other options for files beside",
        prepare: |stage| {
            several(stage, "in");
            stage.clean(&["in", "--to", "clido", "-o", "out", "--carry", "sidecar"]);
        },
        arguments: &[
            "in",
            "--to",
            "clido",
            "-o",
            "out",
            "--force",
            "--subagents",
            "carry",
            "-j",
            "1",
        ],
        kept: &[],
    },
    Case {
        name: "a folder of sessions that grew",
        prepare: |stage| {
            stage.clean(&["in", "--to", "clido", "-o", "out", "--carry", "sidecar"]);
            for name in ["in/d0/s0.jsonl", "in/d1/s1.jsonl"] {
                fs::write(stage.path(name), session(9, name)).expect("written");
            }
        },
        arguments: &["in", "--to", "clido", "-o", "out", "--carry", "sidecar", "-j", "1"],
        kept: &[],
    },
    Case {
        name: "secrets taken out",
        prepare: |stage| several(stage, "in"),
        arguments: &["in/2a86484a.jsonl", "--to", "sdk-stream", "--redact", "-o", "out.jsonl"],
        kept: &[],
    },
    Case {
        name: "a rehearsal",
        prepare: |stage| {
            several(stage, "first");
            stage.clean(&["first/2a86484a.jsonl", "--to", "sdk-stream", "-o", "in/s.jsonl"]);
        },
        arguments: &["in/s.jsonl", "--to", "claude-code", "-o", "out.jsonl", "--dry-run"],
        kept: &[],
    },
    Case {
        name: "a fork with a sidecar",
        prepare: with_sidecar,
        arguments: &["fork", "s.jsonl", "-o", "new/fork.jsonl"],
        kept: &[],
    },
    Case {
        name: "a repaired session with a sidecar",
        prepare: with_sidecar,
        arguments: &["repair", "s.jsonl", "-o", "repaired.jsonl"],
        kept: &[],
    },
    Case {
        name: "documents with images",
        prepare: |stage| {
            for (name, data) in
                [("a", "iVBORw0KGgo="), ("b", "iVBORw0KGgo="), ("c", "iVBORw0KGgoA")]
            {
                fs::write(stage.path(&format!("in/{name}.jsonl")), pictured(name, data))
                    .expect("written");
            }
        },
        arguments: &["in", "--to", "atif", "-o", "out", "-j", "1"],
        kept: &[],
    },
    Case {
        name: "a document with an image in place of another",
        prepare: |stage| {
            fs::write(stage.path("in/a.jsonl"), pictured("a", "iVBORw0KGgo=")).expect("written");
            fs::create_dir(stage.path("images")).expect("made");
            for name in ["out.json", "images/4c4b6a3be1314ab8.png"] {
                fs::write(stage.path(name), format!("mine: {name}\n")).expect("written");
            }
        },
        arguments: &["in/a.jsonl", "--to", "atif", "-o", "out.json", "--force"],
        kept: &[
            ("out.json", "out.json.bak"),
            ("images/4c4b6a3be1314ab8.png", "images/4c4b6a3be1314ab8.png.bak"),
        ],
    },
    Case {
        name: "work",
        prepare: |stage| {
            let mut plan = stage.alone(&["plan", "in", "--to", "clido", "-o", "new/out"]);
            fs::write(stage.path("plan"), plan.output().expect("it runs").stdout).expect("written");
        },
        arguments: &["work", "plan", "-j", "1"],
        kept: &[],
    },
    #[cfg(feature = "parquet")]
    Case {
        name: "tables",
        prepare: |_| {},
        arguments: &["tables", "in", "-o", "new/out", "--with-raw"],
        kept: &[],
    },
    #[cfg(feature = "parquet")]
    Case {
        name: "restore",
        prepare: |stage| stage.clean(&["tables", "in", "-o", "tables", "--with-raw"]),
        arguments: &["restore", "tables", "-o", "new/out"],
        kept: &[],
    },
];

impl Case {
    /// Returns the exit status of an undisturbed run.
    fn status(&self) -> i32 {
        i32::from(self.name.ends_with("refused"))
    }
}

/// Writes the clido session `s.jsonl` with a sidecar.
fn with_sidecar(stage: &Stage) {
    let to = ["--to", "clido", "--carry", "sidecar", "-o", "s.jsonl"];
    stage.clean(&[&["in/d0/s0.jsonl"], &to[..]].concat());
}

/// Returns a session with an image in base64.
fn pictured(id: &str, data: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"sessionId\":\"{id}\",\"type\":\"user\",\"uuid\":\"u0\",\
         \"timestamp\":\"2026-01-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":[\
         {{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\
         \"data\":\"{data}\"}}}}]}}}}\n"
    )
}

/// Writes a session with sub-agents and outputs.
fn several(stage: &Stage, folder: &str) {
    let write = |name: &str, text: &str| {
        let path = stage.path(folder).join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let line = |n: usize, more: &str, kind: &str, content: &str| {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        format!(
            "{{\"parentUuid\":{parent},{more}\"sessionId\":\"2a86484a\",\"type\":\"{kind}\",\"uuid\":\"u{n}\",\
             \"timestamp\":\"2026-01-01T10:00:0{n}.000Z\",\"cwd\":\"/x\",\"message\":{{\"role\":\"{kind}\",\
             \"content\":[{content}]}}}}\n"
        )
    };
    let said = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let mut main = line(0, "", "user", &said("Look at all of it."));
    for n in 1..4 {
        let call = format!(
            r#"{{"type":"tool_use","id":"t{n}","name":"Task","input":{{"prompt":"Look {n}."}}}}"#
        );
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"Seen."}}"#);
        main += &line(2 * n - 1, "", "assistant", &call);
        main += &line(2 * n, "", "user", &result);
        let more = format!("\"isSidechain\":true,\"agentId\":\"a{n}\",");
        let agent = line(0, &more, "user", &said(&format!("Look {n}.")))
            + &line(1, &more, "assistant", &said("I see."));
        write(&format!("2a86484a/subagents/agent-a{n}.jsonl"), &agent);
        write(
            &format!("2a86484a/subagents/agent-a{n}.meta.json"),
            &format!(r#"{{"toolUseId":"t{n}"}}"#),
        );
        write(&format!("2a86484a/tool-results/t{n}.txt"), "large");
    }
    write("2a86484a.jsonl", &main);
}

impl Stage {
    /// Returns a command that sees only the files of the stage.
    fn alone(&self, arguments: &[&str]) -> Command {
        self.within(Command::new(env!("CARGO_BIN_EXE_convert")), arguments)
    }

    fn within(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command without a disturbance.
    fn clean(&self, arguments: &[&str]) {
        let output = self.alone(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
    }

    /// Restores the files before the command.
    fn reset(case: &Case) -> Self {
        let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
        for name in ["in/d0", "in/d1", "home", "tmp"] {
            fs::create_dir_all(stage.path(name)).expect("made");
        }
        for (name, n) in [("in/d0/s0.jsonl", 3), ("in/d1/s1.jsonl", 4)] {
            fs::write(stage.path(name), session(n, name)).expect("written");
        }
        (case.prepare)(&stage);
        stage
    }

    /// Runs the command with a fault that strace injects into one of its calls.
    fn injected(&self, case: &Case, call: &str, fault: &str) -> (Output, bool) {
        let mut strace = Command::new("strace");
        let trace = self.folder.path().with_extension("trace");
        strace.args(["-f", "-qq", "-o"]).arg(&trace);
        // Other calls do not stop the program, which halves the time. Strace 6.1 sends no signals with this.
        strace.args(fault.starts_with("error").then_some("--seccomp-bpf"));
        strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fault}")]);
        strace.arg(env!("CARGO_BIN_EXE_convert"));
        let output = self.within(strace, case.arguments).output().expect("it runs");
        let said = fs::read_to_string(&trace).unwrap_or_default();
        fs::remove_file(trace).expect("removed");
        let is_injected = said.contains("(INJECTED)") || output.status.code().is_none();
        (output, is_injected)
    }

    /// Checks that an older file is unchanged or kept as a backup.
    fn check_kept(&self, case: &Case, place: &str) {
        for (name, kept) in case.kept {
            let mine = format!("mine: {name}\n").into_bytes();
            let is_it = |name: &str| fs::read(self.path(name)).is_ok_and(|it| it == mine);
            assert!(is_it(name) || is_it(kept), "{place}: {name} is gone");
        }
    }

    /// Runs the same command again, and checks that all files exist, and no others.
    fn finish(&self, case: &Case, expected: &Tree, place: &str) {
        let output = self.alone(case.arguments).output().expect("it runs");
        let words = text(&output);
        // Complete tables are not written twice.
        let is_done =
            output.status.code() == Some(case.status()) || words.contains("has tables already");
        assert!(is_done, "{place}: {words}");
        self.check_kept(case, place);
        let found = tree(self.folder.path());
        for (name, what) in &found {
            assert_eq!(Some(what), expected.get(name), "{place}: {}", name.display());
        }
        let missing = expected.keys().find(|name| !found.contains_key(*name));
        assert_eq!(missing, None, "{place}");
        for (name, kept) in case.kept {
            let mine = format!("mine: {name}\n");
            assert_eq!(fs::read_to_string(self.path(kept)).ok(), Some(mine), "{place}");
        }
    }
}

/// The content of a folder: names, permissions, and the bytes of files, without files that contain
/// times.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let mode = path.symlink_metadata().expect("there").permissions().mode();
            let mut name = path.strip_prefix(root).expect("below").to_owned();
            if name.parent().is_some_and(|above| above.ends_with(".convert-receipts/begun")) {
                // Each worker has a file with a name of its own, until `merge` takes the lines over.
                name.set_file_name("a worker");
            }
            let text = name.to_string_lossy();
            let tells_times = [".convert-journal.jsonl", ".convert-receipts", "report", "plan"]
                .iter()
                .any(|it| text.contains(it));
            let bytes = match path.is_dir() {
                false if !tells_times => fs::read(&path).expect("a file"),
                _ => Vec::new(),
            };
            if path.is_dir() {
                folders.push(path);
            }
            tree.insert(name, (mode, bytes));
        }
    }
    tree
}

/// Returns the files that an undisturbed command leaves.
fn expected(case: &Case) -> Tree {
    let stage = Stage::reset(case);
    let output = stage.alone(case.arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(case.status()), "{}: {}", case.name, text(&output));
    let tree = tree(stage.folder.path());
    let is_left = |name: &&PathBuf| {
        name.to_string_lossy().contains(".tmp-") || name.parent() == Some(Path::new("tmp"))
    };
    assert_eq!(tree.keys().find(is_left), None, "{}", case.name);
    tree
}

/// Returns the cases of a run: two of them in turn, or all with `cargo xtask trust`.
fn cases<'c>(test: &str, cases: impl Iterator<Item = &'c Case>) -> Vec<&'c Case> {
    let cases: Vec<&Case> = cases.collect();
    let n = rounds(2, cases.len());
    chosen(test, cases.into_iter(), n)
}

/// Kills a run after each call that changes a file. The same command then finishes the work.
#[test]
fn killed_before_any_call_the_same_command_finishes() {
    if !has_strace() {
        return;
    }
    let step = rounds(7, 1);
    for case in cases("killed", CASES.iter()) {
        let expected = expected(case);
        let mut n_killed = 0;
        for call in CHANGES {
            for k in (1..).step_by(step) {
                let stage = Stage::reset(case);
                let place = format!("{}: killed before {call} {k}", case.name);
                let (output, is_killed) =
                    stage.injected(case, call, &format!("signal=KILL:when={k}"));
                if !is_killed {
                    let code = output.status.code();
                    assert_eq!(code, Some(case.status()), "{place}: {}", text(&output));
                    break;
                }
                n_killed += 1;
                stage.check_kept(case, &place);
                stage.finish(case, &expected, &place);
            }
        }
        assert!(n_killed > 3, "{}", case.name);
        tell(&format!("{}: killed before {n_killed} calls; 0 lost, wrong, left over", case.name));
    }
}

/// The commands that leave no file of a failed run that the next run would refuse to replace. The other
/// commands continue without an unreadable input, report it, and publish a smaller file.
const FINISHED: [&str; 16] = [
    "a folder of sessions that grew",
    "export",
    "export, one page refused",
    "install in clido",
    "install in gemini",
    "install in claude-code",
    "resume at home",
    "one file",
    "one file and its report",
    "one file in place of another",
    "a folder in place of others",
    "a fork with a sidecar",
    "a repaired session with a sidecar",
    "documents with images",
    "a document with an image in place of another",
    "work",
];

/// Fails each call that changes a file once. The error is reported, and the same command finishes the
/// work.
#[test]
fn refused_any_call_the_same_command_finishes() {
    if !has_strace() {
        return;
    }
    let step = rounds(11, 1);
    let finished = CASES.iter().filter(|case| FINISHED.contains(&case.name));
    for case in cases("refused", finished) {
        let expected = expected(case);
        let (mut n_refused, mut n_said) = (0, 0);
        // The lookup of an id lists the folders of clients with the standard library, which panics if it
        // cannot close one.
        let is_lookup = case.arguments[0] == "resume";
        let calls = CHANGES.iter().chain(&["close", "getdents64"]);
        for call in calls.filter(|call| !is_lookup || **call != "close") {
            for k in (1..).step_by(step) {
                let stage = Stage::reset(case);
                let place = format!("{}: refused {call} {k}", case.name);
                let (output, is_refused) =
                    stage.injected(case, call, &format!("error=EIO:when={k}"));
                if !is_refused {
                    break;
                }
                n_refused += 1;
                n_said += usize::from(output.status.code() != Some(0));
                assert!(!text(&output).contains("panicked"), "{place}: {}", text(&output));
                assert!(output.status.code().is_some(), "{place}: ended by a signal");
                stage.check_kept(case, &place);
                if output.status.code() == Some(0) && case.arguments[0] != "work" {
                    let mut found = tree(stage.folder.path());
                    // The next run removes files that could not be removed.
                    found.retain(|name, _| !name.to_string_lossy().contains(".tmp-"));
                    let names = found.keys().chain(expected.keys());
                    let differ: BTreeSet<_> =
                        names.filter(|name| found.get(*name) != expected.get(*name)).collect();
                    assert!(differ.is_empty(), "{place}: all is said to be well: {differ:?}");
                }
                stage.finish(case, &expected, &place);
            }
        }
        tell(&format!(
            "{}: {n_refused} calls refused, {n_said} of the runs said so; 0 panics, 0 lost, wrong, \
             left over",
            case.name
        ));
    }
}

/// A killed installation is finished, even if the session grew since then: files that it published
/// before are replaced.
#[test]
fn an_installation_of_a_session_that_grows_is_finished() {
    if !has_strace() {
        return;
    }
    for (case, main) in CASES[..2].iter().zip(["in/2a86484a.jsonl", "first/2a86484a.jsonl"]) {
        let grow = |stage: &Stage| {
            let agent = main.replace(".jsonl", "/subagents/agent-a1.jsonl");
            for name in [main, &agent] {
                let mut text = fs::read_to_string(stage.path(name)).expect("a file");
                text += &text.replace("\"uuid\":\"u", "\"uuid\":\"v");
                fs::write(stage.path(name), text).expect("written");
            }
            if main.starts_with("first") {
                fs::remove_dir_all(stage.path("in")).expect("removed");
                stage.clean(&[main, "--to", "clido", "-o", "in/2a86484a.jsonl"]);
            }
        };
        let grown = Stage::reset(case);
        grow(&grown);
        grown.clean(case.arguments);
        let (expected, mut n_killed) = (tree(&grown.path("home")), 0);
        for k in 1.. {
            let stage = Stage::reset(case);
            let place = format!("{}: killed before name {k}", case.name);
            let (_, is_killed) =
                stage.injected(case, "renameat2", &format!("signal=KILL:when={k}"));
            if !is_killed {
                break;
            }
            n_killed += 1;
            grow(&stage);
            stage.clean(case.arguments);
            assert!(tree(&stage.path("home")) == expected, "{place}");
            assert!(tree(&stage.path("tmp")).is_empty(), "{place}");
        }
        assert!(n_killed > 3, "{n_killed}");
        tell(&format!("{}: {n_killed} killed, grown, and finished", case.name));
    }
}

/// The same at random moments, without strace.
#[test]
fn killed_at_any_moment_the_same_command_finishes() {
    for (case_idx, case) in CASES.iter().enumerate() {
        let start = Instant::now();
        let expected = expected(case);
        let whole = start.elapsed().as_micros() as u64;
        let mut dice = Dice(case_idx as u64 + 7);
        let (mut n_killed, mut round) = (0, 0);
        let (n_wanted, n_rounds) = (rounds(1, 200), rounds(3, 2000));
        while n_killed < n_wanted && round < n_rounds {
            round += 1;
            let stage = Stage::reset(case);
            let mut run = stage.alone(case.arguments);
            let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
            thread::sleep(Duration::from_micros(dice.below(whole)));
            _ = run.kill();
            n_killed += usize::from(run.wait().expect("it ran").code().is_none());
            let place = format!("{}: round {round}", case.name);
            stage.check_kept(case, &place);
            stage.finish(case, &expected, &place);
        }
        tell(&format!(
            "{}: {n_killed} of {round} runs killed; 0 lost, wrong, left over",
            case.name
        ));
    }
}
