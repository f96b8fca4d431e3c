//! Checks every text file: trailing spaces, the newline at the end, paths of one machine, references to
//! documents outside the repository.

use super::{File, Problem};

/// Prefixes of paths that exist on one machine only. Each is in two halves, so that this file does not
/// contain it.
const MACHINE_PATHS: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/runner"), ("C:", "\\Users"), ("/tm", "p/bash")];

/// References to documents outside the repository, also in two halves.
const OUTSIDE: &[(&str, &str)] = &[
    ("see", "d 0"),
    ("See", "d 0"),
    ("see", "ds 0"),
    ("CONVERSION ", "section"),
    ("CONVERSION ", "8"),
    ("CLIENTS ", "section"),
    ("CLIENTS.md ", "section"),
    ("CLIENTS.md, ", "section"),
    ("REQUIRE", "MENTS"),
    ("OBSER", "VED"),
];

pub(super) fn check(file: &File, problems: &mut Vec<Problem>) {
    for (line_number, line) in file.lines() {
        if line.ends_with([' ', '\t']) {
            problems.push(file.problem(line_number, "trailing space", "remove it"));
        }
        for (start, end) in MACHINE_PATHS {
            if line.contains(&format!("{start}{end}")) {
                let what = format!("a path of one machine: {start}{end}");
                problems.push(file.problem(
                    line_number,
                    what,
                    "write the path relative to the workspace",
                ));
            }
        }
        for (start, end) in OUTSIDE {
            if line.contains(&format!("{start}{end}")) {
                let what = format!("a document outside the repository: {start}{end}");
                let advice =
                    "write the fact into the FORMAT.md of its crate, with the client version";
                problems.push(file.problem(line_number, what, advice));
            }
        }
        if has_requirement(line) {
            let what = "the number of a requirement outside the repository";
            problems.push(file.problem(line_number, what, "write the requirement itself"));
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        let line_number = file.text.lines().count();
        problems.push(file.problem(
            line_number,
            "no newline, or several, at the end",
            "end the file with one newline",
        ));
    }
}

/// Returns whether a line contains the number of a requirement: `R0`, two digits, `-` or `_`, two
/// digits.
fn has_requirement(line: &str) -> bool {
    line.match_indices(['R', 'r']).any(|(start, _)| {
        let is_inside = line[..start].ends_with(|before: char| before.is_ascii_alphanumeric());
        let number = line.as_bytes().get(start + 1..).unwrap_or_default();
        let is_number =
            matches!(number, [b'0', b'0', b'0'..=b'9', b'-' | b'_', b'0'..=b'9', b'0'..=b'9', ..]);
        is_number && !is_inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = File { path: "a.md".to_owned(), text: text.to_owned() };
        let mut problems = Vec::new();
        check(&file, &mut problems);
        problems.into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn references_to_documents_outside_are_found() {
        let lines = ["(see", "d 003)\nCLIENTS ", "section 2\nR00", "1-22\nfn r00", "4_21_x()\n"];
        let number = "the number of a requirement outside the repository";
        let expected = [
            concat!("a document outside the repository: see", "d 0"),
            concat!("a document outside the repository: CLIENTS ", "section"),
            number,
            number,
        ];
        assert_eq!(found(&lines.concat()), expected);
        assert_eq!(found("(seed 7), docs/CLIENTS.md, R0 and 0r001-22\n"), [] as [String; 0]);
    }
}
