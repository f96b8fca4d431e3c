//! `tables`: writes sessions as Parquet tables.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use archive::{ConvertError, RunOutputs, Status};
use clap::ValueHint;
use conversion::Source;
use core_model::Format;
use export_parquet::{Dataset, Options, Response, SessionFile, Shelf};
use sessions::{
    Input, Priced, PricedResponses, Prices, Progress as _, Redact, UnknownFormat,
    is_inside_an_input, single_format,
};
use storage::{AtomicFile, FILE_MODE, Finished, Folder, Limits, list, remove_dead};

use crate::{
    FORMATS, by_name,
    cli::{RedactArgs, Sources, format_names},
    formats::detect,
    hint::{convert_message, io_message},
    interrupt::{INTERRUPTION, is_interrupted},
    names::NameWarnings,
    terminal::{
        escape::escape_for_terminal,
        figures::{grouped, size},
        message::{complain, failed},
        progress::{self, Progress},
    },
};

/// The value of `source_format` for files that are no session.
const NO_FORMAT: &str = "none";

/// The part that is published last: if it exists, all parts do.
const LAST: &str = "sessions/part-00000.parquet";

/// The sessions, and the folder for the tables.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
    /// The folder for the tables; it must not contain tables
    #[arg(short, long, value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Also keep the bytes of each line and the files beside sessions, for `restore`
    #[arg(long)]
    with_raw: bool,
    /// The format to read, instead of detecting it
    #[arg(long, value_parser = format_names())]
    from: Option<String>,
    #[command(flatten)]
    redact: RedactArgs,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Writes all inputs as tables, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let from = args.from.as_deref().and_then(by_name);
    let (mut inputs, is_folder) = args.sources.inputs(from, None)?;
    if is_folder && is_inside_an_input(&args.output, &args.sources.paths) {
        return failed("the output folder is inside the input folder; name another folder with -o");
    }
    if let [Input::Missing { path, reason, .. }] = inputs.as_slice() {
        return failed(&format!("{}: {reason}", escape_for_terminal(&path.to_string_lossy())));
    }
    if args.output.join(LAST).exists() {
        return failed(&format!(
            "{} has tables already; name another folder with -o",
            path(&args.output)
        ));
    }
    inputs.retain(|input| args.with_raw || !is_folder || !input.is_side_file());
    let mode = if args.quiet { progress::Mode::None } else { progress::Mode::Auto };
    let mut parts = NamedAtEnd::below(&args.output)?;
    let mut run = Run {
        dataset: Dataset::on(&mut parts, &Options { with_raw: args.with_raw }),
        from,
        redact: args.redact.into(),
        keeps_all: args.with_raw && is_folder,
        prices: Prices::known(),
        progress: Progress::of(mode, &inputs),
    };
    let (mut n_refused, mut n_passed_over) = (0, 0);
    let mut names = NameWarnings::new(run.redact);
    for input in &inputs {
        if is_interrupted() {
            // Incomplete parts are not published.
            return Ok(Status::Attention);
        }
        match run.input(input) {
            Ok(written) => {
                written.map_err(io::Error::other)?;
                names.warn(&input.label(), "write the tables again");
            }
            Err(ConvertError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder =>
            {
                n_passed_over += 1
            }
            Err(refusal) => {
                n_refused += 1;
                complain(&format!(
                    "{}: {}",
                    escape_for_terminal(&input.label()),
                    convert_message(&refusal)
                ));
            }
        }
        run.progress.add_file();
    }
    let written = run.dataset.finish().map_err(io::Error::other)?;
    drop(run.progress);
    if written.n_files == 0 && n_refused > 0 {
        return Ok(Status::Failed);
    }
    if let Some(other) = parts.other_part()? {
        return failed(&format!(
            "{} is a part of other tables, and readers would add its rows; name another folder with -o",
            path(&other)
        ));
    }
    parts.name().map_err(io::Error::other)?;
    if !args.quiet {
        let (rows, files) = (grouped(written.n_rows), grouped(written.n_files));
        let size = size(written.n_bytes);
        progress::say(&format!("{rows} rows of {files} files, {size}, in {}", path(&args.output)));
        if n_passed_over > 0 {
            progress::say(&format!(
                "{n_passed_over} files skipped: no sessions that convert reads"
            ));
        }
    }
    if n_refused > 0 {
        complain(&format!(
            "{} lacks {} of the inputs; to add them, remove it and write the tables again",
            path(&args.output),
            grouped(n_refused)
        ));
        return Ok(Status::Attention);
    }
    Ok(Status::Done)
}

/// Two names that are no text could become one name in a table.
fn not_text() -> io::Error {
    io::Error::other("its name is not UTF-8, which tables need; rename the file")
}

