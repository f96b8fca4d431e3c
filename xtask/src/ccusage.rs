//! Compares `convert usage` with ccusage on the same sessions.

use std::{env, fs, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, script};

/// The package of npm. A newer version may have no program for this system yet.
const PACKAGE: &str = "ccusage@20.0.24";

/// Runs both programs and explains each difference between their sums.
const SCRIPT: &str = include_str!("ccusage.py");

/// Installs ccusage below `target`, and compares its sums by day, model and session with the sums of
/// `convert usage` over the folders. Returns whether each difference is explained.
pub fn ccusage(root: &Path, folders: &[String]) -> bool {
    in_scratch("ccusage", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let target = build(root, &["-p", "sessionlog-convert", "--bin", "convert"])?;
    let installed = target.join("ccusage");
    let program = installed.join("node_modules/.bin/ccusage");
    if !program.exists() {
        fs::create_dir_all(&installed).map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&installed);
        call(npm.arg(PACKAGE))?;
    }
    let here = env::current_dir().map_err(|error| error.to_string())?;
    let mut compare = Command::new("python3");
    compare.arg(script(scratch, "ccusage.py", SCRIPT)?).arg(target.join("debug/convert"));
    compare.arg(program).arg(scratch.join("work"));
    call(compare.args(folders.iter().map(|folder| here.join(folder))))
}
