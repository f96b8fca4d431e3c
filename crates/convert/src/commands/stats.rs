//! `stats`: counts messages, tool calls, files, tokens, cost and time of sessions.

mod numbers;
mod picture;
mod print;
mod runs;

use std::io::{self, Write};

use archive::Status;
use core_model::{ErrorPolicy, Hashes};
use sessions::{ReadError, SessionFiles, TurnKeys, UnknownFormat, leave_out_copies};

use self::numbers::Numbers;
use crate::{
    FORMATS,
    hint::read_message,
    interrupt::is_interrupted,
    reading::{
        Copies, Reading,
        filter::ErrorRule,
        moments::{Bounds, InPeriod, Period},
        once::{self, Counted, Item, SessionRead, each_once},
    },
    terminal::{
        Terminal,
        escape::escape_for_terminal,
        message::{complain, warn},
        pager::Pager,
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
    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    period: Period,
    #[command(flatten)]
    copies: Copies,
    #[command(flatten)]
    reading: Reading,
}

/// Counts sessions and prints the numbers.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (mut inputs, is_folder) = args.reading.sessions_or_stdin()?;
    let with_copies = args.copies.with_copies;
    let is_once = is_folder && !with_copies;
    let n_copies = if is_once { leave_out_copies(FORMATS, &mut inputs) } else { 0 };
    if n_copies > 0 && !args.reading.pace.quiet {
        say(&format!("sessions that two clients keep, counted once: {n_copies}"));
    }
    let progress = args.reading.pace.progress(&inputs);
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let n_jobs = args.reading.pace.n_jobs();
    let bounds = args.period.bounds();
    let counted = each_once(&units, n_jobs, with_copies, bounds, |unit, keys, left_out| {
        count(unit, args, (keys, left_out), bounds, &progress)
    })?;
    drop(progress);
    let (mut n_refused, mut n_read) = (0, 0);
    let mut each = Vec::new();
    for (unit, result) in units.iter().zip(counted) {
        match result {
            Ok(Counted { value: numbers, spent, .. }) => {
                n_read += 1;
                each.extend(numbers.map(|numbers| Numbers {
                    tokens: spent.tokens,
                    cost: spent.cost,
                    ..numbers
                }));
            }
            Err(ReadError::Interrupted) => {}
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                complain(&format!(
                    "{}: {}",
                    escape_for_terminal(&unit.main.label()),
                    read_message(&refusal)
                ));
            }
        }
    }
    if each.is_empty() || is_interrupted() {
        if n_refused == 0 && !is_interrupted() {
            complain(match n_read {
                0 => "no session among the inputs",
                _ => "no session has a record in this period",
            });
        }
        let is_read = n_read > 0 && !is_interrupted();
        return Ok(if is_read { Status::Attention } else { Status::Failed });
    }
    if !args.each {
        let sum = each.into_iter().reduce(Numbers::and);
        each = sum.into_iter().collect();
    }
    Pager::print(!args.json && !args.no_pager, |out| print_each(args, &each, out))?;
    Ok(if n_refused > 0 { Status::Attention } else { Status::Done })
}

fn print_each(args: &Args, each: &[Numbers], out: &mut dyn Write) -> io::Result<()> {
    let (terminal, zone) = (Terminal::of_stdout(), args.period.clock.zone());
    for (numbers_idx, numbers) in each.iter().enumerate() {
        if args.json {
            out.write_all(&numbers.object().line())?;
            continue;
        }
        if numbers_idx > 0 {
            out.write_all(b"\n")?;
        }
        print::overview(numbers, out)?;
        if !args.brief {
            if let Some(picture) = picture::of(numbers, &terminal, &zone) {
                write!(out, "\n{picture}")?;
            }
            print::details(numbers, terminal.is_terminal.then_some(terminal.columns), out)?;
        }
    }
    Ok(())
}

/// Counts the records of a session and its sub-agents in a period; `None` if there are none.
fn count(
    unit: &SessionFiles,
    args: &Args,
    (keys, left_out): (&TurnKeys, &Hashes),
    bounds: Bounds,
    progress: &Progress,
) -> Result<(Option<Numbers>, SessionRead), ReadError> {
    let mut numbers = Numbers::counter(ErrorPolicy::from(args.errors));
    let format = args.reading.format();
    let (mut period, mut has_record) = (InPeriod::new(bounds), bounds == Bounds::ALL);
    let read =
        once::session(unit, format, keys, left_out, progress, &mut |place, item| match item {
            Item::Event(event) if period.has(event) => {
                has_record = true;
                numbers.push(place, event);
            }
            Item::Event(_) | Item::Copy => {}
            Item::Damage => numbers.n_bad_lines += 1,
        })?;
    numbers.n_bytes = read.n_bytes;
    // These have no time.
    if bounds == Bounds::ALL {
        numbers.mentioned = read.usage.elsewhere().tokens;
    }
    for format in &read.formats {
        numbers.add_file(*format);
    }
    Ok((has_record.then(|| numbers.finish(&read.id)), read))
}