fn path(path: &Path) -> String {
    escape_for_terminal(&path.to_string_lossy())
}

/// Parts that are published together, when all are written.
struct NamedAtEnd {
    folder: PathBuf,
    outputs: RunOutputs,
    finished: Vec<Finished>,
}

impl NamedAtEnd {
    fn below(folder: &Path) -> io::Result<Self> {
        let outputs = RunOutputs::below(folder, false, INTERRUPTION)?;
        // A run that was killed left temporary files of parts.
        remove_dead(&Folder::open(folder)?);
        Ok(Self { folder: folder.to_owned(), outputs, finished: Vec::new() })
    }

    /// Returns a part in the folders of the new parts that is none of them; `None` if there is none. A run of more
    /// sessions that was killed leaves such parts.
    fn other_part(&self) -> io::Result<Option<PathBuf>> {
        let new: BTreeSet<PathBuf> = self.finished.iter().map(Finished::path).collect();
        let folders: BTreeSet<&Path> = new.iter().filter_map(|part| part.parent()).collect();
        for folder in folders {
            let entries = match list(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            let parts = entries.into_iter().map(|entry| folder.join(entry.name));
            let mut parts = parts.filter(|path| path.extension().is_some_and(|it| it == "parquet"));
            if let Some(other) = parts.find(|path| !new.contains(path)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Publishes the parts, [`LAST`] at the end. If the process dies before that, the same command
    /// finishes the publishing.
    fn name(mut self) -> Result<(), ConvertError> {
        let last = self.folder.join(LAST);
        self.finished.sort_by_key(|part| part.path() == last);
        self.outputs.publish(self.finished)
    }
}

impl Shelf for NamedAtEnd {
    type Part = AtomicFile;

    fn create(&mut self, name: &str) -> io::Result<AtomicFile> {
        self.outputs.create_shut(&self.folder.join(name), FILE_MODE, 0)
    }

    fn close(&mut self, part: AtomicFile) -> io::Result<u64> {
        let finished = part.finish()?;
        let n_bytes = finished.length();
        self.finished.push(finished);
        Ok(n_bytes)
    }
}

/// The state of a run.
struct Run<'p> {
    dataset: Dataset<&'p mut NamedAtEnd>,
    from: Option<&'static Format>,
    redact: Redact,
    /// Whether files that are no session are kept too.
    keeps_all: bool,
    prices: Prices,
    progress: Progress,
}

impl Run<'_> {
    /// Adds an input. The inner result is an error of writing, which ends the run.
    fn input(&mut self, input: &Input) -> Result<export_parquet::Result<()>, ConvertError> {
        let opened = self.redact.opened(FORMATS, input.open(Limits::default())?)?.file;
        let mut source = Source::new(opened);
        let name = match input {
            Input::File { name, .. } => name.to_str().ok_or_else(not_text)?,
            _ => "stdin.jsonl",
        };
        let format = match (self.from, self.keeps_all) {
            (Some(format), _) => Some(format),
            (None, true) => single_format(detect(&mut source)?).unwrap_or_default(),
            (None, false) => single_format(detect(&mut source)?)?,
        };
        let mut file = SessionFile::new(name, format.map_or(NO_FORMAT, |format| format.name));
        let (dataset, progress) = (&mut self.dataset, &self.progress);
        let mut responses = PricedResponses::new(FORMATS, &self.prices);
        let mut result = Ok(());
        let mut n_pushed = 0_u64;
        let read = match format {
            Some(format) => source.with_events(format, |events| {
                events.for_each(&mut |line, event| {
                    let event = event.ok();
                    file.observe(line, event);
                    if let Some(event) = event {
                        responses.observe(event, line.offset());
                    }
                    true
                })?;
                events.for_each(&mut |line, event| {
                    progress.add_bytes(line.bytes().len() as u64);
                    n_pushed += 1;
                    let event = event.ok();
                    let priced = event.map(|event| responses.price(event, line.offset()));
                    let priced = priced.unwrap_or_default();
                    let Priced { key, cost, covered, tokens } = priced;
                    let response = Response { key, cost, covered, tokens };
                    result = dataset.push_response(&mut file, line, event, &response);
                    result.is_ok()
                })
            }),
            None => source.for_each(&mut |line, _| {
                file.observe(line, None);
                progress.add_bytes(line.bytes().len() as u64);
                n_pushed += 1;
                result = dataset.push(&mut file, line, None);
                result.is_ok()
            }),
        };
        let in_part =
            |error| format!("{}; the tables have its first {n_pushed} lines", io_message(&error));
        read.map_err(|error| match n_pushed {
            0 => error,
            _ => io::Error::other(in_part(error)),
        })?;
        Ok(result.and_then(|()| dataset.end_file(file)))
    }
}
