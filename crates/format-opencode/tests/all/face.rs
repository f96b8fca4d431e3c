//! The fixtures of this crate, for the shared tests.

use std::{fs, path::PathBuf};

/// Returns the fixtures of this crate.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/opencode");
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}
