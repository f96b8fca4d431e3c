//! `show`: prints sessions as conversations.

mod base;
mod branches;
mod depth;
mod flow;
mod follow;
mod interactions;
mod markdown;
mod text;
mod window;

use std::{
    io::{self, Write},
    ops::ControlFlow,
    path::Path,
};

use archive::Status;
use conversion::{Events, Source, carry_faults};
use core_model::{Body, Event, Format, IdSet, Options};
use jsonl::Text;
use sessions::{
    Filter, Folders, Input, Matcher, Part, ReadError, Redact, UnknownFormat, is_of_a_session, known,
};
use storage::{Backend, Limits};

use self::{
    base::Base,
    branches::LeftOut,
    depth::Depths,
    interactions::Interactions,
    markdown::MarkdownPage,
    text::TextPage,
    window::{MatchedId, Window},
};
use super::{
    export::{
        damage::DamageRun,
        lines::{Read, SessionLines},
    },
    list::title_outside,
};
use crate::{
    FORMATS,
    cli::RedactArgs,
    formats::detect,
    hint::read_message,
    interrupt::is_interrupted,
    reading::{Reading, filter::FilterArgs, relatives::relatives_of},
    terminal::{Terminal, escape::escape_for_terminal, message::complain, pager::Pager},
};

/// The sessions to show, and the form.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print Markdown, with sub-agents as nested quotes
    #[arg(long)]
    markdown: bool,
    /// Skip the first N messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    /// Print at most N messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print only the last N messages
    #[arg(long, value_name = "N", conflicts_with_all = ["offset", "limit", "around", "follow"])]
    tail: Option<u64>,
    /// Print only the message with this id, or start of an id, and the messages around it
    #[arg(long, value_name = "ID", conflicts_with_all = ["offset", "limit", "follow"])]
    around: Option<String>,
    /// With --around: print N messages before it and N after it
    #[arg(short = 'C', long, value_name = "N", default_value_t = 3, requires = "around")]
    context: u64,
    /// Print only each prompt with its final answer; --offset, --limit and --tail count such pairs, and
    /// filters choose the pairs with a match
    #[arg(long, conflicts_with_all = ["around", "follow"])]
    interactions: bool,
    /// Print all lines of the inputs and results of tools
    #[arg(long)]
    full: bool,
    /// Leave out the model's thinking
    #[arg(long)]
    no_thinking: bool,
    /// Leave out the inputs and results of tools
    #[arg(long, conflicts_with = "full")]
    no_tools: bool,
    /// Also print the branches of a transcript that its client would not resume
    #[arg(long)]
    all_branches: bool,
    /// Print the branch with the message that has this id, or start of an id, instead of the branch that
    /// the client would resume
    #[arg(long, value_name = "ID", conflicts_with_all = ["all_branches", "follow"])]
    branch: Option<String>,
    /// Print new messages as they are added, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Print without a pager
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    redact: RedactArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    reading: Reading,
}

impl Args {
    /// Returns whether only messages around one, or the last ones, are printed.
    fn is_window(&self) -> bool {
        self.tail.is_some() || self.around.is_some()
    }
}

/// Prints sessions, one after the other.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, is_folder) = args.reading.sessions_or_stdin()?;
    let filter = args.filter.filter(true);
    if args.follow {
        return match inputs.as_slice() {
            [Input::File { storage: Backend::Disk, path, .. }] => follow::run(args, &filter, path),
            _ => Err(io::Error::other("--follow needs exactly one file on this machine")),
        };
    }
    // A sub-agent's conversation is printed inside the one that started it.
    let is_main = |input: &&Input| !is_folder || !is_of_a_session(FORMATS, input);
    let inputs: Vec<&Input> = inputs.iter().filter(is_main).collect();
    let mut pager = Pager::start(!args.no_pager);
    let (mut n_shown, mut n_refused, mut is_any_found) = (0, 0, false);
    let folders = Folders::default();
    for input in &inputs {
        let is_one_of_many = inputs.len() > 1;
        match show(args, &filter, input, &folders, is_one_of_many, &mut pager) {
            Ok(is_found) => {
                n_shown += 1;
                is_any_found |= is_found;
            }
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_)))
                if is_folder => {}
            Err(refusal) => {
                n_refused += 1;
                complain(&format!(
                    "{}: {}",
                    escape_for_terminal(&input.label()),
                    read_message(&refusal)
                ));
            }
        }
        if is_interrupted() {
            break;
        }
    }
    pager.finish()?;
    if !is_any_found && n_refused == 0 && !args.reading.pace.quiet {
        complain(match (n_shown, args.filter.is_empty() && args.offset == 0) {
            (0, _) => "no session among the inputs",
            (_, true) => "no message in the session",
            (_, false) => "no message matches",
        });
    }
    Ok(match (n_shown, n_refused) {
        (0, 1..) => Status::Failed,
        (_, 0) => Status::Done,
        _ => Status::Attention,
    })
}

