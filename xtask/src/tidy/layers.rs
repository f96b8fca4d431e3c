//! Prints the layers of the workspace: the dependencies of each crate, and the modules of a crate that
//! import each other in a circle.
//!
//! ```text
//! convert            > archive, conversion, sessions, storage, ..
//! archive            > conversion, core-model, jsonl, sessions, storage
//!     circle: job, session
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use super::{File, Problem, entries, text_files};

/// The layers from the bottom to the top. A crate depends only on crates of lower layers. A name with a
/// hyphen at its end is a prefix.
const LAYERS: &[&[&str]] = &[
    &["jsonl"],
    &["core-model", "secrets"],
    &["format-", "export-", "conversion", "storage"],
    &["sessions"],
    &["archive"],
    &["convert"],
    &["benches"],
];

/// Limit on the number of modules that import each other in a circle.
const MAX_CIRCLE: usize = 3;

/// The imports among the top-level modules of a crate.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Returns the layer of a crate, from 0; `None` if it has none.
pub(super) fn layer(name: &str) -> Option<usize> {
    let is_in = |row: &&[&str]| {
        row.iter().any(|it| *it == name || it.ends_with('-') && name.starts_with(it))
    };
    LAYERS.iter().position(is_in)
}

/// Adds a problem for each circle of more than `MAX_CIRCLE` modules.
pub(super) fn check(root: &Path, files: &[File], problems: &mut Vec<Problem>) {
    for name in crates(root) {
        for circle in circles(&imports(&name, files)) {
            if circle.len() > MAX_CIRCLE {
                problems.push(Problem {
                    file: format!("crates/{name}/src/lib.rs"),
                    line: 1,
                    what: format!("a circle of {} modules: {}", circle.len(), circle.join(", ")),
                    advice: "move the code that several of them need into a module of its own",
                });
            }
        }
    }
}

/// Returns the crates from the top to the bottom: a line for each, with its dependencies, then its
/// circles of modules.
pub fn layers(root: &Path) -> String {
    let files = text_files(root);
    let names = crates(root);
    let mut rows: Vec<(Option<usize>, &String)> =
        names.iter().map(|name| (layer(name), name)).collect();
    rows.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    let mut text = String::new();
    for (_, name) in rows {
        let known = known(name, &names, &files);
        let arrow = if known.is_empty() { "" } else { " > " };
        _ = writeln!(text, "{name:<18}{arrow}{}", known.join(", "));
        for circle in circles(&imports(name, &files)) {
            _ = writeln!(text, "    circle: {}", circle.join(", "));
        }
    }
    text
}

fn crates(root: &Path) -> Vec<String> {
    let folders = entries(&root.join("crates"));
    let name = |path: &std::path::PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    folders.iter().filter_map(name).collect()
}

/// Returns the crates of the workspace that a crate depends on, without its dev-dependencies.
fn known(name: &str, names: &[String], files: &[File]) -> Vec<String> {
    let path = format!("crates/{name}/Cargo.toml");
    let Some(manifest) = files.iter().find(|file| file.path == path) else { return Vec::new() };
    let mut is_dependency = false;
    let mut known = Vec::new();
    for (_, line) in manifest.lines() {
        if line.starts_with('[') {
            is_dependency = line == "[dependencies]";
        }
        let word = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if is_dependency && names.iter().any(|name| name == word) {
            known.push(word.to_owned());
        }
    }
    known
}

/// Returns the imports among the top-level modules of a crate, without the imports of unit tests.
fn imports(name: &str, files: &[File]) -> Imports {
    let folder = format!("crates/{name}/src/");
    let sources: Vec<(Vec<String>, String)> = files
        .iter()
        .filter_map(|file| {
            let path = file.path.strip_prefix(&folder)?.strip_suffix(".rs")?;
            let module = path.split('/').map(str::to_owned).collect();
            let is_code = |(_, line): &(usize, &str)| !line.trim_start().starts_with("//");
            let code = file.code().filter(is_code).map(|(_, line)| line);
            Some((module, code.collect::<Vec<_>>().join("\n")))
        })
        .collect();
    let modules: BTreeSet<&str> =
        sources.iter().filter_map(|(module, _)| Some(module.first()?.as_str())).collect();
    let mut of_name: BTreeMap<String, String> = BTreeMap::new();
    for (module, code) in &sources {
        if module.len() == 1 && module.iter().any(|it| it == "lib") {
            for path in paths(module, code) {
                if let (Some(first), Some(last)) = (path.first(), path.last()) {
                    of_name.insert(last.clone(), first.clone());
                }
            }
        }
    }
    let mut imports = Imports::new();
    for (module, code) in &sources {
        let Some(owner) = module.first().filter(|it| *it != "lib" && *it != "main") else {
            continue;
        };
        for path in paths(module, code) {
            let Some(first) = path.first() else { continue };
            // An item that lib.rs re-exports belongs to its module.
            let found = match modules.contains(first.as_str()) {
                true => Some(first),
                false => of_name.get(first),
            };
            if let Some(found) = found.filter(|found| *found != owner) {
                imports.entry(owner.clone()).or_default().insert(found.clone());
            }
        }
    }
    imports
}

