//! Facts about a whole session that a writer needs before the first line, collected in a first
//! pass.
//!
//! In: the events of a session. Out: the first model, the tools in use, the title, and whether a
//! tool use has a result anywhere.

mod calls;
mod event_facts;
mod log;

use std::sync::Arc;

use jsonl::{Scanner, Text};

pub use self::log::{FactLog, LoggedEvent};
use self::{
    calls::SharedCalls,
    event_facts::{EventFacts, Mention},
};
use crate::{Event, IdHasher, IdSet, Interactions, Title, TitleRank, millis};

/// The facts of a session, from a first pass over the events that will be shown: its id, title, tools
/// and, in [`interactions`](Self::interactions), its models.
///
/// A conversion fills them: it calls [`Facts::observe`] with each event of a first pass, and passes them
/// to the writer. [`RecordWriter`](crate::RecordWriter) does so for programs.
///
/// Strings are JSON strings as written in the source, quotes included.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The id of the sub-agent whose transcript is written, unescaped; `None` for the session's
    /// own.
    pub agent: Option<String>,
    /// The time at which the session of the sub-agent starts, a JSON value; `None` if it is unknown,
    /// or for the session's own.
    pub session_start: Option<String>,
    /// The first session id.
    pub session_id: Option<String>,
    /// The first time.
    pub start: Option<String>,
    /// The last time.
    pub end: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The first client version.
    pub version: Option<String>,
    /// The names of the tools used, each once, in order of first use.
    pub tools: Vec<String>,
    /// The interactions, each opened by a prompt. Events before the first prompt belong to none.
    pub interactions: Interactions,
    /// The number of messages of any kind.
    pub n_messages: u64,
    /// Whether a message in the user's role has content other than tool results, sub-agents
    /// included.
    pub has_user_text: bool,
    /// The winning title and its rank. A writer shares the text, which may be long.
    pub title: Option<(TitleRank, Arc<str>)>,
    /// Whether the source has start events of sessions or interactions.
    pub has_start: bool,
    /// Whether an outcome is in the source.
    pub has_outcome: bool,
    /// Whether a compaction is in the source.
    pub has_compaction: bool,
    calls: SharedCalls,
    /// The names of the tools, if they are more than [`MAX_LISTED`].
    known_tools: IdSet,
}

/// Number of tools up to which the list itself is searched. Few sessions have more.
const MAX_LISTED: usize = 32;

impl Facts {
    /// Returns the first time in milliseconds since 1970; `None` if there is none, or if it is no time.
    pub fn start_millis(&self) -> Option<i64> {
        let mut scanner = Scanner::default();
        let start = scanner.scan_slice(self.start.as_deref()?.as_bytes(), 0).ok()?;
        millis(start.raw())
    }

    /// Returns whether a title is the one that wins so far.
    pub fn has_title(&self, title: &Title<'_>) -> bool {
        let wins = |(rank, text): &(TitleRank, Arc<str>)| {
            *rank == title.rank && **text == *title.text.as_str()
        };
        self.title.as_ref().is_some_and(wins)
    }

    /// Returns whether a text is the title that wins so far, of any rank.
    pub fn has_title_text(&self, text: Text<'_>) -> bool {
        self.title.as_ref().is_some_and(|(_, winner)| **winner == *text.as_str())
    }

    /// Creates the facts of a session with an id, a JSON string, if known.
    pub fn of_session(session_id: Option<String>) -> Self {
        Self { session_id, ..Self::default() }
    }

