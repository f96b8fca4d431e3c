//! Finds comments that circle their subject instead of naming it.
//!
//! In: `/// Takes note of what stands in a line.` Out: two problems, for `takes note` and for
//! `what stands`.

use super::{File, Problem};

/// Crates whose comments name their subjects. Add a crate when its comments do.
const CRATES: &[&str] = &[
    "archive",
    "conversion",
    "convert",
    "core-model",
    "export-html",
    "export-parquet",
    "format-claude-code",
    "format-clido",
    "format-sdk-stream",
    "jsonl",
    "secrets",
    "sessions",
    "storage",
];

/// Phrases that hide the subject, in lower case, and a better way.
const PHRASES: &[(&str, &str)] = &[
    ("in the place of", "write `instead of`, or name the position"),
    ("passed over", "write `skipped`"),
    ("stumble", "say what fails, and in which program"),
    ("take note", "say what is stored or counted"),
    ("takes note", "say what is stored or counted"),
    ("tells of", "name the member or the value"),
    ("that which", "name the thing"),
    ("those of", "name the things, or write `Returns an error if ..`"),
    ("what became of", "name the result"),
    ("what becomes of", "name the result"),
    ("what it is", "name the thing"),
    ("what it was", "name the thing"),
    ("what stands", "name the text, the line or the member"),
];

pub(super) fn check(file: &File, problems: &mut Vec<Problem>) {
    let name = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    if !name.is_some_and(|name| CRATES.contains(&name)) {
        return;
    }
    for (line_number, line) in file.lines() {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let comment = comment.to_lowercase();
        for (phrase, advice) in PHRASES {
            if comment.contains(phrase) {
                let what = format!("a comment that circles its subject: {phrase}");
                problems.push(file.problem(line_number, what, advice));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circling_comments_are_found_in_finished_crates() {
        let text = "/// Takes note of what stands in a line.\nlet those_of = 1; // those of\n";
        let found = |path: &str| {
            let mut problems = Vec::new();
            check(&File { path: path.to_owned(), text: text.to_owned() }, &mut problems);
            problems.into_iter().map(|problem| problem.line).collect::<Vec<_>>()
        };
        assert_eq!(found("crates/jsonl/src/lib.rs"), [1, 1]);
        assert_eq!(found("xtask/src/lib.rs"), [0; 0]);
    }
}
