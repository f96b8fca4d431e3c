//! Counts instructions per byte of input: a gate on speed that a busy machine does not disturb.
//!
//! In: conversions of one sample, ways back, and one of many small files. Out: `benches/instructions.txt`, with lines such as
//! `claude-code to clido, none = 3.021`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints to the terminal")]

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

/// The size of the sample: large enough that the start of the program hardly counts, small enough for
/// valgrind.
const SAMPLE_BYTES: &str = "3000000";

/// Limit on a count relative to the recorded one.
const MAX_GROWTH: f64 = 1.05;

/// Makes the C library copy long ranges with vectors. By default it uses `rep movsb`, which is one
/// instruction for a CPU, but valgrind counts one for each byte.
const BY_VECTORS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.x86_rep_movsb_threshold=0x40000000");

/// The counted conversions: source format, target format, `--carry`.
const JOBS: &[(&str, &str, &str)] = &[
    ("claude-code", "clido", "none"),
    ("claude-code", "clido", "inline"),
    ("claude-code", "clido", "sidecar"),
    ("claude-code", "sdk-stream", "none"),
    ("claude-code", "sdk-stream", "inline"),
    ("claude-code", "sdk-stream", "sidecar"),
    ("claude-code", "sdk-stream:wire", "none"),
    ("claude-code", "sdk-stream:wire", "inline"),
    ("sdk-stream", "claude-code", "none"),
    ("sdk-stream", "clido", "none"),
    ("sdk-stream:wire", "claude-code", "none"),
    ("clido", "claude-code", "none"),
    ("clido", "sdk-stream", "none"),
    ("claude-code", "codex", "none"),
    ("claude-code", "codex", "inline"),
    ("codex", "claude-code", "none"),
    ("claude-code", "copilot", "none"),
    ("copilot", "claude-code", "none"),
    ("claude-code", "pi", "none"),
    ("claude-code", "pi", "inline"),
    ("pi", "claude-code", "none"),
    ("claude-code", "qwen", "none"),
    ("qwen", "claude-code", "none"),
];

/// The counted ways back to Claude Code: the format of the copy, and its `--carry`.
const BACK: &[(&str, &str)] = &[
    ("clido", "inline"),
    ("clido", "sidecar"),
    ("sdk-stream", "inline"),
    ("sdk-stream", "sidecar"),
    ("sdk-stream:wire", "inline"),
    ("codex", "inline"),
    ("pi", "inline"),
];

/// The number of small files, and the limit on the bytes of one.
const N_SMALL: usize = 200;
const MAX_SMALL: usize = 5_000;

/// Counts the instructions of `JOBS`, and compares them with the recorded counts, or records them.
/// Returns whether no count grew by more than 5 %. Passes where instructions cannot be counted, and
/// prints why.
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

/// Returns why instructions cannot be counted on this machine; `None` if they can.
fn why_not() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let is_alike = is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let is_alike = false;
    if !is_alike {
        return Some("the recorded counts are for x86-64 with AVX2");
    }
    let valgrind = Command::new("valgrind").arg("--version").output();
    let is_there = valgrind.is_ok_and(|output| output.status.success());
    (!is_there).then_some("valgrind is not installed; install its package to run this gate")
}

/// Returns the instructions per byte by the name of the conversion, and the hash of the sample under
/// `sample`.
fn count(root: &Path, scratch: &Path) -> Result<BTreeMap<String, String>, String> {
    if !build_dist(
        root,
        &target(root),
        &["--locked", "-p", "sessionlog-convert", "--bin", "convert"],
    ) {
        return Err("the program does not build; the messages of cargo are above".to_owned());
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
        let n_bytes = fs::metadata(&source).map_err(|error| error.to_string())?.len();
        let target = scratch.join("out.jsonl");
        let per_byte = per_byte(&convert, (to, carry), &source, n_bytes, &target)?;
        counted.insert(format!("{from} to {to}, {carry}"), per_byte);
    }
    for (format, carry) in BACK {
        let copy = scratch.join(format!("{}-{carry}.jsonl", format.replace(':', "-")));
        let mut make = Command::new(&convert);
        call(convert_to(&mut make, format, carry, &source, &copy))?;
        // The ways there and back count the same bytes.
        let target = scratch.join("out.jsonl");
        let n_bytes = sample.len() as u64;
        let per_byte = per_byte(&convert, ("claude-code", carry), &copy, n_bytes, &target)?;
        counted.insert(format!("{format} back to claude-code, {carry}"), per_byte);
    }
    let (folder, n_bytes) = small_files(scratch, &sample).map_err(|error| error.to_string())?;
    let target = scratch.join("small-out");
    for carry in ["none", "inline"] {
        let per_byte = per_byte(&convert, ("clido", carry), &folder, n_bytes, &target)?;
        counted.insert(format!("claude-code to clido, {carry}, {N_SMALL} small files"), per_byte);
    }
    Ok(counted)
}

