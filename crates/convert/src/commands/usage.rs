//! `usage`: sums up tokens and cost of responses, each response once.

mod group;
mod print;

use std::{
    borrow::Borrow,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use archive::Status;
use clap::ValueHint;
use core_model::system_words;
use sessions::{Prices, ReadError, SessionFiles, UnknownFormat, Usage, leave_out_copies};

pub use self::group::UsageSum;
use self::group::{By, Groups};
use crate::{
    FORMATS,
    hint::read_message,
    interrupt::is_interrupted,
    program::words,
    reading::{Copies, Reading, moments::Period, once},
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped},
        message::{complain, failed, warn},
        pager::Pager,
        progress::{Mode, Progress, say},
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
    /// prices of input, output, cache write and cache read for a million tokens, separated by tabs; then
    /// perhaps a number of tokens, and the prices of requests that send more
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    prices: Option<PathBuf>,
    #[command(flatten)]
    copies: Copies,
    /// Print a JSON object for each group, and one for the total
    #[arg(long)]
    json: bool,
    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Sums up responses and prints the groups.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let prices = match prices(args) {
        Ok(prices) => prices,
        Err(message) => return failed(&escape_for_terminal(&message)),
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
    let (format, n_jobs) = (args.reading.format(), args.reading.pace.n_jobs());
    let counted = once::responses(&units, format, n_jobs, args.copies.with_copies, &progress)?;
    drop(progress);
    let (mut n_refused, mut n_read, mut sessions) = (0, 0, Vec::new());
    for (unit, result) in units.iter().zip(counted.ids) {
        match &result {
            Ok(_) => n_read += 1,
            Err(ReadError::Interrupted) => {}
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                let label = escape_for_terminal(&unit.main.label());
                complain(&format!("{label}: {}", read_message(refusal)));
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
    let usage = counted.usage;
    let (zone, bounds) = (args.period.clock.zone(), args.period.bounds());
    let groups = Groups::of(&usage, &args.by, bounds, &zone, &sessions, &prices);
    Pager::print(!args.json && !args.no_pager, |out| {
        print::groups(&groups, &args.by, args.json, out)
    })?;
    if !is_quiet {
        remarks(&usage, &groups);
        if counted.n_unread > 0 {
            let lines = count(counted.n_unread, "line");
            say(&format!("{lines} cannot be read, so that a sum may be too low"));
        }
    }
    Ok(if n_refused > 0 || groups.total.n_responses == 0 {
        Status::Attention
    } else {
        Status::Done
    })
}

/// Returns the prices of the table that is named, or of the program.
///
/// # Errors
///
/// Returns a message if the table cannot be read.
fn prices(args: &Args) -> Result<Prices, String> {
    let Some(path) = &args.prices else { return Ok(Prices::known()) };
    /// Limit on the bytes of a table.
    const MAX_TABLE: u64 = 1024 * 1024;
    let of_path = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut table = String::new();
    let unread = |error| of_path(&system_words(&error));
    let file = File::open(path).map_err(unread)?;
    file.take(MAX_TABLE + 1).read_to_string(&mut table).map_err(unread)?;
    if table.len() as u64 > MAX_TABLE {
        return Err(of_path(&"a table of prices has at most 1 MiB"));
    }
    Prices::parse(&table).map_err(|error| of_path(&error))
}

/// A group of responses.
#[derive(Debug)]
pub struct UsageGroup {
    /// The names, in the order of the words that group.
    pub names: Vec<String>,
    /// The sum.
    pub sum: UsageSum,
}

/// The sums of groups, as `convert usage` prints them.
#[derive(Debug)]
pub struct UsageGroups {
    /// The words that group, such as `model`.
    pub by: Vec<&'static str>,
    /// The groups. Times come in their order, others by their cost.
    pub groups: Vec<UsageGroup>,
    /// The sum of all.
    pub total: UsageSum,
}

/// Sums up the responses of sessions, each response once, as `convert usage` does. `options` are words such
/// as `["--by", "model"]`. A file that is no session has none.
///
/// # Errors
///
/// Returns an error if an option is unknown, or if a session cannot be read.
pub fn usage<U: Borrow<SessionFiles> + Sync>(
    units: &[U],
    options: &[String],
) -> io::Result<UsageGroups> {
    let args: Args = words("usage", options)?;
    let prices = prices(&args).map_err(io::Error::other)?;
    let (format, n_jobs) = (args.reading.format(), args.reading.pace.n_jobs());
    let progress = Progress::start(Mode::None, 0, 0);
    let counted = once::responses(units, format, n_jobs, args.copies.with_copies, &progress)?;
    let mut sessions = Vec::new();
    for (unit, id) in units.iter().zip(counted.ids) {
        let of_unit = |error: ReadError| {
            io::Error::other(format!("{}: {}", unit.borrow().main.label(), read_message(&error)))
        };
        match id {
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_))) => {
                sessions.push(String::new());
            }
            id => sessions.push(id.map_err(of_unit)?),
        }
    }
    let (zone, bounds) = (args.period.clock.zone(), args.period.bounds());
    let groups = Groups::of(&counted.usage, &args.by, bounds, &zone, &sessions, &prices);
    let group = |(names, sum)| UsageGroup { names, sum };
    Ok(UsageGroups {
        by: args.by.iter().map(|by| by.name()).collect(),
        groups: groups.all.into_iter().map(group).collect(),
        total: groups.total,
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
