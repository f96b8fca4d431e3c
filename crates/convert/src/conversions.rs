//! The main job on the command line: all inputs to where they belong, and an account of it.

use std::{
    collections::HashSet,
    io::{self, Write},
    path::{Path, PathBuf},
};

use core_model::Options;
use rayon::prelude::*;

use crate::{
    CarryMode, by_name,
    cli::ConvertArgs,
    describe::{Done, place},
    input::{Input, is_inside_an_input},
    install::install,
    interrupt::is_interrupted,
    job::{Order, Refusal},
    outputs::Outputs,
    progress::{Mode, Progress},
    run::{Status, complain, inputs},
    sessions::Lookup,
    shown::shown,
    unit::Unit,
};

/// What became of an input.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was converted.
    Converted(Box<Done>),
    /// It belongs to a session and was copied beside it.
    Copied,
}

/// What became of all inputs: the files of each unit in their order.
pub(crate) type Results<'u> = Vec<(&'u Input, Result<Outcome, Refusal>)>;

/// Converts what the command line asks for.
pub(crate) fn convert(args: &ConvertArgs) -> io::Result<Status> {
    let usage = |message: &str| {
        complain(message);
        Ok(Status::Failed)
    };
    let Some(to) = args.to.as_deref().and_then(by_name) else {
        return usage("--to is missing");
    };
    let is_piped = args.inputs.is_empty() && args.project.is_none();
    if is_piped && io::IsTerminal::is_terminal(&io::stdin()) {
        return usage("no input: name a file or a folder, or pipe a session in; see --help");
    }
    let from = args.from.as_deref().and_then(by_name);
    let lookup = Lookup::new(args.project.as_deref(), from, Some(to));
    let (inputs, is_folder) = inputs(&args.inputs, &lookup)?;
    let units = Unit::group(inputs);
    let n_jobs = args.jobs.filter(|jobs| *jobs > 0).unwrap_or_else(n_cores);
    let output = args.output.as_deref();
    if is_folder && output.is_some_and(|output| is_inside_an_input(output, &args.inputs)) {
        return usage("the output folder is inside the input folder");
    }
    let outputs = match output {
        Some(output) if is_folder || output.is_dir() => Outputs::below(output, args.force)?,
        _ => Outputs::anywhere(args.force),
    };
    let order = Order {
        to,
        from,
        carry: args.carry.into(),
        options: Options {
            sdk_version: args.sdk_version.into(),
            is_strict: args.strict,
            all_branches: args.all_branches,
            from_last_compaction: args.from_last_compaction,
        },
        outputs,
        verify: args.verify,
        redacts: args.redact,
        // Several files keep all cores busy, each on one.
        n_scanners: if units.len() == 1 { n_jobs - 1 } else { 0 },
    };
    if let Some(project) = &args.install {
        if order.carry == CarryMode::Sidecar {
            return usage("a client's folder has no place for a sidecar");
        }
        let results = install(&order, &units, project.as_deref())?;
        return finish(args, &results, is_folder);
    }
    let results = match &args.output {
        None if is_folder => return usage("several inputs need a folder to write to: -o FOLDER"),
        None if order.carry == CarryMode::Sidecar => {
            return usage("a sidecar needs a file to stand beside: -o FILE");
        }
        None => units.iter().map(|unit| (&unit.main, order.to_stdout(&unit.main))).collect(),
        Some(output) => to_files(args, &order, &units, output, is_folder, n_jobs)?,
    };
    finish(args, &results, is_folder)
}

/// Returns how many threads can run at a time.
pub(crate) fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

fn to_files<'u>(
    args: &ConvertArgs,
    order: &Order,
    units: &'u [Unit],
    output: &Path,
    is_folder: bool,
    n_jobs: usize,
) -> io::Result<Results<'u>> {
    let is_folder = is_folder || output.is_dir();
    let target = |input: &Input| match input {
        Input::File { name, .. } if is_folder => output.join(name),
        Input::Stdin if is_folder => output.join("stdin.jsonl"),
        _ => output.to_owned(),
    };
    let mode = if args.quiet { Mode::None } else { args.progress };
    let progress = Progress::of(mode, units.iter().flat_map(Unit::files));
    let mut taken = HashSet::new();
    let targets: Vec<(&Unit, PathBuf, bool)> = units
        .iter()
        .map(|unit| (unit, target(&unit.main)))
        .map(|(unit, path)| (unit, path.clone(), taken.insert(path)))
        .collect();
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(n_jobs).build().map_err(io::Error::other)?;
    let convert = |(unit, path, is_free): (&'u Unit, PathBuf, bool)| {
        if is_interrupted() {
            return unit.refused(|| Refusal::Interrupted);
        }
        if !is_free {
            return unit.refused(|| Refusal::SameName(path.display().to_string()));
        }
        let results = order.unit_to_files(unit, &path, is_folder);
        unit.files().for_each(|input| progress.add_input(input));
        results
    };
    Ok(pool.install(|| targets.into_par_iter().flat_map_iter(convert).collect()))
}

