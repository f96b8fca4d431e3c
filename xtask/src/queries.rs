//! Runs the queries of docs/QUERIES.md over tables of sessions, and restores the sessions from the
//! tables.

use std::{env, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, python, script};

/// The database, and the package that it needs for time zones.
const PACKAGES: &[&str] = &["duckdb", "pytz"];

/// Runs the queries, and compares restored files with their sources.
const SCRIPT: &str = include_str!("queries.py");

/// Writes tables of the folders and runs all queries over them. Without folders, uses the fixtures.
/// Returns whether each query has a result and every file is restored.
pub fn queries(root: &Path, folders: &[String]) -> bool {
    in_scratch("queries", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let python = python(scratch, PACKAGES)?;
    let target = build(root, &["--release", "-p", "sessionlog-convert", "--features", "parquet"])?;
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
