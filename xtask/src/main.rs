//! The command line of the tasks: `cargo xtask TASK`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to a terminal")]

use std::{
    env,
    process::{Command, ExitCode},
};

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                the gates that land a change, with the minutes of each
  tidy              what the compiler does not check: directions, names, sizes, fixtures
  alone             each format crate without its features: at most 8 crates of others, and it compiles
  minimum           compiles everything with the Rust that Cargo.toml states as the oldest
  targets           checks the program for musl, for Linux on ARM, and for macOS
  fixtures          writes the fixtures that are made from others; --check only compares
  sdk-reader [DIR...]  every session of the folders to Claude Code and the stream, read by the Agent SDK
  real-clients [CLIENT..] DIR...  sessions through the real clients, offline, there and back: a table
      --sample N    so many sessions of each format, chosen by --seed S
      --clido PATH  clido's program, which is in no registry
      --cases FILE  the recorded answers of clients to faults, asked again; --record-cases FILE
  cloud [DIR...]    runs between object stores on loopback, against what runs on the disk give
  queries [DIR...]  the questions of docs/QUERIES.md, asked of tables, and the files back from them
  picture [--check] docs/terminal.svg, README's picture, from the built program; --check only compares
  pages [DIR...]    pages of three sessions in Chromium: drawn, quiet, quick, and used
  compat VERSION PROGRAM SOURCES  fixtures/compat/VERSION, by the program of that version, with the
                    feature parquet, and its sources
  matrix [DIR...]   every file of the folders to every format and back; --third: and by a third;
                    and every fixture, cut at every byte
  semver [COMMIT]   public items of the libraries against version 0.1.0 or a commit, by cargo-semver-checks
  fuzz RUNS [NAME...]  the fuzz targets under libFuzzer, each so many times, with nightly and cargo-fuzz
  miri              jsonl's unit tests and its vectors under Miri, where it is installed
  trust [WORD...]   runs that are killed, interrupted, refused any call, short of space, or not alone,
                    as often as RELIABILITY.md tells of; or those with a word in their names
  engines [--sail]  an archive through processes, Sail, Spark and Ray, some of them killed: one hash
      --sessions N  of so many sessions, 20000 if not said; --shell, --spark, --ray: these alone
  folders [DIR...]  rates of folder runs over 2,000 made-up sessions and the folders, for docs/FAST.md
  limits [WORD...]  the law of memory and time: commands on files that are odd in one way; those with a
                    word in the name of the command or of the file
      --size N      megabytes of the files, 32 if not said
      --count       instructions too, of files of 1 and 2 MB, under valgrind: half an hour
  instructions      instructions per byte of input, against benches/instructions.txt; --record
  bench-peers       whole processes side by side, ours and others; Markdown on standard output
      --data DIR    the largest sessions of a folder too, twice --size megabytes
      --rounds N    medians of so many rounds, 5 if not said
      --size N      megabytes of the large inputs, 64 if not said
      --files N     how many files of 50 KB, 20000 if not said
      --only WORD   the jobs with the word in their title; can be said more than once
      --offline     installs no peers; what is not there is named";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let is_fine = match (task.as_str(), rest.as_slice()) {
        ("ci", []) => xtask::ci(xtask::root()),
        ("tidy", []) => tidy(),
        ("alone", []) => xtask::alone(xtask::root()),
        ("minimum", []) => xtask::minimum(xtask::root()),
        ("targets", []) => xtask::targets(xtask::root()),
        ("fixtures", []) => fixtures(xtask::write_fixtures(xtask::root())).is_some(),
        ("fixtures", [flag]) if flag == "--check" => {
            fixtures(xtask::check_fixtures(xtask::root())) == Some(0)
        }
        ("sdk-reader", folders) => xtask::sdk_reader(xtask::root(), folders),
        ("real-clients", rest) if !rest.is_empty() => xtask::real_clients(xtask::root(), rest),
        ("fuzz", [n_runs, names @ ..]) => match n_runs.parse() {
            Ok(n_runs) => xtask::fuzz(xtask::root(), n_runs, names),
            Err(_) => return usage(),
        },
        ("miri", []) => xtask::miri(xtask::root()),
        ("cloud", folders) => xtask::cloud(xtask::root(), folders),
        ("queries", folders) => xtask::queries(xtask::root(), folders),
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
    let problems = xtask::tidy(xtask::root());
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        eprintln!("{} problems", problems.len());
    }
    problems.is_empty()
}

/// Names the files that differed, and returns how many there are.
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
                    eprintln!("limits: --size needs a number of megabytes");
                    return false;
                }
            },
            "--count" => counts = true,
            word => words.push(word.to_owned()),
        }
    }
    xtask::limits(xtask::root(), megabytes, counts, &words)
}

/// Runs the matrix over folders; without one, over the fixtures.
fn matrix(folders: &[String]) -> bool {
    let root = xtask::root();
    let fixtures = [root.join("fixtures").display().to_string()];
    let folders = if folders.is_empty() { &fixtures } else { folders };
    let mut are_there = true;
    for folder in folders.iter().filter(|argument| !argument.starts_with("--")) {
        if !std::path::Path::new(folder).is_dir() {
            eprintln!("{folder}: no such folder");
            are_there = false;
        }
    }
    if !are_there {
        return false;
    }
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let mut whole = cargo();
    whole.args(["run", "--release", "-p", "convert", "--example", "matrix", "--"]).args(folders);
    let mut cut = cargo();
    cut.current_dir(root)
        .env("MATRIX_FULL", "1")
        .args(["test", "-p", "convert", "--test", "all", "--"]);
    cut.arg("matrix::every_fixture_comes_back_cut_at_every_byte");
    // Both run, whatever the first one finds.
    let passes = |cargo: &mut Command| cargo.status().is_ok_and(|status| status.success());
    let results = [passes(&mut whole), passes(&mut cut)];
    results == [true; 2]
}

/// Runs the tests of what happens to a run, at full size, one after the other.
fn trust(words: &[String]) -> bool {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(xtask::root()).env("TRUST_FULL", "1");
    cargo.args(["test", "-p", "convert", "--features", "parquet", "--test", "alone", "--"]);
    match words {
        [] => cargo.arg("trust::"),
        words => cargo.args(words),
    };
    cargo.args(["--nocapture", "--test-threads", "1"]);
    cargo.status().is_ok_and(|status| status.success())
}
