//! Checks our ATIF documents with the models and the validator of Harbor itself.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{build, call, in_scratch, python, script};

/// The package with the validator. It wants a newer Python than many machines have, and a hundred
/// other packages; the validator alone needs pydantic.
const HARBOR: &str = "harbor==0.24.0";

/// The package that the models need.
const PYDANTIC: &str = "pydantic==2.14.4";

/// The Python program that converts sessions and validates them.
const SCRIPT: &str = include_str!("atif_reader.py");

/// Converts every session of the folders to ATIF and validates it, converts it back, and again after
/// a program wrote the document anew. Without folders, uses the fixtures. Returns whether all
/// documents are valid and all sessions come back.
///
/// With `--compare SESSION DOCUMENT`, prints how much of a session is in a document, and how much in
/// ours.
pub fn atif_reader(root: &Path, arguments: &[String]) -> bool {
    in_scratch("atif-reader", |scratch| run(root, arguments, scratch))
}

fn run(root: &Path, arguments: &[String], scratch: &Path) -> Result<(), String> {
    let programs: PathBuf = build(root, &["-p", "sessionlog-convert", "--bin", "convert"])?;
    let python = python(scratch, &[PYDANTIC])?;
    let wheels = scratch.join("wheels");
    let download = ["-m", "pip", "download", "-q", "--no-deps", "--python-version", "3.12"];
    let mut pip = Command::new(&python);
    call(pip.args(download).args(["--only-binary=:all:", HARBOR, "-d"]).arg(&wheels))?;
    let script = script(scratch, "atif_reader.py", SCRIPT)?;
    let fixtures = [root.join("fixtures").display().to_string()];
    let arguments = if arguments.is_empty() { &fixtures } else { arguments };
    let mut ask = Command::new(&python);
    ask.env("PYTHONDONTWRITEBYTECODE", "1").arg(script);
    call(ask.arg(programs.join("debug/convert")).arg(&wheels).arg(scratch).args(arguments))
}
