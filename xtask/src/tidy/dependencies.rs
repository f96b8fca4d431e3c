//! Which crate may know which: the picture in ARCHITECTURE.md, as a check.

use std::path::Path;

use super::{File, Problem, entries, layers::layer};

/// The formats depend on these crates from outside, if they must.
const LIGHT: &[&str] = &["memchr", "serde", "thiserror", "unicode-normalization"];

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

/// Returns the crates of the workspace that `owner` may know; `None` if it is not drawn.
fn allowed(owner: &str) -> Option<fn(&str) -> bool> {
    match owner {
        "jsonl" | "xtask" => Some(|_| false),
        "core-model" | "secrets" => Some(|name| name == "jsonl"),
        "conversion" => Some(|name| matches!(name, "jsonl" | "core-model" | "secrets")),
        "storage" => Some(|name| name == "core-model"),
        // Formats come to these as a value.
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

fn edges(file: &File, owner: &str, names: &[String], problems: &mut Vec<Problem>) {
    let Some(allowed) = allowed(owner) else {
        let advice = "draw it in ARCHITECTURE.md and in xtask's tidy first";
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
            let advice = "name versions and paths in the workspace's Cargo.toml";
            push(format!("a dependency of its own: {name}"), advice);
        }
        if names.iter().any(|inner| inner == name) {
            // Crates that take a format as a value are tested with some.
            let takes_formats = ["conversion", "sessions", "archive"].contains(&owner)
                || owner.starts_with("export-");
            let is_tried = is_dev && takes_formats && name.starts_with("format-");
            // xtask and the fuzz targets have no row, and know no crate.
            let is_upward = layer(owner).is_some_and(|own| layer(name) >= Some(own));
            if is_upward && !is_dev {
                push(format!("{owner} knows {name}, which is not below it"), "turn the arrow");
            } else if !allowed(name) && !is_tried {
                push(format!("{owner} knows {name}"), "see ARCHITECTURE.md, Direction");
            }
        } else if owner != "jsonl" && !is_dev && JSON.contains(&name) {
            push(format!("{owner} names {name}"), "only jsonl names a JSON library");
        } else if owner.starts_with("format-") && !is_dev && !LIGHT.contains(&name) {
            push(format!("{owner} depends on {name}"), "format crates stay light");
        } else if owner == "xtask" {
            push(format!("xtask depends on {name}"), "the standard library is enough here");
        }
    }
}

/// Checks that every dependency of the workspace has its line of reason.
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
                let advice = "give the reason in CONTRIBUTING.md's table of dependencies";
                problems.push(workspace.problem(line_number, format!("no reason: {name}"), advice));
            }
        }
    }
}
