//! `stats`: counts messages, tool calls, files, tokens, cost and time of sessions.

mod numbers;
mod picture;
mod print;
mod runs;

use std::io::{self, Write};

use archive::Status;
use core_model::ErrorPolicy;
use rayon::prelude::*;
use sessions::{Prefilter, ReadError, SessionFiles, UnknownFormat, leave_out_copies};

use self::numbers::Numbers;
use crate::{
    FORMATS,
    environment::read,
    interrupt::is_interrupted,
    reading::{Reading, filter::ErrorRule},
    terminal::{
        Terminal,
        escape::escape_for_terminal,
        message::{complain, warn},
        progress::{Progress, say},
    },
};

/// The sessions to count, and the form of the numbers.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print each session instead of the sum
    #[arg(long)]
    each: bool,
    /// Print only the overview
    #[arg(long, conflicts_with = "json")]
    brief: bool,
    /// Which tool results count as errors
    #[arg(long, value_name = "RULE", value_enum, default_value = "flag")]
    errors: ErrorRule,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Counts sessions and prints the numbers.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (mut inputs, is_folder) = args.reading.sessions_or_stdin()?;
    let n_copies = if is_folder { leave_out_copies(FORMATS, &mut inputs) } else { 0 };
    if n_copies > 0 && !args.reading.pace.quiet {
        say(&format!("sessions that two clients keep, counted once: {n_copies}"));
    }
    let progress = args.reading.pace.progress(&inputs);
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.reading.pace.n_jobs()).build();
    let count = |unit: &SessionFiles| count(unit, args, &progress);
    let counted: Vec<Result<Numbers, ReadError>> =
        pool.map_err(io::Error::other)?.install(|| units.par_iter().map(count).collect());
    drop(progress);
    let mut n_refused = 0;
    let mut each = Vec::new();
    for (unit, result) in units.iter().zip(counted) {
        match result {
            Ok(numbers) => each.push(numbers),
            Err(ReadError::Interrupted) => {}
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                complain(&format!("{}: {refusal}", escape_for_terminal(&unit.main.label())));
            }
        }
    }
    if each.is_empty() || is_interrupted() {
        if n_refused == 0 && !is_interrupted() {
            complain("no session among the inputs");
        }
        return Ok(Status::Failed);
    }
    if !args.each {
        let sum = each.into_iter().reduce(Numbers::and);
        each = sum.into_iter().collect();
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let terminal = Terminal::of_stdout();
    for (numbers_idx, numbers) in each.iter().enumerate() {
        if args.json {
            out.write_all(&numbers.object().line())?;
            continue;
        }
        if numbers_idx > 0 {
            out.write_all(b"\n")?;
        }
        print::overview(numbers, &mut out)?;
        if !args.brief {
            if let Some(picture) = picture::of(numbers, &terminal) {
                write!(out, "\n{picture}")?;
            }
            print::details(numbers, &mut out)?;
        }
    }
    out.flush()?;
    Ok(if n_refused > 0 { Status::Attention } else { Status::Done })
}

/// Counts a session with its sub-agents.
fn count(unit: &SessionFiles, args: &Args, progress: &Progress) -> Result<Numbers, ReadError> {
    let mut numbers = Numbers::counter(ErrorPolicy::from(args.errors));
    let mut known = args.reading.format();
    for input in unit.files().filter(|input| !input.is_side_file()) {
        let mut last = None;
        let format = read(input, known, &Prefilter::ALL, progress, &mut |place, line, event| {
            match event {
                Ok(event) => numbers.push(place, event),
                Err(_) => numbers.n_bad_lines += 1,
            }
            // A line may have several events and counts once.
            if last.replace(place.offset) != Some(place.offset) {
                numbers.n_bytes += line.bytes().len() as u64;
            }
            Ok(true)
        })?;
        progress.add_file();
        numbers.add_file(input, format);
        known = known.or(unit.format_of_all(format));
    }
    Ok(numbers.finish())
}