fn show(
    args: &Args,
    filter: &Filter,
    input: &Input,
    folders: &Folders,
    is_one_of_many: bool,
    out: &mut dyn Write,
) -> Result<bool, ReadError> {
    let opened = Redact::from(args.redact).opened(FORMATS, input.open(Limits::default())?)?.file;
    let mut source = Source::new(opened);
    let format = match args.reading.format() {
        Some(format) => format,
        None => known(FORMATS, detect(&mut source)?)?,
    };
    for fault in carry_faults(FORMATS, &mut source, format)? {
        complain(&format!("{}: {fault}", escape_for_terminal(&input.label())));
    }
    source.release();
    let mut lines = SessionLines::new(input, format, args.redact.into(), folders)?;
    let is_whole = args.filter.is_empty() && args.offset == 0 && !args.is_window();
    let mut shower = Shower::new(args, filter, format);
    shower.missing = lines.missing().iter().map(|missing| missing.tool_use.clone()).collect();
    if is_one_of_many {
        shower.page.heading(&input.label(), out)?;
    }
    if is_whole && let Some(title) = title_outside(input, format) {
        let title = Redact::from(args.redact).text(FORMATS, title)?;
        shower.page.title(&title, out)?;
    }
    if is_whole && !is_one_of_many {
        for relative in relatives_of(input) {
            let name = Path::new(&relative.label).file_name().unwrap_or_default();
            let note = format!("{} {}", relative.words, name.to_string_lossy());
            shower.page.note(&Redact::from(args.redact).text(FORMATS, note)?, out)?;
        }
    }
    source.with_events(format, |events| {
        let on_branch = match &args.branch {
            Some(start) => Some(MatchedId::message(start, events)?),
            None => None,
        };
        let branch = on_branch.as_ref().map(|(id, _)| id.clone());
        let all_branches = args.all_branches;
        lines.plan(events, &Options { all_branches, branch, ..Options::default() })?;
        if let Some((id, offset)) = on_branch
            && lines.hides(offset).is_some()
        {
            let id = escape_for_terminal(&id);
            let message = format!("{id} is on no branch; --all-branches prints all records");
            return Err(io::Error::other(message));
        }
        if args.interactions {
            shower.note_branches(is_whole, &lines, events, out)?;
            let mut interactions = Interactions::new(args, filter, format);
            lines.each(events, &mut |read| match read {
                _ if is_interrupted() => Ok(ControlFlow::Break(())),
                Read::Event(event) => interactions.event(event, out),
                _ => Ok(ControlFlow::Continue(())),
            })?;
            interactions.finish(out)?;
            shower.has_shown = interactions.has_shown || is_interrupted();
            return Ok(());
        }
        if args.is_window() {
            let mut window = Window::new(args);
            let mut counter = Shower::new(args, filter, format);
            lines.each(events, &mut |read| match read {
                _ if is_interrupted() => Ok(ControlFlow::Break(())),
                Read::Event(event) if counter.wanted(event).is_some() => window.count(event),
                _ => Ok(ControlFlow::Continue(())),
            })?;
            if is_interrupted() {
                shower.has_shown = true;
                return Ok(());
            }
            (shower.n_left_out, shower.n_left) = window.range()?;
        }
        shower.note_branches(is_whole, &lines, events, out)?;
        let mut damage = DamageRun::default();
        lines.each(events, &mut |read| match read {
            _ if is_interrupted() => {
                shower.has_shown = true;
                Ok(ControlFlow::Break(()))
            }
            Read::Event(event) => {
                damage.end_before(event, &mut |what, _| shower.page.damage(what, out))?;
                shower.event(event, out)
            }
            Read::Damaged(line) => {
                shower.has_shown = true;
                damage.push(line, &mut |what, _| shower.page.damage(what, out))?;
                Ok(ControlFlow::Continue(()))
            }
            Read::LeftOut(..) | Read::Hidden => Ok(ControlFlow::Continue(())),
        })?;
        damage.end(&mut |what, _| shower.page.damage(what, out))
    })?;
    shower.page.finish(out)?;
    for unread in lines.unread() {
        complain(unread);
    }
    Ok(shower.has_shown)
}

/// Creates the form of output for a session.
fn new_page(args: &Args, format: &Format) -> Box<dyn Page> {
    match args.markdown {
        true => Box::new(MarkdownPage::new(args, format)),
        false => Box::new(TextPage::new(args, Terminal::of_stdout())),
    }
}

/// Prints the events of one session.
struct Shower<'s> {
    page: Box<dyn Page + 's>,
    matcher: Matcher<'s>,
    depths: Depths,
    is_all_wanted: bool,
    /// The tool uses of sub-agents without a file.
    missing: Vec<String>,
    /// The number of messages to skip, and the number to print.
    n_left_out: u64,
    n_left: u64,
    /// Whether anything was printed.
    has_shown: bool,
    /// The format, until the session says which records of another one come first.
    format: Option<&'static Format>,
    /// The titles so far. Clients repeat them, to find them at the end of a file.
    titles: IdSet,
}

