//! The questions of docs/QUERIES.md, asked of tables that are made of sessions, and the way back.

use std::{env, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, python, script};

/// What answers the questions, and what it needs to show times.
const PACKAGES: &[&str] = &["duckdb", "pytz"];

/// Asks every question, and compares what the tables keep with the files.
const SCRIPT: &str = include_str!("queries.py");

/// Makes tables of the folders and asks them all questions; returns whether each was answered and
/// every file came back.
///
/// Without a folder, the fixtures are asked.
pub fn queries(root: &Path, folders: &[String]) -> bool {
    in_scratch("queries", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let python = python(scratch, PACKAGES)?;
    let target = build(root, &["--release", "-p", "convert", "--features", "parquet"])?;
    let script = script(scratch, "queries.py", SCRIPT)?;
    let fixtures = [root.join("fixtures").display().to_string()];
    let here = env::current_dir().map_err(|error| error.to_string())?;
    for folder in if folders.is_empty() { &fixtures } else { folders } {
        let mut ask = Command::new(&python);
        ask.arg(&script).arg(target.join("release/convert"));
        call(ask.arg(root.join("docs/QUERIES.md")).arg(here.join(folder)).current_dir(scratch))?;
    }
    Ok(())
}
