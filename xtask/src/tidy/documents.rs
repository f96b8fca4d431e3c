//! Checks that the files, items and tests that documents name in backticks exist.
//!
//! In: `src/absent.rs` in backticks in README.md. Out: the problem `no such file: src/absent.rs`.

use std::collections::BTreeSet;

use super::{File, Problem};

/// Documents that may name files, items and tests of earlier versions.
const HISTORY: &[&str] = &["CHANGELOG.md"];

pub(super) fn check(files: &[File], paths: &[String], problems: &mut Vec<Problem>) {
    let is_source = |file: &&File| {
        [".rs", ".toml"].iter().any(|end| file.path.ends_with(end)) || file.name() == "run"
    };
    let words: BTreeSet<&str> =
        files.iter().filter(is_source).flat_map(|file| words(&file.text)).collect();
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    for document in documents.filter(|file| !HISTORY.contains(&file.name())) {
        let is_format = document.name() == "FORMAT.md";
        let mut is_code = false;
        for (line_number, line) in document.lines() {
            is_code ^= line.starts_with("```");
            if is_code || line.starts_with("```") {
                continue;
            }
            for name in line.split('`').skip(1).step_by(2) {
                if is_path(name) {
                    let any = alternatives(name).iter().all(|name| exists(name, paths));
                    if !any {
                        let what = format!("no such file: {name}");
                        problems.push(document.problem(
                            line_number,
                            what,
                            "name a file that exists",
                        ));
                    }
                } else if let Some(missing) = missing(name, &words, is_format) {
                    let what = format!("nothing is called {missing}: {name}");
                    problems.push(document.problem(
                        line_number,
                        what,
                        "name an item or a test that exists",
                    ));
                }
            }
        }
    }
}

/// Returns whether a name is a path of a Rust file of this workspace.
fn is_path(name: &str) -> bool {
    name.ends_with(".rs") && !name.contains([' ', '(']) && name != "mod.rs"
}

/// Returns whether a file has a path that ends in `name`, which may contain a star.
fn exists(name: &str, paths: &[String]) -> bool {
    paths.iter().any(|path| match name.split_once('*') {
        Some((start, end)) => path.strip_suffix(end).is_some_and(|rest| rest.contains(start)),
        None => path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')),
    })
}

/// Expands braces: `a/{b,c}.rs` becomes `a/b.rs` and `a/c.rs`.
fn alternatives(name: &str) -> Vec<String> {
    let parts = name.split_once('{').and_then(|(start, rest)| {
        let (inner, end) = rest.split_once('}')?;
        Some((start, inner, end))
    });
    match parts {
        None => vec![name.to_owned()],
        Some((start, inner, end)) => {
            inner.split(',').map(|part| format!("{start}{}{end}", part.trim())).collect()
        }
    }
}

/// Returns the first word of a path such as `Line::new`, or the name of a test, that no source contains;
/// `None` if all exist, or `name` is neither. In FORMAT.md, long names are members of records, not
/// tests.
fn missing<'n>(name: &'n str, words: &BTreeSet<&str>, is_format: bool) -> Option<&'n str> {
    if name.contains("NAME") {
        return None;
    }
    let is_call = name.contains("::") && !name.contains([' ', '"', '='].as_slice())
        || name.contains("::{") && name.ends_with('}');
    let is_test = !is_format
        && name.matches('_').count() > 3
        && name.chars().all(|char| matches!(char, 'a'..='z' | '0'..='9' | '_' | '*'));
    if !is_call && !is_test {
        return None;
    }
    let mut parts =
        name.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_' || char == '*'));
    parts.find(|part| match part.strip_suffix('*') {
        Some(start) => !words.range(start..).next().is_some_and(|word| word.starts_with(start)),
        None => part.len() > 1 && !words.contains(part),
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    words.filter(|word| word.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_file_or_an_item_are_found() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let source =
            file("crates/a/src/lib.rs", "pub struct Line; impl Line { fn all_of_it_is_read() {} }");
        let text = "`Line::new` `all_of_it_is_read` `all_of_it_*` `none_of_it_is_read` `src/lib.rs` \
                    `a/src/{lib,line}.rs` `*/src/lib.rs`\n```\n`Absent::new`\n```\n";
        let files = [source, file("README.md", text)];
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        let mut problems = Vec::new();
        check(&files, &paths, &mut problems);
        let found: Vec<_> = problems.iter().map(|problem| problem.what.as_str()).collect();
        let wanted = [
            "nothing is called new: Line::new",
            "nothing is called none_of_it_is_read: none_of_it_is_read",
            "no such file: a/src/{lib,line}.rs",
        ];
        assert_eq!(found, wanted);
    }
}
