//! Builds the wheel of `python/` and runs its tests.

#![expect(clippy::print_stdout, reason = "a gate prints what it does")]

use std::{path::Path, process::Command};

use crate::{
    engines::{MATURIN, wheel},
    scratch::{call, in_scratch, python},
};

/// The packages of the tests: a runner, and readers of the batches.
const READERS: &[&str] = &["pytest", "pyarrow", "polars", "duckdb", "mypy"];

/// Builds the wheel, installs it into a virtual environment, and runs the tests in `python/tests`. Returns
/// whether they pass. Without Python or its packages, prints that nothing was tested, and returns true.
pub fn python_package(root: &Path) -> bool {
    in_scratch("python", |scratch| {
        let python = match python(scratch, &[&[MATURIN], READERS].concat()) {
            Ok(python) => python,
            Err(what) => {
                println!("python: SKIPPED, because its packages cannot be installed: {what}");
                return Ok(());
            }
        };
        let wheel = wheel(root, &[], scratch, &python)?;
        let install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"];
        call(Command::new(&python).args(install).arg(wheel))?;
        // In the folder of the tests, so that the package is the installed one.
        let tests = root.join("python/tests");
        let mut pytest = Command::new(&python);
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "."]);
        pytest.current_dir(&tests).env("PYTHONDONTWRITEBYTECODE", "1");
        call(&mut pytest)?;
        let mut stubs = Command::new(&python);
        stubs.args(["-m", "mypy.stubtest", "session_convert._native"]);
        call(stubs.current_dir(scratch))
    })
}
