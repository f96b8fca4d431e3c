//! The version that `--version` prints: a release build names its commit, if it is known.

use std::{
    io::{self, Write},
    path::Path,
    process::Command,
};

fn main() -> io::Result<()> {
    let mut cargo = io::stdout().lock();
    writeln!(cargo, "cargo::rerun-if-changed=build.rs")?;
    // A debug build is not built anew for each commit.
    let is_release = std::env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git/logs/HEAD");
    // A package below a repository of something else has that one's commit, not ours.
    if !is_release || !log.is_file() {
        return Ok(());
    }
    writeln!(cargo, "cargo::rerun-if-changed={}", log.display())?;
    if let Some(commit) = commit() {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(cargo, "cargo::rustc-env=CONVERT_VERSION={version} ({commit})")?;
    }
    Ok(())
}

/// Returns the start of the commit's hash and its date.
fn commit() -> Option<String> {
    let args = ["log", "-1", "--format=%h %cs", "--abbrev=10"];
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    (output.status.success() && !commit.is_empty()).then(|| commit.to_owned())
}
