//! Makes the files of a release: a static program, a package for Debian, a wheel, and their checksums.

use std::{path::Path, process::Command};

use crate::{
    engines::MATURIN,
    scratch::{call, in_scratch, python, script, target},
    toolchains::C_COMPILER,
};

/// Builds, packs, and tries each file in an empty folder.
const SCRIPT: &str = include_str!("dist.py");

/// Makes the files of a release below `artifacts` in the folder of build outputs, and tries each of them.
/// Returns whether all of them work and none names a path of this machine.
pub fn dist(root: &Path) -> bool {
    in_scratch("dist", |scratch| {
        let python = python(scratch, &[&[MATURIN], C_COMPILER].concat())?;
        let script = script(scratch, "dist.py", SCRIPT)?;
        let mut make = Command::new(&python);
        make.arg(script).arg(root).arg(target(root)).arg(scratch);
        call(make.current_dir(root))
    })
}
