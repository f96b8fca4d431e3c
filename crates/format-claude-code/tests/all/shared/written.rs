//! Checks rules for written transcripts that are stricter than `validate`: one block a line, a
//! linear chain, all members of the envelope. The clients' own files break some of them.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use core_model::{Block, Event, Field, Message, Role, iso_millis, millis};
use jsonl::{Raw, Scanner, Value};

use format_claude_code::read;

/// Bytes at the start of a file in which the client's list searches for the first prompt.
const HEAD: u64 = 64 * 1024;

/// A rule that a line breaks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Problem {
    /// The offset of the line, in bytes.
    pub(crate) offset: u64,
    /// The rule.
    pub(crate) kind: ProblemKind,
}

/// The fault of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub(crate) enum ProblemKind {
    /// The line is not one JSON object.
    NotAnObject,
    /// A member of the envelope is missing or of another kind.
    Missing(&'static str),
    /// Another line has the same `uuid`.
    DuplicateUuid,
    /// The parent is not the line before.
    BrokenChain,
    /// The time is not `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    TimestampForm,
    /// The time is not later than that of the line before.
    TimestampOrder,
    /// An assistant's line has no block or several.
    NotOneBlock,
    /// A text block is empty.
    EmptyText,
    /// Thinking without a signature is in the message.
    UnsignedThinking,
    /// A tool use has an id that the API refuses.
    ToolUseId,
    /// A tool use has a name that the API refuses.
    ToolName,
    /// A tool's input is not an object.
    ToolInput,
    /// Two tool uses have one id.
    DuplicateToolUse,
    /// A response follows before the tool use is answered.
    UnansweredToolUse,
    /// A tool result answers no tool use, or one that is answered.
    OrphanToolResult,
    /// A block has a member that is not the API's.
    ForeignMember,
    /// The first message is not a user's.
    NoPromptFirst,
    /// The first prompt starts beyond the head of the file that the client's list reads.
    LatePrompt,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {:?}", self.offset, self.kind)
    }
}

/// Returns the rules that a transcript breaks, in the order of its lines.
pub(crate) fn validate(bytes: &[u8]) -> Vec<Problem> {
    let mut check = Check::default();
    let mut scanner = Scanner::default();
    for line in jsonl::lines(bytes) {
        check.offset = line.offset();
        match scanner.scan(&line) {
            Ok(value) if value.is_object() => check.line(value),
            _ => check.report(ProblemKind::NotAnObject),
        }
    }
    check.problems
}

#[derive(Default)]
struct Check {
    problems: Vec<Problem>,
    offset: u64,
    uuids: HashSet<String>,
    parent: Option<String>,
    time: i64,
    calls: HashMap<String, Call>,
    /// The tool uses of this response that are not answered.
    n_open: u64,
    response: Option<String>,
    has_message: bool,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Call {
    Open,
    Closed,
}

impl Check {
    fn report(&mut self, kind: ProblemKind) {
        self.problems.push(Problem { offset: self.offset, kind });
    }

    fn require(&mut self, holds: bool, kind: ProblemKind) {
        if !holds {
            self.report(kind);
        }
    }

    fn line(&mut self, value: Value<'_>) {
        let event = read(value);
        let kind = value.get("type").and_then(|kind| kind.text());
        let is_chained = kind.is_some_and(|kind| {
            matches!(&*kind.decode(), "user" | "assistant" | "system" | "attachment")
        });
        if !is_chained {
            return;
        }
        self.envelope(&event);
        let is_said = kind.is_some_and(|kind| !kind.is("system"));
        if let Some(message) = event.message().filter(|_| is_said) {
            self.message(&event, message);
        }
    }

    fn envelope(&mut self, event: &Event<'_>) {
        let context = &event.context;
        let members = [
            ("uuid", context.uuid.is_some()),
            ("parentUuid", !matches!(context.parent, Field::Absent)),
            ("sessionId", context.session_id.is_some()),
            ("timestamp", context.time.is_some()),
            ("cwd", context.cwd.is_some()),
            ("version", context.version.is_some()),
        ];
        for (name, is_there) in members {
            self.require(is_there, ProblemKind::Missing(name));
        }
        let parent = context.parent.value().map(|parent| parent.decode().into_owned());
        self.require(parent == self.parent, ProblemKind::BrokenChain);
        if let Some(uuid) = context.uuid.map(|uuid| uuid.decode().into_owned()) {
            self.parent = Some(uuid.clone());
            let is_new = self.uuids.insert(uuid);
            self.require(is_new, ProblemKind::DuplicateUuid);
        }
        if let Some(time) = context.time {
            self.time(time);
        }
    }

