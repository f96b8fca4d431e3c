//! Measures folder runs: the rates in docs/FAST.md.

use std::{env, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, script, target};

/// Runs the program over folders, and prints times and rates.
const SCRIPT: &str = include_str!("folders.py");

/// The number of generated sessions.
const N_SESSIONS: &str = "2000";

/// Measures each kind of run in docs/FAST.md over an archive of generated sessions and over `folders`.
/// Files are written below the folder for temporary files. Returns whether all runs succeeded.
pub fn folders(root: &Path, folders: &[String]) -> bool {
    in_scratch("folders", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    build(root, &["--profile", "dist", "-p", "sessionlog-convert", "--bin", "convert"])?;
    build(root, &["--profile", "dist", "-p", "benches", "--example", "archive"])?;
    let dist = target(root).join("dist");
    let archive = scratch.join("archive");
    call(Command::new(dist.join("examples/archive")).arg(&archive).arg(N_SESSIONS))?;
    let here = env::current_dir().map_err(|error| error.to_string())?;
    let script = script(scratch, "folders.py", SCRIPT)?;
    let mut ask = Command::new("python3");
    ask.arg(script).arg(dist.join("convert")).arg(archive);
    call(ask.args(folders.iter().map(|folder| here.join(folder))).current_dir(scratch))
}
