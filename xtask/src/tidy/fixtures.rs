//! Every fixture in the manifest, every entry of the manifest a fixture.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{Problem, entries, relative};
use crate::{fixtures::check_fixtures, manifest::of_workspace};

/// Most tests cut every fixture at every byte, which grows with the square of its length.
const MAX_BYTES: u64 = 4_200;

/// What detection may say.
const FORMATS: &[&str] =
    &["claude-code", "clido", "sdk-stream", "sdk-stream:wire", "foreign", "none"];

pub(super) fn check(root: &Path, problems: &mut Vec<Problem>) {
    let mut push = |file: String, line, what: String, advice| {
        problems.push(Problem { file, line, what, advice });
    };
    let manifest = "fixtures/MANIFEST.toml".to_owned();
    let fixtures = match of_workspace(root) {
        Ok(fixtures) => fixtures,
        Err((line, why)) => return push(manifest, line, why.to_owned(), "see CONTRIBUTING.md"),
    };
    let mut named = BTreeSet::new();
    for fixture in &fixtures {
        let file = format!("fixtures/{}", fixture.file);
        let mut entry = |what: &str, advice| {
            push(manifest.clone(), fixture.line, format!("{}: {what}", fixture.file), advice);
        };
        if !named.insert(file.clone()) {
            entry("named twice", "remove one");
        }
        if fixture.odd.is_empty() || fixture.source.is_empty() {
            entry("not described", "say what is odd in it, and where it comes from");
        }
        if !FORMATS.contains(&fixture.format.as_str()) {
            entry("an unknown format", "name the format that detection says");
        }
        let is_sample = fixture.file.starts_with("sample/");
        match fs::metadata(root.join(&file)) {
            Err(_) => entry("no such file", "remove the entry, or add the file"),
            Ok(data) if data.len() > MAX_BYTES && !is_sample => {
                entry("too long", "keep what is odd, drop the rest");
            }
            Ok(_) => {}
        }
    }
    for path in files_below(&root.join("fixtures")) {
        let file = relative(root, &path);
        // What old versions wrote has sums of its own, which a test compares.
        let is_packed = file.starts_with("fixtures/compat/");
        if file != manifest && !is_packed && !named.contains(&file) {
            push(file, 1, "not in the manifest".to_owned(), "describe it in MANIFEST.toml");
        }
    }
    for file in check_fixtures(root).unwrap_or_default() {
        push(file, 1, "stale".to_owned(), "run `cargo xtask fixtures`");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}
