//! Compiles the workspace with the minimum version of Rust, and for other systems.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a gate prints what it does")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{call, python, target};

/// The other systems that the program is checked for.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-gnu",
];

/// The packages from PyPI that compile C for other systems, because zstd is written in C.
pub(crate) const C_COMPILER: &[&str] = &["cargo-zigbuild", "ziglang"];

/// Compiles everything with the minimum version of Rust in Cargo.toml, unless the other gates run with
/// it. Returns whether it compiles and README states the same version.
///
/// Fails if that toolchain is not installed, and prints how to install it.
pub fn minimum(root: &Path) -> bool {
    let Some(stated) = stated(root) else {
        eprintln!(
            "Cargo.toml: no rust-version; add the oldest version of Rust that passes the gates"
        );
        return false;
    };
    let readme = fs::read_to_string(root.join("README.md")).unwrap_or_default();
    if !readme.contains(&format!("[Rust](https://rustup.rs) {stated} or later")) {
        eprintln!(
            "README.md: does not require Rust {stated}, the rust-version of Cargo.toml; write `[Rust](https://rustup.rs) {stated} or later`"
        );
        return false;
    }
    if version(&[]).is_some_and(|version| is_of(&version, &stated)) {
        println!("minimum: the other gates run with Rust {stated}");
        return true;
    }
    for name in [stated.clone(), format!("{stated}.0")] {
        let chosen = format!("+{name}");
        if version(&[&chosen]).is_some_and(|version| is_of(&version, &stated)) {
            println!("minimum: cargo check with Rust {name}");
            let mut check = Command::new("cargo");
            check.current_dir(root).arg(chosen).args(["check", "--workspace", "--all-targets"]);
            // The outputs of the newer compiler stay.
            check.args(["--quiet", "--locked", "--target-dir"]).arg(target(root).join("minimum"));
            return said(call(&mut check));
        }
    }
    eprintln!("minimum: Rust {stated} is not installed; run `rustup toolchain install {stated}.0`");
    false
}

/// Checks the program for each of the other systems. Returns whether all passed. A system without an
/// installed standard library is printed as skipped, and passes.
pub fn targets(root: &Path) -> bool {
    let (there, missing): (Vec<_>, Vec<_>) =
        TARGETS.iter().copied().partition(|name| has_std(name));
    for name in missing {
        println!("targets: {name} SKIPPED: run `rustup target add {name}` to check it");
    }
    if there.is_empty() {
        return true;
    }
    let zigbuild = match zigbuild(root) {
        Ok(path) => path,
        Err(what) => return said(Err(what)),
    };
    let checks = there.iter().map(|name| {
        println!("targets: {name}");
        let mut check = Command::new(&zigbuild);
        check.current_dir(root).env("PATH", with_first(zigbuild.parent()));
        check.args(["check", "--quiet", "--locked", "-p", "sessionlog-convert", "--target", name]);
        said(call(&mut check))
    });
    // Every one is checked even if an earlier one failed.
    checks.filter(|is_fine| !is_fine).count() == 0
}

/// Returns the version in Cargo.toml, such as `1.95`.
fn stated(root: &Path) -> Option<String> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).ok()?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""))?;
    version.strip_suffix('"').map(str::to_owned)
}

/// Returns the version of a toolchain, such as `1.95.0`; `None` if it is not installed. Rustup must not
/// install it now.
fn version(chosen: &[&str]) -> Option<String> {
    let mut rustc = Command::new("rustc");
    let output =
        rustc.env("RUSTUP_AUTO_INSTALL", "0").args(chosen).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix("rustc ")?.split(' ').next().map(str::to_owned)
}

/// Returns whether a version is the stated one: `1.95.0` is `1.95`, `1.950.0` is not.
fn is_of(version: &str, stated: &str) -> bool {
    version.strip_prefix(stated).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns whether the standard library for a system is installed.
pub(crate) fn has_std(name: &str) -> bool {
    let output =
        Command::new("rustc").args(["--print", "target-libdir", "--target", name]).output();
    let folder = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

/// Returns the path of `cargo-zigbuild`. If `PATH` has none, installs it from PyPI into the folder of
/// build outputs.
fn zigbuild(root: &Path) -> Result<PathBuf, String> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&paths).map(|path| path.join("cargo-zigbuild"));
    let ours = target(root).join("zig/venv/bin/cargo-zigbuild");
    if let Some(path) = installed.chain([ours.clone()]).find(|path| path.is_file()) {
        return Ok(path);
    }
    python(&target(root).join("zig"), C_COMPILER)?;
    Ok(ours)
}

/// Returns `PATH` with a folder in front.
fn with_first(folder: Option<&Path>) -> std::ffi::OsString {
    let paths = env::var_os("PATH").unwrap_or_default();
    let all = folder.map(Path::to_owned).into_iter().chain(env::split_paths(&paths));
    env::join_paths(all).unwrap_or(paths.clone())
}

/// Prints the error, and returns whether there was none.
fn said(result: Result<(), String>) -> bool {
    if let Err(what) = &result {
        eprintln!("{what}");
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_whole_numbers() {
        assert!(is_of("1.95.0", "1.95") && is_of("1.95.0-nightly", "1.95.0-nightly"));
        assert!(!is_of("1.950.0", "1.95") && !is_of("1.96.0", "1.95"));
    }
}
