//! Builds our program and `benches/peers`, which compares it with other programs, and runs the
//! comparison.

#![expect(clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder of the comparison. It is a workspace of its own, because it needs other JSON libraries.
const PEERS: &str = "benches/peers";

/// Measures our program and its alternatives side by side, and prints a report in Markdown to standard
/// output. Returns whether all outputs that must be equal are.
pub fn bench_peers(root: &Path, options: &[String]) -> bool {
    let target = target(root);
    let manifest = format!("{PEERS}/Cargo.toml");
    let builds: [&[&str]; 2] = [
        &["--locked", "-p", "sessionlog-convert", "--bin", "convert"],
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
            eprintln!("bench-peers: {}: {error}", dist.join("peers").display());
            false
        }
    }
}

/// Returns the folder of build outputs: `CARGO_TARGET_DIR`, or `target`.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

/// Builds with the profile `dist`, as artifacts are built. Returns whether the build succeeded.
pub(crate) fn build_dist(root: &Path, target: &Path, arguments: &[&str]) -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root).args(["build", "--quiet", "--profile", "dist"]).args(arguments);
    build.arg("--target-dir").arg(target).status().is_ok_and(|status| status.success())
}
