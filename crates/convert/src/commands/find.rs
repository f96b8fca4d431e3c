//! `find`: finds words, tool calls and errors in sessions.

mod file;
mod hit;
mod lines;
mod sink;

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use archive::Status;
use core_model::Format;
use sessions::{Filter, Input, Prefilter, ReadError, UnknownFormat};

use self::{
    file::FileSearch,
    hit::{FILE, Form},
    sink::Sink,
};
use crate::{
    environment::read,
    hint::read_message,
    interrupt::is_interrupted,
    reading::{Reading, filter::FilterArgs, in_order::in_order},
    terminal::{
        Terminal,
        escape::escape_for_terminal,
        figures::{count, grouped, parse_duration, size},
        message::{complain, failed},
        painted,
        progress::{self, Progress},
        stdout::stdout,
    },
};

/// The filter, the inputs, and the form of hits.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// Only calls whose result came at least so much later: 500ms, 10s, 2min, 1h
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    min_duration: Option<i64>,
    /// Print only the names of files with a hit
    #[arg(short = 'l', long, visible_alias = "files", conflicts_with = "json")]
    files_with_matches: bool,
    /// Print only the number of hits in each file with a hit
    #[arg(short, long, conflicts_with_all = ["json", "files_with_matches"])]
    count: bool,
    /// Also print N parts before and after each hit: texts, calls and results, one on a line
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with_all = ["json", "files_with_matches", "count"]
    )]
    context: usize,
    /// Print hits under a line with the title and the file of their session, as on a terminal
    #[arg(long, conflicts_with_all = ["json", "files_with_matches", "count"])]
    heading: bool,
    /// Print the file on each line, also on a terminal
    #[arg(long, overrides_with = "heading")]
    no_heading: bool,
    /// Print only the first N hits
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print a JSON object for each hit, with all of its text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Args {
    fn output(&self) -> Output {
        match (self.files_with_matches, self.count) {
            (true, _) => Output::Files,
            (_, true) => Output::Counts,
            _ => Output::Parts,
        }
    }

    fn form(&self) -> Form {
        let is_grouped = self.heading || io::stdout().is_terminal() && !self.no_heading;
        Form {
            has_color: Terminal::of_stdout().has_color && !self.json,
            has_heading: is_grouped && !self.json,
            is_json: self.json,
        }
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    /// Hits, and the parts around them.
    Parts,
    /// The names of files with a hit.
    Files,
    /// The numbers of hits in files.
    Counts,
}

/// Searches the inputs, and prints hits in the order of the inputs.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    if args.filter.is_empty() && args.min_duration.is_none() {
        return failed(
            "nothing to look for: add --text, --tool, --file, --errors or another filter of --help",
        );
    }
    let (inputs, is_folder) = args.reading.sessions()?;
    // Durations need the results of calls.
    let filter = args.filter.filter(args.min_duration.is_some());
    let is_all_read = args.min_duration.is_some() && !filter.is_of_calls();
    let search = Search {
        prefilter: if is_all_read { Prefilter::ALL } else { filter.prefilter() },
        filter,
        wants_results: args.filter.wants_results(),
        min_duration: args.min_duration,
        n_context: args.context,
        format: args.reading.format(),
        output: args.output(),
        form: args.form(),
        progress: args.reading.pace.progress(&inputs),
        n_hits: AtomicU64::new(0),
        n_files: AtomicU64::new(0),
        n_unread: AtomicU64::new(0),
        refused: Mutex::default(),
    };
    let inputs: Vec<(usize, Input)> = inputs.into_iter().enumerate().collect();
    let mut stdout = Sink::new(io::BufWriter::new(stdout()), args.limit);
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
    /// Whether results are hits beside calls.
    wants_results: bool,
    /// The least duration of calls in milliseconds; `None` for any.
    min_duration: Option<i64>,
    /// The number of parts to print on either side of a hit.
    n_context: usize,
    format: Option<&'static Format>,
    output: Output,
    form: Form,
    progress: Progress,
    n_hits: AtomicU64,
    /// The number of files with a hit.
    n_files: AtomicU64,
    /// The number of lines that may have a hit and cannot be read.
    n_unread: AtomicU64,
    refused: Mutex<Vec<(usize, ReadError)>>,
}

