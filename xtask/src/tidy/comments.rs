//! Finds comments that circle their subject instead of naming it.
//!
//! In: `/// Takes note of what stands in a line.` Out: two problems, for `takes note` and for
//! `what stands`.

use super::{File, Problem};

/// This file, whose comments quote the phrases.
const OWN: &str = "xtask/src/tidy/comments.rs";

/// Phrases that hide the subject, in lower case, and a remedy.
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
    if file.path == OWN {
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
    fn circling_comments_are_found() {
        let text = "/// Takes note of what stands in a line.\nlet those_of = 1; // those of\n";
        let found = |path: &str| {
            let mut problems = Vec::new();
            check(&File { path: path.to_owned(), text: text.to_owned() }, &mut problems);
            problems.into_iter().map(|problem| problem.line).collect::<Vec<_>>()
        };
        assert_eq!(found("crates/jsonl/src/lib.rs"), [1, 1]);
        assert_eq!(found("xtask/src/lib.rs"), [1, 1]);
        assert_eq!(found(OWN), [0; 0]);
    }
}
