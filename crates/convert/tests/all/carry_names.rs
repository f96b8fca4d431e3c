//! Tests of file names in a foreign carry: none leaves the output folder, and none replaces a file that
//! is not ours.

use std::{fs, path::Path, process::Command};

/// A name as long as the hostile names below, so that the lengths in the carry stay valid.
const NAME: &str = "*/subagents/agent-a123.jsonl";

const HOSTILE: [&str; 12] = [
    ".ssh/authorized_keys_of_mine",
    ".claude/settings.localx.json",
    ".git/hooks/post-checkout-now",
    "*/.git/hooks/post-checkout-x",
    "../../../../../../etc/passwd",
    "*/../../../../../etc/passwd0",
    "*/subagents/agent-a12.jsonl/",
    "/tmp/planted-by-a-carry-here",
    "*/subagents/agent-a123.jsonx",
    "*/subagents/agent-a.jsonl.sh",
    "*/tool-results/abc/defg/hijk",
    "*/tool-results/\u{202e}gpj.sh-abc",
];

fn convert(folder: &Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.current_dir(folder).args(args).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), words)
}

/// Returns the names of all files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let (mut names, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                names.push(path.strip_prefix(folder).expect("below").display().to_string());
            }
        }
    }
    names.sort();
    names
}

/// Writes a session with a sub-agent and converts it to one file, `wire.jsonl`.
fn session(folder: &Path) {
    let user = |uuid: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":null,\"sessionId\":\"s1\",\"timestamp\":\"2026-01-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    fs::create_dir_all(folder.join("in/s1/subagents")).expect("made");
    fs::write(folder.join("in/s1.jsonl"), user("u1", "Hello there")).expect("written");
    let agent = user("a1", "Look").replace("\"type\"", "\"isSidechain\":true,\"type\"");
    fs::write(folder.join("in/s1/subagents/agent-a123.jsonl"), agent).expect("written");
    let (status, words) =
        convert(folder, &["in/s1.jsonl", "--to", "sdk-stream:wire", "-o", "wire.jsonl"]);
    assert_eq!(status, 0, "{words}");
    let wire = fs::read_to_string(folder.join("wire.jsonl")).expect("text");
    assert!(wire.contains(NAME), "{wire}");
}

#[test]
fn no_name_leads_out_of_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let wire = fs::read_to_string(folder.join("wire.jsonl")).expect("text");
    for (n, name) in HOSTILE.iter().enumerate() {
        assert_eq!(name.len(), NAME.len(), "{name}");
        fs::write(folder.join("hostile.jsonl"), wire.replace(NAME, name)).expect("written");
        for force in [&[][..], &["--force"]] {
            let out = folder.join(format!("out-{n}-{}", force.len()));
            fs::create_dir(&out).expect("made");
            fs::write(out.join(".bashrc"), "mine").expect("written");
            let target = out.join("back.jsonl").display().to_string();
            let mut args = vec!["hostile.jsonl", "--to", "claude-code", "-o", &target];
            args.extend(force);
            let (status, words) = convert(folder, &args);
            assert_eq!(status, 1, "{name}: {words}");
            assert_eq!(files(&out), [".bashrc", "back.jsonl"], "{name}: {words}");
            assert!(words.contains("--restore-files"), "{words}");
        }
    }
    assert!(!Path::new("/tmp/planted-by-a-carry-here").exists());
    // Files without a place are restored to a new folder with the option for it.
    fs::write(folder.join("hostile.jsonl"), wire.replace(NAME, HOSTILE[0])).expect("written");
    let args =
        ["hostile.jsonl", "--to", "claude-code", "-o", "back.jsonl", "--restore-files", "rest"];
    let (status, words) = convert(folder, &args);
    assert_eq!(status, 0, "{words}");
    let rest = files(&folder.join("rest"));
    assert_eq!(rest.len(), 1, "{rest:?}");
    let agent = fs::read(folder.join("in/s1/subagents/agent-a123.jsonl")).expect("read");
    assert_eq!(fs::read(folder.join("rest").join(&rest[0])).expect("read"), agent);
    let (status, words) = convert(folder, &[&args[..], &["--force"]].concat());
    assert!(status != 0 && words.contains("rest"), "{status}: {words}");
}

