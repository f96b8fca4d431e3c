//! Measures whole processes in turn: our conversion and its alternatives.
//!
//! `cargo xtask bench-peers` builds and starts this program. It prints a report to standard output.

mod compare;
mod contestant;
mod extremes;
mod inputs;
mod jobs;
mod machine;
mod measure;
mod options;
mod report;
mod tools;

use std::{
    env,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use crate::options::Options;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Work that needs memory runs in a process of its own, because the peak of a child starts at the
    // peak of its parent.
    let result = match words.as_slice() {
        ["compare", a, b] => compare::values(Path::new(a), Path::new(b)),
        ["make", rest @ ..] => Options::read(rest).and_then(|options| inputs::make(&options)),
        rest => Options::read(rest).and_then(|options| run(&options)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            _ = writeln!(io::stderr(), "{what}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all jobs and prints the report. Returns an error if outputs that must be equal differ.
fn run(options: &Options) -> Result<(), String> {
    let tools = tools::find(options);
    let inputs = inputs::prepare(options)?;
    report::head(options, &tools, &inputs);
    let mut unequal = Vec::new();
    for job in jobs::all(options, &tools, &inputs) {
        if !options.wants(&job.title) {
            continue;
        }
        let rows = measure::run(&job, options)?;
        unequal.extend(report::table(&job, &rows));
    }
    if unequal.is_empty() { Ok(()) } else { Err(unequal.join("\n")) }
}
