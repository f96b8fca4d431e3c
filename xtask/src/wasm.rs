//! Compiles the crates that touch no file for WebAssembly, and converts sessions there and back in Node.
//!
//! `wasm32-unknown-unknown` has no files, clock, threads or randomness, so a crate that compiles for it and
//! whose module has no imports is pure.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a gate prints what it does")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    PACKAGE_PREFIX,
    scratch::{call, target},
    toolchains::has_std,
};

const TARGET: &str = "wasm32-unknown-unknown";

/// The formats of `examples/wasm`, whose fixtures are converted.
const FORMATS: &[&str] = &["claude-code", "clido", "codex", "pi"];

/// Checks the crates and runs the module. Returns whether all is fine; without the standard library of the
/// target, or without Node, prints so and passes.
pub fn wasm(root: &Path) -> bool {
    if !has_std(TARGET) {
        println!("wasm: SKIPPED: run `rustup target add {TARGET}` to check it");
        return true;
    }
    let result = compile(root).and_then(|()| there_and_back(root));
    if let Err(what) = &result {
        eprintln!("{what}");
    }
    result.is_ok()
}

/// Checks the pure crates. `sessions` and the crates above it open files.
fn compile(root: &Path) -> Result<(), String> {
    let mut check = cargo(root);
    check.args(["check", "--quiet", "--locked", "--no-default-features", "--target", TARGET]);
    for name in names(&root.join("crates"))? {
        let is_pure = ["conversion", "export-html", "secrets", "core-model", "jsonl"]
            .contains(&&*name)
            || name.starts_with("format-");
        if is_pure {
            check.arg("-p").arg(format!("{PACKAGE_PREFIX}{name}"));
        }
    }
    check.env("RUSTFLAGS", "-D warnings");
    println!("wasm: cargo check");
    call(&mut check)
}

/// Builds `examples/wasm`, and converts the fixtures with it.
fn there_and_back(root: &Path) -> Result<(), String> {
    let mut build = cargo(root);
    build.args(["build", "--quiet", "--locked", "--manifest-path", "examples/wasm/Cargo.toml"]);
    build.args(["--target", TARGET, "--target-dir"]).arg(target(root));
    build.env("RUSTFLAGS", "-D warnings");
    call(&mut build)?;
    if Command::new("node").arg("--version").output().is_err() {
        println!("wasm: no Node; install it to convert sessions with the module");
        return Ok(());
    }
    let mut run = Command::new("node");
    run.current_dir(root).arg("examples/wasm/there_and_back.mjs");
    run.arg(target(root).join(TARGET).join("debug/wasm.wasm"));
    for format in FORMATS {
        let folder = Path::new("fixtures").join(format);
        let mut files: Vec<PathBuf> =
            names(&root.join(&folder))?.iter().map(|name| folder.join(name)).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        run.args(files);
    }
    call(&mut run)
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}
