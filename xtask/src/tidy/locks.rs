//! Compares the lock files of the other workspaces, such as `python/Cargo.lock`, with the dependencies of the crates.
//!
//! In: `tempfile.workspace = true` in the manifest of `convert`, and a lock file whose `sessionlog-convert` has no
//! `tempfile`. Out: a problem, because `cargo build --locked` fails there.

use std::{fs, path::Path};

use super::{File, Problem};
use crate::PACKAGE_PREFIX;

pub(super) fn check(root: &Path, files: &[File], problems: &mut Vec<Problem>) {
    let manifest = |name: &str| {
        let path = format!("crates/{name}/Cargo.toml");
        files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    };
    for file in files {
        let Some(folder) = file.path.strip_suffix("/Cargo.toml") else { continue };
        let path = format!("{folder}/Cargo.lock");
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let lock = File { path, text };
        for (line_number, what) in faults(&lock, &manifest) {
            let advice = "run `cargo update --workspace` in its folder";
            problems.push(lock.problem(line_number, what, advice));
        }
    }
}

/// Returns the faults of a lock file: a crate's line, and a dependency that either the lock file or the manifest lacks.
fn faults<'m>(lock: &File, manifest: &dyn Fn(&str) -> Option<&'m str>) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let mut crate_line = None;
    let mut locked: Vec<&str> = Vec::new();
    let end = "[[package]]";
    for (line_number, line) in lock.lines().chain([(0, end)]) {
        if let Some(name) = line.strip_prefix("name = ") {
            let name = name.trim_matches('"').strip_prefix(PACKAGE_PREFIX);
            crate_line = name.map(|name| (line_number, name));
        } else if let Some(name) = line.strip_prefix(" \"") {
            // A version follows if there are several.
            let name = name.split(['"', ' ']).next();
            // The workspace gives its crates names without the prefix.
            locked.extend(name.map(|name| name.strip_prefix(PACKAGE_PREFIX).unwrap_or(name)));
        } else if line == end {
            let found = crate_line.take().and_then(|(at, name)| Some((at, name, manifest(name)?)));
            if let Some((at, name, manifest)) = found {
                let named = dependencies(manifest);
                let is_known = |it: &&str| named.iter().any(|(named, _)| named == *it);
                let missing = named
                    .iter()
                    .filter(|(it, is_optional)| !is_optional && !locked.contains(&it.as_str()));
                let what = |what: &str, it: &str| (at, format!("{name} {what} {it}"));
                faults.extend(missing.map(|(it, _)| what("also depends on", it)));
                let stale = locked.iter().filter(|it| !is_known(it));
                faults.extend(stale.map(|it| what("does not depend on", it)));
            }
            locked.clear();
        }
    }
    faults
}

/// Returns the packages that a manifest depends on, without its `dev-dependencies`, and whether each is optional.
fn dependencies(manifest: &str) -> Vec<(String, bool)> {
    let mut section = "";
    let mut named = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !section.contains("dev-dependencies") {
            let end = line.find(['.', ' ', '=']);
            let Some(name) = end.and_then(|end| line.get(..end)) else { continue };
            if !name.is_empty() && !name.starts_with('#') {
                named.push((name.to_owned(), line.contains("optional = true")));
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_has_the_dependencies_of_each_crate() {
        let manifest = "[dependencies]\nclap.workspace = true\njsonl.workspace = true\nzstd = { workspace = true, optional = true }\n\n\
                        [target.'cfg(unix)'.dependencies]\nlibc.workspace = true\n\n\
                        [dev-dependencies]\ntrycmd.workspace = true\n";
        let found = |locked: &str| {
            let text = format!(
                "[[package]]\nname = \"sessionlog-x\"\ndependencies = [\n{locked} \"sessionlog-jsonl\",\n]\n\n\
                 [[package]]\nname = \"other\"\ndependencies = [\n \"odd\",\n]\n"
            );
            let lock = File { path: "python/Cargo.lock".to_owned(), text };
            faults(&lock, &|name| (name == "x").then_some(manifest))
        };
        assert_eq!(found(" \"clap\",\n \"libc 1.0.0\",\n"), []);
        assert_eq!(found(" \"clap\",\n \"libc\",\n \"zstd\",\n"), []);
        let missing = [(2, "x also depends on libc".to_owned())];
        assert_eq!(found(" \"clap\",\n"), missing);
        let stale = [(2, "x does not depend on tempfile".to_owned())];
        assert_eq!(found(" \"clap\",\n \"libc\",\n \"tempfile\",\n"), stale);
    }
}
