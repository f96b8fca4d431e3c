//! The working trees of a git repository: a project has its sessions in each of them.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use core_model::subfolders;

/// A file of git's that is longer than so many bytes is none of those that name a folder.
const MAX_NAME: u64 = 8 * 1024;

/// Returns the working trees of the repository that a folder is in, in the order of their names; none,
/// if it is in none or that has no other.
///
/// Git is not run: a repository says in its own files where its trees are (gitrepository-layout(5)).
/// The Agent SDK for Python 0.2.187 looks for sessions of a project in the same, by
/// `git worktree list`.
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

/// Returns the folder of the repository of a working tree, if a folder is one.
fn repository(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let own = named(&git, folder)?;
    named(&own.join("commondir"), &own)
}

/// Returns what a file of git's names, relative to a folder; it may be gone.
fn named(file: &Path, base: &Path) -> Option<PathBuf> {
    // To open a pipe would wait for whoever writes to it.
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_NAME).read_to_string(&mut text).ok()?;
    let name = text.strip_prefix("gitdir: ").unwrap_or(&text);
    let path = base.join(name.trim_end_matches(['\r', '\n']));
    Some(fs::canonicalize(&path).unwrap_or(path))
}
