//! The row of a format: its name and functions, and the traits [`EventWriter`] and [`Planner`].

use std::path::Path;

use jsonl::{Framing, Style, Text, Value};

use crate::{
    Checker, CostPolicy, CreateTotals, DocumentStore, Event, Facts, Home, Layout, Origin, Output,
    Plan, Rewrites, SessionFolder, Store,
};

/// The member that holds a carry, in a record or in an object of its row's carry places. Only
/// `conversion` reads and writes it; [`is_carry`] is for formats that keep unknown members in one object.
pub const CARRY_MEMBER: &str = "_carried";

/// Returns whether a member may be a carry: it has the name of a carry, and begins with the number of a
/// version. `"_carried":"2F4:.."` may be one, `"_carried":"x"` is a member of the source.
pub fn is_carry(key: Text<'_>, value: Value<'_>) -> bool {
    let is_version = |text: Text<'_>| text.body().starts_with(|char: char| char.is_ascii_digit());
    key.body() == CARRY_MEMBER && value.text().is_some_and(is_version)
}

/// A format, in one of its dialects. [`Format::new`] builds it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Format {
    /// The name for `--to`.
    pub name: &'static str,
    /// The letter of the format in a carry.
    pub tag: char,
    /// A sentence about it.
    pub about: &'static str,
    /// The family of the crate's formats. Content that only they can hold is converted between
    /// them.
    pub family: &'static str,
    /// The spelling of JSON.
    pub style: Style,
    /// How the bytes are split into records.
    pub framing: Framing,
    /// Whether the client writes its files anew.
    pub rewrites: Rewrites,
    /// The objects that may hold the carry of a record, as paths from the record on; the record
    /// itself is the last one. Keys are joined by dots, and `[]` is each item of an array:
    /// `parts[].metadata`.
    pub carry_places: &'static [&'static str],
    /// The member of a document with the title of the session, as a path such as `info.title`.
    pub title_place: Option<&'static str>,
    /// Compares the totals of a written document with its records.
    pub totals: Option<CreateTotals>,
    /// Whether sub-agents' messages are among the others.
    pub has_inline_agents: bool,
    /// Whether the lines of most files are the conversation in its order, so that a conversion can
    /// begin before the last line is read; see [`Format::linear`].
    pub is_linear: bool,
    /// Whether the writer learns facts while it writes: see [`EventWriter::learn`].
    pub learns: bool,
    /// Whether U+2028 and U+2029 are escaped in written lines: see [`Format::escaping_separators`].
    pub escapes_separators: bool,
    /// Whether images are files beside the target: see [`Output::add_image`].
    ///
    /// [`Output::add_image`]: crate::Output::add_image
    pub has_image_files: bool,
    /// Whether sessions of other formats are not converted to it, because no client reads it. Files
    /// of the format that were converted still come back.
    pub is_read_only: bool,
    /// Whether a line is in this format and in no other.
    pub detect: fn(Value<'_>) -> bool,
    /// Returns whether an object at the end of a damaged line is a line of this format, and not an
    /// inner value.
    pub is_record: fn(Value<'_>) -> bool,
    read: ReadEvent,
    read_more: Option<ReadNextEvent>,
    /// Passes on all events of a record, without their numbers: see [`Format::read_each`]. Callers use
    /// [`Format::for_each_event`].
    pub read_each: Option<ReadEachEvent>,
    /// Creates a writer.
    pub writer: fn(&Options, Facts) -> Box<dyn EventWriter>,
    /// Creates a planner that decides which lines are the conversation; `None` if all are.
    pub planner: Option<CreatePlanner>,
    /// Creates a checker that finds the faults that the client would refuse or skip.
    pub checker: fn() -> Box<dyn Checker>,
    /// Returns the part of a prompt that lists show; `None` if the client wrote the text. Without
    /// this function, lists show the whole prompt.
    pub prompt_preview: Option<PreviewPrompt>,
    /// Returns what identifies an event in every file that has a copy of it.
    pub origin: for<'l> fn(&Event<'l>) -> Origin<'l>,
    /// The meaning of the cost in an outcome.
    pub cost: CostPolicy,
    /// The place of its client's sessions; `None` if the client keeps none.
    pub store: Option<Store>,
    /// The layout of sessions that have a folder each; `None` if a session's file has its id as the
    /// name.
    pub session_folder: Option<SessionFolder>,
    /// Returns the place of a session that started at this time, in milliseconds since 1970, from its place by
    /// id alone; `None` if places have no times.
    pub place_by_start: Option<fn(Home, i64) -> Home>,
    /// The stores that yield documents; `None` if each session is a file.
    pub documents: Option<DocumentStore>,
    /// Whether the id of a session is only in its file, and the name of the file has a part of it.
    pub has_ids_inside: bool,
    /// The name of a file above the folder with a project's sessions, in which the client keeps the path
    /// of the project; `None` if it keeps none. An installation writes it if it is not there.
    pub project_marker: Option<&'static str>,
    /// The warning that is printed when a session was installed, such as that the client deletes old
    /// sessions at its start; `None` if there is none.
    pub install_note: Option<&'static str>,
    /// The layout of a session's files; `None` if a file is a session.
    pub layout: Option<Layout>,
    /// The limits of a file within which its client finds it.
    pub limits: Limits,
}

