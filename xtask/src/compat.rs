//! What an old version of the program makes of the fixtures of its time, for the tests of every later
//! one.

use std::path::{Path, PathBuf};

use crate::scratch::{call, in_scratch, script};

/// Runs the old program, and packs what it wrote.
const SCRIPT: &str = include_str!("compat.py");

/// Writes `fixtures/compat/VERSION` by the program of that version, built with the feature `parquet`
/// from the sources in a folder; returns whether all that it wrote came back by the program itself.
///
/// It needs Python 3, tar and zstd.
pub fn compat(root: &Path, version: &str, program: &str, sources: &str) -> bool {
    in_scratch("compat", |scratch| {
        let script = script(scratch, "compat.py", SCRIPT)?;
        let target: PathBuf = root.join("fixtures/compat").join(version);
        let mut python = std::process::Command::new("python3");
        call(python.arg(script).args([program, sources]).arg(target))
    })
}
