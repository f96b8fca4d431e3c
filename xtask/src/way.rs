//! Prints the functions on the stack when a conversion first reads its source.

#![expect(clippy::print_stdout, reason = "a task prints to the terminal")]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::scratch::{build, call, in_scratch, script};

/// Limit on the number of our functions on the stack at the first read.
const MOST: usize = 12;

/// The gdb script: stops at reads and prints the stack.
const SCRIPT: &str = include_str!("way.py");

/// Converts a fixture under gdb and prints our functions on the stack at its first read. Returns whether
/// there are at most `MOST`. Needs gdb.
pub fn way(root: &Path) -> bool {
    in_scratch("way", |scratch| run(root, scratch))
}

fn run(root: &Path, scratch: &Path) -> Result<(), String> {
    // Without optimization nothing is inlined. Symbols are enough for the names of functions.
    let mut arguments = vec!["-p", "sessionlog-convert", "--bin", "convert"];
    arguments.extend([
        "--config",
        "profile.dev.opt-level=0",
        "--config",
        "profile.dev.debug=false",
    ]);
    let target = build(root, &arguments)?;
    let script = script(scratch, "way.py", SCRIPT)?;
    let crates = fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    let crates: Vec<_> = crates
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.replace('-', "_")))
        .collect();
    let fixtures = fs::read_dir(root.join("fixtures/sample")).map_err(|error| error.to_string())?;
    let source = fixtures.filter_map(Result::ok).map(|entry| entry.path()).next();
    let source = source.ok_or(
        "fixtures/sample: no file to convert; restore it with `git checkout fixtures/sample`",
    )?;
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-batch", "-x"]).arg(script).arg("--args");
    gdb.arg(target.join("debug/convert")).arg(&source).args(["--to", "clido", "-o"]);
    gdb.arg(scratch.join("out.jsonl")).env("WAY_SOURCE", &source);
    gdb.env("WAY_CRATES", crates.join(" ")).env("WAY_MOST", MOST.to_string());
    let printed = scratch.join("calls.txt");
    gdb.env("WAY_OUTPUT", &printed).stdout(Stdio::null());
    let result = call(&mut gdb);
    print!("{}", fs::read_to_string(&printed).map_err(|error| error.to_string())?);
    result
}