    fn time(&mut self, time: Raw<'_>) {
        let at = millis(time).unwrap_or(i64::MIN);
        let is_iso = time.as_text().is_some_and(|text| text.is(&iso_millis(at)));
        self.require(is_iso, ProblemKind::TimestampForm);
        self.require(at > self.time || self.time == 0, ProblemKind::TimestampOrder);
        self.time = at;
    }

    fn message(&mut self, event: &Event<'_>, message: &Message<'_>) {
        let content = event.value.get("message").and_then(|message| message.get("content"));
        let has_content = content.is_some_and(|content| !content.is_null());
        self.require(has_content, ProblemKind::Missing("message.content"));
        let is_user = message.role == Role::User;
        if !std::mem::replace(&mut self.has_message, true) {
            self.require(is_user, ProblemKind::NoPromptFirst);
            self.require(self.offset < HEAD, ProblemKind::LatePrompt);
        }
        if !is_user {
            self.response(message);
            let n_blocks = content.into_iter().flat_map(|content| content.items()).count();
            self.require(n_blocks == 1, ProblemKind::NotOneBlock);
        }
        for block in content.into_iter().flat_map(|content| content.items()) {
            self.members(block);
        }
        // Thinking beside the message precedes its blocks.
        let beside = event.value.get("unsignedThinking").map_or(0, |beside| beside.items().count());
        for (block, _) in message.blocks().skip(beside) {
            self.block(block, message);
        }
    }

    fn block(&mut self, block: Block<'_>, message: &Message<'_>) {
        let is_user = message.role == Role::User;
        match block {
            Block::Text(text) => {
                let is_blank = text.decode().trim().is_empty();
                self.require(!is_blank || is_user && !text.is_empty(), ProblemKind::EmptyText);
            }
            Block::Thinking { signature, .. } => {
                let is_signed = signature.is_some_and(|signature| !signature.is_empty());
                self.require(is_signed, ProblemKind::UnsignedThinking);
            }
            Block::ToolUse(tool) => {
                let name = tool.name.decode();
                let id = tool.id.decode();
                self.require(is_word(&id), ProblemKind::ToolUseId);
                self.require(is_word(&name) && name.len() <= 128, ProblemKind::ToolName);
                self.require(
                    tool.input.json().raw().as_str().starts_with('{'),
                    ProblemKind::ToolInput,
                );
                let state = if tool.is_server { Call::Closed } else { Call::Open };
                self.n_open += u64::from(!tool.is_server);
                let earlier = self.calls.insert(id.into_owned(), state);
                self.require(earlier.is_none(), ProblemKind::DuplicateToolUse);
            }
            Block::ToolResult(result) => {
                let id = result.tool_use_id.decode().into_owned();
                let call = self.calls.insert(id, Call::Closed);
                self.n_open = self.n_open.saturating_sub(1);
                self.require(call == Some(Call::Open), ProblemKind::OrphanToolResult);
            }
            _ => {}
        }
    }

    /// Checks at the start of a response that the tool uses of the last one are answered.
    fn response(&mut self, message: &Message<'_>) {
        let id = message.id.map(|id| id.decode().into_owned());
        if id.is_some() && self.response == id {
            return;
        }
        self.response = id;
        if std::mem::take(&mut self.n_open) > 0 {
            self.report(ProblemKind::UnansweredToolUse);
        }
    }

    fn members(&mut self, block: Value<'_>) {
        let kind = block.get("type").and_then(|kind| kind.text());
        let own: &[&str] = match kind.as_ref().map(|kind| kind.decode()).as_deref() {
            Some("text") => &["type", "text", "citations"],
            Some("thinking") => &["type", "thinking", "signature"],
            Some("tool_use" | "server_tool_use") => &["type", "id", "name", "input", "caller"],
            Some("tool_result") => &["type", "tool_use_id", "content", "is_error"],
            Some("image" | "document") => &["type", "source", "title", "context", "citations"],
            _ => return,
        };
        let is_own = block.members().all(|(key, _)| {
            let key = key.decode();
            own.contains(&&*key) || key == "cache_control"
        });
        self.require(is_own, ProblemKind::ForeignMember);
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
