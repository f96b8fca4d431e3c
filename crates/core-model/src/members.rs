//! Members of a record that its event does not hold, found by name so that reports can name them.
//!
//! An [`Event`] holds the members that all formats share. Each format has further members, such as
//! `slug` and `effort`, that no other format has a place for. A reader hashes their names while it
//! reads the record. A writer passes the event to
//! [`Output::lose_members`](crate::Output::lose_members), which lists the names once for each hash:
//!
//! ```text
//! {"type":"user","uuid":"u","slug":"a-b","effort":"high","todos":[]}  ->  slug, effort
//! ```

use jsonl::{Kind, Raw, Text, Value};

use crate::{Event, Message};

/// A hash of the names of members in order; zero without members.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Shape(u64);

impl Shape {
    /// Adds a member. An empty one (`null`, `[]`, `{}`) is left out, because it cannot be lost.
    #[inline]
    pub fn add(&mut self, key: &[u8], value: &Value<'_>) {
        if !is_void(value) {
            self.add_name(key);
        }
    }

    /// Adds a name.
    #[inline]
    pub fn add_name(&mut self, name: &[u8]) {
        let ends = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (Some(first), Some(last)) => {
                u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(23)
            }
            _ => name.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        let mixed = self.0.rotate_left(5) ^ ends ^ (name.len() as u64) << 57;
        self.0 = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    /// Adds the names of this shape to another.
    #[inline]
    pub fn join(self, other: &mut Shape) {
        other.add_name(&self.0.to_le_bytes());
    }

    /// Returns whether no name was added.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn hash(self) -> u64 {
        self.0
    }
}

/// Returns whether a value is empty: `null`, `[]`, or `{}`.
#[inline]
pub fn is_void(value: &Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => true,
        Kind::Array | Kind::Object => value.raw().as_str().len() <= 2,
        Kind::True | Kind::False | Kind::Number | Kind::String => false,
    }
}

/// The format's names for the members that its events hold, and functions that find the other
/// members.
#[derive(Debug)]
pub struct Vocabulary {
    /// The session.
    pub session_id: &'static str,
    /// The time.
    pub time: &'static str,
    /// The working directory.
    pub cwd: &'static str,
    /// The client's version.
    pub version: &'static str,
    /// The git branch.
    pub git_branch: &'static str,
    /// The id of a record.
    pub uuid: &'static str,
    /// The id of the record before it.
    pub parent: &'static str,
    /// The API's id of a response.
    pub message_id: &'static str,
    /// The API's id of a request.
    pub request_id: &'static str,
    /// The client's data about a tool's result, outside the block.
    pub tool_use_result: &'static str,
    /// Whether the client wrote a message on its own.
    pub is_meta: &'static str,
    /// Whether a message reports a failed request.
    pub is_api_error: &'static str,
    /// Whether blocks are written as in the API, so that writers may copy them.
    pub has_api_blocks: bool,
    /// Whether a response is a record for each block, which may have no id in common.
    pub has_block_records: bool,
    /// Whether ids that are derived from a record depend on its offset, its length and its ends, and
    /// not on all its bytes. Version 0.1.0 used all bytes, so its formats still do.
    pub ids_from_ends: bool,
    /// Whether a record may repeat messages of records before it, with their calls and results.
    pub repeats_messages: bool,
    /// The status of an ended run.
    pub status: &'static str,
    /// Returns a hash of the names that [`Vocabulary::list`] lists, or of a superset.
    pub shape: for<'l> fn(&Event<'l>) -> Shape,
    /// Calls a function with the name of each member that the event of a record does not hold.
    pub list: for<'l> fn(&Event<'l>, &mut dyn FnMut(&str)),
    /// Returns the words that name a kind of record, such as `progress` and `hook_progress`.
    pub record: for<'l> fn(&Event<'l>) -> [Option<Text<'l>>; 2],
    /// Returns the address of the pull request that a record links; `None` for other records.
    pub pull_request: for<'l> fn(&Event<'l>) -> Option<Raw<'l>>,
    /// Returns the name of the plan that a record belongs to; `None` for other records.
    pub slug: for<'l> fn(&Event<'l>) -> Option<Text<'l>>,
}

impl Vocabulary {
    /// The names of a format with the names of the API and no other members.
    pub const PLAIN: Vocabulary = Vocabulary {
        session_id: "session_id",
        time: "timestamp",
        cwd: "cwd",
        version: "version",
        git_branch: "gitBranch",
        uuid: "uuid",
        parent: "parentUuid",
        message_id: "message.id",
        request_id: "request_id",
        tool_use_result: "tool_use_result",
        is_meta: "isMeta",
        is_api_error: "error",
        has_api_blocks: true,
        has_block_records: false,
        ids_from_ends: false,
        repeats_messages: false,
        status: "subtype",
        shape: |_| Shape(0),
        list: |_, _| {},
        record: |event| [event.kind, event.value.get("subtype").and_then(|it| it.text())],
        pull_request: |_| None,
        slug: |_| None,
    };
}

/// Limit in bytes for a name in a report. Names come from untrusted files.
const MAX_NAME: usize = 80;