impl Search {
    fn input(&self, input: &Input, out: &mut dyn Write) -> Result<(), ReadError> {
        let mut n_hits = 0;
        let result = self.search(input, out, &mut n_hits);
        self.n_hits.fetch_add(n_hits, Ordering::Relaxed);
        self.n_files.fetch_add(u64::from(n_hits > 0), Ordering::Relaxed);
        self.progress.add_file();
        result
    }

    fn search(
        &self,
        input: &Input,
        out: &mut dyn Write,
        n_hits: &mut u64,
    ) -> Result<(), ReadError> {
        if self.output == Output::Parts && self.n_context > 0 {
            // The parts around hits need not have the words. Most files have no hit, so a file is
            // searched for one before all of its lines are parsed.
            let is_once = *input == Input::Stdin;
            let progress: &dyn sessions::Progress = if is_once { &() } else { &self.progress };
            if !is_once {
                let mut file = FileSearch::new(self, input, Output::Files);
                let n_unread = self.read(&self.prefilter, progress, &mut file, &mut io::sink())?;
                if file.n_hits() == 0 {
                    self.add_unread(n_unread);
                    return Ok(());
                }
            }
            let again: &dyn sessions::Progress = if is_once { &self.progress } else { &() };
            let mut file = FileSearch::new(self, input, Output::Parts);
            let result = self.read(&Prefilter::ALL, again, &mut file, out);
            *n_hits = file.n_hits();
            return result.map(|n_unread| self.add_unread(n_unread));
        }
        let mut file = FileSearch::new(self, input, self.output);
        let result = self.read(&self.prefilter, &self.progress, &mut file, out);
        *n_hits = file.n_hits();
        self.add_unread(result?);
        let label = escape_for_terminal(&input.label());
        let label = painted(self.form.has_color, FILE, &label);
        match self.output {
            Output::Files if *n_hits > 0 => out.write_all(format!("{label}\n").as_bytes())?,
            Output::Counts if *n_hits > 0 => {
                out.write_all(format!("{label}:{n_hits}\n").as_bytes())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_unread(&self, n_lines: u64) {
        self.n_unread.fetch_add(n_lines, Ordering::Relaxed);
    }

    /// Reads the lines of a file that a prefilter keeps. Returns the number of lines that cannot be read.
    fn read(
        &self,
        prefilter: &Prefilter,
        progress: &dyn sessions::Progress,
        file: &mut FileSearch<'_>,
        out: &mut dyn Write,
    ) -> Result<u64, ReadError> {
        let (input, mut n_unread) = (file.input, 0);
        let result =
            read(input, self.format, prefilter, progress, &mut |place, _, event| match event {
                Ok(event) => file.event(place, event, out),
                Err(_) => {
                    n_unread += 1;
                    Ok(true)
                }
            });
        file.finish(out)?;
        result.map(|_| n_unread)
    }

    /// Prints errors and counts, and returns the status.
    fn close(
        self,
        inputs: &[(usize, Input)],
        is_folder: bool,
        is_cut: bool,
        is_quiet: bool,
    ) -> io::Result<Status> {
        let Self { progress, n_hits, n_files, n_unread, refused, output, .. } = self;
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
            let hits = match output {
                Output::Files => "hits".to_owned(),
                _ => count(n_hits, "hit"),
            };
            let (files, n_files) =
                (count(inputs.len() as u64, "file"), grouped(n_files.into_inner()));
            let unread = match n_unread.into_inner() {
                0 => String::new(),
                n_lines => format!("; {} cannot be read", count(n_lines, "line")),
            };
            progress::say(&format!("{hits} in {n_files} of {files}, {}{unread}", size(n_bytes)));
        }
        Ok(match (n_hits, n_refused) {
            (0, n_refused) if n_refused > 0 && n_refused == inputs.len() => Status::Failed,
            (0, _) => Status::Attention,
            (_, 0) => Status::Done,
            _ => Status::Attention,
        })
    }
}
