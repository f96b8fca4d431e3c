//! Compares the public items of the library crates with a released version, with cargo-semver-checks.

#![expect(clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    PACKAGE_PREFIX,
    scratch::{call, in_scratch},
};

/// The commit of version 0.1.0, the first one.
const FIRST: &str = "d08162c";

/// The crates that other programs use and that version 0.1.0 had.
const CRATES: &[&str] = &[
    "jsonl",
    "core-model",
    "secrets",
    "format-claude-code",
    "format-clido",
    "format-sdk-stream",
    "export-html",
    "export-parquet",
    "convert",
];

/// Runs cargo-semver-checks against a commit, or against version 0.1.0. Returns whether all changes fit
/// the version numbers. Fails without cargo-semver-checks, and prints how to install it.
pub fn semver(root: &Path, baseline: Option<&str>) -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).args(["semver-checks", "--version"]).output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "semver: cargo-semver-checks is not installed: `cargo install cargo-semver-checks --locked`"
        );
        return false;
    }
    in_scratch("semver", |scratch| {
        let baseline = check_out(root, baseline.unwrap_or(FIRST), scratch)?;
        rename_packages(&baseline).map_err(|error| error.to_string())?;
        let mut check = Command::new(cargo);
        check.current_dir(root).args(["semver-checks", "--baseline-root"]).arg(baseline);
        for name in CRATES {
            check.arg("--package").arg(format!("{PACKAGE_PREFIX}{name}"));
        }
        call(&mut check)
    })
}

/// Checks out a commit into a new folder below `scratch`, and returns the folder.
fn check_out(root: &Path, commit: &str, scratch: &Path) -> Result<PathBuf, String> {
    let folder = scratch.join("baseline");
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--no-checkout"]).arg(root).arg(&folder);
    call(&mut clone)?;
    call(Command::new("git").current_dir(&folder).args(["checkout", "--quiet", commit]))?;
    Ok(folder)
}

/// Gives the packages of a workspace the names that they have today, because cargo-semver-checks finds
/// the two versions of a package by its name: up to version 0.1.0, the package in `crates/jsonl` was
/// `jsonl`.
fn rename_packages(workspace: &Path) -> io::Result<()> {
    let manifest = workspace.join("Cargo.toml");
    let mut root_text = fs::read_to_string(&manifest)?;
    for entry in fs::read_dir(workspace.join("crates"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = entry.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        fs::write(manifest, with_package_name(&text, &name))?;
        root_text = with_dependency(&root_text, &name);
    }
    fs::write(manifest, root_text)
}

/// Returns a crate's manifest with today's package name, and with the name of the library beside it,
/// which stays; a manifest that has today's name is returned as it is.
fn with_package_name(manifest: &str, name: &str) -> String {
    let before = format!("[package]\nname = \"{name}\"\n");
    let after = format!(
        "[lib]\nname = \"{}\"\n\n[package]\nname = \"{PACKAGE_PREFIX}{name}\"\n",
        name.replace('-', "_")
    );
    manifest.replacen(&before, &after, 1)
}

/// Returns the workspace's manifest with the package name in the row of one dependency.
fn with_dependency(manifest: &str, name: &str) -> String {
    let before = format!("\n{name} = {{ path = ");
    let after = format!("\n{name} = {{ package = \"{PACKAGE_PREFIX}{name}\", path = ");
    manifest.replacen(&before, &after, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_old_versions_get_the_names_of_today() {
        let old = "[package]\nname = \"core-model\"\nedition = \"2024\"\n";
        let new = "[lib]\nname = \"core_model\"\n\n[package]\nname = \"sessionlog-core-model\"\n\
                   edition = \"2024\"\n";
        assert_eq!(with_package_name(old, "core-model"), new);
        assert_eq!(with_package_name(new, "core-model"), new);
        let old = "[workspace.dependencies]\njsonl = { path = \"crates/jsonl\" }\n";
        let new = "[workspace.dependencies]\njsonl = { package = \"sessionlog-jsonl\", \
                   path = \"crates/jsonl\" }\n";
        assert_eq!(with_dependency(old, "jsonl"), new);
        assert_eq!(with_dependency(new, "jsonl"), new);
    }
}