#[test]
fn a_folder_that_is_not_ours_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let back = ["wire.jsonl", "--to", "claude-code", "-o", "back.jsonl", "--force"];
    let agent = folder.join("back/subagents/agent-a123.jsonl");
    for content in [None, Some("mine")] {
        fs::create_dir_all(folder.join("back/subagents")).expect("made");
        fs::write(folder.join("back/own.txt"), "mine").expect("written");
        if let Some(content) = content {
            fs::write(&agent, content).expect("written");
        }
        let before = files(&folder.join("back"));
        let (status, words) = convert(folder, &back);
        assert_eq!(status, 1, "{words}");
        assert_eq!(files(&folder.join("back")), before, "{words}");
        assert!(content.is_none_or(|it| fs::read_to_string(&agent).expect("read") == it));
    }
    fs::remove_dir_all(folder.join("back")).expect("removed");
    // A new folder is filled. Existing files with the same bytes count as ours.
    for _ in 0..2 {
        let (status, words) = convert(folder, &back);
        assert_eq!(status, 0, "{words}");
        assert_eq!(files(&folder.join("back")), ["subagents/agent-a123.jsonl"], "{words}");
        assert!(words.contains("subagents/agent-a123.jsonl"), "{words}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&agent).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// The folder may have empty folders, equal files, and temporary files of dead runs.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_restore_is_finished_by_the_same_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("read");
    let boot: String = boot.chars().filter(|it| *it != '-').take(8).collect();
    let temporary = |pid: u32| format!(".agent-a123.jsonl.tmp-{pid}-{boot}-01234567");
    let (dead, alive) = (temporary(i32::MAX as u32), temporary(std::process::id()));
    let agent = fs::read(folder.join("in/s1/subagents/agent-a123.jsonl")).expect("read");
    for (name, bytes, is_finished) in [
        ("", &b""[..], true),
        (&dead, b"half", true),
        ("agent-a123.jsonl", &agent, true),
        ("agent-a123.jsonl", b"mine", false),
        (&alive, b"half", false),
        ("agent-a124.jsonl", b"mine", false),
    ] {
        let below = folder.join("back/subagents");
        fs::create_dir_all(&below).expect("made");
        if !name.is_empty() {
            fs::write(below.join(name), bytes).expect("written");
        }
        let before = files(&folder.join("back"));
        let (status, words) =
            convert(folder, &["wire.jsonl", "--to", "claude-code", "-o", "back.jsonl"]);
        assert_eq!(status, i32::from(!is_finished), "{name}: {words}");
        if is_finished {
            assert_eq!(files(&folder.join("back")), ["subagents/agent-a123.jsonl"], "{name}");
            assert!(fs::read(below.join("agent-a123.jsonl")).expect("read") == agent, "{name}");
        } else {
            assert_eq!(files(&folder.join("back")), before, "{name}: {words}");
        }
        fs::remove_dir_all(folder.join("back")).expect("removed");
        fs::remove_file(folder.join("back.jsonl")).expect("removed");
    }
}

/// A folder that was restored once is up to date, and complete.
#[test]
fn a_folder_that_is_restored_twice_is_complete_both_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    for to in ["clido", "codex", "pi"] {
        let there = ["in", "--to", to, "-o", to];
        assert_eq!(convert(folder, &there).0, 0, "{to}");
        let back = format!("back-{to}");
        let args = [to, "--to", "claude-code", "-o", &back, "--report", "report.json"];
        for nth in 0..2 {
            let (status, words) = convert(folder, &args);
            assert_eq!(status, 0, "{to}, {nth}: {words}");
            let report = fs::read_to_string(folder.join("report.json")).expect("text");
            assert!(!report.contains("Damaged"), "{to}, {nth}: {report}");
        }
        let journal = folder.join(&back).join(".convert-journal.jsonl");
        let journal = fs::read_to_string(journal).expect("text");
        assert!(!journal.contains("Damaged"), "{to}: {journal}");
        // The file of a sub-agent that is gone since is missed.
        let agent = files(&folder.join(to)).into_iter().find(|name| name.contains("a123"));
        fs::remove_file(folder.join(to).join(agent.expect("there"))).expect("removed");
        let (status, words) = convert(folder, &args);
        assert!(status == 1 && words.contains("a123"), "{to}: {status}: {words}");
    }
}

/// A main file without an ending has the name of the folder of its sub-agents.
#[test]
fn an_output_with_the_name_of_its_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    for force in [&[][..], &["--force"]] {
        let args = [&["wire.jsonl", "--to", "claude-code", "-o", "out"], force].concat();
        let (status, words) = convert(folder, &args);
        assert_eq!(status, 2, "{words}");
        assert!(
            words.contains("give the output a name with an ending, such as out.jsonl"),
            "{words}"
        );
        assert!(!folder.join("out").exists());
    }
}

