//! Facts about a whole session that a writer needs before the first line, collected in a first
//! pass.
//!
//! In: the events of a session. Out: the first model, the tools in use, the title, and whether a
//! tool use has a result anywhere.

mod calls;

use jsonl::json_string;

use self::calls::SharedCalls;
use crate::{
    Block, BlockCounts, Body, Event, IdHasher, IdSet, Interactions, Message, NoticeKind, Role,
    TitleRank,
};

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
    /// The winning title and its rank.
    pub title: Option<(TitleRank, String)>,
    /// Whether the source has start events of sessions or interactions.
    pub has_start: bool,
    /// Whether an outcome is in the source.
    pub has_outcome: bool,
    /// Whether a compaction is in the source.
    pub has_compaction: bool,
    /// Whether messages and a prompt will come, as far as is known.
    expects_messages: bool,
    calls: SharedCalls,
    /// The names of the tools, if they are more than [`MAX_LISTED`].
    known_tools: IdSet,
}

/// Number of tools up to which the list itself is searched. Few sessions have more.
const MAX_LISTED: usize = 32;

impl Facts {
    /// Creates the facts of a session with an id, a JSON string, if known.
    pub fn of_session(session_id: Option<String>) -> Self {
        Self { session_id, ..Self::default() }
    }

    /// Adds an event that will be shown, with the models and tools in it.
    pub fn observe(&mut self, event: &Event<'_>) {
        let context = &event.context;
        note(&mut self.session_id, context.session_id.map(|text| text.as_str()));
        if let (Body::Relocation, Some(cwd)) = (&event.body, context.cwd) {
            self.cwd = Some(cwd.as_str().to_owned());
        }
        note(&mut self.cwd, context.cwd.map(|text| text.as_str()));
        note(&mut self.version, context.version.map(|text| text.as_str()));
        if let Some(time) = context.time {
            note(&mut self.start, Some(time.as_str()));
            let end = self.end.get_or_insert_default();
            end.clear();
            end.push_str(time.as_str());
        }
        let block_counts = event.message().map(|message| self.observe_blocks(message));
        if event.is_prompt_of(block_counts.unwrap_or_default()) {
            self.interactions.open();
        }
        if let Some(mode) = context.permission_mode {
            self.interactions.set_permission_mode(mode.as_str());
        }
        match &event.body {
            Body::Message(message) => {
                self.n_messages += 1;
                if let (Role::Assistant, Some(model)) = (message.role, message.model) {
                    self.interactions.note_model(model.as_str());
                }
            }
            Body::Title(title) => {
                let wins = self.title.as_ref().is_none_or(|(rank, _)| *rank <= title.rank);
                if wins {
                    self.title = Some((title.rank, title.text.as_str().to_owned()));
                }
            }
            Body::Outcome(_) => self.has_outcome = true,
            Body::Notice(notice) => self.has_compaction |= notice.kind == NoticeKind::Compaction,
            Body::Start(_) => self.has_start = true,
            Body::ToolCall(_) | Body::Relocation | Body::Usage(_) | Body::Other => {}
        }
    }

    fn observe_blocks(&mut self, message: &Message<'_>) -> BlockCounts {
        let mut block_counts = BlockCounts::default();
        message.each_block(|block| {
            block_counts.add(block);
            self.observe_block(block);
        });
        self.has_user_text |= message.role == Role::User && block_counts.n_said() > 0;
        block_counts
    }

    fn observe_block(&mut self, block: &Block<'_>) {
        match block {
            Block::ToolUse(tool) => {
                self.calls.add_call(tool.id);
                match tool.name.as_text() {
                    Some(name) => self.note_tool(name.as_str()),
                    None => self.note_tool(&json_string(&tool.name.decode())),
                }
            }
            Block::ToolResult(result) => {
                self.calls.add_result(result.tool_use_id);
            }
            _ => {}
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
        self.expects_messages || self.n_messages > 0
    }

    /// Returns whether the session has a prompt, or another text of the user.
    pub fn has_prompt(&self) -> bool {
        self.expects_messages || !self.interactions.is_empty() || self.has_user_text
    }

    /// Sets whether messages and a prompt will come, in facts of the first events.
    pub fn expect_messages(&mut self, is_expected: bool) {
        self.expects_messages = is_expected;
    }
}

fn note(slot: &mut Option<String>, value: Option<&str>) {
    if let (None, Some(value)) = (&slot, value) {
        *slot = Some(value.to_owned());
    }
}
