//! The program: what was asked for, done, and the exit status.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use core_model::Options;
use rayon::prelude::*;

use crate::{
    CarryMode, Detected, FORMATS, Source, by_name, check,
    cli::{CarryCommand, Cli, Command, ConvertArgs},
    describe::Done,
    detect,
    input::{Input, is_inside_an_input, walk},
    inspect,
    install::install,
    interrupt::{self, is_interrupted},
    job::{Order, Refusal},
    sessions::Lookup,
    shown::shown,
};

/// How a run ends.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Status {
    /// All was done.
    Done = 0,
    /// All was done, but something wants attention.
    Attention = 1,
    /// The command line makes no sense, or nothing could be done.
    Failed = 2,
}

/// Runs the program with its arguments and returns its exit status.
///
/// 0: all was converted. 1: converted, but something wants attention. 2: usage, or nothing could be
/// converted. 130: interrupted.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    interrupt::listen();
    let result = match cli.command {
        None => convert(&cli.convert),
        Some(Command::Detect { inputs }) => detect_all(&inputs),
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Formats) => formats(),
        Some(Command::Carry { command }) => carry(command),
    };
    match result {
        _ if is_interrupted() => ExitCode::from(interrupt::STATUS),
        Ok(status) => ExitCode::from(status as u8),
        // Whoever read our output has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(Status::Failed as u8)
        }
    }
}

pub(crate) fn complain(message: &str) {
    // Without a standard error there is nobody to tell.
    _ = writeln!(io::stderr(), "convert: {message}");
}

/// Returns the inputs that the paths name, and whether they are to be mirrored in a folder.
pub(crate) fn inputs(paths: &[PathBuf], lookup: &Lookup) -> io::Result<(Vec<Input>, bool)> {
    let mut inputs = Vec::new();
    let mut is_folder = paths.len() > 1;
    if paths.is_empty() && lookup.project.is_some() {
        let paths = lookup.all()?;
        is_folder = paths.len() > 1;
        inputs.extend(paths.into_iter().map(Input::file));
    } else if paths.is_empty() {
        inputs.push(Input::Stdin);
    }
    for path in paths {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            is_folder = true;
            let name =
                if paths.len() > 1 { path.file_name().unwrap_or_default() } else { "".as_ref() };
            walk(path, Path::new(name), &mut inputs)
                .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        } else {
            inputs.push(Input::file(lookup.find(path)?));
        }
    }
    Ok((inputs, is_folder))
}

fn convert(args: &ConvertArgs) -> io::Result<Status> {
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
    let order = Order {
        to,
        from,
        carry: args.carry.into(),
        options: Options { sdk_version: args.sdk_version.into(), all_branches: args.all_branches },
        force: args.force,
        verify: args.verify,
    };
    if let Some(project) = &args.install {
        if order.carry == CarryMode::Sidecar {
            return usage("a client's folder has no place for a sidecar");
        }
        let results = install(&order, &inputs, project.as_deref())?;
        return finish(args, &results, is_folder);
    }
    let results = match &args.output {
        None if is_folder => return usage("several inputs need a folder to write to: -o FOLDER"),
        None if order.carry == CarryMode::Sidecar => {
            return usage("a sidecar needs a file to stand beside: -o FILE");
        }
        None => inputs.iter().map(|input| (input, order.to_stdout(input))).collect(),
        Some(output) => {
            if is_folder && is_inside_an_input(output, &args.inputs) {
                return usage("the output folder is inside the input folder");
            }
            to_files(&order, &inputs, output, is_folder, args.jobs)?
        }
    };
    finish(args, &results, is_folder)
}

pub(crate) type Results<'i> = Vec<(&'i Input, Result<Done, Refusal>)>;

fn to_files<'i>(
    order: &Order,
    inputs: &'i [Input],
    output: &Path,
    is_folder: bool,
    jobs: Option<usize>,
) -> io::Result<Results<'i>> {
    let target = |input: &Input| match input {
        Input::File { name, .. } if is_folder || output.is_dir() => output.join(name),
        Input::Stdin if is_folder || output.is_dir() => output.join("stdin.jsonl"),
        _ => output.to_owned(),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0))
        .build()
        .map_err(io::Error::other)?;
    let convert = |input: &'i Input| match is_interrupted() {
        true => (input, Err(Refusal::Io(io::Error::other("interrupted")))),
        false => (input, order.to_file(input, &target(input))),
    };
    Ok(pool.install(|| inputs.par_iter().map(convert).collect()))
}

