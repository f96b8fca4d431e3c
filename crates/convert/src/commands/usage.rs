//! `usage`: sums up tokens and cost of responses, each response once.

mod group;
mod print;

use std::{
    fs, io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use archive::Status;
use clap::ValueHint;
use core_model::Hashes;
use rayon::prelude::*;
use sessions::{Prices, ReadError, SessionFiles, TurnKeys, UnknownFormat, Usage, leave_out_copies};

use self::group::{By, Groups};
use crate::{
    FORMATS,
    interrupt::is_interrupted,
    reading::{Copies, Reading, moments::Period, once},
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped},
        message::{complain, failed, warn},
        progress::say,
    },
};

/// The responses to sum up, and the groups.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The groups, such as `day` or `project,model`
    #[arg(long, value_name = "GROUP", value_enum, value_delimiter = ',', default_value = "day")]
    by: Vec<By>,
    #[command(flatten)]
    period: Period,
    /// A table of prices, instead of the one of this program: lines of a model, a day, and the
    /// prices of input, output, cache write and cache read for a million tokens, separated by tabs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    prices: Option<PathBuf>,
    #[command(flatten)]
    copies: Copies,
    /// Print a JSON object for each group, and one for the total
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Sums up responses and prints the groups.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let prices = match &args.prices {
        None => Prices::known(),
        Some(path) => {
            let label = escape_for_terminal(&path.to_string_lossy());
            let table = match fs::read_to_string(path) {
                Ok(table) => table,
                Err(error) => return failed(&format!("{label}: {error}")),
            };
            match Prices::parse(&table) {
                Ok(prices) => prices,
                Err(error) => return failed(&format!("{label}: {error}")),
            }
        }
    };
    let is_quiet = args.reading.pace.quiet;
    let (mut inputs, is_folder) = args.reading.sessions()?;
    if is_folder && !args.copies.with_copies {
        let n_copies = leave_out_copies(FORMATS, &mut inputs);
        if n_copies > 0 && !is_quiet {
            say(&format!("sessions that two clients keep, counted once: {n_copies}"));
        }
    }
    let progress = args.reading.pace.progress(&inputs);
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let keys = TurnKeys::new(FORMATS);
    let usage = Mutex::new(Usage::of_sessions(units.len(), args.copies.with_copies));
    let add = |(session_idx, unit): (usize, &SessionFiles)| {
        let (format, none) = (args.reading.format(), Hashes::default());
        let read = once::session(unit, format, &keys, &none, &progress, &mut |_, _| {})?;
        let rank = read.turns.rank(session_idx);
        usage.lock().unwrap_or_else(PoisonError::into_inner).add(session_idx, rank, read.usage);
        Ok(read.id)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.reading.pace.n_jobs()).build();
    let counted: Vec<Result<String, ReadError>> = pool
        .map_err(io::Error::other)?
        .install(|| units.par_iter().enumerate().map(|(idx, unit)| add((idx, unit))).collect());
    drop(progress);
    let (mut n_refused, mut n_read, mut sessions) = (0, 0, Vec::new());
    for (unit, result) in units.iter().zip(counted) {
        match &result {
            Ok(_) => n_read += 1,
            Err(ReadError::Interrupted) => {}
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                complain(&format!("{}: {refusal}", escape_for_terminal(&unit.main.label())));
            }
        }
        sessions.push(result.unwrap_or_default());
    }
    if is_interrupted() || n_read == 0 {
        if n_refused == 0 && !is_interrupted() {
            complain("no session among the inputs");
        }
        return Ok(Status::Failed);
    }
    let usage = usage.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (zone, bounds) = (args.period.clock.zone(), args.period.bounds());
    let groups = Groups::of(&usage, &args.by, bounds, &zone, &sessions, &prices);
    print::groups(&groups, &args.by, args.json)?;
    if !is_quiet {
        remarks(&usage, &groups);
    }
    Ok(if n_refused > 0 || groups.total.n_responses == 0 {
        Status::Attention
    } else {
        Status::Done
    })
}

/// Prints the responses that sums leave out: without a price, or of sub-agents without a file.
fn remarks(usage: &Usage, groups: &Groups) {
    for (model, sum) in &groups.unpriced {
        let model =
            model.as_deref().map_or("a model that is not named".to_owned(), escape_for_terminal);
        say(&format!(
            "no price for {model}: the cost leaves out {} with {}; --prices FILE names prices",
            count(sum.n_responses, "response"),
            count(sum.tokens.total(), "token")
        ));
    }
    let elsewhere = usage.elsewhere();
    if elsewhere.n_responses > 0 {
        say(&format!(
            "{} of sub-agents without a file of their own are in no sum: their sessions mention \
             only how they began, with {} output tokens",
            count(elsewhere.n_responses, "response"),
            grouped(elsewhere.tokens.output)
        ));
    }
}
