//! `lineage`: draws which sessions were made from which others.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use archive::Status;
use core_model::{Hashes, iso_millis};
use jiff::tz::TimeZone;
use rayon::prelude::*;
use sessions::{
    Ancestry, Member, ReadError, Relation, SessionFiles, TurnKeys, UnknownFormat, lineage,
};
use unicode_width::UnicodeWidthStr;

use crate::{
    FORMATS,
    environment::Threads,
    hint::read_message,
    interrupt::is_interrupted,
    object::Object,
    reading::{
        Reading,
        moments::{Clock, printed_minute},
        once,
    },
    terminal::{
        Terminal,
        escape::escape_for_terminal,
        figures::{count, grouped},
        message::{complain, warn},
        pager::Pager,
        progress::say,
        table::{cut, cut_start},
    },
};

/// The sessions to compare.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print a JSON object for each session
    #[arg(long)]
    json: bool,
    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    clock: Clock,
    #[command(flatten)]
    reading: Reading,
}

/// Draws the families of sessions.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, is_folder) = args.reading.sessions()?;
    let progress = args.reading.pace.progress(&inputs);
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let (keys, none, format) = (TurnKeys::new(FORMATS), Hashes::default(), args.reading.format());
    let member = |unit: &SessionFiles| {
        let read = once::session(unit, format, &keys, &none, &progress, &mut |_, _| {})?;
        let once::SessionRead { id, turns, kin, .. } = read;
        Ok(Member { id, path: unit.main.label(), turns, kin })
    };
    let pool = Threads::start(args.reading.pace.n_jobs())?;
    let read: Vec<Result<Member, ReadError>> =
        pool.install(|| units.par_iter().map(member).collect());
    drop(progress);
    let (mut n_refused, mut members) = (0, Vec::new());
    for (unit, result) in units.iter().zip(read) {
        match result {
            Ok(member) => members.push(member),
            Err(ReadError::Interrupted) => {}
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                let label = escape_for_terminal(&unit.main.label());
                complain(&format!("{label}: {}", read_message(&refusal)));
            }
        }
    }
    if members.is_empty() || is_interrupted() {
        if n_refused == 0 && !is_interrupted() {
            complain("no session among the inputs");
        }
        return Ok(Status::Failed);
    }
    let families = Families::of(&members, lineage(FORMATS, &members));
    Pager::print(!args.json && !args.no_pager, |out| {
        if !args.json {
            return families.draw(&args.clock.zone(), out);
        }
        for (member, ancestry) in members.iter().zip(&families.ancestries) {
            out.write_all(&object(member, ancestry.as_ref(), &members).line())?;
        }
        Ok(())
    })?;
    if !args.reading.pace.quiet {
        let n_alone = families.roots().filter(|root| !families.has_children(*root)).count();
        let n_families = families.roots().count() - n_alone;
        let families = if n_families == 1 { "family" } else { "families" };
        let sessions = count(members.len() as u64, "session");
        say(&format!("{sessions}: {n_families} {families}, {n_alone} alone"));
    }
    Ok(if n_refused > 0 { Status::Attention } else { Status::Done })
}

fn object(member: &Member, ancestry: Option<&Ancestry>, members: &[Member]) -> Object {
    let mut object = Object::new();
    object.string("session", &member.id).string("file", &member.path);
    let Some(ancestry) = ancestry else { return object };
    if let Some(parent) = members.get(ancestry.parent) {
        object.string("parent", &parent.id).string("parent_file", &parent.path);
    }
    object.string("relation", relation(ancestry.relation));
    object.plain("shared_records", ancestry.n_shared);
    object.plain("shared_prompts", ancestry.n_shared_prompts);
    object.plain("own_prompts", ancestry.n_own_prompts);
    if let Some(until) = ancestry.until {
        object.string("until", &iso_millis(until));
    }
    object
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Copy => "copy",
        Relation::Continuation => "continuation",
        Relation::Fork => "fork",
        _ => "named",
    }
}

/// The trees of sessions.
struct Families<'m> {
    members: &'m [Member],
    ancestries: Vec<Option<Ancestry>>,
    children: BTreeMap<usize, Vec<usize>>,
    /// The length of the folder that all files are in, which is not printed.
    common: usize,
}

