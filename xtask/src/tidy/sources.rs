//! Checks Rust files: the sentence at the top, length, names, and words that are not allowed.
//!
//! In: `use std::env;` in the crate `jsonl`. Out: the problem `std::env (environment values come in as
//! arguments)`.

use super::{File, Problem};

const MAX_LINES: usize = 600;

const NAMES: &[&str] = &[
    "mod.rs",
    "utils.rs",
    "util.rs",
    "helpers.rs",
    "helper.rs",
    "common.rs",
    "misc.rs",
    "manager.rs",
];

/// Words that no file may contain, and what to write instead. Each is in two halves, so that this file
/// does not contain it.
const NOWHERE: &[(&str, &str, &str)] = &[
    ("#[ign", "ore", "let the test run, or remove it"),
    ("#[should_", "panic", "return a `Result` and assert on the error"),
    ("tod", "o!(", "finish it, or open an issue"),
    ("#[all", "ow(", "use #[expect(.., reason = ..)]"),
    ("#![all", "ow(", "use #![expect(.., reason = ..)]"),
    ("fn te", "st_", "write the name of a test as a sentence"),
];

/// Words that the code of crates may not contain outside tests, the crates that may, and a reason.
const IN_NO_CODE: &[(&str, &[&str], &str)] = &[
    ("serde_json::Value", &[], "keep slices: a tree of values loses the spelling"),
    ("json!(", &[], "append literals and slices"),
    ("serde_json", &["archive", "jsonl"], "only jsonl and archive depend on a JSON library"),
    ("simd_json", &["jsonl"], "only jsonl depends on a JSON library"),
    ("std::env", &["convert"], "environment values come in as arguments"),
    (
        "SystemTime",
        &["convert", "archive", "sessions", "storage"],
        "only these crates read times of files",
    ),
    ("Instant::now", &["convert", "archive"], "only runs measure time"),
    ("std::thread", &["convert"], "only convert starts threads"),
    ("thread::spawn", &[], "it panics if the system refuses a thread: use thread::Builder"),
    (
        "thread::scope",
        &["conversion"],
        "use a pool of rayon; ARCHITECTURE.md lists the other threads",
    ),
    (
        "thread::Builder",
        &["archive", "convert", "storage"],
        "use a pool of rayon; ARCHITECTURE.md lists the other threads",
    ),
    (
        "read_dir(",
        &["core-model", "export-parquet", "storage"],
        "it panics if the folder cannot be closed: use storage::list",
    ),
    ("io::stdout", &["convert"], "a stream to write to comes in as an argument"),
    ("io::stderr", &["convert"], "a warning goes to a callback"),
    ("escape_for_terminal", &["convert"], "only convert prints to a terminal"),
    ("signal_hook", &["convert"], "only convert handles signals"),
    ("ctrlc::", &["convert"], "only convert handles signals"),
    ("\"_carried", &["core-model", "conversion"], "only conversion writes and reads carries"),
    ("anyhow", &[], "return a typed error with the position of the fault"),
    ("serde(untagged", &[], "read the tag first, then a struct"),
    ("serde(flatten", &[], "read the tag first, then a struct"),
    ("serde(tag", &["core-model"], "read the tag first, then a struct; core-model only writes"),
];

/// Words that no public type may have as its name, and the word for the thing.
const RETIRED: &[(&str, &str)] = &[
    ("Account", "Report"),
    ("Book", "JournalIndex"),
    ("Bundle", "SessionTree, or PublishSet for files that are published together"),
    ("Bundles", "Layout"),
    ("Contents", "Manifest"),
    ("Latecomers", "DeferredRecords"),
    ("Makeup", "BlockCounts"),
    ("Manner", "WriteOptions"),
    ("Order", "Job"),
    ("Outputs", "RunOutputs"),
    ("Packer", "CarryEncoder"),
    ("Refusal", "ConvertError"),
    ("Riders", "PendingEntries"),
    ("Rooms", "ReorderBuffer"),
    ("Settled", "FileStatus"),
    ("Standing", "FileStatus"),
    ("Tally", "RestoreStats"),
    ("Telling", "ReportOptions"),
    ("Validator", "Checker"),
    ("Verdict", "FileStatus"),
    ("Volume", "ManifestEntry"),
    ("WaitingRoom", "ReorderBuffer"),
    ("Way", "Direction"),
];

pub(super) fn check(file: &File, problems: &mut Vec<Problem>) {
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|sentence| sentence.trim().is_empty()) {
        problems.push(file.problem(
            1,
            "no sentence at the top",
            "write in `//!` what the file does",
        ));
    }
    if NAMES.contains(&file.name()) {
        problems.push(file.problem(
            1,
            "a name that says nothing about the content",
            "name the file for what it does",
        ));
    }
    let in_src = file.path.contains("/src/");
    let n_lines = file.code().count();
    if in_src && n_lines > MAX_LINES {
        let what = format!("{n_lines} lines without tests, at most {MAX_LINES}");
        problems.push(file.problem(n_lines, what, "split it into modules by subject"));
    }
    for (line_number, line) in file.lines() {
        for (start, end, advice) in NOWHERE {
            if line.contains(&format!("{start}{end}")) {
                problems.push(file.problem(line_number, format!("{start}{end}"), advice));
            }
        }
    }
    let crate_name = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    if let (Some(crate_name), true) = (crate_name, in_src) {
        code(file, crate_name, problems);
    }
}

fn code(file: &File, crate_name: &str, problems: &mut Vec<Problem>) {
    for (line_number, line) in file.code() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (words, crates, advice) in IN_NO_CODE {
            if line.contains(words) && !crates.contains(&crate_name) {
                problems.push(file.problem(line_number, *words, advice));
            }
        }
        let is_store = file.path.contains("/store") || crate_name == "export-parquet";
        if line.contains("std::fs") && crate_name != "convert" && !is_store {
            let advice = "only convert, export-parquet and the store.rs of a format access files";
            problems.push(file.problem(line_number, "std::fs", advice));
        }
        if let Some((name, word)) = retired(line) {
            problems.push(file.problem(line_number, format!("a type named {name}"), word));
        }
        if line.starts_with("pub mod ") && file.name() == "lib.rs" {
            problems.push(file.problem(
                line_number,
                "a public module",
                "make it private, and re-export its items from lib.rs",
            ));
        }
    }
}

/// Returns the retired name of the public type that a line defines, and the word for the thing.
///
/// In: `pub struct Bundles {`. Out: `("Bundles", "Layout")`.
fn retired(line: &str) -> Option<(&'static str, &'static str)> {
    let line = line.trim_start().strip_prefix("pub ")?;
    let name =
        ["struct ", "enum ", "trait ", "type "].iter().find_map(|it| line.strip_prefix(it))?;
    let is_named = |word: &str| {
        name.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    RETIRED.iter().copied().find(|(word, _)| is_named(word))
}

#[cfg(test)]
mod tests {
    use super::retired;

    #[test]
    fn names_of_public_types_are_the_words_of_today() {
        assert_eq!(retired("    pub struct Bundles {"), Some(("Bundles", "Layout")));
        assert_eq!(retired("pub enum Order<'a> {"), Some(("Order", "Job")));
        for line in
            ["pub struct Orders {", "struct Order {", "pub fn Order()", "// pub struct Order"]
        {
            assert_eq!(retired(line), None, "{line}");
        }
    }
}
