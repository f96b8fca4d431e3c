//! Rules for Rust files: first sentence, size, names, words that have no place.

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

/// What stands in no file, and what to do instead; each in two halves, or it would find itself.
const NOWHERE: &[(&str, &str, &str)] = &[
    ("#[ign", "ore", "a test runs, or is not there"),
    ("#[should_", "panic", "assert on the error"),
    ("tod", "o!(", "do it, or write it into an issue"),
    ("#[all", "ow(", "use #[expect(.., reason = ..)]"),
    ("#![all", "ow(", "use #![expect(.., reason = ..)]"),
    ("fn te", "st_", "a test's name is a sentence"),
];

/// What stands in no crate's code outside tests, but for the crates named.
const IN_NO_CODE: &[(&str, &[&str], &str)] = &[
    ("serde_json::Value", &[], "keep slices: a tree of values forgets spelling"),
    ("json!(", &[], "append literals and slices"),
    ("serde_json", &["jsonl"], "only jsonl names a JSON library"),
    ("simd_json", &["jsonl"], "only jsonl names a JSON library"),
    ("std::env", &["convert"], "environment values come in as arguments"),
    ("SystemTime", &["convert", "archive", "sessions", "storage"], "times are of files alone"),
    ("Instant::now", &["convert", "archive"], "only a run knows what time it is"),
    ("std::thread", &["convert"], "only convert has threads"),
    ("io::stdout", &["convert"], "a stream to write to comes in as an argument"),
    ("io::stderr", &["convert"], "a warning goes to a callback"),
    ("escape_for_terminal", &["convert"], "only convert knows of a terminal"),
    ("signal_hook", &["convert"], "only convert owns signals"),
    ("ctrlc::", &["convert"], "only convert owns signals"),
    ("\"_carried", &["conversion"], "only convert carries"),
    ("anyhow", &[], "errors are typed and know their place"),
    ("serde(untagged", &[], "look at the tag, then read a struct"),
    ("serde(flatten", &[], "look at the tag, then read a struct"),
    ("serde(tag", &["core-model"], "look at the tag, then read a struct; core-model only writes"),
];

pub(super) fn check(file: &File, problems: &mut Vec<Problem>) {
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|sentence| sentence.trim().is_empty()) {
        problems.push(file.problem(1, "no sentence at the top", "say in `//!` what the file is"));
    }
    if NAMES.contains(&file.name()) {
        problems.push(file.problem(
            1,
            "a name that says nothing",
            "name the file for what it does",
        ));
    }
    let in_src = file.path.contains("/src/");
    let n_lines = file.code().count();
    if in_src && n_lines > MAX_LINES {
        let what = format!("{n_lines} lines without tests, at most {MAX_LINES}");
        problems.push(file.problem(n_lines, what, "split it along its own parts"));
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
            let advice = "only convert, tables, and a format's store.rs touch files";
            problems.push(file.problem(line_number, "std::fs", advice));
        }
        if line.starts_with("pub mod ") && file.name() == "lib.rs" {
            problems.push(file.problem(
                line_number,
                "a public module",
                "re-export flat from lib.rs",
            ));
        }
    }
}