/// A run is killed after the files beside a main file got their names, and before the journal has their lines.
/// Later the sub-agent goes on.
#[test]
fn files_beside_of_a_killed_run_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let there = ["in", "--to", "codex", "-o", "there"];
    let back = ["there", "--to", "claude-code", "-o", "back"];
    assert_eq!((convert(folder, &there).0, convert(folder, &back).0), (0, 0));
    let journal = folder.join("back/.convert-journal.jsonl");
    let lines = fs::read_to_string(&journal).expect("text");
    let begun: String =
        lines.split_inclusive('\n').filter(|line| line.contains("\"begun\":")).collect();
    assert!(begun.contains("agent-a123.jsonl"), "{lines}");
    fs::write(&journal, begun).expect("written");
    assert_eq!(convert(folder, &back).0, 0);
    let agent = folder.join("in/s1/subagents/agent-a123.jsonl");
    let text = fs::read_to_string(&agent).expect("text");
    let last = text.lines().next_back().expect("a line").replace("\"uuid\":\"", "\"uuid\":\"z");
    fs::write(&agent, format!("{text}{last}\n")).expect("written");
    for arguments in [there, back] {
        let (status, words) = convert(folder, &arguments);
        assert_eq!(status, 0, "{words}");
    }
    let restored = fs::read(folder.join("back/s1/subagents/agent-a123.jsonl"));
    assert_eq!(restored.ok(), fs::read(&agent).ok());
}

#[test]
fn ignored_carries_are_left_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let args = ["wire.jsonl", "--to", "claude-code", "--ignore-carry", "-o", "native.jsonl"];
    let (status, words) = convert(folder, &args);
    assert_eq!(status, 0, "{words}");
    assert_eq!(files(folder).iter().filter(|it| it.starts_with("native")).count(), 1);
    let source = fs::read(folder.join("in/s1.jsonl")).expect("read");
    assert_ne!(fs::read(folder.join("native.jsonl")).expect("read"), source);
    let (status, words) =
        convert(folder, &["native.jsonl", "--to", "sdk-stream:wire", "-o", "again.jsonl"]);
    assert_eq!(status, 0, "{words}");
    let wire = fs::read(folder.join("wire.jsonl")).expect("read");
    assert_eq!(fs::read(folder.join("again.jsonl")).expect("read"), wire);
}

/// Files of a session may have sidecars of their own. A file that is converted without its sidecar is
/// reported.
#[test]
fn a_chain_from_files_with_sidecars_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let source = fs::read(folder.join("in/s1.jsonl")).expect("read");
    let agent = fs::read(folder.join("in/s1/subagents/agent-a123.jsonl")).expect("read");
    for mode in ["inline", "sidecar"] {
        for second in ["clido", "sdk-stream", "sdk-stream:wire"] {
            for third in
                ["clido", "sdk-stream", "sdk-stream:wire"].into_iter().filter(|it| *it != second)
            {
                let name = format!("{mode}-{second}-{third}").replace(':', "-");
                let [there, far, back] = ["there", "far", "back"].map(|step| {
                    fs::create_dir_all(folder.join(&name).join(step)).expect("made");
                    format!("{name}/{step}/s1.jsonl")
                });
                let first = ["in/s1.jsonl", "--to", second, "--carry", mode, "-o", &there];
                assert_eq!(convert(folder, &first).0, 0, "{name}");
                let (status, words) = convert(folder, &[&there, "--to", third, "-o", &far]);
                assert_eq!(status, 0, "{name}: {words}");
                let (_, more) = convert(folder, &[&far, "--to", "claude-code", "-o", &back]);
                let back = folder.join(&name).join("back");
                let is_back = fs::read(back.join("s1.jsonl")).ok().as_ref() == Some(&source)
                    && fs::read(back.join("s1/subagents/agent-a123.jsonl")).ok().as_ref()
                        == Some(&agent);
                assert!(is_back, "{name}: {words}\n{more}");
            }
        }
    }
}

/// Writes a session with a sub-agent and an output, converts it to one file, and gives the output a name in the
/// carry that no client has.
fn session_with_two_files(folder: &Path) -> String {
    fs::create_dir_all(folder.join("in/s1/tool-results")).expect("made");
    fs::write(folder.join("in/s1/tool-results/toolu_0.txt"), "output").expect("written");
    session(folder);
    let wire = fs::read_to_string(folder.join("wire.jsonl")).expect("text");
    assert!(wire.contains("*/tool-results/toolu_0.txt"), "{wire}");
    wire.replace("*/tool-results/toolu_0.txt", "*/.git/hooks/toolu_0.txt.x")
}

