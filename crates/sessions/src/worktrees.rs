//! Finds the working trees of a git repository, because a project has sessions in each of them.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use core_model::subfolders;

/// Limit on the size of a git file that names a folder, in bytes.
const MAX_NAME: u64 = 8 * 1024;

/// Returns the working trees of a folder's repository, sorted; empty without a repository or with a
/// single tree.
///
/// Git is not run: the files of a repository name its trees (gitrepository-layout(5)). The Agent
/// SDK for Python 0.2.187 searches the same trees, by `git worktree list`.
pub(crate) fn worktrees(folder: &Path) -> Vec<PathBuf> {
    let Some(repository) = folder.ancestors().find_map(repository) else { return Vec::new() };
    let mut trees: Vec<PathBuf> = subfolders(&repository.join("worktrees"))
        .unwrap_or_default()
        .iter()
        .filter_map(|tree| Some(named(&tree.join("gitdir"), tree)?.parent()?.to_owned()))
        .collect();
    if !trees.is_empty() && repository.file_name().is_some_and(|name| name == ".git") {
        trees.extend(repository.parent().map(Path::to_owned));
    }
    trees.sort();
    trees
}

/// Returns the repository folder of a working tree; `None` if the folder is not one.
fn repository(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let own = named(&git, folder)?;
    named(&own.join("commondir"), &own)
}

/// Returns the path in a git file, relative to a folder. The path may not exist.
fn named(file: &Path, base: &Path) -> Option<PathBuf> {
    // Opening a pipe would block until somebody writes to it.
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_NAME).read_to_string(&mut text).ok()?;
    let name = text.strip_prefix("gitdir: ").unwrap_or(&text);
    let path = base.join(name.trim_end_matches(['\r', '\n']));
    Some(fs::canonicalize(&path).unwrap_or(path))
}
