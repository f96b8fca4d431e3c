//! `list`: prints a line for each session.

mod column;
mod ends;
mod kinds;

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::HashMap,
    io::{self, Write},
    path::PathBuf,
};

use archive::Status;
use core_model::{CompactionRule, Format, Generations, Hashes};
use rayon::prelude::*;
use sessions::{
    Filter, Input, Matcher, Prefilter, Progress as _, ReadError, SessionFiles, Stored, TurnKeys,
    UnknownFormat, indexed_titles,
};

use self::{
    column::Column,
    ends::{Numbers, Session},
    kinds::KindArgs,
};
use crate::{
    FORMATS,
    environment::{Threads, read},
    hint::read_message,
    interrupt::is_interrupted,
    reading::{
        Copies, Reading,
        filter::FilterArgs,
        moments::Bounds,
        once::{self, Counted, Item, SessionRead, each_once},
    },
    terminal::{
        Terminal,
        escape::escape_for_terminal,
        figures::count,
        message::{complain, warn},
        pager::Pager,
        progress::{self, Progress},
        table,
    },
};

/// The columns of a project on a narrow terminal, and the columns of a terminal that is not narrow.
const MAX_PROJECT: usize = 16;
const WIDE: usize = 120;

/// Minimum number of printed characters of an id.
const MIN_ID_CHARS: usize = 8;

/// The sessions to list, and the columns.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
    /// The columns to print, in this order [default: id,when,size,project,title; and format,origin if
    /// there is a converted copy]
    #[arg(long, value_name = "COLUMN", value_enum, value_delimiter = ',')]
    columns: Vec<Column>,
    /// Also print counts, cost, errors and the format; this reads all of each session
    #[arg(short, long, conflicts_with = "columns")]
    long: bool,
    /// Sort by this column: names from A, other values from the largest or latest
    #[arg(long, value_name = "COLUMN", value_enum, default_value = "when")]
    sort: Column,
    /// Reverse the order
    #[arg(short, long)]
    reverse: bool,
    /// List only the first N
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// List only the newest session, or the newest N
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "1",
        conflicts_with_all = ["sort", "reverse", "limit"]
    )]
    last: Option<String>,
    /// Group the sessions by project, under its folder
    #[arg(long, conflicts_with = "json")]
    by_project: bool,
    /// Print a JSON object for each session
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    copies: Copies,
    #[command(flatten)]
    kinds: KindArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    reading: Reading,
}

impl Args {
    /// Returns the paths of the inputs, and the number of sessions to list. After `--last`, a word that is
    /// no number is an input.
    fn paths_and_limit(&self) -> (Cow<'_, [PathBuf]>, Option<usize>) {
        let paths = self.reading.inputs.as_slice();
        match self.last.as_deref().map(|last| (last, last.parse())) {
            None => (paths.into(), self.limit),
            Some((_, Ok(number))) => (paths.into(), Some(number)),
            Some((path, Err(_))) => {
                let first = [PathBuf::from(path)];
                ([&first, paths].concat().into(), Some(1))
            }
        }
    }
}

/// Returns the id by which a session in a client's folder is found and resumed. The lines of a copied or
/// renamed file may have another one. `None` if the client takes the id from the lines.
fn id_in_client(input: &Input, format: &'static Format) -> Option<String> {
    let path = input.path().filter(|_| !format.has_ids_inside)?;
    Stored::file(format, path.to_owned()).id().map(str::to_owned)
}

