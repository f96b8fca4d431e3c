//! Writes events as lines of a transcript: one block a line, one chain of parents, increasing
//! times.
//!
//! ```text
//! in   an assistant's message with a text and a tool use
//! out  {"parentUuid":"1",..,"message":{"id":"msg_1",..,"content":[{"type":"text",..}]},"uuid":"2",..}
//!      {"parentUuid":"2",..,"message":{"id":"msg_1",..,"content":[{"type":"tool_use",..}]},"uuid":"3",..}
//! ```

mod assistant;
mod block;
mod calls;
mod clock;
mod early;
mod notice;
mod thread;
mod user;

use core_model::{
    Block, Body, Calls, Context, EarlyResults, Event, EventWriter, Facts, KnownTitle, LineId,
    LossKind, Output, Place, Role, Start, TitleRank, is_accepted_tool_id, iso_millis, millis,
    replacement_tool_name,
};
use jsonl::{Text, json_string};

pub(crate) use self::clock::TIMES;
pub use self::thread::session_uuid;
use self::{
    assistant::{Response, Thought, is_claude, is_known},
    calls::{Call, SharedEntry},
    thread::Thread,
};

/// The permission mode of a session that names none.
const DEFAULT_MODE: &str = "\"default\"";

/// Writer of events as lines of a transcript.
///
/// The state is what the next line depends on: the id of its parent, the last time, the current
/// response, and the tool uses without a result.
#[derive(Debug, Default)]
pub struct ClaudeCodeWriter {
    facts: Facts,
    thread: Thread,
    calls: Calls<Call>,
    shared_entry: SharedEntry,
    /// Results whose calls come later, with the ids of their lines, JSON strings.
    early: EarlyResults<(LineId, String)>,
    response: Option<Response>,
    thought: Option<Thought>,
    /// The model at the start of the session, or of the last response in the output.
    model: Option<String>,
    /// Whether a response in the output is by a model of Claude. A model that the client does not
    /// know as the last one makes it drop all thinking of the session (2.1.330), so such a model is
    /// left out then.
    is_of_claude: bool,
    permission_mode: Option<String>,
    /// Whether the output has a user's line.
    has_prompt: bool,
    /// Whether the last message is a prompt.
    is_asked: bool,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
    /// The last title in the output.
    written_title: KnownTitle,
    /// Whether a title was read that is not in the output yet.
    has_new_title: bool,
    /// Whether a title was read.
    has_read_title: bool,
    /// The rank of the last title in the output.
    written_rank: Option<TitleRank>,
    /// The folder of the last start.
    start_cwd: Option<String>,
    has_resumed: bool,
    /// Members of the last start, which only entries can hold.
    unshown: Vec<Unshown>,
    /// The id of the last entry before the last start.
    last_entry: String,
}

/// A member of a session's start.
#[derive(Clone, Debug)]
struct Unshown {
    /// Its name in the source.
    name: &'static str,
    /// Its value, as JSON.
    text: String,
    place: Place,
}

impl ClaudeCodeWriter {
    /// Creates a writer for a session.
    pub fn new(facts: Facts) -> Self {
        Self { thread: Thread::new(&facts), facts, ..Self::default() }
    }

    fn start(&mut self, event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
        if let Some(model) = start.model.filter(|model| is_known(*model)) {
            if self.is_of_claude && !is_claude(model) {
                self.model = None;
                out.lose(LossKind::Dropped, "model");
            } else {
                self.model = Some(json_string(&model.decode()));
                // Only responses have a model.
                out.lose(LossKind::Flattened, "model");
            }
        }
        if event.context.uuid.is_some() {
            out.lose(LossKind::Dropped, event.vocabulary.uuid);
        }
        let (context, names) = (&event.context, event.vocabulary);
        self.start_cwd =
            context.cwd.map(|cwd| json_string(&cwd.decode())).or(self.start_cwd.take());
        let has_entry = self.last_entry != self.thread.parent();
        self.last_entry = self.thread.parent().to_owned();
        let unshown = std::mem::take(&mut self.unshown);
        for (text, name) in [(context.cwd, names.cwd), (context.version, names.version)] {
            let old = unshown.iter().find(|old| old.name == name && !has_entry);
            let text = text.map(|text| json_string(&text.decode()));
            if let Some(old) = old.filter(|old| text.as_ref().is_some_and(|text| *text != old.text))
            {
                out.lose_at(LossKind::Dropped, name, old.place);
            }
            let place = out.place();
            let new = text.map(|text| Unshown { name, text, place });
            self.unshown.extend(new.or_else(|| old.cloned()));
        }
        if let Some(time) = event.context.time {
            self.thread.clock.start_session(time, names.time, out);
            let written = millis(time).map(iso_millis);
            match (written, time.as_text()) {
                (None, _) => {}
                (Some(written), Some(text)) if text.is(&written) => {}
                _ => out.lose(LossKind::Flattened, names.time),
            }
        }
        if start.tools.is_some() {
            out.lose(LossKind::Dropped, "tools");
        }
        if let Some(mode) = event.context.permission_mode {
            let mode = json_string(&mode.decode());
            // Entries without a permission mode have the default mode.
            let is_default =
                self.has_resumed && self.permission_mode.is_none() && mode == DEFAULT_MODE;
            if self.permission_mode.as_ref() != Some(&mode) && !is_default {
                self.thread.name_session(event, out);
                let line = out.open();
                out.put(line, "{\"type\":\"permission-mode\",\"permissionMode\":");
                out.put(line, &mode);
                out.put(line, ",\"sessionId\":");
                out.put(line, self.thread.session_id());
                out.put(line, "}");
                out.emit(line);
                self.permission_mode = Some(mode);
            }
        }
    }