/// Returns the instructions of a conversion per byte.
fn per_byte(
    convert: &Path,
    (to, carry): (&str, &str),
    source: &PathBuf,
    n_bytes: u64,
    target: &PathBuf,
) -> Result<String, String> {
    let mut run = Command::new("valgrind");
    run.env(BY_VECTORS.0, BY_VECTORS.1);
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(convert);
    let said = call(convert_to(&mut run, to, carry, source, target))?;
    let n_instructions = collected(&said).ok_or("valgrind printed no line with `Collected :`")?;
    Ok(format!("{:.3}", n_instructions as f64 / n_bytes as f64))
}

/// Writes sessions with the first lines of the sample. Returns their folder and their size in bytes.
fn small_files(scratch: &Path, sample: &[u8]) -> std::io::Result<(PathBuf, u64)> {
    let head = &sample[..MAX_SMALL.min(sample.len())];
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
    let folder = scratch.join("small");
    fs::create_dir_all(&folder)?;
    for n in 0..N_SMALL {
        fs::write(folder.join(format!("{n:08x}-0000-4000-8000-000000000000.jsonl")), &head[..end])?;
    }
    Ok((folder, (N_SMALL * end) as u64))
}

/// Adds the arguments of a conversion, and removes the outputs of an earlier one.
fn convert_to<'c>(
    command: &'c mut Command,
    to: &str,
    carry: &str,
    source: &PathBuf,
    target: &PathBuf,
) -> &'c mut Command {
    _ = fs::remove_file(target);
    _ = fs::remove_dir_all(target);
    _ = fs::remove_file(target.with_extension("jsonl.carry"));
    command.args(["--quiet", "--jobs", "1", "--to", to, "--carry", carry]);
    command.arg("--output").arg(target).arg(source)
}

/// Generates the sample with an example of `benches`.
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

/// Runs a command and returns its standard error, also as the error.
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

/// Writes the counts to `FILE`.
fn record(root: &Path, counted: &BTreeMap<String, String>) -> bool {
    let mut text = HEAD.to_owned();
    for (name, number) in counted {
        text.push_str(&format!("{name} = {number}\n"));
    }
    print!("{text}");
    fs::write(root.join(FILE), text).is_ok()
}

/// Prints the counts beside the recorded ones, and returns whether none grew too much.
fn compare(root: &Path, counted: &BTreeMap<String, String>) -> bool {
    let text = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let recorded: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once(" = ")).collect();
    if recorded.get("sample").copied() != counted.get("sample").map(String::as_str) {
        eprintln!(
            "{FILE}: recorded for another sample; record the counts again with `cargo xtask instructions \
             --record`"
        );
        return false;
    }
    let mut is_fine = true;
    for (name, number) in counted.iter().filter(|(name, _)| *name != "sample") {
        let before = recorded.get(name.as_str()).copied().unwrap_or_default();
        let number_of = |text: &str| text.parse().unwrap_or(0.0_f64);
        let growth = number_of(number) / number_of(before);
        // A job without a recorded count divides by 0.
        let has_grown = growth.is_nan() || growth > MAX_GROWTH;
        let word =
            if has_grown { "  MORE THAN 5 %: reduce it, or record it and say why" } else { "" };
        println!("{name:<42} {number:>8} per byte, recorded {before:>8}{word}");
        is_fine &= !has_grown;
    }
    is_fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_callgrind_is_read() {
        let said = "==1== \n==1== Collected : 18954321\n==1== \n";
        assert_eq!(collected(said), Some(18_954_321));
        assert_eq!(collected("valgrind: no such file"), None);
    }
}
