//! A copy of a session under new ids, as the SDK for Python 0.2.187 makes it.

use std::collections::HashMap;

use core_model::{iso_millis, uuid_of_name};
use jsonl::Value;

use super::Object;
use crate::{SessionInfo, Transcript};

/// What a copy of a session is to be.
#[derive(Clone, Copy, Debug)]
pub struct Fork<'f> {
    /// The id of the session that is copied.
    pub source_id: &'f str,
    /// The id of the copy: a UUID, and the name of its file.
    pub session_id: &'f str,
    /// The id of the last message to copy; all, if there is none.
    pub up_to: Option<&'f str>,
    /// The title of the copy; the source's with ` (fork)` behind it, if there is none.
    pub title: Option<&'f str>,
    /// The time of the copy in milliseconds since 1970: its last message gets it.
    pub now: i64,
}

/// Why a session is not copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// There is nothing to copy.
    #[error("no messages to copy")]
    Empty,
    /// The last message to copy is not there.
    #[error("no message has the id up to which to copy")]
    UnknownMessage,
}

/// The members that would tie the copy to its source's run.
const LEFT_OUT: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// A line to copy.
struct Line {
    uuid: String,
    parent: Option<String>,
    is_progress: bool,
    idx: usize,
}

/// Copies a session: the lines of its conversations and of their branches, without sub-agents,
/// progress and the history of files, each with a new id, linked as they were.
///
/// What lines say is copied as written. The new ids follow from the old ones and that of the copy.
///
/// # Errors
///
/// If there is nothing to copy, or `up_to` is not there.
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

/// Returns the lines to copy, those of progress too, which others may follow.
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

/// Finds the lines that others follow, progress passed over.
struct Parents<'s> {
    by_uuid: &'s HashMap<&'s str, &'s Line>,
    /// What progress leads to, so that each line of it is passed once.
    known: HashMap<&'s str, Option<&'s str>>,
}

impl<'s> Parents<'s> {
    /// Returns the id of the line that a line follows.
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
            // Progress that follows itself leads nowhere.
            self.known.insert(id, None);
            passed.push(id);
            at = parent.parent.as_deref();
        };
        self.known.extend(passed.into_iter().map(|id| (id, found)));
        found
    }
}

/// Returns what the client has put in the place of contents, of all lines that say so.
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
