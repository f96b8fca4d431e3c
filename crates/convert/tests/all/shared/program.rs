//! Runs the program.

use std::{path::Path, process::Command};

/// Runs the program in a folder, and returns its exit status and its standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.args(arguments).current_dir(folder).output().expect("the program runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}
