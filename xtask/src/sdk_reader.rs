//! What we write, held against a reader that no one here wrote: the Agent SDK for Python.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{build, built_by_tests, call, in_scratch, python, script};

/// The reader, from its source distribution: that one brings no client along.
const SDK: &str = "claude-agent-sdk";
const VERSION: &str = "0.2.187";

/// What the reader is asked, and what it must answer; a folder that Python runs.
const SCRIPTS: &str = "xtask/src/sdk_reader";

/// What our reading of the reader's rules for lists and conversations is held to.
const CHAINS: &str = include_str!("chains.py");

/// What the dumps that we write are held to.
const DUMPS: &str = include_str!("dumps.py");

/// Converts every session of the folders and asks the reader for it; returns whether all was there.
///
/// Without a folder, the fixtures are asked for.
pub fn sdk_reader(root: &Path, folders: &[String]) -> bool {
    let built = || -> Result<PathBuf, String> {
        build(root, &["-p", "convert", "--bin", "convert"])?;
        build(root, &["-p", "format-sdk-stream", "--example", "dump"])?;
        build(root, &["-p", "format-claude-code", "--example", "shown"])
    };
    ask(root, folders, built)
}

/// Asks for the fixtures, with the programs that the tests of the workspace have built.
pub(crate) fn sdk_reader_of_tests(root: &Path) -> bool {
    ask(root, &[], || built_by_tests(root))
}

fn ask(root: &Path, folders: &[String], built: impl FnOnce() -> Result<PathBuf, String>) -> bool {
    in_scratch("sdk-reader", |scratch| run(root, folders, &built()?, scratch))
}

fn run(root: &Path, folders: &[String], programs: &Path, scratch: &Path) -> Result<(), String> {
    let sdk = format!("{SDK}=={VERSION}");
    let python = python(scratch, &["--no-binary", SDK, &sdk])?;
    let programs = programs.join("debug");
    let fixtures = fixtures(root);
    let folders = if folders.is_empty() { &fixtures } else { folders };
    let sessions = Command::new(&python)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(root.join(SCRIPTS))
        .arg(programs.join("convert"))
        .arg(scratch.join("home"))
        .args(folders)
        .status();
    // The other questions are asked in any case: a run tells of all that is wrong.
    let sessions = sessions.map_err(|error| error.to_string())?.success();
    let chains = script(scratch, "chains.py", CHAINS)?;
    let mut ask = Command::new(&python);
    ask.arg(chains).arg(programs.join("examples/shown")).arg(scratch.join("chains")).args(folders);
    call(&mut ask)?;
    let dumps = script(scratch, "dumps.py", DUMPS)?;
    let mut ask = Command::new(&python);
    call(ask.arg(dumps).arg(programs.join("examples/dump")).arg(scratch.join("dumps")))?;
    if sessions { Ok(()) } else { Err("not all that we write is read as it should be".to_owned()) }
}

/// Returns the folders of fixtures, but for archives of what older versions wrote.
fn fixtures(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("fixtures")).into_iter().flatten().flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && path.file_name().is_some_and(|name| name != "compat"));
    let mut folders: Vec<String> = folders.map(|path| path.display().to_string()).collect();
    folders.sort();
    folders
}
