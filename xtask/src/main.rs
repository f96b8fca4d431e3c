//! The command line of the tasks: `cargo xtask TASK`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    env,
    process::{Command, ExitCode},
};

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                runs the gates that land a change, with the minutes of each
      --more        runs the other gates: they build the crates for other programs and systems
  tidy              prints the layers; checks arrows, circles, names, sizes, documents, fixtures
  alone             compiles each format crate without features: at most 8 crates of others
  programs          builds and runs examples/programs; --measure prints the table of docs/LIBRARY.md
  python            builds the wheel of python/, and tests it
  wasm              checks the crates without files for WebAssembly, and converts there and back in Node
  minimum           compiles everything with the minimum Rust version of Cargo.toml
  targets           checks the program for musl, Linux on ARM, macOS, and Windows
  fixtures          writes the generated fixtures; --check only compares
  sdk-reader [DIR...]  converts the sessions of folders to Claude Code and the stream, and reads them
                    with the Agent SDK
  atif-reader [DIR...]  converts the sessions of folders to ATIF, validates them with Harbor, and
                    converts them back
      --compare SESSION DOCUMENT  prints how much of a session a document has, and ours
  real-clients [CLIENT..] DIR...  runs sessions through the real clients, offline, there and back
      --sample N    N sessions of each format, chosen by --seed S
      --clido PATH  the program clido, which is in no registry
      --cases FILE  checks the recorded answers of clients to faults; --record-cases FILE
  cloud [DIR...]    compares runs between object stores on loopback with runs on the disk
  queries [DIR...]  runs the queries of docs/QUERIES.md over tables, and restores the files
  ccusage DIR...    compares the sums of `convert usage` with those of ccusage, and explains differences
  picture [--check] writes docs/terminal.svg, the picture in README; --check only compares
  pages [DIR...]    opens pages of three sessions in Chromium, and uses them
  compat VERSION PROGRAM SOURCES  writes fixtures/compat/VERSION with the program of that version, built
                    with the feature parquet, and the folder of its sources
  matrix [DIR...]   converts every file to every format and back; --third: also through a third;
                    runs the tests that choose their cases by the day with all cases
  semver [COMMIT]   compares the public items of the libraries with version 0.1.0 or a commit, with
                    cargo-semver-checks
  fuzz RUNS [NAME...]  runs each fuzz target RUNS times, with nightly and cargo-fuzz
  miri              runs jsonl's unit tests and vectors under Miri, if it is installed
  trust [WORD...]   tests runs that are killed, interrupted, short of space, or started twice, as often
                    as RELIABILITY.md says; a word chooses tests by name
  engines [--sail]  converts an archive with processes, Sail, Spark and Ray, and kills some of them
      --sessions N  the size of the archive (default 20000); --shell, --spark, --ray choose engines
  dist              makes and tries the files of a release: a static program, a .deb, a wheel, checksums
  way               prints our functions on the stack when a conversion first reads its source; needs gdb
  folders [DIR...]  measures folder runs over 2,000 generated sessions and the folders (docs/FAST.md)
  limits [WORD...]  measures memory and time of commands on odd files; a word chooses commands or
                    files by name
      --size N      the size of the files in megabytes (default 32)
      --count       also counts instructions for 1 and 2 MB under valgrind; half an hour
  instructions      compares instructions per byte with benches/instructions.txt; --record writes it
  bench-peers       measures our program and its alternatives; prints Markdown
      --data DIR    also the largest sessions of a folder, twice --size megabytes
      --rounds N    the number of rounds for the medians (default 5)
      --size N      the size of the large inputs in megabytes (default 64)
      --files N     the number of files of 50 KB (default 20000)
      --only WORD   only jobs with WORD in their title; may be repeated
      --offline     installs nothing, and names missing programs";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let is_fine = match (task.as_str(), rest.as_slice()) {
        ("ci", []) => xtask::ci(xtask::root()),
        ("ci", [flag]) if flag == "--more" => xtask::ci_more(xtask::root()),
        ("tidy", []) => tidy(),
        ("alone", []) => xtask::alone(xtask::root()),
        ("programs", []) => xtask::programs(xtask::root()),
        ("programs", [flag]) if flag == "--measure" => xtask::measure_programs(xtask::root()),
        ("python", []) => xtask::python_package(xtask::root()),
        ("dist", []) => xtask::dist(xtask::root()),
        ("wasm", []) => xtask::wasm(xtask::root()),
        ("minimum", []) => xtask::minimum(xtask::root()),
        ("targets", []) => xtask::targets(xtask::root()),
        ("fixtures", []) => fixtures(xtask::write_fixtures(xtask::root())).is_some(),
        ("fixtures", [flag]) if flag == "--check" => {
            fixtures(xtask::check_fixtures(xtask::root())) == Some(0)
        }
        ("sdk-reader", folders) => xtask::sdk_reader(xtask::root(), folders),
        ("atif-reader", rest) => xtask::atif_reader(xtask::root(), rest),
        ("real-clients", rest) if !rest.is_empty() => xtask::real_clients(xtask::root(), rest),
        ("fuzz", [n_runs, names @ ..]) => match n_runs.parse() {
            Ok(n_runs) => xtask::fuzz(xtask::root(), n_runs, names),
            Err(_) => return usage(),
        },
        ("way", []) => xtask::way(xtask::root()),
        ("miri", []) => xtask::miri(xtask::root()),
        ("cloud", folders) => xtask::cloud(xtask::root(), folders),
        ("queries", folders) => xtask::queries(xtask::root(), folders),
        ("ccusage", folders) if !folders.is_empty() => xtask::ccusage(xtask::root(), folders),
        ("semver", []) => xtask::semver(xtask::root(), None),
        ("semver", [commit]) => xtask::semver(xtask::root(), Some(commit)),
        ("picture", []) => xtask::picture(xtask::root(), false),
        ("picture", [flag]) if flag == "--check" => xtask::picture(xtask::root(), true),
        ("pages", folders) => xtask::pages(xtask::root(), folders),
        ("compat", [version, program, sources]) => {
            xtask::compat(xtask::root(), version, program, sources)
        }
        ("matrix", folders) => matrix(folders),
        ("trust", words) => trust(words),
        ("engines", options) => xtask::engines(xtask::root(), options),
        ("folders", folders) => xtask::folders(xtask::root(), folders),
        ("limits", options) => limits(options),
        ("instructions", []) => xtask::instructions(xtask::root(), false),
        ("instructions", [flag]) if flag == "--record" => xtask::instructions(xtask::root(), true),
        ("bench-peers", options) => xtask::bench_peers(xtask::root(), options),
        _ => return usage(),
    };
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn tidy() -> bool {
    print!("{}", xtask::layers(xtask::root()));
    let problems = xtask::tidy(xtask::root());
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        eprintln!("{} problems", problems.len());
    }
    problems.is_empty()
}

