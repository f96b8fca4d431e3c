//! The main job on the command line: all inputs to where they belong, and an account of it.

use std::{io, path::Path, sync::Arc, time::Instant};

use core_model::{Format, Options};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    CarryMode,
    account::{self, describe::Done},
    by_name,
    cli::ConvertArgs,
    folder_run::FolderRun,
    input::{Input, is_inside_an_input, opened::Limits, sessions::Lookup},
    install::install,
    job::{Order, Refusal, settled::Settled, verdict::Verdict},
    outputs::{Manner, Outputs},
    run::{Status, complain, inputs},
    unit::Unit,
};

/// What became of an input.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was converted.
    Converted(Box<Done>),
    /// It belongs to a session and was copied beside it.
    Copied,
    /// It belongs to a session and is in that one's file.
    Inside,
    /// It belongs to a session, and was left out as asked for.
    LeftOut,
    /// What it would become is there, and it is unchanged.
    UpToDate(Verdict),
    /// It has the same content as another, by its label, that goes in its place.
    SameAs(String),
}

/// What became of all inputs: the files of each unit in their order.
pub(crate) type Results<'u> = Vec<(&'u Input, Result<Outcome, Refusal>)>;

/// Converts what the command line asks for.
pub(crate) fn convert(args: &ConvertArgs) -> io::Result<Status> {
    let start = Instant::now();
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
    let carry = CarryMode::from(args.carry);
    match output {
        _ if args.install.is_some() && carry == CarryMode::Sidecar => {
            return usage("a client's folder has no place for a sidecar");
        }
        _ if args.install.is_some() => {}
        None if is_folder => return usage("several inputs need a folder to write to: -o FOLDER"),
        None if carry == CarryMode::Sidecar => {
            return usage("a sidecar needs a file to stand beside: -o FILE");
        }
        Some(output) if is_folder && is_inside_an_input(output, &args.inputs) => {
            return usage("the output folder is inside the input folder");
        }
        _ => {}
    }
    let outputs = match outputs(args, to, from, is_folder) {
        Ok(outputs) => outputs,
        Err(why) => return usage(&why.to_string()),
    };
    let order = Order {
        to,
        from,
        carry,
        options: options(args),
        outputs: Arc::new(outputs),
        verify: args.verify,
        subagents: args.subagents,
        redacts: args.redact,
        limits: Limits { line: args.max_line, expanded: args.max_expanded },
        // Several files keep all cores busy, each on one.
        n_scanners: if units.len() == 1 { n_jobs - 1 } else { 0 },
    };
    let settle = |results: Results<'_>| -> Vec<Settled> {
        results.iter().map(|(input, it)| Settled::of(args, is_folder, input, it)).collect()
    };
    let settled = match (&args.install, output) {
        (Some(project), _) => settle(install(&order, &units, project.as_deref())?),
        (None, None) => {
            settle(units.iter().map(|it| (&it.main, order.unit_to_stdout(it))).collect())
        }
        (None, Some(output)) => {
            FolderRun { args, order: &order, units: &units, output, is_folder, n_jobs }.run()
        }
    };
    account::close(args, is_folder, &settled, order.outputs.full(), start.elapsed())
}

/// Returns how many threads can run at a time.
pub(crate) fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

fn options(args: &ConvertArgs) -> Options {
    Options {
        sdk_version: args.sdk_version.into(),
        is_strict: args.strict,
        all_branches: args.all_branches,
        from_last_compaction: args.from_last_compaction,
    }
}

fn outputs(
    args: &ConvertArgs,
    to: &Format,
    from: Option<&Format>,
    is_folder: bool,
) -> Result<Outputs, crate::outputs::NotOpened> {
    let manner = Manner {
        force: args.force,
        durability: args.durability,
        compression: args.compress,
        is_rehearsal: args.dry_run,
    };
    let is_in_folder = |output: &&Path| args.install.is_none() && (is_folder || output.is_dir());
    match args.output.as_deref().filter(is_in_folder) {
        Some(folder) => {
            let from = from.map(|format| format.name);
            let depends = (to.name, from, args.carry, options(args), args.compress, args.redact);
            let depends = (depends, args.subagents);
            let version = env!("CARGO_PKG_VERSION");
            let depends = xxh3_64(format!("{version} {depends:?}").as_bytes());
            Outputs::journaled(folder, depends, manner)
        }
        None => Ok(Outputs::of_one(manner)),
    }
}
