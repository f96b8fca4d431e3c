//! Checks our outputs with a reader that is not ours: the Agent SDK for Python.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{build, built_by_tests, call, in_scratch, python, script};

/// The package of the reader. Its source distribution is installed, because the wheel contains a client.
const SDK: &str = "claude-agent-sdk";
const VERSION: &str = "0.2.187";

/// The folder of the Python program that converts sessions and checks what the SDK reads.
const SCRIPTS: &str = "xtask/src/sdk_reader";

/// Compares `head_tail_scan` and `ChainRule::Sdk` with the SDK.
const CHAINS: &str = include_str!("chains.py");

/// Compares our dumps with the dumps of the SDK.
const DUMPS: &str = include_str!("dumps.py");

/// Converts every session of the folders and reads it with the SDK. Without folders, uses the fixtures.
/// Returns whether the SDK reads everything.
pub fn sdk_reader(root: &Path, folders: &[String]) -> bool {
    let built = || -> Result<PathBuf, String> {
        build(root, &["-p", "sessionlog-convert", "--bin", "convert"])?;
        build(root, &["-p", "sessionlog-format-sdk-stream", "--example", "dump"])?;
        build(root, &["-p", "sessionlog-format-claude-code", "--example", "shown"])
    };
    ask(root, folders, built)
}

/// Checks the fixtures, with the programs that the tests of the workspace have built.
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
    // The other checks run in any case, so that one run reports all faults.
    let sessions = sessions.map_err(|error| error.to_string())?.success();
    let chains = script(scratch, "chains.py", CHAINS)?;
    let mut ask = Command::new(&python);
    ask.arg(chains).arg(programs.join("examples/shown")).arg(scratch.join("chains")).args(folders);
    call(&mut ask)?;
    let dumps = script(scratch, "dumps.py", DUMPS)?;
    let mut ask = Command::new(&python);
    call(ask.arg(dumps).arg(programs.join("examples/dump")).arg(scratch.join("dumps")))?;
    if sessions {
        Ok(())
    } else {
        Err("sdk-reader: the SDK does not read every session as it was; the differences are above"
            .to_owned())
    }
}

/// Returns the folders of fixtures without `compat`, which has packed outputs of older versions.
fn fixtures(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("fixtures")).into_iter().flatten().flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && path.file_name().is_some_and(|name| name != "compat"));
    let mut folders: Vec<String> = folders.map(|path| path.display().to_string()).collect();
    folders.sort();
    folders
}