/// Lists sessions.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (paths, limit) = args.paths_and_limit();
    let (inputs, is_folder) = args.reading.sessions_of(&paths)?;
    let progress = args.reading.pace.progress(&inputs);
    let mut columns = match args.columns.as_slice() {
        [] if args.long => Column::ALL.to_vec(),
        [] => Column::DEFAULT.to_vec(),
        columns => columns.to_vec(),
    };
    let filter = args.filter.filter(false);
    let wanted = Wanted {
        format: args.reading.format(),
        project: args.reading.project_path(),
        parts: (!args.filter.is_time_only()).then(|| (filter.prefilter(), &filter)),
        filter: &filter,
        kinds: &args.kinds,
        is_folder,
        progress: &progress,
    };
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let pool = Threads::start(args.reading.pace.n_jobs())?;
    let found: Vec<Result<Option<Session>, ReadError>> =
        pool.install(|| units.par_iter().map(|unit| wanted.session(unit)).collect());
    let (mut n_refused, mut sessions) = (0, Vec::new());
    let mut listed = Vec::new();
    for (unit, result) in units.into_iter().zip(found) {
        match result {
            Ok(Some(mut session)) => {
                if paths.is_empty() {
                    session.id_in_client = id_in_client(&unit.main, session.format);
                }
                sessions.push(session);
                listed.push(unit);
            }
            Ok(None) => {}
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
    add_titles(listed.iter().map(|unit| &unit.main), sessions.iter_mut().collect());
    let is_counted = columns.iter().chain([&args.sort]).any(|column| column.is_counted());
    if is_counted && !is_interrupted() {
        let counted = each_once(
            &listed,
            args.reading.pace.n_jobs(),
            args.copies.with_copies,
            Bounds::ALL,
            |unit, keys, left_out| wanted.count(unit, keys, left_out),
        )?;
        for ((session, unit), result) in sessions.iter_mut().zip(&listed).zip(counted) {
            match result {
                Ok(Counted { value, spent, .. }) => session.numbers = Some(value.and(&spent)),
                Err(ReadError::Interrupted) => {}
                Err(refusal) => {
                    n_refused += 1;
                    complain(&format!("{}: {refusal}", escape_for_terminal(&unit.main.label())));
                }
            }
        }
    }
    drop(wanted);
    drop(progress);
    if is_interrupted() {
        return Ok(Status::Failed);
    }
    let n_found = sessions.len();
    sessions.sort_by(|one, other| {
        let order = args.sort.order(one, other).then_with(|| one.label.cmp(&other.label));
        if args.reverse { order.reverse() } else { order }
    });
    let originals = originals(&sessions);
    let terminal = Terminal::of_stdout();
    // A program may want whole ids, and a line of a terminal has no room for them; the counts of `--long` matter more.
    let has_room = !terminal.is_terminal || (args.long && terminal.columns >= WIDE);
    let id_lengths: Option<HashMap<String, usize>> =
        (args.columns.is_empty() && !has_room).then(|| {
            let lengths = distinct_lengths(sessions.iter().map(Session::shown_id));
            lengths.into_iter().map(|(id, length)| (id.to_owned(), length)).collect()
        });
    sessions.truncate(limit.unwrap_or(usize::MAX));
    if args.columns.is_empty() && sessions.iter().any(|session| session.origin.is_some()) {
        // The end of a line is cut, and a copy has the id of its original.
        columns.retain(|column| *column != Column::Format);
        columns.splice(1..1, [Column::Format, Column::Origin]);
    }
    if args.by_project && args.columns.is_empty() {
        columns.retain(|column| *column != Column::Project);
    }
    print(args, &columns, &sessions, &originals, (terminal, id_lengths.as_ref()))?;
    if !args.reading.pace.quiet {
        let shown = match sessions.len() {
            all if all == n_found => String::new(),
            first => {
                let which = if args.last.is_some() { "newest" } else { "first" };
                match first {
                    1 => format!(", the {which} is listed"),
                    first => format!(", the {which} {first} are listed"),
                }
            }
        };
        progress::say(&format!("{}{shown}", count(n_found as u64, "session")));
    }
    Ok(match (n_found, n_refused) {
        (0, _) if n_refused > 0 => Status::Failed,
        (0, _) => Status::Attention,
        (_, 0) => Status::Done,
        _ => Status::Attention,
    })
}

/// Returns for each session the file of the original, if the session is a converted copy of another one
/// in the list. Both have the same id, or the client of the copy has made its id from the other one.
fn originals(sessions: &[Session]) -> Vec<Option<String>> {
    let key = |format, id: &str| (format, id.replace('-', "").to_ascii_lowercase());
    let files: HashMap<_, &str> = sessions
        .iter()
        .map(|session| (key(session.format.name, &session.id), &*session.label))
        .collect();
    let original = |session: &Session| {
        let origin = session.origin?.format;
        let file = files.get(&key(origin, &session.id)).copied().or_else(|| {
            let is_made_from = session.format.documents?.is_made_from;
            let is_it = |other: &&Session| {
                other.format.name == origin && is_made_from(&session.id, &other.id)
            };
            sessions.iter().find(is_it).map(|other| &*other.label)
        })?;
        Some(file.to_owned())
    };
    sessions.iter().map(original).collect()
}

/// Returns the sessions of each project. Projects are in the order of their first sessions.
fn by_project(sessions: &[Session]) -> Vec<(&str, Vec<&Session>)> {
    let (mut groups, mut places): (Vec<(&str, Vec<&Session>)>, HashMap<&str, usize>) =
        Default::default();
    for session in sessions {
        let project = session.project.as_deref().unwrap_or("(no project)");
        let place = *places.entry(project).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, sessions)) => sessions.push(session),
            None => groups.push((project, vec![session])),
        }
    }
    groups
}