    /// Adds an event that will be shown, with the models and tools in it.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.observe_with(event, |_| {});
    }

    /// Adds an event, and passes its mentions of tools to `each`.
    fn observe_with<'l>(
        &mut self,
        event: &Event<'l>,
        mut each: impl FnMut(&Mention<'l>),
    ) -> EventFacts<'l> {
        let hasher = self.hasher().clone();
        let facts = EventFacts::read(event, &hasher, |mention| {
            self.add_mention(mention);
            each(mention);
        });
        self.add(&facts);
        facts
    }

    /// Adds the facts of an event, except its mentions of tools.
    fn add(&mut self, event: &EventFacts<'_>) {
        note(&mut self.session_id, event.session_id);
        if let (true, Some(cwd)) = (event.is_relocation, event.cwd) {
            self.cwd = Some(cwd.to_owned());
        }
        note(&mut self.cwd, event.cwd);
        note(&mut self.version, event.version);
        if let Some(time) = event.time {
            note(&mut self.start, Some(time));
            let end = self.end.get_or_insert_default();
            end.clear();
            end.push_str(time);
        }
        if event.is_prompt {
            self.interactions.open();
        }
        if let Some(mode) = event.permission_mode {
            self.interactions.set_permission_mode(mode);
        }
        self.n_messages += u64::from(event.is_message);
        if let Some(model) = event.model {
            self.interactions.note_model(model);
        }
        if let Some((rank, text)) = event.title {
            let wins = self.title.as_ref().is_none_or(|(known, _)| *known <= rank);
            if wins {
                self.title = Some((rank, text.into()));
            }
        }
        self.has_user_text |= event.has_user_text;
        self.has_outcome |= event.has_outcome;
        self.has_compaction |= event.has_compaction;
        self.has_start |= event.has_start;
    }

    fn add_mention(&mut self, mention: &Mention<'_>) {
        match mention {
            Mention::Call { id, name } => {
                self.calls.add_call(*id);
                self.note_tool(name);
            }
            Mention::Result { id } => self.calls.add_result(*id),
        }
    }

    fn note_tool(&mut self, name: &str) {
        let is_listed = self.tools.iter().take(MAX_LISTED).any(|known| known == name);
        if !is_listed && (self.tools.len() < MAX_LISTED || self.known_tools.insert(name)) {
            self.tools.push(name.to_owned());
        }
    }

    /// Returns whether a result for this tool use is anywhere in the session.
    pub fn is_answered(&self, tool_use_id: &str) -> bool {
        self.calls.is_answered(self.hash(tool_use_id))
    }

    /// Returns whether a result is anywhere in the session, given the hash of its tool use's id by
    /// [`Facts::hasher`].
    pub fn is_hash_answered(&self, hash: u64) -> bool {
        self.calls.is_answered(hash)
    }

    /// Returns the hash of the id of a tool use.
    pub fn hash(&self, tool_use_id: &str) -> u64 {
        self.hasher().hash(tool_use_id)
    }

    /// Returns the hasher of the ids of tool uses. A clone gives the same hashes.
    pub fn hasher(&self) -> &IdHasher {
        self.calls.hasher()
    }

    /// Returns whether this tool use is anywhere in the session.
    pub fn is_called(&self, tool_use_id: &str) -> bool {
        self.calls.is_called(self.hash(tool_use_id))
    }
}

/// Conversions that read their source once.
impl Facts {
    /// Returns facts that share the ids of calls and results with these: an id that is added to one
    /// is in both.
    #[must_use]
    pub fn share(&self) -> Self {
        Self { calls: self.calls.share(), ..self.clone() }
    }

    /// Sets whether more events follow. Then each id that was asked for and not found is a doubt,
    /// which is refuted if the id is added later.
    pub fn set_incomplete(&mut self, is_incomplete: bool) {
        self.calls.set_incomplete(is_incomplete);
    }

    /// Returns whether an id was added after [`Facts::is_answered`] or [`Facts::is_called`] denied
    /// it.
    pub fn is_refuted(&self) -> bool {
        self.calls.is_refuted()
    }

    /// Returns whether the first values of the session are the same: its id, the start, the folder,
    /// the version, and whether it has messages and prompts.
    pub fn has_head_of(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.has_messages(), it.has_prompt());
        self.session_id == other.session_id
            && self.start == other.start
            && self.cwd == other.cwd
            && self.version == other.version
            && of(self) == of(other)
    }

    /// Returns whether the session has messages.
    pub fn has_messages(&self) -> bool {
        self.n_messages > 0
    }

    /// Returns whether the session has a prompt, or another text of the user.
    pub fn has_prompt(&self) -> bool {
        !self.interactions.is_empty() || self.has_user_text
    }
}

fn note(slot: &mut Option<String>, value: Option<&str>) {
    if let (None, Some(value)) = (&slot, value) {
        *slot = Some(value.to_owned());
    }
}
