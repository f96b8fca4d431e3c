//! What a person reads: nothing of a hostile file commands the terminal, whatever is asked for.

#[path = "shared/data.rs"]
mod data;

use std::{path::Path, process::Command};

use self::data::{data, root};

/// What is printed for people, with the place of the file among the arguments as `@`.
const COMMANDS: &[&[&str]] = &[
    &["@", "--to", "clido", "--carry", "none", "-v", "--output", "target"],
    &["@", "--to", "claude-code", "--strict", "--output", "target"],
    &["detect", "@"],
    &["check", "@"],
    &["scan", "@"],
    &["carry", "show", "@"],
];

/// Returns the first byte, or character, that a terminal would obey.
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
        // The JSON of the suite holds no more than the others.
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
