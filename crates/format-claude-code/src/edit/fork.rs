//! Copies a session under new ids, as the SDK for Python 0.2.187 does.
//!
//! ```text
//! in   {"type":"user","uuid":"1","parentUuid":null,"sessionId":"s",..}
//! out  {"type":"user","uuid":"<new>","parentUuid":null,"sessionId":"<new>","forkedFrom":{"sessionId":"s","messageUuid":"1"},..}
//! ```

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    rc::Rc,
};

use core_model::{ByHash, IdHasher, iso_millis, uuid_of_name};
use jsonl::Value;

use super::{Object, ends::Ends};
use crate::{Entry, SessionInfo, Transcript, transcript::each_entry};

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

/// A plan of a copy: the hashes of the ids, and the lines to add at the end. [`ForkPlan::write`] reads the session a
/// second time.
#[derive(Debug)]
pub struct ForkPlan<'f> {
    fork: Fork<'f>,
    hasher: IdHasher,
    /// The lines by the hashes of their ids. The last line of an id counts.
    by_uuid: ByHash<Planned>,
    /// The number of lines before the last copied one, lines of progress included.
    last: usize,
    /// The replacements of all `content-replacement` lines, joined with commas.
    replacements: Option<String>,
    title: String,
}

/// A line to which others may refer.
#[derive(Debug)]
enum Planned {
    Copied,
    /// A line of progress, which is not copied, with the id of its parent or of its nearest ancestor.
    Progress(Option<Rc<str>>),
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
    let mut copy = Vec::new();
    // Reading and writing bytes in memory does not fail.
    let mut plan = ForkPlan::read(source.bytes(), *fork).unwrap_or(Err(ForkError::Empty))?;
    plan.write(source.bytes(), &mut copy).or(Err(ForkError::Empty))?;
    String::from_utf8(copy).or(Err(ForkError::Empty))
}

impl<'f> ForkPlan<'f> {
    /// Reads the session to copy. Keeps the hashes of its ids, the parents of its lines of progress, and its replacements.
    ///
    /// # Errors
    ///
    /// Returns an outer error if the session cannot be read, and an inner one if it cannot be copied.
    pub fn read(source: impl Read, fork: Fork<'f>) -> io::Result<Result<Self, ForkError>> {
        let mut ends = Ends::new(source);
        let (hasher, mut by_uuid) = (IdHasher::default(), ByHash::default());
        let (mut n_lines, mut last, mut is_cut) = (0_usize, None, false);
        let mut replacements: Option<String> = None;
        each_entry(&mut ends, |entry| {
            for item in replaced(entry, fork.source_id) {
                let all = replacements.get_or_insert_default();
                if !all.is_empty() {
                    all.push(',');
                }
                all.push_str(item.raw().as_str());
            }
            let Some((uuid, is_progress)) = copied_id(entry).filter(|_| !is_cut) else {
                return true;
            };
            let line = if is_progress {
                let parent = entry.event.context.parent.value();
                Planned::Progress(parent.map(|parent| parent.decode().into()))
            } else {
                last = Some(n_lines);
                Planned::Copied
            };
            by_uuid.insert(hasher.hash(&*uuid), line);
            n_lines = n_lines.saturating_add(1);
            is_cut = fork.up_to.is_some_and(|up_to| up_to == uuid);
            true
        })?;
        if fork.up_to.is_some() && !is_cut {
            return Ok(Err(ForkError::UnknownMessage));
        }
        let title = title(&ends, &fork);
        let plan = last.map(|last| Self { fork, hasher, by_uuid, last, replacements, title });
        Ok(plan.ok_or(ForkError::Empty))
    }