/// Returns the paths that the code of a module names with `crate`, `self` or `super`, from the root of
/// the crate.
fn paths(module: &[String], code: &str) -> Vec<Vec<String>> {
    let is_lib = module.len() == 1 && module.iter().any(|it| it == "lib" || it == "main");
    let own: &[String] = if is_lib { &[] } else { module };
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code.get(..at).unwrap_or_default();
            let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':' | '$');
            // `pub(in crate::a)` is no import.
            if before.ends_with(is_word) || before.ends_with("(in ") {
                continue;
            }
            let mut leaves = Vec::new();
            leaves_of(code.get(at..).unwrap_or_default(), &mut Vec::new(), &mut leaves);
            paths.extend(leaves.into_iter().map(|leaf| resolved(own, &leaf)));
        }
    }
    paths
}

/// Reads a path or a tree of paths, adds each path to `leaves`, and returns the code after it. The tree
/// `a::{b, c::d}` adds `a::b` and `a::c::d`.
fn leaves_of<'c>(code: &'c str, start: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) -> &'c str {
    let n_before = start.len();
    let mut rest = code.trim_start();
    loop {
        let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !word.is_empty() {
            start.push(word.to_owned());
        }
        rest = after;
        if let Some(after) = rest.strip_prefix("::") {
            rest = after.trim_start();
            continue;
        }
        if word.is_empty()
            && let Some(mut inner) = rest.strip_prefix('{')
        {
            loop {
                inner = leaves_of(inner, start, leaves).trim_start();
                // `a as b` names `a`.
                if let Some(after) = inner.strip_prefix("as ") {
                    inner = after.trim_start_matches(|char: char| char != ',' && char != '}');
                }
                match inner.strip_prefix(',') {
                    Some(after) if !after.trim_start().starts_with('}') => inner = after,
                    after => {
                        rest = after.unwrap_or(inner).trim_start();
                        rest = rest.strip_prefix('}').unwrap_or(rest);
                        break;
                    }
                }
                if inner.is_empty() {
                    break;
                }
            }
        } else {
            leaves.push(start.clone());
        }
        start.truncate(n_before);
        return rest;
    }
}

/// Resolves `crate`, `self` and `super` at the start of a path in the module `own`.
fn resolved(own: &[String], path: &[String]) -> Vec<String> {
    let mut below: Vec<String> = own.to_vec();
    for (at, word) in path.iter().enumerate() {
        match word.as_str() {
            "crate" if at == 0 => below.clear(),
            "self" => {}
            "super" => _ = below.pop(),
            _ => below.push(word.clone()),
        }
    }
    below
}

/// Returns the circles of imports, each with its modules in alphabetical order.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|module| (module, reached(imports, module))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (module, others) in &reached {
        let is_in_circle =
            |other: &&&String| reached.get(**other).is_some_and(|it| it.contains(module));
        let circle: Vec<String> =
            others.iter().filter(is_in_circle).map(|other| (*other).clone()).collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// Returns all modules that a module imports, directly or indirectly.
fn reached<'i>(imports: &'i Imports, module: &String) -> BTreeSet<&'i String> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<&String> = imports.get(module).into_iter().flatten().collect();
    while let Some(next) = left.pop() {
        if reached.insert(next) {
            left.extend(imports.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn circles_are_found_through_trees_of_paths_and_reexports() {
        let files = [
            file(
                "crates/x/src/lib.rs",
                "mod a;\nmod b;\nmod c;\nmod d;\npub use self::{b::{B, E}, c::C};\n",
            ),
            file("crates/x/src/a.rs", "use crate::{B, d::{self, D as F}};\n"),
            file("crates/x/src/b.rs", "fn b() -> crate::c::C {}\n"),
            file("crates/x/src/c/inner.rs", "use super::super::a::A;\n"),
            file(
                "crates/x/src/d.rs",
                "pub(in crate::a) struct D;\n#[cfg(test)]\nuse crate::a::A;\n",
            ),
        ];
        let imports = imports("x", &files);
        assert_eq!(circles(&imports), [["a", "b", "c"].map(str::to_owned)]);
        assert_eq!(imports["a"], ["b", "d"].map(str::to_owned).into());
        assert!(!imports.contains_key("d"));
    }

    #[test]
    fn each_crate_has_a_layer() {
        assert!(layer("jsonl") < layer("format-x") && layer("storage") < layer("sessions"));
        assert!(layer("sessions") < layer("archive") && layer("archive") < layer("convert"));
        assert_eq!((layer("conversion"), layer("x")), (layer("storage"), None));
    }
}
