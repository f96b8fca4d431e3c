//! Checks that each crate can be published: its names, and the files that its package needs.
//!
//! In: `crates/core-model/Cargo.toml` with `name = "core-model"`. Out: a problem, because the package
//! must be called `sessionlog-core-model` and the library `core_model`.

use std::path::Path;

use super::{File, Problem};
use crate::PACKAGE_PREFIX;

/// The files of each package beside its manifest and its sources.
const FILES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

pub(super) fn check(root: &Path, files: &[File], problems: &mut Vec<Problem>) {
    for file in files.iter().filter(|file| file.name() == "Cargo.toml") {
        let Some(folder) = file.path.strip_prefix("crates/") else { continue };
        let Some(name) = folder.strip_suffix("/Cargo.toml") else { continue };
        names(file, name, problems);
        for wanted in FILES {
            if !root.join("crates").join(name).join(wanted).is_file() {
                let advice = "add it: a link to the licence of the workspace, or a README";
                problems.push(file.problem(1, format!("no {wanted} beside it"), advice));
            }
        }
    }
}

/// Adds a problem for a package without the prefix, and for a library that has another name than its
/// folder.
fn names(file: &File, name: &str, problems: &mut Vec<Problem>) {
    let package = format!("[package]\nname = \"{PACKAGE_PREFIX}{name}\"\n");
    if !file.text.starts_with(&package) {
        let what = format!("the package is not called {PACKAGE_PREFIX}{name}");
        problems.push(file.problem(2, what, "names without the prefix are taken in the registry"));
    }
    let library = name.replace('-', "_");
    if !file.text.contains(&format!("\n[lib]\nname = \"{library}\"\n")) {
        let what = format!("the library is not called {library}");
        problems.push(file.problem(1, what, "add `[lib]` with the name of the folder"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_the_prefix_and_libraries_do_not() {
        let problems = |text: &str| {
            let mut problems = Vec::new();
            let path = "crates/core-model/Cargo.toml".to_owned();
            names(&File { path, text: text.to_owned() }, "core-model", &mut problems);
            problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>()
        };
        let fine = "[package]\nname = \"sessionlog-core-model\"\n\n[lib]\nname = \"core_model\"\n";
        assert_eq!(problems(fine), [""; 0]);
        let wanted = [
            "the package is not called sessionlog-core-model",
            "the library is not called core_model",
        ];
        assert_eq!(problems("[package]\nname = \"core-model\"\n"), wanted);
    }
}
