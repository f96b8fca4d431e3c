//! Checks detection: a detected format recognizes at least one line, and spelling does not matter.

use std::io::Cursor;

use convert::{Detected, Source};
use jsonl::{Scanner, Style};

/// Checks that a detected format recognizes a line, that detection is deterministic, and that spaces and
/// escapes do not change its result.
pub fn detect(input: &[u8]) {
    let found = detected(input);
    assert_eq!(found, detected(input), "detection is not deterministic");
    let mut scanner = Scanner::default();
    let lines: Vec<_> = jsonl::lines(input).collect();
    let is_whole = |line: &jsonl::Line<'_>| scanner.clone().scan(line).is_ok();
    if lines.iter().all(is_whole) {
        if let Some(format) = convert::FORMATS.iter().find(|format| format.name == found) {
            let mut is_own = |line: &jsonl::Line<'_>| {
                scanner.scan(line).is_ok_and(|value| (format.detect)(value))
            };
            assert!(lines.iter().any(&mut is_own), "{found}: detected, but it recognizes no line");
        }
        let mut respelt = Vec::new();
        for line in &lines {
            let value = scanner.scan(line).expect("scanned above");
            jsonl::respell(&mut respelt, value.raw(), Style::Python);
            respelt.push(b'\n');
        }
        assert_eq!(found, detected(&respelt), "another spelling is detected differently");
    }
}

/// Returns the result of detection as text.
fn detected(input: &[u8]) -> String {
    match convert::detect(&mut Source::new(Cursor::new(input))).expect("memory has no errors") {
        Detected::Format(format) => format.name.to_owned(),
        Detected::Ambiguous(one, other) => format!("{} or {}", one.name, other.name),
        Detected::Foreign(what) | Detected::Archive(what) => what.to_owned(),
        Detected::Empty => "nothing".to_owned(),
        Detected::Unknown => "unknown".to_owned(),
    }
}
