//! Runs the gates that a change must pass, and prints the minutes of each.
//!
//! The gates that land a change are short, or need nothing but the builds of the tests. The others build the
//! crates once more, for other programs and other systems.

#![expect(clippy::print_stdout, reason = "the task prints a report of the gates")]

use std::{
    env, fs,
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use crate::scratch::target;

/// A gate that is one cargo command.
struct Gate {
    name: &'static str,
    arguments: &'static [&'static str],
    /// The value of `RUSTDOCFLAGS`.
    rustdocflags: Option<&'static str>,
}

const GATES: &[Gate] = &[
    Gate { name: "format", arguments: &["fmt", "--all", "--check"], rustdocflags: None },
    Gate {
        name: "lints",
        arguments: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            "benches/criterion",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        rustdocflags: None,
    },
    Gate {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps", "--locked"],
        rustdocflags: Some("-D warnings"),
    },
    // With `--workspace`, the crates have the features that the tests before had, and are not built again.
    Gate {
        name: "fuzz",
        arguments: &[
            "test",
            "--workspace",
            "--locked",
            "--quiet",
            "--features",
            "fuzz/fixtures",
            "--test",
            "fixtures",
        ],
        rustdocflags: None,
    },
];

/// A gate outside the workspace: a format of somebody else.
const TOY_FORMAT: Gate = Gate {
    name: "toy-format",
    arguments: &[
        "test",
        "--quiet",
        "--manifest-path",
        "examples/toy-format/Cargo.toml",
        "--locked",
        "--target-dir",
        "target",
    ],
    rustdocflags: None,
};

/// A gate that is a task of this crate. The function returns whether the gate passes.
type Task = (&'static str, fn(&Path) -> bool);

const TASKS: &[Task] =
    &[("tidy", tidy), ("picture", crate::picture::picture_of_tests), ("minimum", crate::minimum)];

/// The gates with builds of their own.
const MORE: &[Task] = &[
    (TOY_FORMAT.name, |root| passes(&TOY_FORMAT, root)),
    ("alone", crate::alone),
    ("targets", crate::targets),
    ("wasm", crate::wasm),
    ("programs", crate::programs),
    ("sdk-reader", crate::sdk_reader::sdk_reader_of_tests),
    ("python", crate::python_package),
    ("engines", crate::engines::engines_of_tests),
];

/// The gate with a build of its own that runs in a process beside the others: the program with link-time optimisation
/// is linked by one thread, and other processes do not change a count of instructions.
const BESIDE: &str = "instructions";

/// A task in a process of its own, whose output is kept until it ends.
struct Beside {
    output: PathBuf,
    process: io::Result<Child>,
}

impl Beside {
    fn start(task: &str, root: &Path) -> Self {
        let output = target(root).join(format!("{task}.txt"));
        let process = env::current_exe().and_then(|program| {
            fs::create_dir_all(target(root))?;
            let written = File::create(&output)?;
            let mut command = Command::new(program);
            command.arg(task).current_dir(root).stderr(written.try_clone()?).stdout(written);
            command.spawn()
        });
        Self { output, process }
    }

    /// Waits for the end of the task and prints its output. Returns whether it passed.
    fn finish(self) -> bool {
        let ended = self.process.and_then(|mut process| process.wait());
        let text = fs::read_to_string(&self.output);
        match ended.and_then(|status| Ok((status, text?))) {
            Ok((status, text)) => {
                print!("{text}");
                status.success()
            }
            Err(error) => {
                println!("the task does not run: {error}");
                false
            }
        }
    }
}

/// Runs the gates that land a change, also after a failed one. Returns whether all passed.
pub fn ci(root: &Path) -> bool {
    let mut report: Vec<_> =
        GATES.iter().map(|gate| timed(gate.name, || passes(gate, root))).collect();
    report.extend(TASKS.iter().map(|(name, task)| timed(name, || task(root))));
    all_passed(&report)
}

/// Runs the gates with builds of their own, also after a failed one. Returns whether all passed.
pub fn ci_more(root: &Path) -> bool {
    let beside = Beside::start(BESIDE, root);
    let mut report: Vec<_> = MORE.iter().map(|(name, task)| timed(name, || task(root))).collect();
    // Counts the time of the wait.
    report.push(timed(BESIDE, || beside.finish()));
    all_passed(&report)
}

/// The name of a gate, its time, and whether it passed.
type Outcome = (&'static str, Duration, bool);

/// Prints a row for each gate. Returns whether all passed.
fn all_passed(report: &[Outcome]) -> bool {
    for (name, time, is_fine) in report {
        let word = if *is_fine { "passed" } else { "FAILED" };
        println!("{name:<14} {word} {:>6.1} min", time.as_secs_f64() / 60.0);
    }
    report.iter().all(|(_, _, is_fine)| *is_fine)
}

/// Runs a gate.
fn timed(name: &'static str, gate: impl FnOnce() -> bool) -> Outcome {
    println!("gate: {name}");
    let start = Instant::now();
    let is_fine = gate();
    (name, start.elapsed(), is_fine)
}

fn passes(gate: &Gate, root: &Path) -> bool {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(gate.arguments);
    if let Some(flags) = gate.rustdocflags {
        command.env("RUSTDOCFLAGS", flags);
    }
    command.status().is_ok_and(|status| status.success())
}

fn tidy(root: &Path) -> bool {
    let problems = crate::tidy(root);
    for problem in &problems {
        println!("{problem}");
    }
    problems.is_empty()
}
