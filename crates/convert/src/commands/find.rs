//! `find`: finds words, tool calls and errors in sessions.

mod hit;

use std::{
    collections::HashMap,
    io::{self, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use archive::Status;
use core_model::Format;
use jsonl::Scanner;
use sessions::{Filter, Input, Matcher, Part, Prefilter, ReadError, UnknownFormat, parts};

use self::hit::Hit;
use crate::{
    environment::read,
    hint::read_message,
    interrupt::is_interrupted,
    reading::{Reading, filter::FilterArgs, in_order::in_order},
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped, size},
        message::{complain, failed},
        progress::{self, Progress},
    },
};

/// The filter, the inputs, and the form of hits.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// Print only the names of files with a hit
    #[arg(short = 'l', long, conflicts_with = "json")]
    files: bool,
    /// Print only the first N hits
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print a JSON object for each hit, with all of its text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Searches the inputs, and prints hits in the order of the inputs.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    if args.filter.is_empty() {
        return failed(
            "nothing to look for: add --text, --tool, --file, --errors or another filter of --help",
        );
    }
    let (inputs, is_folder) = args.reading.sessions()?;
    let filter = args.filter.filter(false);
    let search = Search {
        prefilter: filter.prefilter(),
        filter,
        format: args.reading.format(),
        is_json: args.json,
        only_files: args.files,
        progress: args.reading.pace.progress(&inputs),
        n_hits: AtomicU64::new(0),
        n_files: AtomicU64::new(0),
        refused: Mutex::default(),
    };
    let inputs: Vec<(usize, Input)> = inputs.into_iter().enumerate().collect();
    let mut stdout = Limited { sink: io::BufWriter::new(io::stdout()), n_left: args.limit };
    let found =
        in_order(&inputs, args.reading.pace.n_jobs(), &mut stdout, |(input_idx, input), out| {
            match search.input(input, out) {
                Ok(()) => Ok(()),
                Err(ReadError::Io(error)) if is_the_end(&error) => Err(error),
                Err(refusal) => {
                    let mut refused = search.refused.lock().unwrap_or_else(PoisonError::into_inner);
                    refused.push((*input_idx, refusal));
                    Ok(())
                }
            }
        });
    stdout.sink.flush()?;
    let is_cut = stdout.n_left == Some(0);
    if let Err(error) = found
        && !is_cut
    {
        return Err(error);
    }
    search.close(&inputs, is_folder, is_cut, args.reading.pace.quiet)
}

/// Returns whether an error ends the search, and is not about an input.
fn is_the_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// A search and its counts.
struct Search {
    filter: Filter,
    prefilter: Prefilter,
    format: Option<&'static Format>,
    is_json: bool,
    only_files: bool,
    progress: Progress,
    n_hits: AtomicU64,
    /// The number of files with a hit.
    n_files: AtomicU64,
    refused: Mutex<Vec<(usize, ReadError)>>,
}

impl Search {
    fn input(&self, input: &Input, out: &mut dyn Write) -> Result<(), ReadError> {
        let label = input.label();
        let mut matcher = Matcher::new(&self.filter);
        let mut names = HashMap::new();
        let mut scanner = Scanner::default();
        let mut n_hits = 0;
        let result =
            read(input, self.format, &self.prefilter, &self.progress, &mut |place, _, event| {
                let Ok(event) = event else { return Ok(true) };
                if !matcher.wants_event(event) {
                    return Ok(true);
                }
                for (block_idx, part) in parts(event).enumerate() {
                    if let Part::ToolUse(tool) = &part {
                        names
                            .insert(tool.id.decode().into_owned(), tool.name.decode().into_owned());
                    }
                    if !matcher.wants(&part) {
                        continue;
                    }
                    n_hits += 1;
                    if self.only_files {
                        writeln!(out, "{}", escape_for_terminal(&label))?;
                        return Ok(false);
                    }
                    let tool =
                        part.result().and_then(|result| names.get(&*result.tool_use_id.decode()));
                    let hit = Hit { label: &label, place, block_idx, event, part: &part, tool };
                    let line = match self.is_json {
                        true => hit.json(&mut scanner),
                        false => hit.line(self.filter.needle.as_ref(), &mut scanner),
                    };
                    out.write_all(&line)?;
                }
                Ok(true)
            });
        self.n_hits.fetch_add(n_hits, Ordering::Relaxed);
        self.n_files.fetch_add(u64::from(n_hits > 0), Ordering::Relaxed);
        self.progress.add_file();
        result.map(|_| ())
    }

    /// Prints errors and counts, and returns the status.
    fn close(
        self,
        inputs: &[(usize, Input)],
        is_folder: bool,
        is_cut: bool,
        is_quiet: bool,
    ) -> io::Result<Status> {
        let Self { progress, n_hits, n_files, refused, only_files, .. } = self;
        let n_bytes = progress.n_bytes();
        drop(progress);
        let mut refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        refused.sort_by_key(|(input_idx, _)| *input_idx);
        let mut n_refused = 0;
        for (input_idx, refusal) in &refused {
            let is_passed_over = is_folder
                && matches!(
                    refusal,
                    ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_))
                );
            if is_passed_over || matches!(refusal, ReadError::Interrupted) {
                continue;
            }
            n_refused += 1;
            let label = inputs.get(*input_idx).map(|(_, input)| input.label()).unwrap_or_default();
            complain(&format!("{}: {}", escape_for_terminal(&label), read_message(refusal)));
        }
        let n_hits = n_hits.into_inner();
        if !is_quiet && !is_cut && !is_interrupted() {
            // The search in a file ends at its first hit if only names are printed.
            let hits = match only_files {
                true => "hits".to_owned(),
                false => count(n_hits, "hit"),
            };
            let (files, n_files) =
                (count(inputs.len() as u64, "file"), grouped(n_files.into_inner()));
            progress::say(&format!("{hits} in {n_files} of {files}, {}", size(n_bytes)));
        }
        Ok(match (n_hits, n_refused) {
            (0, n_refused) if n_refused > 0 && n_refused == inputs.len() => Status::Failed,
            (0, _) => Status::Attention,
            (_, 0) => Status::Done,
            _ => Status::Attention,
        })
    }
}

/// A sink that accepts a limited number of lines. Then it fails as a closed pipe does.
struct Limited<W> {
    sink: W,
    n_left: Option<u64>,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(n_left) = &mut self.n_left else { return self.sink.write(bytes) };
        if *n_left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let line = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1);
        let line = bytes.get(..line).unwrap_or(bytes);
        self.sink.write_all(line)?;
        *n_left -= u64::from(line.ends_with(b"\n"));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
