//! Instructions per byte of input: a gate on speed that no busy machine disturbs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to a terminal")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::bench_peers::{build_dist, target};

const FILE: &str = "benches/instructions.txt";

const HEAD: &str = "\
# Instructions per byte of input, profile `dist`, one job, x86-64 with AVX2, copies by vectors.
# Written by `cargo xtask instructions --record`; a run that needs 5 % more fails.
";

/// Large enough that starting the program hardly counts, small enough for valgrind.
const SAMPLE_BYTES: &str = "3000000";

/// By how much a number may grow.
const MAX_GROWTH: f64 = 1.05;

/// Has the C library copy by vectors, whatever the length: `rep movsb`, by which it copies what is
/// long, is one instruction for a CPU, and one for each byte for valgrind.
const BY_VECTORS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.x86_rep_movsb_threshold=0x40000000");

/// The conversions that are counted: what is read, what is written, how it is carried.
const JOBS: &[(&str, &str, &str)] = &[
    ("claude-code", "clido", "none"),
    ("claude-code", "clido", "inline"),
    ("claude-code", "clido", "sidecar"),
    ("claude-code", "sdk-stream", "none"),
    ("claude-code", "sdk-stream:wire", "none"),
    ("sdk-stream", "claude-code", "none"),
    ("sdk-stream:wire", "claude-code", "none"),
    ("clido", "claude-code", "none"),
];

/// Counts the instructions of some conversions of one sample; returns whether none needs more than
/// recorded. Where they cannot be counted, it says so and passes.
pub fn instructions(root: &Path, is_recording: bool) -> bool {
    if let Some(why) = why_not() {
        println!("instructions: skipped, {why}");
        return true;
    }
    let scratch = target(root).join("instructions");
    let counted = fs::create_dir_all(&scratch).map_err(|error| error.to_string());
    match counted.and_then(|()| count(root, &scratch)) {
        Ok(counted) if is_recording => record(root, &counted),
        Ok(counted) => compare(root, &counted),
        Err(what) => {
            eprintln!("instructions: {what}");
            false
        }
    }
}

/// Returns why instructions cannot be counted here.
fn why_not() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let is_alike = is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let is_alike = false;
    if !is_alike {
        return Some("the numbers are those of x86-64 with AVX2");
    }
    let valgrind = Command::new("valgrind").arg("--version").output();
    let is_there = valgrind.is_ok_and(|output| output.status.success());
    (!is_there).then_some("valgrind is not installed")
}

/// Returns what was counted, by name; among it the sample's hash, which is no count.
fn count(root: &Path, scratch: &Path) -> Result<BTreeMap<String, String>, String> {
    if !build_dist(root, &target(root), &["--locked", "-p", "convert", "--bin", "convert"]) {
        return Err("the program could not be built".to_owned());
    }
    let convert = target(root).join("dist/convert");
    let sample = sample(root)?;
    let mut counted = BTreeMap::from([("sample".to_owned(), format!("{:016x}", hash(&sample)))]);
    let source = scratch.join("claude-code.jsonl");
    fs::write(&source, &sample).map_err(|error| error.to_string())?;
    for (from, to, carry) in JOBS {
        let source = match *from {
            "claude-code" => source.clone(),
            _ => {
                let made = scratch.join(format!("{}.jsonl", from.replace(':', "-")));
                let mut make = Command::new(&convert);
                call(convert_to(&mut make, from, "none", &source, &made))?;
                made
            }
        };
        let mut run = Command::new("valgrind");
        run.env(BY_VECTORS.0, BY_VECTORS.1);
        run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&convert);
        let said = call(convert_to(&mut run, to, carry, &source, &scratch.join("out.jsonl")))?;
        let n_instructions = collected(&said).ok_or("valgrind counted nothing")?;
        let n_bytes = fs::metadata(&source).map_err(|error| error.to_string())?.len();
        let per_byte = n_instructions as f64 / n_bytes as f64;
        counted.insert(format!("{from} to {to}, {carry}"), format!("{per_byte:.3}"));
    }
    Ok(counted)
}

fn convert_to<'c>(
    command: &'c mut Command,
    to: &str,
    carry: &str,
    source: &PathBuf,
    target: &PathBuf,
) -> &'c mut Command {
    _ = fs::remove_file(target);
    _ = fs::remove_file(target.with_extension("jsonl.carry"));
    command.args(["--quiet", "--jobs", "1", "--to", to, "--carry", carry]);
    command.arg("--output").arg(target).arg(source)
}

/// Has the benches make the sample.
fn sample(root: &Path) -> Result<Vec<u8>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut make = Command::new(cargo);
    make.current_dir(root).args(["run", "--quiet", "--locked", "-p", "benches"]);
    make.args(["--example", "corpus", "--", SAMPLE_BYTES]);
    let output = make.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(output.stdout)
}

/// Runs a command, and returns what it says on standard error.
fn call(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(said) } else { Err(said) }
}

/// Returns the number after callgrind's `Collected :`.
fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns FNV-1a of some bytes.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn record(root: &Path, counted: &BTreeMap<String, String>) -> bool {
    let mut text = HEAD.to_owned();
    for (name, number) in counted {
        text.push_str(&format!("{name} = {number}\n"));
    }
    print!("{text}");
    fs::write(root.join(FILE), text).is_ok()
}

fn compare(root: &Path, counted: &BTreeMap<String, String>) -> bool {
    let text = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let recorded: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(" = ")).collect();
    if recorded.get("sample").copied() != counted.get("sample").map(String::as_str) {
        eprintln!("instructions: the sample is another one; `cargo xtask instructions --record`");
        return false;
    }
    let mut is_fine = true;
    for (name, number) in counted.iter().filter(|(name, _)| *name != "sample") {
        let before = recorded.get(name.as_str()).copied().unwrap_or_default();
        let number_of = |text: &str| text.parse().unwrap_or(0.0_f64);
        let growth = number_of(number) / number_of(before);
        // A job that was not recorded has grown beyond all bounds.
        let has_grown = growth.is_nan() || growth > MAX_GROWTH;
        let word =
            if has_grown { "  MORE: make it less, or record it with the reason" } else { "" };
        println!("{name:<42} {number:>8} per byte, recorded {before:>8}{word}");
        is_fine &= !has_grown;
    }
    is_fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_says_what_it_collected() {
        let said = "==1== \n==1== Collected : 18954321\n==1== \n";
        assert_eq!(collected(said), Some(18_954_321));
        assert_eq!(collected("valgrind: no such file"), None);
    }
}
