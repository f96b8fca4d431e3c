//! Runs Miri over `jsonl`, the one library crate with unsafe code.

#![expect(clippy::print_stdout, reason = "a task prints to the terminal")]

use std::{path::Path, process::Command};

/// Runs jsonl's unit tests and its differential test under Miri, with and without AVX2. Returns whether
/// Miri found no undefined behaviour. Passes without Miri, and prints how to install it.
pub fn miri(root: &Path) -> bool {
    let is_there = Command::new("cargo").args(["+nightly", "miri", "--version"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        println!("miri: skipped, `rustup +nightly component add miri rust-src` installs it");
        return true;
    }
    ["", "-C target-feature=+avx2,+bmi1,+popcnt"].iter().all(|flags| {
        println!("miri: jsonl {flags}");
        let mut miri = Command::new("cargo");
        miri.current_dir(root).env("RUSTFLAGS", flags);
        miri.args(["+nightly", "miri", "test", "-p", "sessionlog-jsonl", "--lib", "--test", "all"]);
        miri.status().is_ok_and(|status| status.success())
    })
}