    /// Stores the context of an event for the next lines.
    fn observe(&mut self, context: &Context<'_>) {
        self.thread.observe(context);
    }
}

impl EventWriter for ClaudeCodeWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.observe(&event.context);
        self.calls.start_record(event);
        let is_other = |id: Text<'_>| self.facts.session_id.as_deref() != Some(id.as_str());
        match event.context.session_id {
            Some(id) if is_other(id) => {
                out.lose(LossKind::Dropped, event.vocabulary.session_id);
            }
            Some(_) if self.thread.is_renamed => {
                out.lose(LossKind::Flattened, event.vocabulary.session_id);
            }
            _ => {}
        }
        match &event.body {
            Body::Start(start) => {
                self.flush_thought(out);
                self.start(event, start, out);
            }
            Body::Message(message) => {
                self.is_dirty = true;
                match message.role {
                    Role::User => self.user(event, message, out),
                    Role::Assistant => self.assistant(event, message, out),
                }
            }
            // An index entry repeats the tool use of the message.
            Body::ToolCall(call) if !self.facts.is_called(&call.id.decode()) => {
                return out.lose_record(event);
            }
            Body::Notice(notice) => {
                self.is_dirty = true;
                self.notice(event, notice, out);
            }
            Body::Outcome(outcome) => {
                self.is_dirty = true;
                self.outcome(event, outcome, out);
            }
            Body::Title(title) => {
                if event.context.time.is_some() {
                    out.lose(LossKind::Dropped, event.vocabulary.time);
                }
                self.has_new_title |= !self.written_title.is(title.text.as_str());
                self.has_read_title = true;
                if !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
            }
            Body::ToolCall(call) => {
                if !is_accepted_tool_id(&call.id.decode()) {
                    out.lose(LossKind::Flattened, "tool_use_id");
                }
                if replacement_tool_name(&call.name.decode()).is_some() {
                    out.lose(LossKind::Flattened, "tool_name");
                }
            }
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        if event.context.parent_tool_use.is_some() {
            out.lose(LossKind::Dropped, "parent_tool_use_id");
        }
        out.lose_members(event);
    }

    fn learn(&mut self, facts: &Facts) -> bool {
        let is_same = self.facts.has_head_of(facts)
            && (!self.has_read_title || self.facts.title == facts.title);
        self.facts.title.clone_from(&facts.title);
        is_same
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.flush_thought(out);
        self.flush_early(out);
        self.calls.start_record(event);
        self.is_dirty = false;
        self.has_resumed = true;
        if let Body::Title(title) = &event.body {
            self.written_title.set(title.text.as_str());
            self.written_rank = self.written_rank.max(Some(title.rank));
        }
        if let Some(mode) = event.context.permission_mode {
            self.permission_mode = Some(json_string(&mode.decode()));
        }
        if event.is_sub_agent() && self.facts.agent.is_none() {
            return;
        }
        self.thread.resume(&event.context);
        let Some(message) = event.message() else { return };
        let is_assistant = message.role == Role::Assistant;
        if is_assistant {
            self.response = Response::resume(message);
            let model = message.model.filter(|model| is_known(*model) && !message.is_by_client());
            if let Some(model) = model {
                self.is_of_claude |= is_claude(model);
                self.model = Some(json_string(&model.decode()));
            }
            self.is_asked = false;
        }
        self.has_prompt |= !is_assistant;
        for (block, _) in message.blocks() {
            match block {
                Block::ToolUse(tool) if is_assistant && !tool.is_server => {
                    let entry = self.shared_entry.share(self.thread.parent());
                    let (id, at) = (tool.id.decode().into(), self.thread.clock.last());
                    let call = Call { id, written: None, entry, at };
                    self.calls.resume(event, tool.id, call, &self.facts);
                }
                Block::ToolResult(result) => {
                    self.calls.answer(event, result.tool_use_id, &self.facts);
                    if let Some(response) = &mut self.response {
                        response.is_interrupted = true;
                    }
                }
                _ if !is_assistant => {
                    self.response = None;
                    self.is_asked = true;
                }
                _ => {}
            }
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush_thought(out);
        self.flush_early(out);
        let is_wanted = self.is_dirty || self.has_new_title;
        if let (true, Some((rank, title))) = (is_wanted, &self.facts.title) {
            match self.thread.session_id() {
                // A title needs a session, and a session begins with an entry.
                "" => out.lose(LossKind::Dropped, "title"),
                // A title of a lower rank than the last one would not be shown.
                id => thread::put_title(
                    out,
                    (*rank).max(self.written_rank.unwrap_or(*rank)),
                    title,
                    id,
                ),
            }
        }
        if self.has_resumed {
            self.thread.relocate(out, self.start_cwd.take());
        }
        self.thread.clock.count_start(None, out);
        if !self.thread.has_entry() {
            for Unshown { name, place, .. } in self.unshown.drain(..) {
                out.lose_at(LossKind::Dropped, name, place);
            }
        }
        (self.is_dirty, self.has_new_title) = (false, false);
    }
}
