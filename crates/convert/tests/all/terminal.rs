//! Tests that no output for people contains bytes of a hostile file that control the terminal.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shared::{
    data::{data, root},
    turns::share,
};

/// The commands with output for people. `@` is the path of the file.
const COMMANDS: &[&[&str]] = &[
    &["@", "--to", "clido", "--carry", "none", "-v", "--output", "target"],
    &["@", "--to", "claude-code", "--strict", "--output", "target"],
    &["detect", "@"],
    &["check", "@"],
    &["scan", "@"],
    &["carry", "show", "@"],
];

/// Returns the first byte or character that controls a terminal.
fn command(text: &str) -> Option<char> {
    text.chars().find(|char| {
        char.is_control() && *char != '\n' && *char != '\t'
            || matches!(char, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

fn printed(arguments: &[&str], folder: &Path) -> Vec<u8> {
    let mut convert = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = convert.args(arguments).current_dir(folder).output().expect("the program runs");
    [output.stdout, output.stderr].concat()
}

#[test]
fn nothing_of_a_hostile_file_reaches_a_terminal_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut n_files = 0;
    for (name, bytes) in data(&["hostile"]) {
        // The JSON of the suite has the same content as the other files.
        if name.contains("jts_") {
            continue;
        }
        n_files += 1;
        let path = root().join(&name).canonicalize().expect("a file");
        let hostile_name = folder.path().join("\u{1b}[31m\u{202e}\n.jsonl");
        std::fs::write(&hostile_name, bytes).expect("written");
        for path in [&path, &hostile_name] {
            for arguments in COMMANDS {
                let path = path.to_str().expect("text");
                let arguments: Vec<_> =
                    arguments.iter().map(|it| if *it == "@" { path } else { it }).collect();
                let printed = printed(&arguments, folder.path());
                let text = std::str::from_utf8(&printed).expect("text");
                assert_eq!(command(text), None, "{arguments:?}: {}", text.escape_debug());
                _ = std::fs::remove_file(folder.path().join("target"));
            }
        }
    }
    assert!(n_files == 87 || n_files == 0, "{n_files}");
}

/// The commands with output for people.
const FOR_PEOPLE: &[&[&str]] = &[
    &["find", "--type", "user,assistant,thinking,tool-use,tool-result,image,notice,title,other"],
    &["find", "--text", "e", "-l"],
    &["find", "--text", "e", "-c"],
    &["find", "--text", "e", "-C", "2", "--heading"],
    &["find", "--text", "e", "-C", "1"],
    &["list", "--columns", "id,when,size,format,project,title,file"],
    &["list", "--long"],
    &["stats", "--each"],
    &["stats"],
    &["show"],
    &["show", "--full", "--all-branches"],
    &["show", "--markdown"],
];

/// The commands with output for programs: ASCII.
const FOR_PROGRAMS: &[&[&str]] = &[
    &["find", "--json", "--text", "e"],
    &["list", "--json", "--long"],
    &["stats", "--json", "--each"],
];

fn commands() -> Vec<&'static &'static [&'static str]> {
    FOR_PEOPLE.iter().chain(FOR_PROGRAMS).collect()
}

/// Runs a command over a folder and returns both of its output streams.
fn read(args: &[&str], folder: &Path) -> [Vec<u8>; 2] {
    let output = Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(args)
        .arg(folder)
        .args(["--progress", "none"])
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the program runs");
    assert!(matches!(output.status.code(), Some(0..=2)), "{args:?}: {}", output.status);
    [output.stdout, output.stderr]
}

fn check_folder(folder: &Path, commands: Vec<&&[&str]>) {
    for args in commands {
        let [out, errors] = read(args, folder);
        assert!(!out.is_empty(), "{args:?} prints nothing");
        for printed in [&out, &errors] {
            let text = std::str::from_utf8(printed).expect("text");
            let line = text.split('\n').find(|line| command(line).is_some());
            assert_eq!(line.map(|line| line.escape_debug().to_string()), None, "{args:?}");
        }
        if FOR_PROGRAMS.contains(args) {
            assert!(out.is_ascii(), "{args:?}");
            for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                assert!(jsonl::validate(line).is_ok(), "{args:?}");
            }
        }
    }
}

/// All commands read the hostile files, and a third of them the fixtures, other ones each day.
#[test]
fn what_is_printed_of_fixtures_and_their_names_is_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    let line = fs::read_to_string(fixtures.join("claude-code/unicode.jsonl")).expect("a fixture");
    let words = r#"Run \u001b[2J\u001b]0;title\u0007 \u202egnp.exe \u0085 \r\n\tsecond"#;
    let hostile = concat!(
        r#"{"type":"user","sessionId":"\u001b[31m","cwd":"/a/\u001b[2J","timestamp":"\u001bc","#,
        r#""message":{"role":"user","content":"WORDS"}}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m","model":"\u001b[1m","content":[{"type":"tool_use","#,
        r#""id":"\u001b","name":"Task\u001b[5m","input":{"command":"WORDS","\u001b[4m":"\u009b"}},"#,
        r#"{"type":"tool_use","id":"t","name":"Task","input":{"subagent_type":"WORDS"}},"#,
        r#"{"type":"\u001b[7m","data":"WORDS"}]}}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"\u001b","#,
        r#""is_error":true,"content":"error: WORDS"}]}}"#,
        "\n",
        r#"{"type":"custom-title","customTitle":"WORDS"}"#,
        "\n",
        r#"{"type":"\u001b[8m"}"#,
        "\n\u{1b}[2J not JSON \u{202e}\n",
    );
    fs::write(folder.path().join("a.jsonl"), hostile.replace("WORDS", words)).expect("a file");
    fs::write(folder.path().join("b.jsonl"), line).expect("a file");
    // Not every file system accepts such names.
    let name = folder.path().join("\u{1b}[31m\u{202e}.jsonl");
    _ = fs::write(name, hostile.replace("WORDS", words));
    check_folder(folder.path(), commands());
    check_folder(&fixtures, share(commands(), 3));
}

#[test]
fn what_is_printed_of_hostile_files_is_text() {
    if !data(&["hostile"]).is_empty() {
        check_folder(&root().join("hostile"), commands());
    }
}

/// Text that was pasted into a command line is quoted in errors, and a name in a plan is too.
#[test]
fn what_is_quoted_of_a_command_line_is_shown_and_not_obeyed() {
    const ODD: &str = "a\u{202e}b\u{2066}\u{200f}\u{1b}[31m\u{9b}31m";
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let option = format!("--{ODD}");
    let name = format!("{ODD}.jsonl");
    for arguments in [
        &[&*option][..],
        &["--to", ODD, "x"],
        &["x", "--to", "clido", &option],
        &["show", &option],
        &["find", "--type", ODD],
        &["work", "--shard", ODD],
        &["--to", "clido", &name],
        &["show", &name],
        &["merge", "--plan", &name],
    ] {
        let printed = printed(arguments, folder);
        let text = std::str::from_utf8(&printed).expect("text");
        assert!(text.contains("\\u{202e}") || text.contains("unexpected"), "{arguments:?}: {text}");
        assert_eq!(command(text), None, "{arguments:?}: {}", text.escape_debug());
    }
    fs::create_dir(folder.join("in")).expect("made");
    let session =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/compaction.in/session.jsonl");
    fs::copy(session, folder.join("in").join(&name)).expect("copied");
    for output in ["out", ODD] {
        let plan = printed(&["plan", "in", "--to", "clido", "-o", output, "-q"], folder);
        let text = std::str::from_utf8(&plan).expect("text");
        assert!(text.contains("\\u202e") && command(text).is_none(), "{}", text.escape_debug());
        fs::write(folder.join("plan"), &plan).expect("written");
        let worked = printed(&["work", "plan", "--report", "json"], folder);
        let text = std::str::from_utf8(&worked).expect("text");
        assert!(text.contains("\"report\":") && command(text).is_none(), "{}", text.escape_debug());
        assert!(folder.join(output).join(&name).is_file());
        let merged = printed(&["merge", "--plan", "plan"], folder);
        let text = std::str::from_utf8(&merged).expect("text");
        assert!(text.contains("1 session"), "{text}");
        let again = printed(&["in", "--to", "clido", "-o", output], folder);
        let text = std::str::from_utf8(&again).expect("text");
        assert!(text.contains("1 up to date") && command(text).is_none(), "{text}");
    }
}