/// Reads the first event of a record. A pure function: no record needs another.
pub type ReadEvent = for<'l> fn(Value<'l>) -> Event<'l>;

/// Reads event `n` of a record, for `n` from 1; `None` past the last one.
pub type ReadNextEvent = for<'l> fn(Value<'l>, u32) -> Option<Event<'l>>;

/// Calls a function with all events of a record, in order, until it returns false.
pub type ReadEachEvent = for<'l> fn(Value<'l>, &mut dyn FnMut(Event<'l>) -> bool);

/// Creates a planner.
pub type CreatePlanner = fn(&Options) -> Box<dyn Planner>;

/// Returns the part of a prompt that lists show.
pub type PreviewPrompt = fn(&str) -> Option<String>;

/// The functions that every format has.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// Returns whether a record is in this format and in no other.
    pub detect: fn(Value<'_>) -> bool,
    /// Returns whether an object at the end of a damaged line is a line of this format, and not an
    /// inner value.
    pub is_record: fn(Value<'_>) -> bool,
    /// Reads the first event of a record.
    pub read: ReadEvent,
    /// Creates a writer.
    pub writer: fn(&Options, Facts) -> Box<dyn EventWriter>,
    /// Creates a checker.
    pub checker: fn() -> Box<dyn Checker>,
}

/// Builds a row.
impl Format {
    /// Creates the row of a format whose files are compact JSON Lines, and whose client appends to
    /// them. The other functions change what differs.
    ///
    /// `about` is a sentence about the format, and `tag` its letter in a carry, which no other
    /// format of a table may have.
    pub const fn new(
        name: &'static str,
        tag: char,
        about: &'static str,
        functions: Functions,
    ) -> Self {
        Self {
            name,
            tag,
            about,
            family: name,
            style: Style::Compact,
            framing: Framing::Lines,
            rewrites: Rewrites::Never,
            carry_places: &[],
            title_place: None,
            totals: None,
            has_inline_agents: false,
            is_linear: false,
            learns: false,
            escapes_separators: false,
            has_image_files: false,
            is_read_only: false,
            detect: functions.detect,
            is_record: functions.is_record,
            read: functions.read,
            read_more: None,
            read_each: None,
            writer: functions.writer,
            planner: None,
            checker: functions.checker,
            prompt_preview: None,
            origin: Origin::by_uuid,
            cost: CostPolicy::PerInteraction,
            store: None,
            session_folder: None,
            place_by_start: None,
            documents: None,
            has_ids_inside: false,
            project_marker: None,
            install_note: None,
            layout: None,
            limits: Limits { head: 0, head_size: 0, filler_record: "", filler_record_size: 0 },
        }
    }

    /// Sets the family of the crate's formats: by default, the name.
    #[must_use]
    pub const fn family(mut self, family: &'static str) -> Self {
        self.family = family;
        self
    }

    /// Sets the spelling of JSON.
    #[must_use]
    pub const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Sets how the bytes are split into records.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Sets whether the client writes its files anew.
    #[must_use]
    pub const fn rewrites(mut self, rewrites: Rewrites) -> Self {
        self.rewrites = rewrites;
        self
    }

    /// Sets the objects that hold the carry of a record, for a client that drops members that it
    /// does not know: see [`Format::carry_places`]. The writer marks the place in each record with
    /// [`Output::mark_carry`]. Without a mark, the carry is a member of the record.
    #[must_use]
    pub const fn carry_places(mut self, places: &'static [&'static str]) -> Self {
        self.carry_places = places;
        self
    }

    /// Sets the member of a document with the title of the session. A title that was changed in another client gets
    /// home there.
    #[must_use]
    pub const fn title_place(mut self, path: &'static str) -> Self {
        self.title_place = Some(path);
        self
    }

    /// Sets the comparison of a written document's totals with its records.
    #[must_use]
    pub const fn totals(mut self, create: CreateTotals) -> Self {
        self.totals = Some(create);
        self
    }

    /// Says that sub-agents' messages are among the others.
    #[must_use]
    pub const fn with_inline_agents(mut self) -> Self {
        self.has_inline_agents = true;
        self
    }

    /// Says that the lines of most files are the conversation in its order. A conversion then reads
    /// a file once. If a line turns out to be hidden or to come too early, the output is taken back and
    /// the file is read a second time: the result is the same, only slower. A
    /// log of operations, where later lines change earlier ones, must not say so.
    #[must_use]
    pub const fn linear(mut self) -> Self {
        self.is_linear = true;
        self
    }

    /// Says that the writer has [`EventWriter::learn`].
    #[must_use]
    pub const fn learning(mut self) -> Self {
        self.learns = true;
        self
    }

    /// Says that the client ends lines at U+2028 and U+2029, as Node's `readline` does, so that these characters are
    /// escaped in written lines.
    #[must_use]
    pub const fn escaping_separators(mut self) -> Self {
        self.escapes_separators = true;
        self
    }

    /// Says that images are files beside the target. The format must not be [`Format::learning`]: files
    /// are not taken back.
    #[must_use]
    pub const fn with_image_files(mut self) -> Self {
        self.has_image_files = true;
        self
    }

    /// Says that sessions of other formats are not converted to it.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Sets the function for the second and later events of a record.
    #[must_use]
    pub const fn read_more(mut self, read_more: ReadNextEvent) -> Self {
        self.read_more = Some(read_more);
        self
    }

    /// Sets a function that passes on all events of a record, as `read` and [`Format::read_more`] return them one by one. It
    /// reads a record with many events in one pass.
    #[must_use]
    pub const fn read_each(mut self, read_each: ReadEachEvent) -> Self {
        self.read_each = Some(read_each);
        self
    }

    /// Sets the function that creates a planner.
    #[must_use]
    pub const fn planner(mut self, planner: CreatePlanner) -> Self {
        self.planner = Some(planner);
        self
    }

    /// Sets the function that identifies an event in every file that has a copy of it. Without it,
    /// the `uuid` does, and for an event without one its content.
    #[must_use]
    pub const fn origin(mut self, origin: for<'l> fn(&Event<'l>) -> Origin<'l>) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the function for the part of a prompt that lists show.
    #[must_use]
    pub const fn prompt_preview(mut self, prompt_preview: PreviewPrompt) -> Self {
        self.prompt_preview = Some(prompt_preview);
        self
    }

    /// Sets the meaning of the cost in an outcome.
    #[must_use]
    pub const fn cost(mut self, cost: CostPolicy) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the place of the client's sessions.
    #[must_use]
    pub const fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// Says that each session has a folder, whose name is its id.
    #[must_use]
    pub const fn session_folder(mut self, session_folder: SessionFolder) -> Self {
        self.session_folder = Some(session_folder);
        self
    }

    /// Sets the function that finds the place of a session by its start.
    #[must_use]
    pub const fn place_by_start(mut self, place: fn(Home, i64) -> Home) -> Self {
        self.place_by_start = Some(place);
        self
    }

    /// Sets the stores that yield documents.
    #[must_use]
    pub const fn documents(mut self, documents: DocumentStore) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Says that the id of a session is only in its file, and that the name of the file has a part of it.
    #[must_use]
    pub const fn ids_inside(mut self) -> Self {
        self.has_ids_inside = true;
        self
    }

    /// Sets the name of a file above the folder with a project's sessions, in which the client keeps the
    /// path of the project.
    #[must_use]
    pub const fn project_marker(mut self, name: &'static str) -> Self {
        self.project_marker = Some(name);
        self
    }

    /// Sets the warning that is printed when a session was installed.
    #[must_use]
    pub const fn install_note(mut self, note: &'static str) -> Self {
        self.install_note = Some(note);
        self
    }

    /// Sets the layout of a session's files.
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Sets the limits of a file.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Finds sessions.
impl Format {
    /// Returns the id of a session in a folder of the client, given the path of its file and the name
    /// of the file without its endings; `None` if the id is the name of a folder that is not UTF-8.
    pub fn session_id<'p>(&self, path: &'p Path, stem: &'p str) -> Option<&'p str> {
        match self.session_folder {
            Some(folder) if folder.file.strip_suffix(".jsonl") == Some(stem) => {
                path.parent()?.file_name()?.to_str()
            }
            _ => Some(self.store.map_or(stem, |store| (store.session_id)(stem))),
        }
    }
}

/// Reads records.
impl Format {
    /// Reads the first event of a record. A record may have more: see [`Format::for_each_event`].
    #[inline]
    pub fn first_event<'l>(&self, record: Value<'l>) -> Event<'l> {
        (self.read)(record)
    }

    /// Returns whether each record has one event.
    #[inline]
    pub fn has_one_event(&self) -> bool {
        self.read_more.is_none()
    }

    /// Calls `each` with the events of a record, in order, until it returns false. Returns whether
    /// it never did.
    ///
    /// A record of Codex's type `compacted` has two: the notice of the compaction and its summary.
    #[inline]
    pub fn for_each_event<'l>(
        &self,
        record: Value<'l>,
        mut each: impl FnMut(&Event<'l>) -> bool,
    ) -> bool {
        if let Some(read_each) = self.read_each {
            return with_numbers(read_each, record, &mut each);
        }
        let mut event = (self.read)(record);
        let Some(read_more) = self.read_more else { return each(&event) };
        for n in 1.. {
            let next = read_more(record, n);
            event.has_next = next.is_some();
            if !each(&event) {
                return false;
            }
            let Some(next) = next else { break };
            event = Event { nth: n, ..next };
        }
        true
    }
}

