//! Tests the reports of commands: converted files and failures.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const ID: &str = "5f3c1d2e-0000-4000-8000-0123456789ab";

/// A folder with sessions, and a home folder of clients.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(place.path("project")).expect("a folder");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .env("HOME", self.path("home"))
            .stdin(Stdio::null())
            .output()
            .expect("the program runs")
    }

    /// Runs a command and returns its standard error.
    fn said(&self, arguments: &[&str]) -> String {
        text(&self.run(arguments).stderr)
    }

    fn report(&self, name: &str) -> Vec<Value> {
        serde_json::from_slice(&fs::read(self.path(name)).expect("a report")).expect("JSON")
    }

    /// Returns the folder in which Claude Code keeps sessions of the project.
    fn claude(&self) -> String {
        let project = self.path("project");
        let name = format_claude_code::encode_project_dir(project.to_str().expect("UTF-8"));
        format!("home/.claude/projects/{name}")
    }

    /// Returns the folder in which clido keeps sessions of the project.
    fn clido(&self) -> String {
        let name = self.path("project").to_str().expect("UTF-8").replace('/', "_");
        format!("home/.local/share/clido/sessions/{name}")
    }

    /// Installs a session of Claude Code in clido's folder, beside the original.
    fn installed(&self) {
        let project = self.path("project");
        self.write(&format!("{}/{ID}.jsonl", self.claude()), &session(&project, ID));
        let done = self.run(&["--to", "clido", "--install", "--", ID]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a session of Claude Code with one answer.
fn session(cwd: &Path, id: &str) -> String {
    let around = format!(
        r#""isSidechain":false,"userType":"external","cwd":"{}","sessionId":"{id}","version":"2.1.0","slug":"a-b""#,
        cwd.display(),
    );
    format!(
        "{{\"parentUuid\":null,{around},\"type\":\"user\",\"message\":{{\"role\":\"user\",\
         \"content\":\"Hello\"}},\"uuid\":\"u1\",\"timestamp\":\"2026-02-03T10:00:01.500Z\"}}\n\
         {{\"parentUuid\":\"u1\",{around},\"message\":{{\"model\":\"o\",\"id\":\"m\",\
         \"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\
         \"text\":\"Good day\"}}],\"stop_reason\":\"end_turn\",\"usage\":{{\"input_tokens\":1,\
         \"output_tokens\":2}}}},\"type\":\"assistant\",\"uuid\":\"u2\",\
         \"timestamp\":\"2026-02-03T10:00:03.000Z\"}}\n"
    )
}

#[test]
fn what_the_target_does_not_show_is_said_with_where_it_is_kept() {
    let place = Place::new();
    place.write("a.jsonl", &session(Path::new("/w"), ID));
    let inline = place.said(&["a.jsonl", "--to", "clido", "-o", "b.jsonl"]);
    assert!(inline.contains("not shown in clido, kept inline in b.jsonl:"), "{inline}");
    assert!(inline.contains("    slug x2 (line 1, 2)"), "{inline}");
    assert!(inline.contains("made up, since clido needs it:"), "{inline}");
    assert!(!inline.contains("dropped"), "{inline}");
    let beside = place.said(&["a.jsonl", "--to", "clido", "-o", "c.jsonl", "--carry", "sidecar"]);
    assert!(beside.contains("not shown in clido, kept in c.jsonl.carry:"), "{beside}");
    let gone = place.said(&["a.jsonl", "--to", "clido", "-o", "d.jsonl", "--carry", "none"]);
    assert!(gone.contains("not shown in clido, gone without a carry"), "{gone}");
}

#[test]
fn a_report_of_a_folder_ends_with_its_totals() {
    let place = Place::new();
    for name in ["in/a.jsonl", "in/b.jsonl"] {
        place.write(name, &session(Path::new("/w"), name));
    }
    place.write("in/notes.txt", "nothing\n");
    let run = ["in", "--to", "clido", "-o", "out", "--report", "r.json", "--carry", "none"];
    place.run(&run);
    let report = place.report("r.json");
    let totals = &report.last().expect("totals")["totals"];
    assert_eq!(totals["sessions"]["converted"], 2, "{totals}");
    assert_eq!(totals["files"]["not_sessions"], 1, "{totals}");
    let of_files = |report: &[Value]| -> u64 {
        let losses = report.iter().filter_map(|file| file["losses"].as_array()).flatten();
        losses.map(|loss| loss["count"].as_u64().expect("a count")).sum()
    };
    let sum: u64 = totals["losses"]
        .as_array()
        .expect("losses")
        .iter()
        .map(|loss| loss["count"].as_u64().expect("a count"))
        .sum();
    assert!(sum > 10 && sum == of_files(&report), "{totals}");
    place.run(&run);
    let totals = place.report("r.json").pop().expect("totals");
    let sessions = &totals["totals"]["sessions"];
    assert_eq!((&sessions["converted"], &sessions["up_to_date"]), (&0.into(), &2.into()));
}

/// The temporary files of a worker that was killed after another one had converted its units go away.
#[cfg(target_os = "linux")]
#[test]
fn merge_removes_what_a_killed_worker_left() {
    let place = Place::new();
    place.write("in/project/a.jsonl", &session(Path::new("/w"), "a"));
    let plan = place.run(&["plan", "in", "-o", "out", "--to", "clido"]);
    fs::write(place.path("plan"), plan.stdout).expect("written");
    place.run(&["work", "plan"]);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("read");
    let boot: String = boot.chars().filter(|it| *it != '-').take(8).collect();
    let temporary = |pid: u32| {
        let name = format!("out/project/.a.jsonl.tmp-{pid}-{boot}-01234567");
        fs::write(place.path(&name), "half").expect("written");
        place.path(&name)
    };
    let (dead, alive) = (temporary(i32::MAX as u32), temporary(std::process::id()));
    place.run(&["work", "plan"]);
    place.run(&["merge", "--plan", "plan"]);
    assert!(!dead.exists() && alive.exists());
    assert!(place.path("out/project/a.jsonl").exists());
}

/// A worker that ends between the name of an output and its receipt leaves a line by which the output is known, for the
/// next worker, and through `merge` for a run over the folder.
#[test]
fn an_output_without_a_receipt_is_replaced_if_its_source_has_changed() {
    for by_worker in [true, false] {
        let place = Place::new();
        let source = session(Path::new("/w"), "a");
        place.write("in/a.jsonl", &source);
        let plan = || {
            let plan = place.run(&["plan", "in", "-o", "out", "--to", "clido"]);
            fs::write(place.path("plan"), plan.stdout).expect("written");
        };
        let stored = || -> Vec<PathBuf> {
            let list = |folder: PathBuf| fs::read_dir(folder).expect("a folder").flatten();
            let folders = list(place.path("out/.convert-receipts"));
            let folders = folders.filter(|folder| folder.file_name() != "begun");
            folders.flat_map(|folder| list(folder.path())).map(|file| file.path()).collect()
        };
        plan();
        place.run(&["work", "plan"]);
        let [receipt] = &stored()[..] else { panic!("one receipt: {:?}", stored()) };
        // With a folder in its place, the receipt cannot be stored.
        fs::remove_file(receipt).expect("removed");
        fs::remove_file(place.path("out/a.jsonl")).expect("removed");
        fs::create_dir(receipt).expect("made");
        let worked = place.run(&["work", "plan"]);
        assert!(text(&worked.stdout).contains("its receipt: "), "{}", text(&worked.stdout));
        assert!(place.path("out/a.jsonl").exists());
        fs::remove_dir(receipt).expect("removed");
        place.write("in/a.jsonl", &source.replace("Good day", "Good evening"));
        plan();
        if by_worker {
            let worked = text(&place.run(&["work", "plan"]).stdout);
            assert!(worked.contains(r#""status":"ok""#), "{worked}");
            assert_eq!(stored(), std::slice::from_ref(receipt));
            assert_eq!(place.run(&["merge", "--plan", "plan"]).status.code(), Some(0));
        } else {
            let said = place.said(&["merge", "--plan", "plan"]);
            assert!(said.contains("1 of 1 units have no receipt"), "{said}");
            let run = place.run(&["in", "-o", "out", "--to", "clido"]);
            assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        }
        assert!(!place.path("out/a.jsonl.bak").exists());
        place.run(&["in", "-o", "new", "--to", "clido"]);
        let read = |name: &str| fs::read(place.path(name)).expect("there");
        assert!(read("out/a.jsonl") == read("new/a.jsonl"));
    }
}

/// A copy that `--force` kept is no session of its own where the outputs are converted on. A file of the user with such a
/// name is one.
#[test]
fn kept_copies_are_left_out_and_counted() {
    let place = Place::new();
    place.write("in/p/a.jsonl", &session(Path::new("/w"), "a"));
    place.run(&["in", "-o", "out", "--to", "clido"]);
    fs::create_dir(place.path("mine")).expect("made");
    for name in ["mine/a.jsonl", "mine/a.jsonl.bak"] {
        fs::copy(place.path("out/p/a.jsonl"), place.path(name)).expect("copied");
    }
    place.write("out/p/a.jsonl", "edited\n");
    let forced = place.run(&["in", "-o", "out", "--to", "clido", "--force"]);
    assert_eq!(forced.status.code(), Some(0), "{}", text(&forced.stderr));
    assert!(place.path("out/p/a.jsonl.bak").exists());
    // The folder itself, one below it, and one above it.
    for (n, folder) in ["out", "out/p", "./"].into_iter().enumerate() {
        let done = place.run(&["stats", "--json", folder]);
        let said = text(&done.stderr);
        assert!(said.contains("kept copies of older outputs (NAME.bak) left out: 1;"), "{said}");
        if n < 2 {
            let next = format!("next{n}");
            let done = place.run(&[folder, "-o", &next, "--to", "codex"]);
            let said = text(&done.stderr);
            assert!(said.contains("Converted 1 session"), "{said}");
            assert!(said.contains("left out: 1;"), "{said}");
            assert_eq!(done.status.code(), Some(0), "{said}");
            let below = if n == 0 { "p/" } else { "" };
            assert!(!place.path(&format!("{next}/{below}a.jsonl.bak")).exists());
        }
    }
    place.write("out/p/b.jsonl", &session(Path::new("/w"), "b"));
    fs::copy(place.path("mine/a.jsonl"), place.path("out/p/b.jsonl.bak")).expect("copied");
    let said = place.said(&["out", "-o", "next3", "--to", "codex"]);
    assert!(said.contains("Converted 3 sessions") && said.contains("left out: 1;"), "{said}");
    let said = place.said(&["mine", "-o", "next4", "--to", "codex"]);
    assert!(said.contains("Converted 2 sessions") && !said.contains("left out"), "{said}");
    let named = place.run(&["out/p/a.jsonl.bak", "--to", "codex"]);
    assert!(!text(&named.stderr).contains("left out"), "{}", text(&named.stderr));
}

#[test]
fn merge_reports_every_file_though_its_workers_noted_none() {
    let place = Place::new();
    for name in ["in/a.jsonl", "in/b.jsonl"] {
        place.write(name, &session(Path::new("/w"), name));
    }
    let plan = place.run(&["plan", "in", "-o", "out", "--to", "clido"]);
    fs::write(place.path("plan"), plan.stdout).expect("written");
    let worked = place.run(&["work", "plan"]);
    fs::write(place.path("receipts"), worked.stdout).expect("written");
    let merged = place.run(&["merge", "--plan", "plan", "receipts", "--report", "r.json"]);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));
    let said = text(&merged.stderr);
    assert!(said.contains("2 files in the report with their counts alone"), "{said}");
    let report = place.report("r.json");
    let [a, b, totals] = report.as_slice() else { panic!("two files and totals: {report:?}") };
    for (file, name) in [(a, "in/a.jsonl"), (b, "in/b.jsonl")] {
        assert!(file["source"].as_str().expect("a path").ends_with(name), "{file}");
        assert_eq!((&file["status"], &file["from"]), (&"Done".into(), &"claude-code".into()));
        assert!(!file["losses"].as_array().expect("losses").is_empty(), "{file}");
    }
    assert_eq!(totals["totals"]["sessions"]["converted"], 2);
}

/// Output to a standard output that is closed is lost, which is an error. Without output there is none, and a reader that
/// ends early is none.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_closed_standard_output_is_an_error_of_a_command_that_prints() {
    let place = Place::new();
    place.write("a.jsonl", &session(Path::new("/w"), "a"));
    let run = |end: &str, arguments: &[&str]| {
        let mut shell = Command::new("bash");
        let script = format!("set -o pipefail; \"$0\" \"$@\" {end}");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_convert")]).args(arguments);
        let output = shell.current_dir(place.path("")).env("HOME", place.path("home")).output();
        let output = output.expect("it runs");
        (output.status.code(), text(&output.stderr))
    };
    for command in [
        &["a.jsonl", "--to", "clido"][..],
        &["show", "--markdown", "a.jsonl"],
        &["show", "a.jsonl"],
        &["export", "--html", "a.jsonl"],
        &["repair", "a.jsonl"],
        &["fork", "a.jsonl"],
        &["plan", "a.jsonl", "--to", "clido", "-o", "x"],
        &["stats", "a.jsonl"],
        &["formats"],
        &["--help"],
    ] {
        let (status, said) = run(">&-", command);
        assert_eq!(status, Some(2), "{command:?}: {said}");
        assert!(said.contains("standard output is closed"), "{command:?}: {said}");
        let (status, said) = run("| true", command);
        assert_eq!(status, Some(0), "{command:?}: {said}");
        assert_eq!(run(">/dev/null", command).0, Some(0), "{command:?}");
        if Path::new("/dev/full").exists() {
            let (status, said) = run(">/dev/full", command);
            assert_eq!(status, Some(1), "{command:?}: {said}");
            assert!(said.contains("standard output: No space left"), "{command:?}: {said}");
        }
    }
    let to_file = ["a.jsonl", "--to", "clido", "-o", "b.jsonl"];
    assert_eq!(run(">&-", &to_file).0, Some(0));
    assert!(place.path("b.jsonl").exists());
}

/// Each command that a run or an error names does as it says.
#[test]
fn commands_in_messages_can_be_run() {
    let place = Place::new();
    let prompt = session(Path::new("/w"), ID);
    place.write("in/a.jsonl", &prompt);
    let undo = |said: &str| -> Vec<String> {
        let (_, command) = said.split_once("Undo: convert ").expect(said);
        command.split_whitespace().map(str::to_owned).collect()
    };
    let mut said = place.said(&["in", "--to", "clido", "-o", "out"]);
    for folder in ["restored/", "restored2/", "restored3/"] {
        let command = undo(&said);
        assert_eq!(command.last().map(String::as_str), Some(folder));
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        said = place.said(&words);
        assert!(said.contains(" 0 failed"), "{said}");
    }
    assert_eq!(fs::read_to_string(place.path("restored3/a.jsonl")).expect("read"), prompt);
    assert!(!place.said(&["in", "--to", "clido", "-o", "o\nut"]).contains("Undo"));
    place.write("-o b.jsonl", &prompt);
    let said = place.said(&["--", "-o b.jsonl"]);
    assert!(said.contains("`convert './-o b.jsonl' --to FORMAT` converts it"), "{said}");
    let help = place.run(&["plan", "--help"]).stdout;
    assert!(!text(&help).contains("--restore-files") && text(&help).contains("--strict"));
    assert!(text(&place.run(&["--help"]).stdout).contains("--restore-files"));
}

/// The formats of other clients need records that the original lacks.
#[test]
fn a_converted_copy_is_no_fork() {
    let place = Place::new();
    let mut lines = session(Path::new("/w"), ID);
    for n in [1, 2] {
        lines = lines.replace(&format!("\"u{n}\""), &format!("\"{}{n}\"", &ID[..35]));
    }
    place.write("in/a.jsonl", &lines);
    // Copilot, Gemini and Qwen Code keep the ids of records, the others only that of the session.
    let formats = ["copilot", "gemini", "qwen", "pi", "codex", "clido"];
    for to in formats {
        let name = format!("in/b-{to}.jsonl");
        let done = place.run(&["in/a.jsonl", "--to", to, "-o", &name, "-q"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    }
    let drawn = text(&place.run(&["lineage", "in"]).stdout);
    assert!(!drawn.contains("fork"), "{drawn}");
    assert_eq!(drawn.matches("copy of 1 prompt").count(), formats.len(), "{drawn}");
    for name in ["in/b-copilot.jsonl", "in/b-pi.jsonl"] {
        let shown = text(&place.run(&["show", "--markdown", name]).stdout);
        assert!(shown.contains("Copy of a.jsonl"), "{shown}");
    }
    // The original is found also if its name is the last one.
    fs::rename(place.path("in/a.jsonl"), place.path("in/z.jsonl")).expect("renamed");
    let drawn = text(&place.run(&["lineage", "in"]).stdout);
    assert!(drawn.lines().next().is_some_and(|line| line.ends_with("  z.jsonl")), "{drawn}");
    assert_eq!(drawn.matches("copy of 1 prompt").count(), formats.len(), "{drawn}");
    let shown = text(&place.run(&["show", "--markdown", "in/z.jsonl"]).stdout);
    assert!(shown.contains("Copied to b-pi.jsonl") && !shown.contains("Fork"), "{shown}");
    // A client went on in a copy.
    let pi = place.path("in/b-pi.jsonl");
    let copy = fs::read_to_string(&pi).expect("a copy");
    let added = r#"{"type":"message","id":"0a0b0c0d","parentId":null,"timestamp":"2026-01-03T00:00:00.000Z","message":{"role":"user","content":"more","timestamp":1767398400000}}"#;
    fs::write(&pi, copy + added + "\n").expect("written");
    let drawn = text(&place.run(&["lineage", "in"]).stdout);
    assert_eq!(drawn.matches("copy of 1 prompt").count(), formats.len() - 1, "{drawn}");
    assert!(drawn.contains("b-pi.jsonl"), "{drawn}");
}

/// The session is converted if only the report cannot be written.
#[test]
fn outputs_that_cannot_be_written_are_named() {
    let place = Place::new();
    place.write("in/a.jsonl", &session(Path::new("/w"), ID));
    let report = ["in/a.jsonl", "--to", "clido", "-o", "b.jsonl", "--report", "in/a.jsonl/r"];
    let done = place.run(&report);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("in/a.jsonl/r: "), "{}", text(&done.stderr));
    assert!(place.path("b.jsonl").exists());
    let pages = place.run(&["export", "--html", "in", "-o", "in/a.jsonl/pages"]);
    assert_eq!(pages.status.code(), Some(2));
    assert!(text(&pages.stderr).contains("in/a.jsonl/pages: "), "{}", text(&pages.stderr));
    // An index cannot replace a folder, and the page is there.
    place.write("pages/index.html/x", "");
    let pages = place.run(&["export", "--html", "in", "-o", "pages"]);
    assert_eq!(pages.status.code(), Some(1), "{}", text(&pages.stderr));
    assert!(text(&pages.stderr).contains("pages/index.html"), "{}", text(&pages.stderr));
    assert!(place.path("pages/a.html").exists());
}

#[test]
fn a_folder_without_a_session_is_never_silent() {
    for (file, why) in [
        ("notes.txt", "no session among 1 file"),
        ("", "no file was found"),
        (
            ".convert-journal.jsonl",
            "no session was found, only in/.convert-journal.jsonl, the journal of a run",
        ),
        ("a/.convert-journal.jsonl", "only in/a/.convert-journal.jsonl, the journal of a run"),
        (
            "a/s.jsonl.carry",
            "no session was found, only in/a/s.jsonl.carry, a sidecar; put its session beside",
        ),
        (
            ".convert-receipts/0c/8e.json",
            "no session was found, only in/.convert-receipts, a file that",
        ),
    ] {
        let place = Place::new();
        fs::create_dir(place.path("in")).expect("made");
        if !file.is_empty() {
            place.write(&format!("in/{file}"), "nothing\n");
        }
        for command in ["check", "detect", "scan"] {
            let done = place.run(&[command, "in"]);
            let said = text(&done.stderr) + &text(&done.stdout);
            if file == "notes.txt" && command != "check" {
                assert!(!said.is_empty(), "{command}");
                continue;
            }
            assert_eq!(done.status.code(), Some(2), "{command} {file}: {said}");
            assert!(said.contains(why), "{command} {file}: {said}");
        }
        let done = place.run(&["check", "--json", "in"]);
        assert!(done.status.code() == Some(2) && text(&done.stderr).contains(why), "{file}");
    }
}

#[test]
fn nothing_to_convert_is_said() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("a folder");
    let done = place.run(&["empty", "--to", "clido", "-o", "out"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("no file was found"), "{}", text(&done.stderr));
    place.write("others/notes.txt", "nothing\n");
    let done = place.run(&["others", "--to", "clido", "-o", "out"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("no session among 1 file"), "{}", text(&done.stderr));
}

#[test]
fn a_session_with_its_sub_agents_counts_once_and_when_up_to_date_no_file_is_converted() {
    let place = Place::new();
    place.write(&format!("in/{ID}.jsonl"), &session(Path::new("/w"), ID));
    let agent = session(Path::new("/w"), ID)
        .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
    place.write(&format!("in/{ID}/subagents/agent-a1.jsonl"), &agent);
    let run = ["in", "--to", "clido", "-o", "out"];
    let said = place.said(&run);
    assert!(said.contains("Converted 1 session (2 files, "), "{said}");
    let stats = place.run(&["stats", "in", "--json"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).expect("an object");
    assert_eq!((&stats["sessions"], &stats["files"]), (&1.into(), &2.into()));
    let said = place.said(&run);
    assert!(said.contains("Converted 0 sessions (0 files, 0 B)"), "{said}");
    assert!(said.contains(" 1 up to date"), "{said}");
}

#[test]
fn pages_that_are_unchanged_stay_and_others_are_replaced() {
    let place = Place::new();
    // Each has its own ids: a page links to the forks of its session, so a new fork would change it.
    let of_its_own = |id: &str| {
        let session = session(Path::new("/w"), id);
        session.replace("\"u1\"", &format!("\"{id}1\"")).replace("\"u2\"", &format!("\"{id}2\""))
    };
    for id in ["a", "b"] {
        place.write(&format!("in/{id}.jsonl"), &of_its_own(id));
    }
    let run = ["export", "--html", "in", "-o", "pages"];
    let done = place.run(&run);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let modified =
        |name: &str| fs::metadata(place.path(name)).expect("a page").modified().expect("a time");
    let times = ["pages/a.html", "pages/index.html"].map(modified);
    let said = place.said(&run);
    assert!(said.contains("2 pages and an index in pages, 2 unchanged"), "{said}");
    assert_eq!(["pages/a.html", "pages/index.html"].map(modified), times);
    place.write("in/b.jsonl", &of_its_own("b").replace("Good day", "Good night"));
    place.write("in/c.jsonl", &of_its_own("c"));
    let done = place.run(&run);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(
        text(&done.stderr).contains("3 pages and an index in pages, 1 unchanged"),
        "{}",
        text(&done.stderr)
    );
    let page = fs::read_to_string(place.path("pages/b.html")).expect("a page");
    assert!(page.contains("Good night"));
    let index = fs::read_to_string(place.path("pages/index.html")).expect("an index");
    assert!(index.contains("c.html"));
    let mut names: Vec<_> = fs::read_dir(place.path("pages")).expect("pages").collect();
    names.retain(|entry| {
        entry.as_ref().is_ok_and(|it| it.path().extension() != Some("html".as_ref()))
    });
    assert!(names.is_empty(), "{names:?}");
    // A foreign file is not overwritten, and the index is written.
    place.write("pages/a.html", "mine");
    place.write("in/d.jsonl", &session(Path::new("/w"), "d"));
    let done = place.run(&run);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert_eq!(fs::read(place.path("pages/a.html")).expect("a file"), b"mine");
    let index = fs::read_to_string(place.path("pages/index.html")).expect("an index");
    assert!(index.contains("d.html"));
}

#[test]
fn an_id_is_the_session_with_the_newest_turns_and_is_counted_once() {
    let place = Place::new();
    place.installed();
    let copy = format!("{}/{ID}.jsonl", place.clido());
    let shown = place.run(&["show", ID, "--no-pager"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let list = |arguments: &[&str]| -> Value {
        let done = place.run(&[&["list", "--json"], arguments].concat());
        serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", text(&done.stderr)))
    };
    assert_eq!(list(&[ID])["format"], "claude-code");
    assert_eq!(list(&[ID, "--from", "clido"])["format"], "clido");
    let stats = || -> Value {
        let done = place.run(&["stats", "home", "--json"]);
        serde_json::from_slice(&done.stdout).expect("an object")
    };
    assert_eq!((&stats()["sessions"], &stats()["formats"]["claude-code"]), (&1.into(), &1.into()));
    // clido resumes it.
    let mut text = fs::read_to_string(place.path(&copy)).expect("a copy");
    text.push_str(
        "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":\"More\",\"type\":\"text\"}]}\n",
    );
    fs::write(place.path(&copy), text).expect("written");
    assert_eq!(list(&[ID])["format"], "clido");
    assert_eq!((&stats()["sessions"], &stats()["formats"]["clido"]), (&1.into(), &1.into()));
}

#[test]
fn files_of_one_name_that_are_no_copies_are_all_counted() {
    let place = Place::new();
    place.write("in/a/s.jsonl", &session(Path::new("/w"), "one"));
    place.write("in/b/s.jsonl", &session(Path::new("/w"), "two"));
    let done = place.run(&["in/a", "--to", "clido", "-o", "out"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    fs::create_dir(place.path("in/c")).expect("a folder");
    fs::rename(place.path("out/s.jsonl"), place.path("in/c/s.jsonl")).expect("moved");
    let done = place.run(&["stats", "in", "--json"]);
    let stats: Value = serde_json::from_slice(&done.stdout).expect("an object");
    assert_eq!(stats["sessions"], 2, "{stats}");
}

#[test]
fn commands_that_find_nothing_say_so() {
    let place = Place::new();
    place.write("a.jsonl", &session(Path::new("/w"), ID));
    place.write("torn.jsonl", &format!("{}{{\"type\":\"us", session(Path::new("/w"), ID)));
    let cases: [(&[&str], i32, &str); 4] = [
        (&["scan", "a.jsonl"], 0, "no key, token or password found in 1 file"),
        (&["show", "a.jsonl", "--no-pager", "--tool", "Nothing"], 0, "no message matches"),
        (&["export", "--html", "torn.jsonl", "-o", "t.html"], 1, "1 line cannot be read"),
        (&["carry", "show", "a.jsonl"], 0, "no carry: the file was not converted"),
    ];
    for (arguments, status, words) in cases {
        let done = place.run(arguments);
        let said = text(&done.stderr);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {said}");
    }
    place.run(&["a.jsonl", "--to", "clido", "-o", "b.jsonl", "--carry", "sidecar"]);
    let said = place.said(&["carry", "show", "b.jsonl"]);
    assert!(said.contains("its carry is in b.jsonl.carry"), "{said}");
}
