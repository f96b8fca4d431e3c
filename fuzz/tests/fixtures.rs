//! The properties hold for every fixture, cut and with bytes changed: what stable Rust can fuzz.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The number of changed copies of each fixture.
const N_CHANGES: u64 = 40;

#[test]
fn properties_hold_for_fixtures() {
    for (_, bytes) in fixtures() {
        holds(&bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            holds(line);
        }
    }
}

#[test]
fn properties_hold_for_damaged_lines() {
    // A fixed start: the same changes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for (path, bytes) in fixtures() {
        for n in 0..N_CHANGES {
            let line_idx = next(&mut state) as usize;
            let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
            let mut line = lines[line_idx % lines.len()].to_vec();
            for _ in 0..=n % 3 {
                change(&mut line, &mut state);
            }
            println!("{}: {}", path.display(), String::from_utf8_lossy(&line));
            holds(&line);
        }
    }
}

fn holds(input: &[u8]) {
    for (_, property) in fuzz::PROPERTIES {
        property(input);
    }
}

/// Changes, removes, repeats or inserts a few bytes.
fn change(line: &mut Vec<u8>, state: &mut u64) {
    const BYTES: &[u8] = b"\"\\{}[]:,0-.eE+tfnu \t\r\x00\x1f\x7f\xff\xed\xa0\xf0\x9f";
    let at = next(state) as usize % (line.len() + 1);
    let byte = BYTES[next(state) as usize % BYTES.len()];
    match next(state) % 5 {
        0 => line.truncate(at),
        1 => line.insert(at, byte),
        2 if at < line.len() => line[at] = byte,
        3 if at < line.len() => drop(line.remove(at)),
        _ => line.extend_from_within(at..),
    }
}

/// Returns the next number of a xorshift generator.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

fn fixtures() -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the fixtures are there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}
