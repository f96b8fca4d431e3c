//! Detection names a format that has a line of its own, and does not depend on spelling.

use std::io::Cursor;

use convert::{Detected, Source};
use jsonl::{Scanner, Style};

/// Checks that what is detected is there, that twice is once, and that spaces and escapes change
/// nothing.
pub fn detect(input: &[u8]) {
    let found = detected(input);
    assert_eq!(found, detected(input), "detection is pure");
    let mut scanner = Scanner::default();
    let lines: Vec<_> = jsonl::lines(input).collect();
    let is_whole = |line: &jsonl::Line<'_>| scanner.clone().scan(line).is_ok();
    if lines.iter().all(is_whole) {
        if let Some(format) = convert::FORMATS.iter().find(|format| format.name == found) {
            let mut is_own = |line: &jsonl::Line<'_>| {
                scanner.scan(line).is_ok_and(|value| (format.detect)(value))
            };
            assert!(lines.iter().any(&mut is_own), "{found}: a line of its own");
        }
        let mut respelt = Vec::new();
        for line in &lines {
            let value = scanner.scan(line).expect("looked at above");
            jsonl::respell(&mut respelt, value.raw(), Style::Python);
            respelt.push(b'\n');
        }
        assert_eq!(found, detected(&respelt), "spelling is not looked at");
    }
}

/// Returns what is detected, in words.
fn detected(input: &[u8]) -> String {
    match convert::detect(&mut Source::new(Cursor::new(input))).expect("memory has no errors") {
        Detected::Format(format) => format.name.to_owned(),
        Detected::Ambiguous(one, other) => format!("{} or {}", one.name, other.name),
        Detected::Foreign(what) => what.to_owned(),
        Detected::Empty => "nothing".to_owned(),
        Detected::Unknown => "unknown".to_owned(),
    }
}
