//! Runs the programs of a job in turn, and measures their CPU time and memory.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use wait4::Wait4;

use crate::{
    compare,
    contestant::{Check, Contestant, Job, OUT, Step},
    inputs::{files_below, total},
    options::Options,
};

/// The measurements of a program, and the check of its output.
pub(crate) struct Row {
    pub(crate) name: String,
    /// Medians over the rounds; `None` if it failed.
    pub(crate) usage: Option<Usage>,
    pub(crate) bytes_out: u64,
    /// A note on its output, for the table.
    pub(crate) note: String,
    /// Whether its output is wrong.
    pub(crate) is_wrong: bool,
}

/// The resources that processes used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) peak: u64,
}

/// Runs each program once to check its output, then all in turn, and returns the medians.
pub(crate) fn run(job: &Job, options: &Options) -> Result<Vec<Row>, String> {
    let out = options.scratch.join("out");
    let mut references = BTreeMap::new();
    let mut rows = Vec::new();
    for contestant in &job.contestants {
        _ = writeln!(io::stderr(), "{}: {}", job.title, contestant.name);
        rows.push(check(contestant, job, &out, &mut references, options)?);
    }
    for folder in references.values() {
        _ = fs::remove_dir_all(folder);
    }
    let mut usages = vec![Vec::new(); rows.len()];
    for round in 1..=options.rounds {
        _ = writeln!(io::stderr(), "{}: round {round} of {}", job.title, options.rounds);
        let mut order: Vec<_> = job.contestants.iter().zip(&rows).zip(&mut usages).collect();
        // Each second round goes backwards, so that no program always runs after the same one.
        if round % 2 == 0 {
            order.reverse();
        }
        for ((contestant, row), usages) in order {
            if row.usage.is_some() {
                usages.push(once(contestant, &out)?.0);
            }
        }
    }
    for (row, usages) in rows.iter_mut().zip(&usages) {
        row.usage = row.usage.map(|_| Usage {
            cpu: median(usages, |usage| usage.cpu),
            wall: median(usages, |usage| usage.wall),
            peak: median(usages, |usage| usage.peak),
        });
    }
    _ = fs::remove_dir_all(&out);
    Ok(rows)
}

/// Runs a program once, and compares its output with earlier ones.
fn check(
    contestant: &Contestant,
    job: &Job,
    out: &Path,
    references: &mut BTreeMap<&'static str, PathBuf>,
    options: &Options,
) -> Result<Row, String> {
    let mut row = Row {
        name: contestant.name.clone(),
        usage: None,
        bytes_out: 0,
        note: String::new(),
        is_wrong: false,
    };
    let (usage, failures) = once(contestant, out)?;
    if let Some(what) = failures.first() {
        row.note = format!("fails on {} of {}: {what}", failures.len(), contestant.steps.len());
        if failures.len() == contestant.steps.len() {
            return Ok(row);
        }
    }
    row.usage = Some(usage);
    row.bytes_out = total(&files_below(out));
    if let Check::Stripped(_) = contestant.check {
        for file in compare::sessions(out) {
            let stripped = file.with_extension("stripped");
            let target = File::create(&stripped).map_err(|error| error.to_string())?;
            let mut strip = Command::new(&options.convert);
            let status = strip.args(["carry", "strip"]).arg(&file).stdout(target).status();
            status.and_then(|_| fs::rename(stripped, file)).map_err(|error| error.to_string())?;
        }
    }
    let unequal = match contestant.check {
        Check::Nothing => None,
        Check::Restored => compare::bytes(&job.original, &compare::sessions(out)),
        Check::Bytes(name) | Check::Stripped(name) | Check::Values(name) => {
            let Some(reference) = references.get(name) else {
                let kept = options.scratch.join(format!("kept {name}"));
                fs::rename(out, &kept).map_err(|error| error.to_string())?;
                references.insert(name, kept);
                return Ok(row);
            };
            match contestant.check {
                Check::Values(_) => values(reference, out, &mut row.note)?,
                _ => compare::bytes(&compare::sessions(reference), &compare::sessions(out)),
            }
        }
    };
    if let Some(what) = unequal {
        row.note = format!("UNEQUAL: {what}");
        row.is_wrong = true;
    }
    Ok(row)
}

/// Compares the one file of each folder as JSON, in a process of its own.
///
/// Differences are noted. The output is wrong only if most lines differ.
fn values(a: &Path, b: &Path, note: &mut String) -> Result<Option<String>, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let files = [a, b].map(|folder| folder.join("out.jsonl"));
    let answer = Command::new(me).arg("compare").args(&files).output();
    let answer = answer.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let (Some(Ok(n_unequal)), Some(Ok(n_lines))) = (numbers.next(), numbers.next()) else {
        return Ok(Some("could not be compared".to_owned()));
    };
    if n_unequal * 2 > n_lines {
        return Ok(Some(format!("{n_unequal} of {n_lines} lines")));
    }
    if n_unequal > 0 {
        *note = format!("{n_unequal} of {n_lines} lines differ");
    }
    Ok(None)
}

/// Runs the processes of a program with an empty folder for their outputs. Returns their resources in
/// total, and the messages of failed processes.
fn once(contestant: &Contestant, out: &Path) -> Result<(Usage, Vec<String>), String> {
    _ = fs::remove_dir_all(out);
    fs::create_dir_all(out).map_err(|error| error.to_string())?;
    let (mut sum, mut failures) = (Usage::default(), Vec::new());
    for step in &contestant.steps {
        let (usage, failure) = process(step, out)?;
        sum.cpu += usage.cpu;
        sum.wall += usage.wall;
        sum.peak = sum.peak.max(usage.peak);
        failures.extend(failure);
    }
    Ok((sum, failures))
}

fn process(step: &Step, out: &Path) -> Result<(Usage, Option<String>), String> {
    let name = step.program.display();
    let failed = |error: io::Error| format!("{name}: {error}");
    let mut command = Command::new(&step.program);
    let folder = out.display().to_string();
    for argument in &step.arguments {
        match argument.to_str().filter(|text| text.contains(OUT)) {
            Some(text) => command.arg(text.replace(OUT, &folder)),
            None => command.arg(argument),
        };
    }
    if step.is_at_home {
        command.env("HOME", out).env("CODEX_HOME", out.join(".codex")).current_dir(out);
    }
    let errors = out.with_extension("stderr");
    command.stderr(File::create(&errors).map_err(failed)?);
    command.stdin(match &step.stdin {
        Some(path) => File::open(path).map_err(failed)?.into(),
        None => Stdio::null(),
    });
    command.stdout(match step.stdout {
        Some(file) => File::create(out.join(file)).map_err(failed)?.into(),
        None => Stdio::null(),
    });
    let start = Instant::now();
    let used = command.spawn().map_err(failed)?.wait4().map_err(failed)?;
    let wall = start.elapsed();
    let cpu = used.rusage.utime + used.rusage.stime;
    let usage = Usage { cpu, wall, peak: used.rusage.maxrss };
    // Exit status 1 of our program means that something needs attention. Its output is complete.
    let is_fine = match used.status.code() {
        Some(0) => true,
        Some(1) => step.is_ours,
        _ => false,
    };
    if is_fine {
        return Ok((usage, None));
    }
    let text = fs::read_to_string(&errors).unwrap_or_default();
    let last = text.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
    Ok((usage, Some(format!("{}: {}", used.status, last.replace('|', "/")))))
}

fn median<T: Copy + Ord + Default>(usages: &[Usage], of: fn(&Usage) -> T) -> T {
    let mut values: Vec<T> = usages.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
