//! The documents that the shared tests read.

use std::{fs, path::PathBuf};

use crate::skipped::say_skipped;

/// The folders of the shared data with documents of Harbor, of its validator and of other programs.
const DATA: &[&str] = &["atif", "clients/atif", "clients/atif-cases"];

/// Returns the fixtures of this crate, and the documents of the shared data if it is there.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/atif");
    let mut paths = documents(own.into());
    assert!(paths.len() > 5);
    let n_own = paths.len();
    let data = std::env::var_os("CONVERT_DATA").map(PathBuf::from);
    for folder in DATA.iter().filter_map(|name| Some(data.as_ref()?.join(name))) {
        paths.extend(documents(folder));
    }
    if paths.len() == n_own {
        say_skipped("no data in CONVERT_DATA");
    }
    paths
}

/// Returns the documents in a folder and in those below it, sorted; none if there is no folder.
fn documents(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut paths) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten();
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "json") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}
