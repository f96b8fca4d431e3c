//! `tables`: sessions as Parquet, for questions over all of them.

use std::{
    io,
    path::{Path, PathBuf},
};

use clap::ValueHint;
use core_model::Format;
use export_parquet::{Dataset, Options, SessionFile};

use crate::{
    Source, by_name,
    cli::{Sources, format_names},
    detect,
    input::{Input, is_inside_an_input},
    interrupt::is_interrupted,
    job::Refusal,
    run::{Status, complain, failed},
    terminal::{
        figures::{grouped, size},
        progress::{self, Progress},
        shown::shown,
    },
};

/// What files that are no session are called in the column `source_format`.
const NO_FORMAT: &str = "none";

/// What to write as tables, and where.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
    /// The folder for the tables; in it there must be none
    #[arg(short, long, value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Keep the bytes of each line, and files beside sessions too: `restore` gives all of them back
    #[arg(long)]
    with_raw: bool,
    /// The format to read, instead of finding it out
    #[arg(long, value_parser = format_names())]
    from: Option<String>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Writes all inputs as tables, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let from = args.from.as_deref().and_then(by_name);
    let (mut inputs, is_folder) = args.sources.inputs(from, None)?;
    if is_folder && is_inside_an_input(&args.output, &args.sources.paths) {
        return failed("the output folder is inside the input folder");
    }
    if let [Input::Missing { path, reason, .. }] = inputs.as_slice() {
        return failed(&format!("{}: {reason}", shown(&path.to_string_lossy())));
    }
    inputs.retain(|input| args.with_raw || !is_folder || !input.is_side_file());
    let mode = if args.quiet { progress::Mode::None } else { progress::Mode::Auto };
    let mut run = Run {
        dataset: Dataset::create(&args.output, &Options { with_raw: args.with_raw })
            .map_err(io::Error::other)?,
        from,
        keeps_all: args.with_raw && is_folder,
        progress: Progress::of(mode, &inputs),
    };
    let (mut n_refused, mut n_passed_over) = (0, 0);
    for input in &inputs {
        if is_interrupted() {
            break;
        }
        match run.input(input) {
            Ok(()) => {}
            Err(Refusal::Unknown | Refusal::Foreign(_)) if is_folder => n_passed_over += 1,
            Err(refusal) => {
                n_refused += 1;
                complain(&format!("{}: {refusal}", shown(&input.label())));
            }
        }
        run.progress.add_file();
    }
    let written = run.dataset.finish().map_err(io::Error::other)?;
    drop(run.progress);
    if !args.quiet {
        let (rows, files) = (grouped(written.n_rows), grouped(written.n_files));
        let size = size(written.n_bytes);
        progress::say(&format!("{rows} rows of {files} files, {size}, in {}", path(&args.output)));
        if n_passed_over > 0 {
            progress::say(&format!("{n_passed_over} files are no sessions that convert reads"));
        }
    }
    Ok(match (written.n_files, n_refused) {
        (0, 1..) => Status::Failed,
        (_, 1..) => Status::Attention,
        _ => Status::Done,
    })
}

fn path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// Tables on their way.
struct Run {
    dataset: Dataset,
    from: Option<&'static Format>,
    /// Whether files that are no session are kept too.
    keeps_all: bool,
    progress: Progress,
}

impl Run {
    fn input(&mut self, input: &Input) -> Result<(), Refusal> {
        let mut source = Source::new(input.open()?);
        let name = match input {
            Input::File { name, .. } => name.to_string_lossy().into_owned(),
            _ => "stdin.jsonl".to_owned(),
        };
        let format = match (self.from, self.keeps_all) {
            (Some(format), _) => Some(format),
            (None, true) => detect(&mut source)?.known().unwrap_or_default(),
            (None, false) => detect(&mut source)?.known()?,
        };
        let mut file = SessionFile::new(&name, format.map_or(NO_FORMAT, |format| format.name));
        let (dataset, progress) = (&mut self.dataset, &self.progress);
        let mut result = Ok(());
        match format {
            Some(format) => source.with_events(format, |events| {
                events.for_each(&mut |line, event| {
                    file.observe(line, event.ok());
                    true
                })?;
                events.for_each(&mut |line, event| {
                    progress.add_bytes(line.bytes().len() as u64);
                    result = dataset.push(&mut file, line, event.ok());
                    result.is_ok()
                })
            })?,
            None => source.for_each(&mut |line, _| {
                file.observe(line, None);
                progress.add_bytes(line.bytes().len() as u64);
                result = dataset.push(&mut file, line, None);
                result.is_ok()
            })?,
        }
        result.and_then(|()| dataset.end_file(file)).map_err(io::Error::other)?;
        Ok(())
    }
}
