//! Copies a session under new ids, as the SDK for Python 0.2.187 does.
//!
//! ```text
//! in   {"type":"user","uuid":"1","parentUuid":null,"sessionId":"s",..}
//! out  {"type":"user","uuid":"<new>","parentUuid":null,"sessionId":"<new>","forkedFrom":{"sessionId":"s","messageUuid":"1"},..}
//! ```

use std::collections::HashMap;

use core_model::{iso_millis, uuid_of_name};
use jsonl::Value;

use super::Object;
use crate::{SessionInfo, Transcript};

/// Parameters of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Fork<'f> {
    /// The id of the session to copy.
    pub source_id: &'f str,
    /// The id of the copy: a UUID, which is also the name of its file.
    pub session_id: &'f str,
    /// The id of the last message to copy; `None` for all messages.
    pub up_to: Option<&'f str>,
    /// The title of the copy; `None` for the title of the source and ` (fork)`.
    pub title: Option<&'f str>,
    /// The time of the copy in milliseconds since 1970, which its last message gets.
    pub now: i64,
}

/// The reason why a session is not copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The session has no message.
    #[error("no messages to copy")]
    Empty,
    /// No message that is copied has the id `up_to`. Messages of sub-agents are not copied.
    #[error("no message has the id of the last message to copy")]
    UnknownMessage,
}

/// Members that refer to the run of the source and are not copied.
const LEFT_OUT: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// A line to copy.
struct Line {
    uuid: String,
    parent: Option<String>,
    is_progress: bool,
    idx: usize,
}

/// Copies the lines of all branches of a session with new ids and the same links. Sub-agents,
/// progress and file history are left out.
///
/// Content is copied as written. A new id is made from the old id and the id of the copy, so two
/// copies with the same [`Fork::session_id`] have the same ids.
///
/// # Errors
///
/// Returns an error if the session has no message, or no message that is copied has the
/// id `up_to`.
///
/// ```
/// use format_claude_code::{Fork, Transcript, fork};
///
/// let source = br#"{"type":"user","uuid":"a","parentUuid":null,"slug":"x","message":{"content":"hi"}}"#;
/// let ids = Fork { source_id: "s", session_id: "t", up_to: None, title: None, now: 0 };
/// let copy = fork(&Transcript::from_slice(source), &ids)?;
/// let copy = Transcript::from_slice(copy.as_bytes());
/// assert_eq!(copy.first_prompt().as_deref(), Some("hi"));
/// assert_eq!(copy.title().expect("a title").text, "hi (fork)");
/// assert!(copy.slugs().is_empty());
/// # Ok::<(), format_claude_code::ForkError>(())
/// ```
pub fn fork(source: &Transcript<'_>, fork: &Fork<'_>) -> Result<String, ForkError> {
    let lines = lines(source, fork.up_to)?;
    let by_uuid: HashMap<&str, &Line> =
        lines.iter().map(|line| (line.uuid.as_str(), line)).collect();
    let last = lines.iter().rfind(|line| !line.is_progress).ok_or(ForkError::Empty)?.idx;
    let now = iso_millis(fork.now);
    let new_id = |old: &str| uuid_of_name("fork", &format!("{}\0{old}", fork.session_id));
    let mut parents = Parents { by_uuid: &by_uuid, known: HashMap::new() };
    let mut scanner = jsonl::Scanner::default();
    let mut copy = String::new();
    for line in lines.iter().filter(|line| !line.is_progress) {
        let Some(entry) = source.entry(line.idx, &mut scanner) else { continue };
        let mut object = Object::default();
        for (name, value) in entry.value.members() {
            object.raw(&name.decode(), value.raw().as_str());
        }
        object.text("uuid", &new_id(&line.uuid));
        object.maybe("parentUuid", parents.of(line).map(new_id).as_deref());
        let logical = entry.value.get("logicalParentUuid").and_then(|id| id.text());
        let logical = logical.map(|id| id.decode()).filter(|id| by_uuid.contains_key(&**id));
        object.maybe("logicalParentUuid", logical.map(|id| new_id(&id)).as_deref());
        object.text("sessionId", fork.session_id);
        if line.idx == last || entry.value.get("timestamp").is_none() {
            object.text("timestamp", &now);
        }
        object.raw("isSidechain", "false");
        let mut origin = Object::default();
        origin.text("sessionId", fork.source_id);
        origin.text("messageUuid", &line.uuid);
        object.raw("forkedFrom", origin.finish());
        for name in LEFT_OUT {
            object.remove(name);
        }
        copy.push_str(&object.finish());
        copy.push('\n');
    }
    if let Some(replacements) = replacements(source, fork.source_id) {
        let mut line = Object::default();
        line.text("type", "content-replacement");
        line.text("sessionId", fork.session_id);
        line.raw("replacements", replacements);
        line.text("uuid", &new_id("content-replacement"));
        line.text("timestamp", &now);
        copy.push_str(&line.finish());
        copy.push('\n');
    }
    let mut line = Object::default();
    line.text("type", "custom-title");
    line.text("sessionId", fork.session_id);
    line.text("customTitle", &title(source, fork));
    line.text("uuid", &new_id("custom-title"));
    line.text("timestamp", &now);
    copy.push_str(&line.finish());
    copy.push('\n');
    Ok(copy)
}

