//! Checks that a format crate can be used alone: it compiles without its features, and needs few crates
//! of others.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a gate prints what it does")]

use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

use crate::{PACKAGE_PREFIX, scratch::target};

/// Limit on the crates from outside this workspace that a format crate needs without its features.
const MAX_CRATES: usize = 8;

/// Compiles each format crate without its features and counts the crates that it needs; returns
/// whether all compile and none needs more than `MAX_CRATES`.
pub fn alone(root: &Path) -> bool {
    let ours = packages(&root.join("crates"));
    let mut is_fine = true;
    for name in ours.iter().filter(|name| name.starts_with("sessionlog-format-")) {
        let Some(tree) = cargo(root, &["tree", "-e", "normal", "--prefix", "none"], name) else {
            eprintln!("{name}: `cargo tree` failed; its message is above");
            is_fine = false;
            continue;
        };
        let foreign = foreign(&tree, &ours);
        println!("{name}: {} crates: {}", foreign.len(), foreign.join(" "));
        if foreign.len() > MAX_CRATES {
            eprintln!(
                "{name}: needs {} crates without features, at most {MAX_CRATES} are allowed; make some of them \
                 optional, behind a feature",
                foreign.len()
            );
            is_fine = false;
        }
        if cargo(root, &["check", "--quiet"], name).is_none() {
            eprintln!(
                "{name}: does not compile without features; run `cargo check --no-default-features -p \
                 {name}`"
            );
            is_fine = false;
        }
    }
    is_fine & example(root)
}

/// Builds `examples/alone`, a program outside the workspace with one line of dependencies, and runs it
/// on a fixture. Returns whether it prints the prompt first.
fn example(root: &Path) -> bool {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["run", "--quiet", "--locked", "--manifest-path"]);
    command.arg("examples/alone/Cargo.toml").arg("--target-dir").arg(target(root).join("alone"));
    command.args(["--", "fixtures/claude-code/one-tool-call.jsonl"]);
    let Ok(output) = command.output() else { return false };
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let is_fine = output.status.success() && output.stdout.starts_with(b"> ");
    if !is_fine {
        eprintln!(
            "examples/alone: does not build, or its first line is not `> ` and the prompt; run `cargo run \
             --manifest-path examples/alone/Cargo.toml -- fixtures/claude-code/one-tool-call.jsonl`"
        );
    }
    is_fine
}

/// Runs a cargo command for one package without its features. Returns the standard output; `None` if the
/// command fails.
fn cargo(root: &Path, arguments: &[&str], package: &str) -> Option<String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command.args(["--locked", "--no-default-features", "-p", package]);
    let output = command.output().ok()?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the names of the crates in the output of `cargo tree` that are not in the workspace.
fn foreign<'t>(tree: &'t str, ours: &[String]) -> Vec<&'t str> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let is_foreign = |name: &&str| !name.is_empty() && !ours.iter().any(|our| our == name);
    names.filter(is_foreign).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the package names of the crates in a folder, sorted: a crate in `jsonl/` is the package
/// `sessionlog-jsonl`.
fn packages(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| format!("{PACKAGE_PREFIX}{}", entry.file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn crates_are_counted_once_and_ours_not_at_all() {
        let tree = "sessionlog-format-x v0.1.0 (path)\nmemchr v2.8\nsessionlog-jsonl v0.1.0 (path)\n\
                    memchr v2.8 (*)\njsonl v4.0.1\n";
        let ours = ["sessionlog-format-x", "sessionlog-jsonl"].map(str::to_owned);
        // The registry has a crate `jsonl` that is not ours.
        assert_eq!(foreign(tree, &ours), ["jsonl", "memchr"]);
    }
}