/// Prints the paths of changed files, and returns their number. Prints the error, and returns `None`, if
/// there is one.
fn fixtures(changed: std::io::Result<Vec<String>>) -> Option<usize> {
    match changed {
        Ok(files) => {
            for file in &files {
                println!("{file}");
            }
            Some(files.len())
        }
        Err(error) => {
            eprintln!("{error}");
            None
        }
    }
}

fn limits(options: &[String]) -> bool {
    let (mut megabytes, mut counts, mut words) = (32, false, Vec::new());
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "--size" => match options.next().and_then(|size| size.parse().ok()) {
                Some(size) => megabytes = size,
                None => {
                    eprintln!("limits: --size needs a number of megabytes, such as `--size 32`");
                    return false;
                }
            },
            "--count" => counts = true,
            word => words.push(word.to_owned()),
        }
    }
    xtask::limits(xtask::root(), megabytes, counts, &words)
}

/// The tests that run a part of their cases, and other parts on other days.
const TESTS_WITH_TURNS: &[&str] = &[
    "agreement::",
    "carry_faults::",
    "compat::files_of_0_1_0",
    "content::",
    "edits::",
    "hostile::",
    "large_parts::",
    "matrix::",
    "memory::",
    "recipes::",
    "redaction::",
    "repair::what_is_written",
    "resume::",
    "sidecar_faults::",
    "terminal::what_is_printed_of_fixtures",
    "told::every_member_of_fixtures",
];

/// Runs the matrix over folders, or over the fixtures if there are none. Then runs the tests with turns
/// in full.
fn matrix(folders: &[String]) -> bool {
    let root = xtask::root();
    let fixtures = [root.join("fixtures").display().to_string()];
    let folders = if folders.is_empty() { &fixtures } else { folders };
    let mut are_there = true;
    for folder in folders.iter().filter(|argument| !argument.starts_with("--")) {
        if !std::path::Path::new(folder).is_dir() {
            eprintln!("matrix: {folder} is not a folder; name folders of session files");
            are_there = false;
        }
    }
    if !are_there {
        return false;
    }
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let mut whole = cargo();
    whole
        .args(["run", "--release", "-p", "sessionlog-convert", "--example", "matrix", "--"])
        .args(folders);
    let mut turns = cargo();
    turns.current_dir(root).env("ALL_TURNS", "1");
    turns.args(["test", "-p", "sessionlog-convert", "--test", "all", "--test", "alone", "--"]);
    turns.args(TESTS_WITH_TURNS);
    // The second part also runs if the first one fails.
    let passes = |cargo: &mut Command| cargo.status().is_ok_and(|status| status.success());
    let results = [passes(&mut whole), passes(&mut turns)];
    results == [true; 2]
}

/// Runs the tests `trust::` at full size, one after the other: runs that are killed, interrupted, short
/// of space, or started twice.
fn trust(words: &[String]) -> bool {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(xtask::root()).env("TRUST_FULL", "1");
    cargo.args([
        "test",
        "-p",
        "sessionlog-convert",
        "--features",
        "parquet",
        "--test",
        "alone",
        "--",
    ]);
    match words {
        [] => cargo.arg("trust::"),
        words => cargo.args(words),
    };
    cargo.args(["--nocapture", "--test-threads", "1"]);
    cargo.status().is_ok_and(|status| status.success())
}