/// Prints what was done, writes the report, and returns the status.
fn finish(args: &ConvertArgs, results: &Results<'_>, is_folder: bool) -> io::Result<Status> {
    let mut status = Status::Done;
    let mut n_done = 0;
    let mut json = Vec::from(*b"[");
    let (mut bytes_in, mut bytes_out, mut lines_in, mut n_foreign) = (0, 0, 0, 0);
    for (input, result) in results {
        match result {
            Ok(done) => {
                n_done += 1;
                bytes_in += done.report.bytes_in;
                bytes_out += done.report.bytes_out + done.report.bytes_sidecar;
                lines_in += done.report.lines_in;
                let has_loss = args.fail_on_loss && !done.report.losses.is_empty();
                if done.report.wants_attention() || has_loss {
                    status = status.max(Status::Attention);
                }
                for problem in done.problems() {
                    complain(&problem);
                }
                if !args.quiet && (!is_folder || args.verbose) {
                    for line in done.summary() {
                        _ = writeln!(io::stderr(), "{line}");
                    }
                }
                if json.len() > 1 {
                    json.extend_from_slice(b",\n");
                }
                done.push_json(&mut json);
            }
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(Status::Done);
            }
            // In a folder, files of other programs are no failure.
            Err(Refusal::Unknown) if is_folder && args.inputs.len() == 1 => n_foreign += 1,
            Err(refusal) => {
                status = status.max(Status::Attention);
                complain(&format!("{}: {refusal}", shown(&input.label())));
            }
        }
    }
    if n_done == 0 {
        status = Status::Failed;
    }
    if is_folder && !args.quiet {
        let n_refused = results.len() - n_done - n_foreign;
        _ = writeln!(
            io::stderr(),
            "Converted {n_done} of {} files to {}: {lines_in} lines, {bytes_in} bytes in, {bytes_out} bytes out\n  \
             {n_refused} refused, {n_foreign} not sessions",
            results.len(),
            args.to.as_deref().unwrap_or_default(),
        );
    }
    if let Some(path) = &args.report {
        json.extend_from_slice(b"]\n");
        std::fs::write(path, &json)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    }
    Ok(status)
}

fn detect_all(paths: &[PathBuf]) -> io::Result<Status> {
    let (inputs, _) = inputs(paths, &Lookup::new(None, None, None))?;
    let mut out = io::stdout().lock();
    let mut n_known = 0;
    for input in &inputs {
        let found = input.open().and_then(|opened| detect(&mut Source::new(opened)));
        let label = shown(&input.label());
        match found {
            Ok(Detected::Format(format)) => {
                n_known += 1;
                writeln!(out, "{}\t{label}", format.name)?;
            }
            Ok(Detected::Empty) => {
                n_known += 1;
                writeln!(out, "empty\t{label}")?;
            }
            Ok(Detected::Ambiguous(one, other)) => {
                writeln!(out, "{} or {}\t{label}", one.name, other.name)?;
            }
            Ok(Detected::Foreign(name)) => writeln!(out, "{name}\t{label}")?,
            Ok(Detected::Unknown) => writeln!(out, "unknown\t{label}")?,
            Err(error) => complain(&format!("{label}: {error}")),
        }
    }
    Ok(match n_known {
        0 => Status::Failed,
        n if n < inputs.len() => Status::Attention,
        _ => Status::Done,
    })
}

fn formats() -> io::Result<Status> {
    let mut out = io::stdout().lock();
    for format in FORMATS {
        writeln!(out, "{:16} {}", format.name, format.about)?;
    }
    Ok(Status::Done)
}

fn carry(command: CarryCommand) -> io::Result<Status> {
    let (CarryCommand::Show { input } | CarryCommand::Strip { input }) = &command;
    let lookup = Lookup::new(None, None, None);
    let (inputs, _) = inputs(std::slice::from_ref(input), &lookup)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for input in &inputs {
        let opened = input
            .open()
            .map_err(|error| io::Error::other(format!("{}: {error}", input.label())))?;
        match command {
            CarryCommand::Show { .. } => inspect::show(&mut Source::new(opened), &mut out)?,
            CarryCommand::Strip { .. } => inspect::strip(&mut Source::new(opened), &mut out)?,
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
