//! `plan`: prints a line for each session to convert, for `work`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf, absolute},
};

use archive::{OutputRoot, Plan, Planned, Status, Task, largest_first, named, path_body};
use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use core_model::system_words;
use sessions::{Input, SessionFiles, Stores, is_inside_an_input};
use storage::{Folder, is_url};

use crate::{
    FORMATS,
    cli::{
        ConversionArgs, NOT_FOR_WORKERS,
        complete::{Projects, Sessions},
    },
    environment::{inputs, lookup, n_cores},
    interrupt::INTERRUPTION,
    program::words,
    terminal::{
        figures::{count, size},
        message::{failed, warn},
        progress::say,
        stdout::stdout,
    },
};

/// The inputs of a plan, and the output folder. The help has no `--restore-files`, which a plan refuses.
#[derive(clap::Args, Debug)]
#[command(mut_arg("restore_files", |option| option.hide(true)))]
pub(crate) struct Args {
    /// Files, folders, or ids of sessions
    #[arg(value_hint = ValueHint::AnyPath, add = ArgValueCompleter::new(Sessions))]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    how: ConversionArgs,
    /// The folder or URL that workers write to
    #[arg(short, long, value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// The folder of a project: look up ids there; without inputs, all its sessions
    #[arg(
        long,
        value_name = "FOLDER",
        value_hint = ValueHint::DirPath,
        add = ArgValueCompleter::new(Projects)
    )]
    project: Option<PathBuf>,
    /// Convert equal files once; the receipts say which files are equal
    #[arg(long)]
    dedupe: bool,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Prints the plan, the largest session first, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let plan = match planned_units(args) {
        Ok(plan) => plan,
        Err(NotPlanned::Usage(message)) => return failed(message),
        Err(NotPlanned::Io(error)) => return Err(error),
    };
    let mut out = io::BufWriter::new(stdout());
    for it in &plan {
        out.write_all(&it.line())?;
    }
    out.flush()?;
    if !args.quiet {
        let n_bytes = plan.iter().map(|it| it.bytes).sum();
        let largest = plan.first().map_or(0, |it| it.bytes);
        let units = count(plan.len() as u64, "unit");
        say(&format!("{units}, {}, the largest {}", size(n_bytes), size(largest)));
    }
    Ok(if plan.is_empty() { Status::Failed } else { Status::Done })
}

/// The reason why there is no plan.
#[derive(Debug, thiserror::Error)]
enum NotPlanned {
    /// The arguments do not fit each other.
    #[error("{0}")]
    Usage(&'static str),
    /// A file or folder cannot be read.
    #[error("{}", system_words(.0))]
    Io(#[from] io::Error),
}

/// Returns the lines of a plan, the largest session first. `arguments` are the words after `convert plan`.
///
/// # Errors
///
/// Returns an error with the message of the program if it would print one.
pub fn plan(arguments: &[String]) -> io::Result<Vec<Vec<u8>>> {
    match planned_units(&words("plan", arguments)?) {
        Ok(plan) => Ok(plan.iter().map(Planned::line).collect()),
        Err(NotPlanned::Usage(message)) => Err(io::Error::other(message)),
        Err(NotPlanned::Io(error)) => Err(error),
    }
}

fn planned_units(args: &Args) -> Result<Vec<Planned>, NotPlanned> {
    let how = &args.how;
    if args.inputs.is_empty() && args.project.is_none() {
        return Err(NotPlanned::Usage("no input: name a file or a folder; see --help"));
    }
    if how.restore_files.is_some() {
        return Err(NotPlanned::Usage(NOT_FOR_WORKERS));
    }
    let lookup = lookup(args.project.as_deref(), how.source(), how.target());
    let (inputs, is_folder) = inputs(&args.inputs, &lookup)?;
    if inputs.contains(&Input::Stdin) {
        return Err(NotPlanned::Usage(
            "standard input cannot be planned, because workers cannot read it; name files or folders",
        ));
    }
    if is_folder && is_inside_an_input(&args.output, &args.inputs) {
        return Err(NotPlanned::Usage(
            "the output folder is inside the input folder; name another folder with -o",
        ));
    }
    let root = if is_url(&args.output) { args.output.clone() } else { absolute(&args.output)? };
    sweep(&root).map_err(|error| named(error, &root))?;
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let (output, is_mirrored, dedupe) = (&*root, true, args.dedupe);
    let Some(config) = &how.job_config() else {
        return Err(NotPlanned::Usage("--to FORMAT is missing: it names the format to write"));
    };
    let tasks = Plan { config, units: &units, output, is_mirrored, dedupe }.tasks(n_cores());
    let order = largest_first(&tasks);
    let mut plan = Vec::new();
    for it in &order {
        plan.push(planned(&tasks[it.task_idx], it.size, &root, how)?);
    }
    plan.sort_by_key(|it| std::cmp::Reverse(it.bytes));
    Ok(plan)
}

fn planned(task: &Task<'_>, bytes: u64, root: &Path, how: &ConversionArgs) -> io::Result<Planned> {
    let path = |input: &Input| match input {
        Input::Missing { path, .. } if is_url(path) => Ok(path.clone()),
        Input::Missing { path, .. } => absolute(path),
        input => input.absolute()?.ok_or_else(|| io::ErrorKind::Unsupported.into()),
    };
    let main = path(&task.unit.main)?;
    let subs: Vec<PathBuf> =
        task.unit.files().skip(1).map(path).collect::<io::Result<Vec<PathBuf>>>()?;
    // An input that cannot be opened has no output name; its path identifies it.
    let (id, out) = match task.unit.main.is_found() {
        true => (path_body(task.path.strip_prefix(root).unwrap_or(&task.path)), task.path.clone()),
        false => (path_body(&main), root.join("missing")),
    };
    // Two inputs with one output name are two units.
    let id = if task.is_free && task.same_as.is_none() { id } else { path_body(&main) };
    Ok(Planned {
        id,
        etag: Planned::etag(task.unit.files()),
        main,
        subs,
        bytes,
        root: root.to_owned(),
        out,
        options: how.words(),
        digest: how.output_options().hash,
        same_as: task.same_as.clone(),
        is_taken: !task.is_free,
    })
}

/// Removes temporary files of dead runs and workers from the output folder, if it exists.
///
/// # Errors
///
/// Returns an error if the URL is not of a writable store, or if the store fails.
fn sweep(root: &Path) -> io::Result<()> {
    if is_url(root) {
        return OutputRoot::open(root, &mut Stores::new(INTERRUPTION))?.sweep();
    }
    Folder::open(root).map_or(Ok(()), |folder| OutputRoot::Folder(folder).sweep())
}