/// Returns for each id the number of characters, at least [`MIN_ID_CHARS`], that tell it from the
/// others. Commands accept the start of an id.
fn distinct_lengths<'s>(ids: impl Iterator<Item = &'s str>) -> HashMap<&'s str, usize> {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let n_common =
        |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let mut lengths: HashMap<&str, usize> = ids.iter().map(|id| (*id, MIN_ID_CHARS)).collect();
    for pair in ids.windows(2) {
        if let [one, other] = pair {
            let n_chars = n_common(one, other) + 1;
            for id in [one, other] {
                lengths.entry(id).and_modify(|length| *length = n_chars.max(*length));
            }
        }
    }
    lengths
}

fn print(
    args: &Args,
    columns: &[Column],
    sessions: &[Session],
    originals: &[Option<String>],
    (terminal, id_lengths): (Terminal, Option<&HashMap<String, usize>>),
) -> io::Result<()> {
    Pager::print(!args.json && !args.no_pager, |out| {
        print_to(out, args, columns, sessions, originals, (terminal, id_lengths))
    })
}

fn print_to(
    out: &mut dyn Write,
    args: &Args,
    columns: &[Column],
    sessions: &[Session],
    originals: &[Option<String>],
    (terminal, id_lengths): (Terminal, Option<&HashMap<String, usize>>),
) -> io::Result<()> {
    if args.json {
        for (session, original) in sessions.iter().zip(originals) {
            out.write_all(&column::object(session, original.as_deref()).line())?;
        }
    } else if !sessions.is_empty() {
        let head = columns.iter().map(|column| column.name().to_uppercase()).collect();
        let zone = args.filter.period.clock.zone();
        let is_narrow = terminal.is_terminal && terminal.columns < WIDE && args.columns.is_empty();
        let cell = |column: &Column, session: &Session| match column {
            Column::Id => {
                let length = id_lengths.and_then(|lengths| lengths.get(session.shown_id()));
                column::start_of_id(session, length.copied().unwrap_or(usize::MAX))
            }
            Column::Project if is_narrow => table::cut(&column.cell(session, &zone), MAX_PROJECT),
            column => column.cell(session, &zone),
        };
        let row = |session| columns.iter().map(|column| cell(column, session)).collect();
        let mut rows: Vec<Vec<String>> = vec![head];
        match args.by_project {
            true => {
                for (project, sessions) in by_project(sessions) {
                    rows.extend([vec![String::new()], vec![escape_for_terminal(project)]]);
                    rows.extend(sessions.into_iter().map(row));
                }
            }
            false => rows.extend(sessions.iter().map(row)),
        }
        let is_left = |at: usize| columns.get(at).is_some_and(|column| column.is_text());
        let width = terminal.is_terminal.then_some(terminal.columns);
        table::print(&rows, &is_left, width, out)?;
    }
    out.flush()
}

/// The conditions for a session, and the values to read.
struct Wanted<'w> {
    format: Option<&'static Format>,
    project: Option<String>,
    filter: &'w Filter,
    kinds: &'w KindArgs,
    /// The parts that a session must have, if there is a filter.
    parts: Option<(Prefilter, &'w Filter)>,
    is_folder: bool,
    progress: &'w Progress,
}

impl Wanted<'_> {
    /// Returns a session; `None` if it does not match.
    fn session(&self, unit: &SessionFiles) -> Result<Option<Session>, ReadError> {
        if is_interrupted() {
            return Err(ReadError::Interrupted);
        }
        let session = self.scanned(unit)?;
        self.progress.add_file();
        let Some(session) = session else { return Ok(None) };
        if !self.kinds.is_empty() && !self.kinds.matches(unit, session.format, self.progress)? {
            return Ok(None);
        }
        if self.parts.is_some() && !self.has_parts(unit, &session)? {
            return Ok(None);
        }
        Ok(Some(session))
    }

    /// Returns the session that the ends of a file show; `None` if they show that it does not
    /// match.
    fn scanned(&self, unit: &SessionFiles) -> Result<Option<Session>, ReadError> {
        let session = ends::scan(&unit.main, self.format)?;
        self.progress.add_bytes(session.n_read);
        // A sub-agent's transcript is part of a session, and listed only if it is named.
        let is_part = session.is_sub_agent && self.is_folder;
        let is_project = self
            .project
            .as_deref()
            .is_none_or(|project| session.project.as_deref() == Some(project));
        let is_in_time = self.parts.is_some() || self.filter.has_span(session.start, session.end);
        Ok(Some(session).filter(|_| !is_part && is_project && is_in_time))
    }

    fn has_parts(&self, unit: &SessionFiles, session: &Session) -> Result<bool, ReadError> {
        let Some((prefilter, filter)) = &self.parts else { return Ok(true) };
        let format = self.format.or_else(|| unit.format_of_all(Some(session.format)));
        let mut is_found = false;
        for input in unit.files().filter(|input| !input.is_side_file()) {
            let mut matcher = Matcher::new(filter);
            read(input, format, prefilter, self.progress, &mut |_, _, event| {
                if let Ok(event) = event
                    && matcher.wants_event(event)
                {
                    is_found = is_found || filter.parts(event).any(|part| matcher.wants(&part));
                }
                Ok(!is_found)
            })?;
            if is_found {
                break;
            }
        }
        Ok(is_found)
    }

    /// Reads all of a session and counts.
    fn count(
        &self,
        unit: &SessionFiles,
        keys: &TurnKeys,
        left_out: &Hashes,
    ) -> Result<(Numbers, SessionRead), ReadError> {
        let mut numbers = Numbers::default();
        let mut generations = Generations::new(CompactionRule::Boundary);
        let (format, progress) = (self.format, self.progress);
        let read = once::session(unit, format, keys, left_out, progress, &mut |place, item| {
            if let Item::Event(event) = item {
                numbers.push(event);
                generations.push(place, event);
            }
        })?;
        numbers.n_compactions = generations.n_compactions() as u64;
        Ok((numbers, read))
    }
}