/// What is printed at the end, summed up over all inputs.
#[derive(Default)]
struct Account {
    status: Option<Status>,
    n_done: usize,
    n_copied: usize,
    n_not_ours: usize,
    n_interrupted: usize,
    bytes_in: u64,
    bytes_out: u64,
    lines_in: u64,
    json: Vec<u8>,
}

impl Account {
    fn want_attention(&mut self) {
        self.status = self.status.max(Some(Status::Attention));
    }

    fn add_done(&mut self, args: &ConvertArgs, done: &Done, is_folder: bool) {
        let report = &done.report;
        self.n_done += 1;
        self.bytes_in += report.bytes_in;
        self.bytes_out += report.bytes_out + report.bytes_sidecar;
        self.lines_in += report.lines_in;
        if report.wants_attention() || args.fail_on_loss && !report.losses.is_empty() {
            self.want_attention();
        }
        for problem in done.problems() {
            complain(&problem);
        }
        if !args.quiet && (!is_folder || args.verbose) {
            for line in done.summary() {
                _ = writeln!(io::stderr(), "{line}");
            }
        }
        self.json.extend_from_slice(if self.json.is_empty() { b"[" } else { b",\n" });
        done.push_json(&mut self.json);
    }

    /// Prints the last line, writes the report, and returns the status.
    fn close(mut self, args: &ConvertArgs, n_inputs: usize, is_folder: bool) -> io::Result<Status> {
        if self.n_interrupted > 0 {
            complain(&format!("interrupted: {} of {n_inputs} files are left", self.n_interrupted));
        }
        if is_folder && !args.quiet {
            let Account { n_done, n_copied, n_not_ours, lines_in, bytes_in, bytes_out, .. } = self;
            let n_refused = n_inputs - n_done - n_copied - n_not_ours - self.n_interrupted;
            let to = args.to.as_deref().unwrap_or_default();
            let copied = match n_copied {
                0 => String::new(),
                n => format!("{n} side files copied, "),
            };
            _ = writeln!(
                io::stderr(),
                "Converted {n_done} of {n_inputs} files to {to}: {lines_in} lines, \
                 {bytes_in} bytes in, {bytes_out} bytes out\n  \
                 {copied}{n_refused} refused, {n_not_ours} not sessions",
            );
        }
        if let Some(path) = &args.report {
            self.json.extend_from_slice(if self.json.is_empty() { b"[]\n" } else { b"]\n" });
            std::fs::write(path, &self.json)
                .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        }
        let all = self.status.unwrap_or(Status::Done);
        Ok(if self.n_done + self.n_copied == 0 { Status::Failed } else { all })
    }
}

/// Prints what was done, writes the report, and returns the status.
fn finish(args: &ConvertArgs, results: &Results<'_>, is_folder: bool) -> io::Result<Status> {
    let mut account = Account::default();
    for (input, result) in results {
        match result {
            Ok(Outcome::Converted(done)) => account.add_done(args, done, is_folder),
            Ok(Outcome::Copied) => account.n_copied += 1,
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(Status::Done);
            }
            Err(_) if is_interrupted() => account.n_interrupted += 1,
            // In a folder, files of other programs are no failure.
            Err(Refusal::Unknown) if is_folder && input.is_found() => {
                account.n_not_ours += 1;
                if args.verbose {
                    complain(&format!("{}: not a session", shown(&input.label())));
                }
            }
            Err(refusal) => {
                let label = shown(&input.label());
                account.want_attention();
                match refusal.damage() {
                    Some(damage) => {
                        account.status = Some(Status::Failed);
                        complain(&format!("{} (--strict)", place(&label, damage)));
                    }
                    None => complain(&format!("{label}: {refusal}")),
                }
            }
        }
    }
    account.close(args, results.len(), is_folder)
}