/// Calls `each` with the events of a record, and with their numbers, until it returns false. Returns whether it
/// never did.
fn with_numbers<'l>(
    read_each: ReadEachEvent,
    record: Value<'l>,
    each: &mut dyn FnMut(&Event<'l>) -> bool,
) -> bool {
    // An event waits until it is known whether another one comes after it.
    let (mut last, mut nth, mut goes_on) = (None, 0, true);
    read_each(record, &mut |next| {
        if let Some(event) = last.take() {
            goes_on = each(&Event { has_next: true, ..event });
        }
        last = Some(Event { nth, ..next });
        nth += 1;
        goes_on
    });
    match last {
        Some(event) if goes_on => each(&event),
        _ => goes_on,
    }
}

/// The limits of carries in a format. `storage::Limits` are the limits of inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Limit in bytes for carries before the first prompt; 0 for no limit.
    pub head: usize,
    /// The bytes at the start of a file in which the client looks for the first prompt. The limit on the carries ends
    /// behind them.
    pub head_size: u64,
    /// The start of a line of a type that the client ignores, for carries: a JSON object without
    /// its closing brace. Empty if the format has none.
    pub filler_record: &'static str,
    /// Limit in bytes of one filler record.
    pub filler_record_size: usize,
}

/// The options of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The version of the SDK whose dump is written.
    pub sdk_version: SdkVersion,
    /// Whether a source with an unreadable line is refused. A torn last line is enough.
    pub is_strict: bool,
    /// Whether branches off the active one are written too. The format decides which branch is
    /// active: see `Branch` of format-pi and `Chain` of format-claude-code.
    pub all_branches: bool,
    /// The id of a message on the branch to write, instead of the active one. The branch leads on to the
    /// last message of the file that follows it.
    pub branch: Option<String>,
    /// Whether to write only the part after the last compaction, from which the client would
    /// continue.
    pub from_last_compaction: bool,
    /// The folder in which the target's client will go on, if it is not the session's. Clients that
    /// compare it with the folder in the session, such as pi, find it there.
    pub project: Option<String>,
}

