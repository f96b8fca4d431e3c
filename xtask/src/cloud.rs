//! Runs between object stores on loopback: S3, as moto speaks it, Azure's, as Azurite does, and the web.

use std::{env, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, python, script};

/// What speaks Azure's protocol, from npm.
const AZURITE: &str = "azurite";

/// What speaks S3, and what asks it what is there.
const PACKAGES: &[&str] = &["moto[server]", "boto3"];

/// Starts the servers, runs there and back, and looks.
const SCRIPT: &str = include_str!("cloud.py");

/// What the gates do for the program as it is built by default, for the feature: a hundred crates more.
const GATES: [&[&str]; 2] = [
    &[
        "clippy",
        "-p",
        "convert",
        "--features",
        "cloud",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ],
    &["test", "-p", "convert", "--features", "cloud", "--lib", "--locked"],
];

/// Lints and tests the feature, converts folders, the fixtures if none is said, from a store to a
/// store and back, and compares all with what runs on the disk give; returns whether everything was
/// as it should be.
pub fn cloud(root: &Path, folders: &[String]) -> bool {
    in_scratch("cloud", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for gate in GATES {
        call(Command::new(&cargo).current_dir(root).args(gate))?;
    }
    let python = python(scratch, PACKAGES)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(scratch);
    call(npm.arg(AZURITE))?;
    let azurite = scratch.join("node_modules/.bin/azurite-blob");
    let target = build(root, &["-p", "convert", "--features", "cloud"])?;
    let script = script(scratch, "cloud.py", SCRIPT)?;
    let fixtures = [root.join("fixtures").display().to_string()];
    let here = env::current_dir().map_err(|error| error.to_string())?;
    for folder in if folders.is_empty() { &fixtures } else { folders } {
        let mut ask = Command::new(&python);
        ask.arg(&script).arg(target.join("debug/convert")).arg(&azurite).arg(here.join(folder));
        call(ask.current_dir(scratch))?;
    }
    Ok(())
}