#[test]
fn a_folder_for_restored_files_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let hostile = session_with_two_files(folder);
    fs::write(folder.join("hostile.jsonl"), &hostile).expect("written");
    let back =
        ["hostile.jsonl", "--to", "claude-code", "-o", "back.jsonl", "--restore-files", "rest"];
    // A dry run writes nothing.
    let before = files(folder);
    let (status, words) = convert(folder, &[&back[..], &["--dry-run"]].concat());
    assert_eq!((status, files(folder)), (0, before.clone()), "{words}");
    assert!(!folder.join("rest").exists());
    // The first file of the carry has its place beside the main one. The folder is still refused.
    fs::create_dir(folder.join("rest")).expect("made");
    for dry_run in [&[][..], &["--dry-run"]] {
        let (status, words) = convert(folder, &[&back[..], dry_run].concat());
        assert!(status != 0 && words.contains("rest"), "{status}: {words}");
        assert_eq!(files(folder), before, "{words}");
    }
    fs::remove_dir(folder.join("rest")).expect("removed");
    let (status, words) = convert(folder, &back);
    assert_eq!(status, 0, "{words}");
    assert_eq!(files(&folder.join("rest")).len(), 1, "{words}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.join("rest")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    // Each session of a run has a folder of its own.
    fs::create_dir(folder.join("many")).expect("made");
    for name in ["a.jsonl", "b.jsonl"] {
        fs::write(folder.join("many").join(name), &hostile).expect("written");
    }
    let args = ["many", "--to", "claude-code", "-o", "out", "--restore-files", "all"];
    let (status, words) = convert(folder, &args);
    assert_eq!(status, 0, "{words}");
    let names = files(&folder.join("all"));
    assert!(names.len() == 2 && names[0].starts_with("a.jsonl/"), "{names:?}");
    // Each worker would need a folder of its own.
    let args = ["plan", "many", "--to", "claude-code", "-o", "planned", "--restore-files", "new"];
    let (status, words) = convert(folder, &args);
    assert!(status != 0 && words.contains("for convert alone"), "{status}: {words}");
}

#[test]
fn two_steps_share_the_folder_for_restored_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session(folder);
    let to_codex = ["in/s1.jsonl", "--to", "codex", "--subagents", "files", "-o", "mid/s1.jsonl"];
    let (status, words) = convert(folder, &to_codex);
    assert_eq!(status, 0, "{words}");
    let to_wire = ["mid/s1.jsonl", "--to", "sdk-stream:wire", "-o", "two.jsonl"];
    let (status, words) = convert(folder, &to_wire);
    assert_eq!(status, 0, "{words}");
    let wire = fs::read_to_string(folder.join("two.jsonl")).expect("text");
    assert!(wire.contains("*_agent-a123.jsonl"), "{wire}");
    // The first step, back to Codex, has no place for this file.
    let hostile = wire.replace("*_agent-a123.jsonl", "*/.git/hooks/x.txt");
    for name in ["many/p/s1.jsonl", "many/q/s1.jsonl"] {
        fs::create_dir_all(folder.join(name).parent().expect("a parent")).expect("made");
        fs::write(folder.join(name), &hostile).expect("written");
    }
    let before = files(folder);
    let args = ["many", "--to", "claude-code", "-o", "out", "--restore-files", "rest"];
    let (_, words) = convert(folder, &[&args[..], &["--dry-run"]].concat());
    assert_eq!(files(folder), before, "{words}");
    assert!(!folder.join("rest").exists() && !words.contains("exists"), "{words}");
    let (_, words) = convert(folder, &args);
    let names = files(&folder.join("rest"));
    let is_of = |name: &String, start: &str| name.starts_with(start);
    assert!(names.len() == 2 && is_of(&names[0], "p/s1.jsonl/0-x"), "{names:?} {words}");
    assert!(is_of(&names[1], "q/s1.jsonl/0-x"), "{names:?} {words}");
    assert_eq!(files(&folder.join("out")).iter().filter(|it| it.ends_with("/s1.jsonl")).count(), 2);
}

#[test]
fn no_folder_is_left_of_files_that_are_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    session_with_two_files(folder);
    fs::create_dir_all(folder.join("back/subagents")).expect("made");
    fs::write(folder.join("back/subagents/agent-a123.jsonl"), "mine").expect("written");
    let (status, words) =
        convert(folder, &["wire.jsonl", "--to", "claude-code", "-o", "back.jsonl"]);
    assert_eq!(status, 1, "{words}");
    let left = fs::read_dir(folder.join("back")).expect("a folder").count();
    assert_eq!(left, 1, "only `subagents` was there");
}