impl<'m> Families<'m> {
    fn of(members: &'m [Member], ancestries: Vec<Option<Ancestry>>) -> Self {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (idx, ancestry) in ancestries.iter().enumerate() {
            if let Some(ancestry) = ancestry {
                children.entry(ancestry.parent).or_default().push(idx);
            }
        }
        let start = |idx: &usize| {
            let until = ancestries.get(*idx).copied().flatten().and_then(|it| it.until);
            let member = members.get(*idx);
            (until, member.and_then(|it| it.turns.end()), member.map(|it| it.path.as_str()))
        };
        for children in children.values_mut() {
            children.sort_by(|one, other| start(one).cmp(&start(other)));
        }
        let first = members.first().map_or("", |member| &member.path);
        let shared = |path: &str| {
            let is_same = |(one, other): &(char, char)| one == other;
            first.chars().zip(path.chars()).take_while(is_same).map(|(it, _)| it.len_utf8()).sum()
        };
        let common: usize = members.iter().map(|member| shared(&member.path)).min().unwrap_or(0);
        let folder = first.get(..common).and_then(|it| it.rfind('/')).map_or(0, |at| at + 1);
        Self { members, ancestries, children, common: folder }
    }

    /// Returns the sessions without a parent.
    fn roots(&self) -> impl Iterator<Item = usize> {
        let is_root = |(idx, it): (usize, &Option<Ancestry>)| it.is_none().then_some(idx);
        self.ancestries.iter().enumerate().filter_map(is_root)
    }

    fn has_children(&self, idx: usize) -> bool {
        self.children.contains_key(&idx)
    }

    /// Draws the families of several sessions. A chain of sessions may be long, so this is a loop.
    fn draw(&self, zone: &TimeZone, out: &mut dyn Write) -> io::Result<()> {
        let terminal = Terminal::of_stdout();
        let mut is_first = true;
        for root in self.roots().filter(|root| self.has_children(*root)) {
            if !std::mem::take(&mut is_first) {
                out.write_all(b"\n")?;
            }
            let mut open = vec![(root, String::new(), String::new())];
            while let Some((idx, branch, below)) = open.pop() {
                let (words, path) = self.words(idx, zone);
                let line = format!("{branch}{words}");
                let room = terminal.columns.saturating_sub(line.width() + 2);
                match terminal.is_terminal {
                    true if room < MIN_PATH => writeln!(out, "{}", cut(&line, terminal.columns))?,
                    true => writeln!(out, "{line}  {}", cut_start(&path, room))?,
                    false => writeln!(out, "{line}  {path}")?,
                }
                let children = self.children.get(&idx).map(Vec::as_slice).unwrap_or_default();
                for (child_idx, child) in children.iter().enumerate().rev() {
                    let is_last = child_idx + 1 == children.len();
                    let (branch, rest) =
                        if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                    // Deep trees are drawn in a narrow column.
                    let below = if below.chars().count() > MAX_INDENT { "" } else { &below };
                    open.push((*child, format!("{below}{branch}"), format!("{below}{rest}")));
                }
            }
        }
        Ok(())
    }

    /// Returns the id and the ancestry of a session, as they are printed, and its path.
    fn words(&self, idx: usize, zone: &TimeZone) -> (String, String) {
        let Some(member) = self.members.get(idx) else { return Default::default() };
        let is_uuid = member.id.len() == UUID_LENGTH;
        let id: String = member.id.chars().take(if is_uuid { 8 } else { MAX_ID }).collect();
        let path = member.path.get(self.common..).unwrap_or(&member.path);
        let (id, path) = (escape_for_terminal(&id), escape_for_terminal(path));
        let clock = |time: i64| printed_minute(time, zone);
        let Some(ancestry) = self.ancestries.get(idx).copied().flatten() else {
            let start = member.turns.start().map(clock).unwrap_or_default();
            return (format!("{id}  {start}"), path);
        };
        let own = match ancestry.n_own_prompts {
            0 => String::new(),
            n if ancestry.n_shared_prompts == 0 => format!(", then {}", count(n, "prompt")),
            n => format!(", then {} more", grouped(n)),
        };
        let shared = match ancestry.n_shared_prompts {
            0 => count(ancestry.n_shared, "record"),
            n => count(n, "prompt"),
        };
        let until = ancestry.until.map(|time| format!(" ({})", clock(time))).unwrap_or_default();
        let made = match ancestry.relation {
            Relation::Copy => format!("copy of {shared}"),
            Relation::Continuation => format!("continues after {shared}{until}{own}"),
            Relation::Fork => format!("fork after {shared}{until}{own}"),
            _ => "follows".to_owned(),
        };
        (format!("{id}  {made}"), path)
    }
}

/// Limit on the columns before a session in a tree.
const MAX_INDENT: usize = 30;

/// The columns that a path needs to be printed on a terminal.
const MIN_PATH: usize = 12;

/// The characters of a UUID, of which eight are printed, and limit on the characters of other ids.
const UUID_LENGTH: usize = 36;
const MAX_ID: usize = 24;