/// A version of the Agent SDK for Python that dumps are written for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SdkVersion {
    /// 0.1.6, with the fewest keys.
    V0_1_6,
    /// 0.2.187.
    #[default]
    V0_2_187,
}

/// Writer of events as lines of a format, with state from earlier events.
pub trait EventWriter {
    /// Writes an event.
    fn write(&mut self, event: &Event<'_>, out: &mut Output);

    /// Adds an event of the writer's own format that is already in the output. Later lines are
    /// linked to it.
    fn resume(&mut self, event: &Event<'_>, out: &mut Output);

    /// Learns the facts of all events so far and of some that follow, which share the ids of calls
    /// with the facts that the writer has. Returns false if a line in the output would be another
    /// one with these facts: then the conversion starts again, with the facts of all events. Only a
    /// writer whose row says so ([`Format::learning`]) is called without them.
    fn learn(&mut self, _facts: &Facts) -> bool {
        false
    }

    /// Writes the end of the output. Writes nothing if nothing was written since the last resumed
    /// event.
    fn finish(&mut self, out: &mut Output);
}

/// Planner of a conversation: decides which lines are part of it, in a first pass over a file.
pub trait Planner {
    /// Adds an event with the offset of its line.
    fn observe(&mut self, offset: u64, event: &Event<'_>);

    /// Returns the plan of the conversation.
    fn finish(self: Box<Self>) -> Plan;
}
