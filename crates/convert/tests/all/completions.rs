//! Tests of completions: commands, options, values, and the sessions of this machine.

use std::{fs, path::Path, process::Command};

/// Returns the completions of the last word, as the script for bash requests them.
fn complete(home: &Path, words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(["--", "convert"])
        .args(words)
        .current_dir(home)
        .env("CONVERT_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .env("CLAUDE_CONFIG_DIR", home.join("claude"))
        .env("CLIDO_DATA_DIR", home.join("clido"))
        .env_remove("CLIDO_SESSION_DIR")
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn ids_projects_tools_and_columns_are_completed() {
    let home = tempfile::tempdir().expect("a folder");
    let id = "fb02d60f-60fc-4f60-a756-f9afd272cd18";
    let sample = format!("../../fixtures/sample/{id}.jsonl");
    let project = home.path().join("claude/projects/-home-ada-pages");
    fs::create_dir_all(&project).expect("made");
    fs::copy(sample, project.join(format!("{id}.jsonl"))).expect("copied");
    let complete = |words: &[&str]| complete(home.path(), words);
    assert_eq!(complete(&["show", "fb"]), [id]);
    assert_eq!(complete(&["fb0"]), [id]);
    assert_eq!(complete(&["resume", "fb"]), [id]);
    assert_eq!(complete(&["resume", "--in", "codex", "la"]), ["latest"]);
    assert_eq!(complete(&["resume", "--in", "c"]), ["claude-code", "clido", "codex", "copilot"]);
    assert_eq!(complete(&["show", "--project", "/home/ada/p"]), ["/home/ada/pages"]);
    assert_eq!(complete(&["find", "--tool", ""]), ["Bash", "Edit", "Read"]);
    assert_eq!(complete(&["find", "--tool", "Bash,E"]), ["Bash,Edit"]);
    assert_eq!(complete(&["list", "--columns", "id,ti"]), ["id,title"]);
    assert_eq!(complete(&["sho"]), ["show"]);
    assert_eq!(complete(&["--to", "sdk"]), ["sdk-stream", "sdk-stream:wire"]);
}

#[test]
fn names_that_a_shell_would_obey_are_not_offered() {
    let home = tempfile::tempdir().expect("a folder");
    let project = home.path().join("claude/projects/-x");
    fs::create_dir_all(&project).expect("made");
    let line = concat!(
        r#"{"type":"assistant","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"/x/$(touch y)","#,
        r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"assistant","content":["#,
        r#"{"type":"tool_use","id":"t","name":"$(touch y)","input":{}}]}}"#,
        "\n",
    );
    fs::write(project.join("aa$(touch y).jsonl"), line).expect("written");
    let offered = |words: &[&str]| complete(home.path(), words);
    assert!(offered(&["show", "aa"]).is_empty());
    assert!(offered(&["find", "--tool", ""]).iter().all(|name| !name.contains('$')));
    assert!(offered(&["list", "--project", "/x/"]).iter().all(|name| !name.contains('$')));
}
