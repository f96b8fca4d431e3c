//! Checks the dependencies between crates against the layers in ARCHITECTURE.md.
//!
//! In: `core-model.workspace = true` in the manifest of `jsonl`. Out: the problem `jsonl knows
//! core-model, which is not below it`.

use std::path::Path;

use super::{File, Problem, entries, layers::layer};

/// The only crates from outside the workspace that format crates may depend on.
const LIGHT: &[&str] = &["memchr", "serde", "thiserror", "unicode-normalization", "zstd"];

const JSON: &[&str] = &["serde_json", "simd-json", "sonic-rs", "json"];

pub(super) fn check(root: &Path, files: &[File], problems: &mut Vec<Problem>) {
    let names: Vec<String> = entries(&root.join("crates"))
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    for file in files.iter().filter(|file| file.name() == "Cargo.toml") {
        let owner = file.path.split('/').rev().nth(1).unwrap_or_default();
        if file.path.starts_with("crates/") || owner == "xtask" || owner == "benches" {
            edges(file, owner, &names, problems);
        }
    }
    reasons(files, problems);
}

/// Returns a function that is true for the crates that `owner` may depend on; `None` for an unknown
/// crate.
fn allowed(owner: &str) -> Option<fn(&str) -> bool> {
    match owner {
        "jsonl" | "xtask" => Some(|_| false),
        "core-model" | "secrets" => Some(|name| name == "jsonl"),
        "conversion" => Some(|name| matches!(name, "jsonl" | "core-model" | "secrets")),
        "storage" => Some(|name| name == "core-model"),
        // The formats are an argument of these crates.
        "sessions" | "archive" => Some(|name| {
            name != "convert" && !name.starts_with("format-") && !name.starts_with("export-")
        }),
        "convert" => Some(|name| name != "benches" && name != "xtask"),
        "benches" => Some(|_| true),
        _ if owner.starts_with("format-") || owner.starts_with("export-") => {
            Some(|name| name == "jsonl" || name == "core-model")
        }
        _ => None,
    }
}

/// Checks each dependency in the manifest of `owner`.
fn edges(file: &File, owner: &str, names: &[String], problems: &mut Vec<Problem>) {
    let Some(allowed) = allowed(owner) else {
        let advice = "add it to ARCHITECTURE.md and to xtask/src/tidy/dependencies.rs";
        return problems.push(file.problem(1, format!("an unknown crate: {owner}"), advice));
    };
    let mut section = "";
    for (line_number, line) in file.lines() {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let is_dev = section == "[dev-dependencies]";
        if !section.ends_with("dependencies]") || line.is_empty() || line.starts_with('#') {
            continue;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let mut push =
            |what: String, advice| problems.push(file.problem(line_number, what, advice));
        if !line.contains("workspace = true") {
            let advice =
                "write `NAME.workspace = true`, and its version into the workspace's Cargo.toml";
            push(format!("a dependency that is not the workspace's: {name}"), advice);
        }
        if names.iter().any(|inner| inner == name) {
            // Tests give these crates some formats as arguments.
            let takes_formats = ["conversion", "sessions", "archive"].contains(&owner)
                || owner.starts_with("export-");
            let is_tried = is_dev && takes_formats && name.starts_with("format-");
            // xtask has no layer, and depends on no crate.
            let is_upward = layer(owner).is_some_and(|own| layer(name) >= Some(own));
            if is_upward && !is_dev {
                push(
                    format!("{owner} knows {name}, which is not below it"),
                    "move the shared code into a lower crate",
                );
            } else if !allowed(name) && !is_tried {
                push(
                    format!("{owner} knows {name}"),
                    "ARCHITECTURE.md says which crates it may depend on",
                );
            }
        } else if !is_dev && JSON.contains(&name) && !may_name(owner, name) {
            let advice = "only jsonl may depend on a JSON library, and archive for its own records";
            push(format!("{owner} names {name}"), advice);
        } else if owner.starts_with("format-") && !is_dev && !LIGHT.contains(&name) {
            push(
                format!("{owner} depends on {name}"),
                "format crates have few dependencies; do without it, or add it to LIGHT",
            );
        } else if owner == "xtask" {
            push(
                format!("xtask depends on {name}"),
                "use the standard library: every contributor builds xtask first",
            );
        }
    }
}

/// Returns whether a crate may depend on a JSON library. Sessions are read by `jsonl` alone.
fn may_name(owner: &str, library: &str) -> bool {
    owner == "jsonl" || (owner == "archive" && library == "serde_json")
}

/// Checks that CONTRIBUTING.md gives a reason for every dependency of the workspace.
fn reasons(files: &[File], problems: &mut Vec<Problem>) {
    let text = |path| files.iter().find(|file| file.path == path);
    let (Some(workspace), Some(contributing)) = (text("Cargo.toml"), text("CONTRIBUTING.md"))
    else {
        return;
    };
    let mut section = "";
    for (line_number, line) in workspace.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[workspace.dependencies]" && !line.contains("path = ") {
            let Some((name, _)) = line.split_once(" = ") else { continue };
            if !contributing.text.contains(&format!("| `{name}` |")) {
                let advice = "add a row to the table of dependencies in CONTRIBUTING.md";
                problems.push(workspace.problem(line_number, format!("no reason: {name}"), advice));
            }
        }
    }
}
