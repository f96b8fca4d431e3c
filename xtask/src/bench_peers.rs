//! Builds what `bench-peers` measures, and starts it.

#![expect(clippy::print_stderr, reason = "a task talks to a terminal")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// A workspace of its own, for what it depends on.
const PEERS: &str = "benches/peers";

/// Runs our program and what users would pick instead side by side; the report goes to standard
/// output. Returns whether outputs that must be equal were.
pub fn bench_peers(root: &Path, options: &[String]) -> bool {
    let target = target(root);
    let manifest = format!("{PEERS}/Cargo.toml");
    let builds: [&[&str]; 2] = [
        &["--locked", "-p", "convert", "--bin", "convert"],
        &["--manifest-path", &manifest, "--bins"],
    ];
    for arguments in builds {
        if !build_dist(root, &target, arguments) {
            return false;
        }
    }
    let dist = target.join("dist");
    let mut peers = Command::new(dist.join("peers"));
    peers.arg(dist.join("convert")).arg(root.join(PEERS).join("scripts"));
    peers.arg(target.join("peers")).args(options);
    match peers.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("peers: {error}");
            false
        }
    }
}

/// Returns the folder that cargo builds into.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

/// Builds as artifacts are built, with the profile `dist`, and returns whether that worked.
pub(crate) fn build_dist(root: &Path, target: &Path, arguments: &[&str]) -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root).args(["build", "--quiet", "--profile", "dist"]).args(arguments);
    build.arg("--target-dir").arg(target).status().is_ok_and(|status| status.success())
}
