//! Tests of naming and selecting sessions among several of one machine.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

/// A home with the folders of clients.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// Writes a transcript of Claude Code, with a prompt for each text.
    fn session(&self, id: &str, prompts: &[&str]) -> PathBuf {
        let folder = self.folder.path().join("claude/projects/-home-ada-app");
        fs::create_dir_all(&folder).expect("made");
        let mut lines = String::new();
        let mut parent = "null".to_owned();
        for (n, prompt) in prompts.iter().enumerate() {
            lines.push_str(&format!(
                "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/home/ada/app\",\
                 \"sessionId\":\"{id}\",\"version\":\"2.1.5\",\"type\":\"user\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}},\
                 \"uuid\":\"{id}-{n}\",\"timestamp\":\"2026-03-21T10:00:0{n}.000Z\"}}\n"
            ));
            parent = format!("\"{id}-{n}\"");
        }
        let path = folder.join(format!("{id}.jsonl"));
        fs::write(&path, lines).expect("written");
        path
    }

    fn convert(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("CLAUDE_CONFIG_DIR", self.folder.path().join("claude"))
            .env_remove("CLIDO_SESSION_DIR")
            .env_remove("CODEX_HOME")
            .output()
            .expect("it runs")
    }

    /// Runs a command that succeeds, and returns what it prints.
    fn prints(&self, args: &[&str]) -> String {
        let output = self.convert(args);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {message}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

#[test]
fn the_start_of_an_id_has_any_length() {
    let home = Home::new();
    home.session("1a000000-0000-4000-8000-000000000001", &["One"]);
    home.session("1b000000-0000-4000-8000-000000000002", &["Two"]);
    home.session("2a000000-0000-4000-8000-000000000003", &["Three"]);
    for start in ["2", "2a00", "2a000000-0000-4000-8000-000000000003"] {
        for command in ["show", "stats", "check", "scan"] {
            home.prints(&[command, start]);
        }
        assert!(home.prints(&["show", start]).contains("Three"));
        assert!(home.prints(&["find", "--text", "Three", "-c", start]).ends_with(":1\n"));
        assert!(home.prints(&[start, "--to", "clido"]).contains("Three"));
    }
    for command in [&["show"][..], &["stats"], &["list"], &["find", "--text", "x"]] {
        let output = home.convert(&[command, &["1"]].concat());
        let message = String::from_utf8(output.stderr).expect("UTF-8");
        let named = "may be 1a000000 (claude-code) or 1b000000 (claude-code); \
                     choose with a longer id, --from or --project";
        assert!(message.contains(named), "{command:?}: {message}");
        assert_ne!(output.status.code(), Some(0), "{command:?}");
    }
}

/// Every command in docs/CALLS.md is one of this program, with its options.
#[test]
fn the_commands_of_the_table_of_calls_exist() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CALLS.md");
    let page = fs::read_to_string(page).expect("read");
    let (home, mut n_commands) = (Home::new(), 0);
    for command in page.split('`').skip(1).step_by(2) {
        let Some(arguments) = command.strip_prefix("convert ") else { continue };
        let mut arguments: Vec<&str> = arguments.split(' ').collect();
        arguments.push("--help");
        assert!(home.prints(&arguments).contains("Usage: convert"), "{command}");
        n_commands += 1;
    }
    assert!(n_commands > 40, "{n_commands}");
}

#[test]
fn sessions_are_chosen_by_their_kind() {
    let home = Home::new();
    home.session("1a000000-0000-4000-8000-000000000001", &["Warmup, please", "b", "c"]);
    home.session("1b000000-0000-4000-8000-000000000002", &["A prompt", "warmup"]);
    let ids = |args: &[&str]| {
        let output = home.convert(&[&["list", "--columns", "id", "--sort", "id"], args].concat());
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        printed.lines().skip(1).map(|line| line[..2].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--only", "warmup"]), ["1a"]);
    assert_eq!(ids(&["--without", "warmup"]), ["1b"]);
    // Nobody answered.
    assert_eq!(ids(&["--only", "empty"]), ["1a", "1b"]);
    assert_eq!(ids(&["--only", "empty,warmup"]), ["1a"]);
    assert_eq!(ids(&["--without", "empty"]), [""; 0]);
    assert_eq!(ids(&["--only", "empty", "--without", "compacted"]), ["1a", "1b"]);
}
