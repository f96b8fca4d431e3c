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
    report(&failures, FALSE_ALARMS, true);
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
    report(&failures, FALSE_ALARMS_OF_CHANGES, n_changes.is_none());
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

/// Properties that do not hold for these fixtures. The changed target restores all
/// records but the changed one, and the report also says that another record shows something else than
/// it restores: a false alarm, and no loss. Two written lines show one source record, or the source has
/// ids of tool uses twice, so that their replacements agree with more than one restored id. Which targets
/// and changes are tried depends on the number of formats. The test fails for any other fixture, and for
/// one of these as soon as the property holds.
const FALSE_ALARMS: &[(&str, &str)] = &[("mutate", "qwen/odd-results.jsonl")];

/// The same for changed copies of these fixtures.
const FALSE_ALARMS_OF_CHANGES: &[(&str, &str)] = &[
    ("mutate", "clido/open-tool-call.jsonl"),
    ("mutate", "copilot/odd-calls.jsonl"),
    ("mutate", "damaged/blank-lines-clido.jsonl"),
];

/// Fails for a failure that is not known, and if `is_complete` for a known one that is missing.
fn report(failures: &[String], known: &[(&str, &str)], is_complete: bool) {
    let is_known = |failure: &&String| known.iter().any(|(name, path)| is_of(failure, name, path));
    let new: Vec<_> = failures.iter().filter(|failure| !is_known(failure)).cloned().collect();
    assert!(new.is_empty(), "{} failures:\n{}", new.len(), new.join("\n"));
    let holds = |(name, path): &&(&str, &str)| !failures.iter().any(|it| is_of(it, name, path));
    let mended: Vec<_> = known.iter().filter(holds).collect();
    assert!(!is_complete || mended.is_empty(), "these hold now, so remove them: {mended:?}");
}

/// Returns whether a failure is of a property and of a fixture.
fn is_of(failure: &str, name: &str, path: &str) -> bool {
    failure.strip_prefix(name).is_some_and(|rest| rest.contains(&format!("/fixtures/{path} (")))
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