/// Returns the lines to copy, and lines of progress, because other lines may follow them.
fn lines(source: &Transcript<'_>, up_to: Option<&str>) -> Result<Vec<Line>, ForkError> {
    let mut lines = Vec::new();
    source.for_each(|entry| {
        let kind = entry.kind();
        let is_chained =
            matches!(&*kind, "user" | "assistant" | "attachment" | "system" | "progress");
        let Some(uuid) = entry.event.context.uuid.filter(|_| is_chained) else { return };
        if entry.event.context.is_sidechain {
            return;
        }
        let parent = entry.event.context.parent.value();
        lines.push(Line {
            uuid: uuid.decode().into_owned(),
            parent: parent.map(|parent| parent.decode().into_owned()),
            is_progress: kind == "progress",
            idx: entry.idx,
        });
    });
    if let Some(up_to) = up_to {
        let last = lines.iter().position(|line| line.uuid == up_to);
        lines.truncate(last.ok_or(ForkError::UnknownMessage)?.saturating_add(1));
    }
    Ok(lines)
}

/// Search for parents that skips lines of progress.
struct Parents<'s> {
    by_uuid: &'s HashMap<&'s str, &'s Line>,
    /// The nearest copied ancestor of each line of progress, so that each is visited once.
    known: HashMap<&'s str, Option<&'s str>>,
}

impl<'s> Parents<'s> {
    /// Returns the id of the nearest ancestor that is copied.
    fn of(&mut self, line: &'s Line) -> Option<&'s str> {
        let mut passed = Vec::new();
        let mut at = line.parent.as_deref();
        let found = loop {
            let Some((&id, parent)) = at.and_then(|id| self.by_uuid.get_key_value(id)) else {
                break None;
            };
            if !parent.is_progress {
                break Some(id);
            }
            if let Some(&known) = self.known.get(id) {
                break known;
            }
            // If progress is a circle, the second visit finds this entry and stops.
            self.known.insert(id, None);
            passed.push(id);
            at = parent.parent.as_deref();
        };
        self.known.extend(passed.into_iter().map(|id| (id, found)));
        found
    }
}

/// Returns the replacements of all `content-replacement` lines of a session as a JSON array; `None`
/// if there are none.
fn replacements(source: &Transcript<'_>, source_id: &str) -> Option<String> {
    let mut items: Vec<String> = Vec::new();
    source.for_each(|entry| {
        let is_own = entry.kind() == "content-replacement"
            && entry.event.context.session_id.is_some_and(|id| id.is(source_id));
        let found = entry.value.get("replacements").filter(|_| is_own).filter(Value::is_array);
        let found = found.into_iter().flat_map(|array| array.items());
        items.extend(found.map(|item| item.raw().as_str().to_owned()));
    });
    (!items.is_empty()).then(|| format!("[{}]", items.join(",")))
}

fn title(source: &Transcript<'_>, fork: &Fork<'_>) -> String {
    if let Some(title) = fork.title.map(str::trim).filter(|title| !title.is_empty()) {
        return title.to_owned();
    }
    const WINDOW: usize = 64 * 1024;
    let bytes = source.bytes();
    let head = bytes.chunks(WINDOW).next().unwrap_or_default();
    let tail = bytes.rchunks(WINDOW).next().unwrap_or_default();
    let info = SessionInfo::of_ends(fork.source_id, head, tail, bytes.len() as u64);
    let title = info.custom_title.or(info.first_prompt);
    format!("{} (fork)", title.as_deref().unwrap_or("Forked session"))
}
