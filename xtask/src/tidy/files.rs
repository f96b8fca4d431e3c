//! Rules for every text file: spaces, ends, paths of one machine.

use super::{File, Problem};

/// Starts of paths that exist on one machine only; each in two halves, or it would find itself.
const MACHINE_PATHS: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/runner"), ("C:", "\\Users"), ("/tm", "p/bash")];

pub(super) fn check(file: &File, problems: &mut Vec<Problem>) {
    for (line_number, line) in file.lines() {
        if line.ends_with([' ', '\t']) {
            problems.push(file.problem(line_number, "trailing space", "remove it"));
        }
        for (start, end) in MACHINE_PATHS {
            if line.contains(&format!("{start}{end}")) {
                let what = format!("a path of one machine: {start}{end}");
                problems.push(file.problem(line_number, what, "name it from the workspace"));
            }
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        let line_number = file.text.lines().count();
        problems.push(file.problem(line_number, "not one newline at the end", "end with one"));
    }
}