impl<'s> Shower<'s> {
    fn new(args: &Args, filter: &'s Filter, format: &'static Format) -> Self {
        Self {
            page: new_page(args, format),
            matcher: Matcher::new(filter),
            depths: Depths::default(),
            is_all_wanted: args.filter.is_empty(),
            missing: Vec::new(),
            n_left_out: args.offset,
            n_left: args.limit.unwrap_or(u64::MAX),
            has_shown: false,
            format: Some(format)
                .filter(|_| args.filter.is_empty() && args.offset == 0 && !args.is_window()),
            titles: IdSet::default(),
        }
    }

    /// Prints which branches are left out, if all of the session is wanted.
    fn note_branches(
        &mut self,
        is_whole: bool,
        lines: &SessionLines,
        events: &mut dyn Events,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !is_whole {
            return Ok(());
        }
        let left_out = LeftOut::find(lines, events)?;
        if left_out.is_empty() { Ok(()) } else { self.page.note(&left_out.to_string(), out) }
    }

    /// Returns the wanted parts of an event; `None` if it has nothing to print.
    fn wanted<'e, 'l>(&mut self, event: &'e Event<'l>) -> Option<Wanted<'e, 'l>>
    where
        's: 'e,
    {
        if let Body::Title(title) = &event.body
            && !self.titles.insert_text(title.text)
        {
            return None;
        }
        let wanted = Wanted::new(event, &mut self.matcher);
        let is_empty = wanted.is_empty() && !(self.is_all_wanted && event.message().is_some());
        (!is_empty && self.page.has(event, &wanted)).then_some(wanted)
    }

    /// Prints the wanted parts of an event; nothing if there are none. Returns whether to stop.
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<ControlFlow<()>> {
        let place = self.depths.push(event);
        if place.depth == 0
            && let Some(base) = self.format.and_then(|format| Base::of(format, event))
        {
            self.format = None;
            self.page.note(&base.to_string(), out)?;
        }
        let Some(wanted) = self.wanted(event) else { return Ok(ControlFlow::Continue(())) };
        if self.n_left_out > 0 {
            self.n_left_out -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        if self.n_left == 0 {
            self.has_shown = true;
            return Ok(ControlFlow::Break(()));
        }
        self.n_left -= 1;
        self.has_shown = true;
        for part in wanted.parts().filter(|_| !self.missing.is_empty()) {
            let Some(result) = part.result() else { continue };
            if self.missing.iter().any(|tool_use| result.tool_use_id.is(tool_use)) {
                self.page.missing_agent(result.tool_use_id, place.depth + 1, out)?;
            }
        }
        self.page.event(event, &wanted, &place, out).map(ControlFlow::Continue)
    }
}

/// The position of an event among sub-agents.
#[derive(Clone, Debug, Default)]
struct Nesting {
    /// The number of nested sub-agents; 0 for the main conversation.
    depth: usize,
    /// The name of the sub-agent.
    mode: Option<String>,
}

/// The wanted parts of an event. A part takes about 250 bytes, ten times a short block in its line,
/// so parts are not stored, but read again.
struct Wanted<'e, 'l> {
    event: &'e Event<'l>,
    filter: &'e Filter,
    /// Whether each part is wanted; empty if none is.
    are_wanted: Vec<bool>,
}

impl<'e, 'l> Wanted<'e, 'l> {
    fn new<'f: 'e>(event: &'e Event<'l>, matcher: &mut Matcher<'f>) -> Self {
        let filter = matcher.filter();
        let mut are_wanted = Vec::new();
        if matcher.wants_event(event) {
            are_wanted.extend(filter.parts(event).map(|part| matcher.wants(&part)));
        }
        if !are_wanted.contains(&true) {
            are_wanted.clear();
        }
        Self { event, filter, are_wanted }
    }

    fn is_empty(&self) -> bool {
        self.are_wanted.is_empty()
    }

    fn parts(&self) -> impl Iterator<Item = Part<'l>> {
        let parts = self.filter.parts(self.event).zip(&self.are_wanted);
        parts.filter(|(_, is_wanted)| **is_wanted).map(|(part, _)| part)
    }
}

/// A form of output for events.
trait Page {
    /// Returns whether an event has anything to print.
    fn has(&self, event: &Event<'_>, wanted: &Wanted<'_, '_>) -> bool;

    /// Prints the wanted parts of an event.
    fn event(
        &mut self,
        event: &Event<'_>,
        wanted: &Wanted<'_, '_>,
        place: &Nesting,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Prints the heading of one of several sessions.
    fn heading(&mut self, label: &str, out: &mut dyn Write) -> io::Result<()>;

    /// Prints the title of a session, which is not in the session.
    fn title(&mut self, title: &str, out: &mut dyn Write) -> io::Result<()>;

    /// Prints a remark about the session.
    fn note(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()>;

    /// Prints that a line cannot be read.
    fn damage(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()>;

    /// Prints that the file of the sub-agent that a tool use started is missing.
    fn missing_agent(
        &mut self,
        tool_use: Text<'_>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Prints what waits.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
