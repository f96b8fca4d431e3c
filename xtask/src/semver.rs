//! Compares the public items of the library crates with a released version, by cargo-semver-checks.

#![expect(clippy::print_stderr, reason = "a task talks to a terminal")]

use std::{env, path::Path, process::Command};

use crate::scratch::call;

/// The commit of version 0.1.0, the first one.
const FIRST: &str = "d08162c";

/// The crates that other programs use.
const CRATES: &[&str] = &[
    "jsonl",
    "core-model",
    "secrets",
    "format-claude-code",
    "format-clido",
    "format-sdk-stream",
    "export-html",
    "export-parquet",
    "convert",
];

/// Runs cargo-semver-checks against a commit, or against version 0.1.0; says how to install it if it is
/// missing. Returns whether all changes fit the versions.
pub fn semver(root: &Path, baseline: Option<&str>) -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).args(["semver-checks", "--version"]).output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "semver: cargo-semver-checks is not installed: `cargo install cargo-semver-checks --locked`"
        );
        return false;
    }
    let mut check = Command::new(cargo);
    check.current_dir(root).args(["semver-checks", "--baseline-rev", baseline.unwrap_or(FIRST)]);
    for name in CRATES {
        check.args(["--package", name]);
    }
    match call(&mut check) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("semver: {error}");
            false
        }
    }
}