    /// Writes the copy. `source` must have the bytes that were read for the plan. It is read up to the last copied line.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or the copy cannot be written.
    pub fn write(&mut self, source: impl Read, sink: &mut dyn Write) -> io::Result<()> {
        let (mut n_lines, mut written) = (0_usize, Ok(()));
        each_entry(source, |entry| {
            let Some((uuid, is_progress)) = copied_id(entry) else { return true };
            if !is_progress {
                written = self.write_line(entry, &uuid, n_lines == self.last, sink);
            }
            n_lines = n_lines.saturating_add(1);
            written.is_ok() && n_lines <= self.last
        })?;
        written?;
        if n_lines <= self.last {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let now = iso_millis(self.fork.now);
        let session_id = self.fork.session_id;
        if let Some(replacements) = &self.replacements {
            let mut line = Object::default();
            line.text("type", "content-replacement");
            line.text("sessionId", session_id);
            line.raw("replacements", format!("[{replacements}]"));
            line.text("uuid", &self.new_id("content-replacement"));
            line.text("timestamp", &now);
            writeln!(sink, "{}", line.finish())?;
        }
        let mut line = Object::default();
        line.text("type", "custom-title");
        line.text("sessionId", session_id);
        line.text("customTitle", &self.title);
        line.text("uuid", &self.new_id("custom-title"));
        line.text("timestamp", &now);
        writeln!(sink, "{}", line.finish())
    }

    fn write_line(
        &mut self,
        entry: &Entry<'_>,
        uuid: &str,
        is_last: bool,
        sink: &mut dyn Write,
    ) -> io::Result<()> {
        let mut object = Object::default();
        for (name, value) in entry.value.members() {
            object.raw(&name.decode(), value.raw().as_str());
        }
        object.text("uuid", &self.new_id(uuid));
        let parent = entry.event.context.parent.value().map(|parent| parent.decode());
        let parent = parent.and_then(|parent| self.copied_ancestor(&parent));
        object.maybe("parentUuid", parent.map(|id| self.new_id(&id)).as_deref());
        let logical = entry.value.get("logicalParentUuid").and_then(|id| id.text());
        let is_known = |id: &str| self.by_uuid.contains_key(&self.hasher.hash(id));
        let logical = logical.map(|id| id.decode()).filter(|id| is_known(id));
        object.maybe("logicalParentUuid", logical.map(|id| self.new_id(&id)).as_deref());
        object.text("sessionId", self.fork.session_id);
        if is_last || entry.value.get("timestamp").is_none() {
            object.text("timestamp", &iso_millis(self.fork.now));
        }
        object.raw("isSidechain", "false");
        let mut origin = Object::default();
        origin.text("sessionId", self.fork.source_id);
        origin.text("messageUuid", uuid);
        object.raw("forkedFrom", origin.finish());
        for name in LEFT_OUT {
            object.remove(name);
        }
        writeln!(sink, "{}", object.finish())
    }

    fn new_id(&self, old: &str) -> String {
        uuid_of_name("fork", &format!("{}\0{old}", self.fork.session_id))
    }

    /// Returns the id of the nearest line that is copied, among a parent and its ancestors.
    fn copied_ancestor(&mut self, parent: &str) -> Option<Rc<str>> {
        let mut passed = Vec::new();
        let mut at = Some(Rc::from(parent));
        let found = loop {
            let Some(id) = at else { break None };
            let hash = self.hasher.hash(&*id);
            match self.by_uuid.get_mut(&hash) {
                None => break None,
                Some(Planned::Copied) => break Some(id),
                // If progress is a circle, the second visit finds no parent and stops.
                Some(Planned::Progress(next)) => at = next.take(),
            }
            passed.push(hash);
        };
        // Each line of progress is skipped once.
        for hash in passed {
            self.by_uuid.insert(hash, Planned::Progress(found.clone()));
        }
        found
    }
}

/// Returns the id of a line that is copied, and whether it is one of progress, which is not copied but may have
/// children that are.
fn copied_id<'l>(entry: &Entry<'l>) -> Option<(Cow<'l, str>, bool)> {
    let kind = entry.kind();
    let is_chained = matches!(&*kind, "user" | "assistant" | "attachment" | "system" | "progress");
    let context = &entry.event.context;
    let uuid = context.uuid.filter(|_| is_chained && !context.is_sidechain)?;
    Some((uuid.decode(), kind == "progress"))
}

/// Returns the replacements of a `content-replacement` line of the session.
fn replaced<'l>(entry: &Entry<'l>, source_id: &str) -> impl Iterator<Item = Value<'l>> + use<'l> {
    let is_own = entry.kind() == "content-replacement"
        && entry.event.context.session_id.is_some_and(|id| id.is(source_id));
    let found = entry.value.get("replacements").filter(|_| is_own).filter(Value::is_array);
    found.into_iter().flat_map(|array| array.items())
}

fn title<R>(source: &Ends<R>, fork: &Fork<'_>) -> String {
    if let Some(title) = fork.title.map(str::trim).filter(|title| !title.is_empty()) {
        return title.to_owned();
    }
    let info = SessionInfo::of_ends(fork.source_id, source.head(), source.tail(), source.n_bytes());
    let title = info.custom_title.or(info.first_prompt);
    format!("{} (fork)", title.as_deref().unwrap_or("Forked session"))
}
