//! Checks conventions that the compiler does not know: directions of dependencies, lock files, names, sizes,
//! comments, documents, fixtures.
//!
//! In: the text files of the workspace. Out: lines such as `README.md:7: trailing space (remove it)`.

mod comments;
mod dependencies;
mod documents;
mod files;
mod fixtures;
mod formats;
mod layers;
mod locks;
mod packages;
mod sources;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

pub use self::layers::layers;

/// A violation of a convention, with its position and a remedy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The path below the workspace.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The fault.
    pub what: String,
    /// The remedy.
    pub advice: &'static str,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {} ({})", self.file, self.line, self.what, self.advice)
    }
}

/// A text file of the workspace.
struct File {
    /// The path below the workspace, with slashes.
    path: String,
    text: String,
}

impl File {
    fn problem(&self, line: usize, what: impl Into<String>, advice: &'static str) -> Problem {
        Problem { file: self.path.clone(), line, what: what.into(), advice }
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the lines before the unit tests, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_end = |line: &str| line == "#[cfg(test)]";
        self.lines().take_while(move |(_, line)| !is_end(line))
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(line_idx, line)| (line_idx + 1, line))
    }
}

/// Returns all problems in the workspace; none if it is tidy.
pub fn tidy(root: &Path) -> Vec<Problem> {
    let files = text_files(root);
    let mut problems = Vec::new();
    dependencies::check(root, &files, &mut problems);
    layers::check(root, &files, &mut problems);
    packages::check(root, &files, &mut problems);
    locks::check(root, &files, &mut problems);
    formats::check(root, &mut problems);
    fixtures::check(root, &mut problems);
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    documents::check(&files, &paths, &mut problems);
    let manifest = root.join("fixtures/MANIFEST.toml");
    if let Ok(text) = fs::read_to_string(&manifest) {
        files::check(&File { path: relative(root, &manifest), text }, &mut problems);
    }
    for file in &files {
        files::check(file, &mut problems);
        if file.path.ends_with(".rs") {
            sources::check(file, &mut problems);
            comments::check(file, &mut problems);
        }
    }
    problems
}

/// Returns the text files of the workspace, sorted by path, without fixtures and generated files.
fn text_files(root: &Path) -> Vec<File> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_foreign = ["target", "fixtures", "corpus", ".git"].contains(&name.as_str());
                if !is_foreign {
                    folders.push(path);
                }
                continue;
            }
            let extension = name.rsplit('.').next().unwrap_or_default();
            if !["rs", "toml", "md", "yml", "py"].contains(&extension) && !folder.ends_with(".ci") {
                continue;
            }
            if let Ok(text) = fs::read_to_string(&path) {
                files.push(File { path: relative(root, &path), text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Returns the paths in a folder, sorted; none if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the path below the workspace, with slashes.
fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