/// Sets the titles that clients keep outside of sessions.
fn add_titles<'i>(inputs: impl Iterator<Item = &'i Input>, mut sessions: Vec<&mut Session>) {
    let ids: Vec<_> = sessions.iter().map(|session| (session.format, session.id.clone())).collect();
    let named = inputs.zip(&ids).map(|(input, (format, id))| (input, *format, id.as_str()));
    let titles = indexed_titles(named, &mut warn);
    for (session, title) in sessions.iter_mut().zip(titles) {
        if !session.is_titled && title.is_some() {
            (session.title, session.is_titled) = (title, true);
        }
    }
}

/// Returns the project of a session, as `list` shows it.
pub(crate) fn project(session: &Input) -> Option<String> {
    ends::scan(session, None).ok()?.project
}

/// Returns the titles of session files, as `list` shows them; `None` for a file without a title,
/// or a file that cannot be read.
pub(crate) fn titles(paths: &[PathBuf]) -> Vec<Option<String>> {
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::file).collect();
    let mut sessions: Vec<_> = inputs.iter().map(|input| ends::scan(input, None).ok()).collect();
    let found: Vec<&Input> =
        inputs.iter().zip(&sessions).filter_map(|(input, it)| it.as_ref().map(|_| input)).collect();
    add_titles(found.into_iter(), sessions.iter_mut().flatten().collect());
    sessions.into_iter().map(|session| session?.title).collect()
}

/// Returns the title that the client of a session keeps outside of it, if the session has none.
pub(crate) fn title_outside(input: &Input, format: &'static Format) -> Option<String> {
    let index = format.store?.titles?;
    (index.file)(&input.absolute().ok()??)?;
    let session = ends::scan(input, Some(format)).ok().filter(|session| !session.is_titled)?;
    let named = std::iter::once((input, format, session.id.as_str()));
    indexed_titles(named, &mut warn).into_iter().next().flatten()
}

/// Returns the title of a session: the one that its client keeps outside of it, its own, or else its first
/// prompt. Reads only the ends of the file.
pub(crate) fn title(input: &Input, format: Option<&'static Format>) -> Option<String> {
    let outside = format.and_then(|format| title_outside(input, format));
    outside.or_else(|| ends::scan(input, format).ok()?.title)
}

/// Orders larger values first, and unknown ones last.
fn largest_first<T: PartialOrd>(one: T, other: T) -> Ordering {
    other.partial_cmp(&one).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_long_as_it_takes_to_tell_them_apart() {
        let lengths = |ids: &[&'static str]| {
            let mut lengths: Vec<_> = distinct_lengths(ids.iter().copied()).into_iter().collect();
            lengths.sort_unstable();
            lengths
        };
        assert_eq!(lengths(&[]), []);
        assert_eq!(
            lengths(&["2a86484a-0", "2b86484a-0", "2a86484a-0"]),
            [("2a86484a-0", 8), ("2b86484a-0", 8)]
        );
        assert_eq!(
            lengths(&["019a86484a-1", "3", "019a86484a-2"]),
            [("019a86484a-1", 12), ("019a86484a-2", 12), ("3", 8)]
        );
        // One is the start of the other, which no length tells.
        assert_eq!(
            lengths(&["abcdefghij", "abcdefghijk"]),
            [("abcdefghij", 11), ("abcdefghijk", 11)]
        );
        assert_eq!(
            lengths(&["ééééééééé1", "ééééééééé2"]),
            [("ééééééééé1", 10), ("ééééééééé2", 10)]
        );
    }
}
