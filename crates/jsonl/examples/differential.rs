//! Mutates lines of files and checks that all backends and `RawValue` agree on each.
//!
//! `cargo run --release -p sessionlog-jsonl --example differential -- 100000000 FILE...`

#![expect(clippy::print_stdout, reason = "it is a program")]

#[path = "../tests/all/differential/mutation.rs"]
mod mutation;

use std::{env, fs, process::ExitCode};

use mutation::{Judges, Random, mutate};

/// Length in bytes beyond which lines are cut into pieces. A difference shows within a few blocks.
const MAX_LENGTH: usize = 2_000;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(n) = arguments.next().and_then(|text| text.parse::<usize>().ok()) else {
        println!("usage: differential N FILE...");
        return ExitCode::from(2);
    };
    let mut lines = Vec::new();
    for path in arguments {
        match fs::read(&path) {
            Ok(bytes) => {
                let contents = jsonl::lines(&bytes).map(|line| line.content());
                lines.extend(contents.flat_map(short).map(<[u8]>::to_vec));
            }
            Err(error) => println!("{path}: {error}"),
        }
    }
    if lines.is_empty() {
        println!("no lines");
        return ExitCode::from(2);
    }
    let seed = env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let mut judges = Judges::default();
    let mut line = Vec::new();
    let (mut n_accepted, mut n_bytes) = (0_usize, 0_usize);
    for done in 1..=n {
        line.clear();
        line.extend_from_slice(&lines[random.below(lines.len())]);
        mutate(&mut line, &mut random);
        n_accepted += usize::from(judges.accept(&line));
        n_bytes += line.len();
        if done % 5_000_000 == 0 || done == n {
            println!("{done} lines, {n_bytes} bytes: all agreed, {n_accepted} are JSON");
        }
    }
    ExitCode::SUCCESS
}

/// Returns a short line, or the short strings, arrays and objects of a long one.
fn short(line: &[u8]) -> Vec<&[u8]> {
    if line.len() <= MAX_LENGTH {
        return vec![line];
    }
    let mut scanner = jsonl::Scanner::default();
    let Ok(root) = scanner.scan_slice(line, 0) else { return line.chunks(MAX_LENGTH).collect() };
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        for inner in value.items().chain(value.members().map(|(_, member)| member)) {
            let range = inner.raw().as_str().as_bytes();
            match line.get(offset(line, range)..).and_then(|rest| rest.get(..range.len())) {
                Some(slice) if (50..=MAX_LENGTH).contains(&slice.len()) => found.push(slice),
                Some(slice) if slice.len() > MAX_LENGTH => open.push(inner),
                _ => {}
            }
        }
    }
    found
}

fn offset(line: &[u8], slice: &[u8]) -> usize {
    slice.as_ptr() as usize - line.as_ptr() as usize
}
