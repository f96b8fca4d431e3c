//! Checks the properties for every fixture and for changed copies of it, with stable Rust.

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

/// The number of changed copies of each fixture, if `FUZZ_CHANGES` is not set.
const N_CHANGES: u64 = 4;

#[test]
fn properties_hold_for_fixtures() {
    let mut failures = Vec::new();
    for (path, bytes) in fixtures() {
        check(&path, &bytes, &mut failures);
    }
    report(&failures);
}

#[test]
fn properties_hold_for_changed_fixtures() {
    let n_changes = std::env::var("FUZZ_CHANGES").ok().and_then(|text| text.parse().ok());
    let mut failures = Vec::new();
    for (path, bytes) in fixtures() {
        // The seed depends only on the name, so that every run makes the same changes.
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for byte in path.file_name().unwrap_or_default().as_encoded_bytes() {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        for n in 0..n_changes.unwrap_or(N_CHANGES) {
            let mut changed = bytes.clone();
            for _ in 0..=n % 3 {
                change(&mut changed, &mut state);
            }
            check(&path, &changed, &mut failures);
        }
    }
    report(&failures);
}

/// Checks all properties for some bytes. Writes the bytes to a file if a property does not hold.
fn check(path: &Path, bytes: &[u8], failures: &mut Vec<String>) {
    for (name, property) in fuzz::PROPERTIES {
        if catch_unwind(|| property(bytes)).is_err() {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("{name}-{}-{file}", failures.len()));
            _ = fs::write(&kept, bytes);
            failures.push(format!("{name}: {} ({})", path.display(), kept.display()));
        }
    }
}

/// Fails if a property does not hold.
fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Changes, removes, repeats or inserts a few bytes.
fn change(bytes: &mut Vec<u8>, state: &mut u64) {
    const BYTES: &[u8] = b"\"\\{}[]:,0-.eE+tfnu \t\r\n\x00\x1f\x7f^\xff\xed\xa0\xf0\x9f";
    let at = next(state) as usize % (bytes.len() + 1);
    let byte = BYTES[next(state) as usize % BYTES.len()];
    match next(state) % 6 {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, byte),
        2 if at < bytes.len() => bytes[at] = byte,
        3 if at < bytes.len() => drop(bytes.remove(at)),
        4 => drop(bytes.drain(..at / 2)),
        _ => bytes.extend_from_within(at..),
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
                // RunOutputs of old versions are in packed archives.
                if !path.ends_with("compat") {
                    folders.push(path);
                }
            } else if let Ok(bytes) = fs::read(&path) {
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}
