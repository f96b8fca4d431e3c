//! Runs the gates that a change must pass, and prints the minutes of each.

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
    Gate {
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
    },
];

/// The gates that are tasks of this crate. Each function returns whether the gate passes.
const TASKS: &[(&str, fn(&Path) -> bool)] = &[
    ("tidy", tidy),
    ("picture", crate::picture::picture_of_tests),
    ("alone", crate::alone),
    ("programs", crate::programs),
    ("minimum", crate::minimum),
    ("targets", crate::targets),
    ("wasm", crate::wasm),
    ("sdk-reader", crate::sdk_reader::sdk_reader_of_tests),
    ("python", crate::python_package),
    ("engines", crate::engines::engines_of_tests),
];

/// The gate that runs in a process of its own beside all others: the program with link-time optimisation
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

/// Runs all gates, also after a failed one. Returns whether all passed.
pub fn ci(root: &Path) -> bool {
    let mut report = Vec::new();
    let beside = Beside::start(BESIDE, root);
    for gate in GATES {
        report.push(timed(gate.name, || passes(gate, root)));
    }
    for (name, task) in TASKS {
        report.push(timed(name, || task(root)));
    }
    // Counts the time of the wait.
    report.push(timed(BESIDE, || beside.finish()));
    for (name, time, is_fine) in &report {
        let word = if *is_fine { "passed" } else { "FAILED" };
        println!("{name:<14} {word} {:>6.1} min", time.as_secs_f64() / 60.0);
    }
    report.iter().all(|(_, _, is_fine)| *is_fine)
}

/// Runs a gate. Returns its name, its time, and whether it passed.
fn timed(name: &'static str, gate: impl FnOnce() -> bool) -> (&'static str, Duration, bool) {
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