/// Returns the name of a kind of record: `file-history-snapshot`, `system/init`.
pub(crate) fn record_name(words: [Option<Text<'_>>; 2]) -> String {
    let mut name = String::new();
    for word in words.into_iter().flatten() {
        let word = word.decode();
        if !word.is_empty() {
            name.push_str(if name.is_empty() { "" } else { "/" });
            name.push_str(&word);
        }
    }
    if name.is_empty() { "record".to_owned() } else { shortened(&name).to_owned() }
}

/// Returns the part of a name that fits in a report.
pub(crate) fn shortened(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME)).unwrap_or_default()
}

/// Adds the names of the members of a message's blocks that not all formats have.
///
/// Most messages have one block without other members. The number of its members is enough to see
/// that.
#[inline]
pub(crate) fn add_blocks(shape: &mut Shape, message: &Message<'_>) {
    let Some(array) = message.content.array() else { return };
    for item in array.items() {
        let expected = match &message.only_block {
            Some((block, _)) => n_expected(block),
            None => 0,
        };
        if item.n_members() != expected {
            item.read_members(|key, value| {
                shape.add(key, &value);
                true
            });
        }
    }
}

/// Returns the number of members of a block that all formats have; `usize::MAX` if it varies.
fn n_expected(block: &crate::Block<'_>) -> usize {
    use crate::{Block, Field};
    match block {
        Block::Text(_) => 2,
        Block::Thinking { signature, .. } => 2 + usize::from(signature.is_some()),
        Block::ToolUse(_) => 4,
        Block::ToolResult(result) => 3 + usize::from(result.is_error != Field::Absent),
        _ => usize::MAX,
    }
}

/// Calls `found` with the names of the members of blocks that not all formats have:
/// `tool_use.caller`.
pub(crate) fn list_blocks(message: &Message<'_>, found: &mut dyn FnMut(&str)) {
    let Some(array) = message.content.array() else { return };
    for item in array.items() {
        let kind = item.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let has = |name| item.get(name).is_some();
        let (kind, known): (&str, &[&str]) = match kind.as_deref() {
            Some("text") => ("text", &["text"]),
            Some("thinking") => ("thinking", THINKING),
            Some(kind @ ("tool_use" | "server_tool_use")) => (kind, &["id", "name", "input"]),
            Some(kind @ "toolCall") => (kind, &["id", "name", "arguments"]),
            Some("tool_result") => ("tool_result", RESULT),
            None if has("thinking") => ("thinking", THINKING),
            None if has("tool_use_id") => ("tool_result", RESULT),
            None if has("input") => ("tool_use", &["id", "name", "input"]),
            // Google's thoughts are texts with a mark.
            None if has("thought") => ("thinking", THOUGHT),
            None if has("text") => ("text", &["text"]),
            // A block of any other kind is shown or lost as a whole.
            _ => continue,
        };
        if kind == "thinking" && has("redacted") {
            // The words in place of encrypted thinking are pi's own.
            found("thinking.thinking");
        }
        for (key, value) in item.members() {
            let key = key.decode();
            if key != "type" && !known.contains(&&*key) && !is_void(&value) {
                found(&format!("{kind}.{key}"));
            }
        }
    }
}

/// The members of thinking that events hold, in the API and in pi.
const THINKING: &[&str] = &["thinking", "signature", "thinkingSignature"];

/// The members of a thought that events hold, in Google's API.
const THOUGHT: &[&str] = &["text", "thought", "thoughtSignature"];

/// The members of a tool result that events hold.
const RESULT: &[&str] =
    &["tool_use_id", "content", "is_error", "duration_ms", "path", "content_hash", "mtime_nanos"];

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    fn shape(names: &[&str]) -> Shape {
        let mut shape = Shape::default();
        names.iter().for_each(|name| shape.add_name(name.as_bytes()));
        shape
    }

    #[test]
    fn names_differ_by_every_byte_that_real_names_differ_by() {
        let names = [
            "",
            "a",
            "b",
            "ab",
            "ba",
            "slug",
            "todos",
            "effort",
            "userType",
            "promptId",
            "isMeta",
            "sourceToolAssistantUUID",
            "sourceToolUseID",
            "user_message_uuid",
            "user_message_uuids",
            "entrypoint",
            "planContent",
            "isApiErrorMessage",
        ];
        let shapes: std::collections::HashSet<_> = names.iter().map(|it| shape(&[it])).collect();
        assert_eq!(shapes.len(), names.len());
        assert_ne!(shape(&["a", "b"]), shape(&["b", "a"]));
        assert_ne!(shape(&["slug"]), shape(&["slug", "slug"]));
        assert!(shape(&[]).is_empty() && !shape(&[""]).is_empty());
    }

    #[test]
    fn members_that_say_nothing_have_no_shape() {
        let mut scanner = Scanner::default();
        let line = br#"{"a":null,"b":[],"c":{},"d":[null],"e":"","f":0,"g":false}"#;
        let value = scanner.scan_slice(line, 0).expect("valid");
        let voids: Vec<_> = value.members().map(|(_, value)| is_void(&value)).collect();
        assert_eq!(voids, [true, true, true, false, false, false, false]);
    }

    #[test]
    fn names_of_records_are_short_and_never_empty() {
        assert_eq!(record_name([None, None]), "record");
        assert_eq!(record_name([Text::new("\"system\""), Text::new("\"init\"")]), "system/init");
        assert_eq!(record_name([Text::new("\"\""), Text::new("\"x\"")]), "x");
        let long = format!("\"{}\"", "é".repeat(100));
        assert_eq!(record_name([Text::new(&long), None]).len(), MAX_NAME);
    }
}
