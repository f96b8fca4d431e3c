//! Checks that `fixtures/MANIFEST.toml` describes every fixture, that every entry has its file, and that
//! generated fixtures are current.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{Problem, entries, relative};
use crate::{fixtures::check_fixtures, manifest::of_workspace};

/// Limit on the size of a fixture: tests cut every fixture at every byte, which takes time in the square
/// of the size.
const MAX_BYTES: u64 = 4_200;

/// The results of detection.
const FORMATS: &[&str] = &[
    "atif",
    "claude-code",
    "clido",
    "codex",
    "codex-stream",
    "copilot",
    "gemini",
    "gemini:document",
    "opencode",
    "pi",
    "qwen",
    "sdk-stream",
    "sdk-stream:wire",
    "foreign",
    "none",
];

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
            entry("listed twice", "remove one entry");
        }
        if fixture.odd.is_empty() || fixture.source.is_empty() {
            entry("no `odd` or no `source`", "write what is odd in it, and where it comes from");
        }
        if !FORMATS.contains(&fixture.format.as_str()) {
            entry("an unknown format", "write the result of `convert detect`, `foreign` or `none`");
        }
        let is_sample = fixture.file.starts_with("sample/");
        match fs::metadata(root.join(&file)) {
            Err(_) => entry("no such file", "remove the entry, or add the file"),
            Ok(data) if data.len() > MAX_BYTES && !is_sample => {
                entry("longer than 4,200 bytes", "cut it down to the oddity");
            }
            Ok(_) => {}
        }
    }
    for path in files_below(&root.join("fixtures")) {
        let file = relative(root, &path);
        // Outputs of old versions have checksums of their own, which a test compares.
        let is_packed = file.starts_with("fixtures/compat/");
        if file != manifest && !is_packed && !named.contains(&file) {
            push(file, 1, "not in the manifest".to_owned(), "describe it in MANIFEST.toml");
        }
    }
    for file in check_fixtures(root).unwrap_or_default() {
        push(
            file,
            1,
            "a generated fixture is not current".to_owned(),
            "run `cargo xtask fixtures`",
        );
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
