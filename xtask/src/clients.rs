//! What we write, held against a reader that no one here wrote: the Agent SDK for Python.

#![expect(clippy::print_stderr, reason = "a task talks to a terminal")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{Scratch, build, call};

/// The reader, from its source distribution: that one brings no client along.
const SDK: &str = "claude-agent-sdk";
const VERSION: &str = "0.2.187";

/// What the reader is asked, and what it must answer; a folder that Python runs.
const SCRIPTS: &str = "xtask/src/clients";

/// What our reading of the reader's rules for lists and conversations is held to.
const CHAINS: &str = include_str!("chains.py");

/// What the dumps that we write are held to.
const DUMPS: &str = include_str!("dumps.py");

/// Converts every session of the folders and asks the reader for it; returns whether all was there.
///
/// Without a folder, the fixtures are asked for.
pub fn clients(root: &Path, folders: &[String]) -> bool {
    let scratch = Scratch::new("clients");
    let result = run(root, folders, scratch.path());
    if let Err(what) = &result {
        eprintln!("{what}");
    }
    result.is_ok()
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let python = install(scratch)?;
    let target = build(root, &["-p", "convert", "--bin", "convert"])?;
    let mut ask = Command::new(&python);
    ask.env("PYTHONDONTWRITEBYTECODE", "1").arg(root.join(SCRIPTS));
    ask.arg(target.join("debug/convert")).arg(scratch.join("home"));
    if folders.is_empty() {
        ask.arg(root.join("fixtures"));
    }
    call(ask.args(folders))?;
    lists_and_conversations(root, folders, scratch, &python)?;
    dumps(root, scratch, &python)
}

/// Holds what `format-sdk-stream` dumps of random lines against what the SDK itself dumps.
fn dumps(root: &Path, scratch: &Path, python: &Path) -> Result<(), String> {
    let script = scratch.join("dumps.py");
    fs::write(&script, DUMPS).map_err(|error| error.to_string())?;
    let program = example(root, "format-sdk-stream", "dump")?;
    call(Command::new(python).arg(script).arg(program).arg(scratch.join("dumps")))
}

/// Holds the lists and conversations of `format-claude-code` against the reader's own.
fn lists_and_conversations(
    root: &Path,
    folders: &[String],
    scratch: &Path,
    python: &Path,
) -> Result<(), String> {
    let program = example(root, "format-claude-code", "shown")?;
    let script = scratch.join("chains.py");
    fs::write(&script, CHAINS).map_err(|error| error.to_string())?;
    let mut ask = Command::new(python);
    ask.arg(script).arg(program).arg(scratch.join("chains"));
    if folders.is_empty() {
        ask.arg(root.join("fixtures"));
    }
    call(ask.args(folders))
}

/// Builds an example of a crate and returns its program.
fn example(root: &Path, name_of_crate: &str, name: &str) -> Result<PathBuf, String> {
    let target = build(root, &["-p", name_of_crate, "--example", name])?;
    Ok(target.join("debug/examples").join(name))
}

/// Installs the reader into an environment of its own, and returns that environment's Python.
fn install(scratch: &Path) -> Result<PathBuf, String> {
    let venv = scratch.join("venv");
    call(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    let sdk = format!("{SDK}=={VERSION}");
    call(Command::new(&python).args(["-m", "pip", "install", "-q", "--no-binary", SDK, &sdk]))?;
    Ok(python)
}
