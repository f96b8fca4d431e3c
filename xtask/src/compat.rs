//! Packs the outputs of a released version of the program into `fixtures/compat/VERSION`. The tests of
//! every later version restore them.

use std::path::{Path, PathBuf};

use crate::scratch::{call, in_scratch, script};

/// Converts with the old program, and packs the outputs.
const SCRIPT: &str = include_str!("compat.py");

/// Writes `fixtures/compat/VERSION`. `program` is the path of the program of that version, built with
/// the feature `parquet`, and `sources` is the folder of its sources, with the fixtures of its time.
/// Returns whether the program itself restores every output.
///
/// Needs Python 3, tar and zstd.
pub fn compat(root: &Path, version: &str, program: &str, sources: &str) -> bool {
    in_scratch("compat", |scratch| {
        let script = script(scratch, "compat.py", SCRIPT)?;
        let target: PathBuf = root.join("fixtures/compat").join(version);
        let mut python = std::process::Command::new("python3");
        call(python.arg(script).args([program, sources]).arg(target))
    })
}
