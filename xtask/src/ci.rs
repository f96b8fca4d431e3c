//! The gates that land a change, and how long each takes.

#![expect(clippy::print_stdout, reason = "the report of the gates is what the task is for")]

use std::{env, path::Path, process::Command, time::Instant};

struct Gate {
    name: &'static str,
    arguments: &'static [&'static str],
    /// What rustdoc is told.
    rustdocflags: Option<&'static str>,
}

const GATES: &[Gate] = &[
    Gate { name: "format", arguments: &["fmt", "--all", "--check"], rustdocflags: None },
    Gate {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        rustdocflags: None,
    },
    Gate {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps", "--locked"],
        rustdocflags: Some("-D warnings"),
    },
    Gate {
        name: "fuzz",
        arguments: &[
            "test",
            "--quiet",
            "--manifest-path",
            "fuzz/Cargo.toml",
            "--locked",
            "--target-dir",
            "target",
        ],
        rustdocflags: None,
    },
];

/// Runs the gates, every one even if an earlier one failed; returns whether all passed.
pub fn ci(root: &Path) -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut report = Vec::new();
    for gate in GATES {
        println!("gate: {}", gate.name);
        let start = Instant::now();
        let mut command = Command::new(&cargo);
        command.current_dir(root).args(gate.arguments);
        if let Some(flags) = gate.rustdocflags {
            command.env("RUSTDOCFLAGS", flags);
        }
        let is_fine = command.status().is_ok_and(|status| status.success());
        report.push((gate.name, start.elapsed(), is_fine));
    }
    println!("gate: tidy");
    let start = Instant::now();
    let problems = crate::tidy(root);
    for problem in &problems {
        println!("{problem}");
    }
    report.push(("tidy", start.elapsed(), problems.is_empty()));
    println!("gate: clients");
    let start = Instant::now();
    let is_fine = crate::clients::clients_of_tests(root);
    report.push(("clients", start.elapsed(), is_fine));
    println!("gate: instructions");
    let start = Instant::now();
    let is_fine = crate::instructions(root, false);
    report.push(("instructions", start.elapsed(), is_fine));
    for (name, time, is_fine) in &report {
        let word = if *is_fine { "passed" } else { "FAILED" };
        println!("{name:<14} {word} {:>6.1} min", time.as_secs_f64() / 60.0);
    }
    report.iter().all(|(_, _, is_fine)| *is_fine)
}
