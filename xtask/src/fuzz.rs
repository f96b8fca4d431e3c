//! Runs the fuzz targets under libFuzzer, from the fixtures and their lines as seeds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::call;

/// The targets, the cheapest first, and the maximum length of their inputs in bytes: enough for the
/// faults that the target looks for.
const TARGETS: &[(&str, usize)] = &[
    ("safe_name", 128),
    ("split", 256),
    ("recover", 256),
    ("scan", 256),
    ("redact", 320),
    ("read", 512),
    ("detect", 512),
    ("round_trip", 320),
];

/// Runs the targets in `names`, or all if it is empty, `n_runs` times each. Returns whether no run
/// failed.
///
/// Fails without cargo-fuzz, and prints how to install it.
pub fn fuzz(root: &Path, n_runs: u64, names: &[String]) -> bool {
    let is_known = |name: &&String| TARGETS.iter().any(|(target, _)| target == name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let targets: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("fuzz: {name} is no target; choose from {}", targets.join(", "));
        return false;
    }
    let has_it = Command::new("cargo").args(["+nightly", "fuzz", "--version"]).output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "fuzz: cargo-fuzz is not installed: `rustup toolchain install nightly` and `cargo install \
             cargo-fuzz`"
        );
        return false;
    }
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    let targets = TARGETS.iter().filter(|(name, _)| is_asked(name));
    let mut is_fine = true;
    for (name, max_length) in targets {
        println!("fuzz: {name}, {n_runs} runs");
        if let Err(what) = run(root, name, *max_length, n_runs) {
            eprintln!("{name}: {what}");
            is_fine = false;
        }
    }
    is_fine
}

/// Runs one target, from the inputs that earlier runs kept.
fn run(root: &Path, name: &str, max_length: usize, n_runs: u64) -> Result<(), String> {
    let seeds = root.join("fuzz/corpus/seeds");
    let corpus = root.join("fuzz/corpus").join(name);
    plant(&root.join("fixtures"), &seeds).map_err(|error| error.to_string())?;
    fs::create_dir_all(&corpus).map_err(|error| error.to_string())?;
    let mut cargo = Command::new("cargo");
    // The only unsafe code of these crates is the vector code, which Miri checks.
    cargo.current_dir(root).args(["+nightly", "fuzz", "run", "--sanitizer", "none"]);
    // The dictionary has the words that traced comparisons would find; tracing doubles the time.
    cargo.args(["--no-trace-compares", "--features", "libfuzzer", name]);
    cargo.arg(corpus).arg(seeds).arg("--");
    cargo.arg(format!("-runs={n_runs}")).arg(format!("-max_len={max_length}"));
    cargo.arg(format!("-dict={}", root.join("fuzz/tokens.dict").display()));
    // Weighing inputs by the rarity of their edges takes longer than running them.
    call(cargo.args(["-entropic=0", "-print_final_stats=1", "-timeout=20"]))
}

/// Writes every fixture, and every line of every fixture, to a file of its own in `seeds`.
fn plant(fixtures: &Path, seeds: &Path) -> io::Result<()> {
    fs::create_dir_all(seeds)?;
    let mut folders = vec![PathBuf::from(fixtures)];
    let mut n_seeds = 0;
    let mut plant = |bytes: &[u8]| {
        n_seeds += 1;
        fs::write(seeds.join(format!("{n_seeds:05}")), bytes)
    };
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                // Outputs of old versions are in packed archives.
                if !path.ends_with("compat") {
                    folders.push(path);
                }
                continue;
            }
            let bytes = fs::read(path)?;
            plant(&bytes)?;
            bytes.split_inclusive(|byte| *byte == b'\n').try_for_each(&mut plant)?;
        }
    }
    Ok(())
}
