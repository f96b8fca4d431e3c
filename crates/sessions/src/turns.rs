//! Identifies records, so that a record that several files have is counted once.
//!
//! Clients copy sessions when they resume, fork or move them:
//!
//! ```text
//! a.jsonl  {"uuid":"1",..} {"uuid":"2",..} {"uuid":"3",..}
//! b.jsonl  {"uuid":"1",..} {"uuid":"2",..} {"uuid":"4",..}
//! ```
//!
//! In: the keys of both files. Out: the keys 1 and 2 for `b.jsonl`, which is to leave them out.

use core_model::{
    Block, Body, ByHash, Event, Format, Formats, Hashes, IdHasher, IdSet, Origin, Place,
    event_millis,
};
use jsonl::Line;

use crate::input::Input;

/// Hashes what identifies records. The hashes of two values can be compared if they have one table
/// of keys or clones of it.
#[derive(Clone, Debug)]
pub struct TurnKeys {
    formats: Formats,
    hasher: IdHasher,
}

/// The identity of a record.
#[derive(Clone, Copy, Debug)]
pub struct TurnKey<'l> {
    /// A hash of what all copies of the record have in common.
    pub key: u64,
    /// The key that copies of this copy name, if the record says that it is a copy.
    pub own: Option<u64>,
    /// A hash that tells the record from another one of its session with the same id: of the id, the
    /// length and the time.
    in_session: u64,
    /// Whether the event before this one is of the same record.
    pub is_same_record: bool,
    /// What the record says of its origin.
    pub origin: Origin<'l>,
}

impl TurnKeys {
    /// Creates a table of keys for a run.
    pub fn new(formats: Formats) -> Self {
        Self { formats, hasher: IdHasher::default() }
    }

    /// Starts reading a file.
    pub fn file(&self, input: &Input) -> FileTurns<'_> {
        let file = self.hasher.hash(input.label());
        FileTurns { keys: self, session: file, has_session: false, n_since: 0, last: None }
    }

    /// Returns the hash of a response, by the API's ids of the message and of the request.
    pub(crate) fn response(&self, event: &Event<'_>) -> Option<(u64, u64)> {
        let message = event.message()?;
        let id = self.hasher.hash_text(message.id?);
        let request = message.request_id.map_or(0, |request| self.hasher.hash_text(request));
        Some((self.both(id, request), id))
    }

    /// Returns the hash of a response that has no message id.
    pub(crate) fn unnamed_response(&self, id: jsonl::Text<'_>) -> u64 {
        self.both(self.hasher.hash_text(id), 1)
    }

    pub(crate) fn message_id(&self, id: jsonl::Text<'_>) -> u64 {
        self.hasher.hash_text(id)
    }

    fn both(&self, one: u64, other: u64) -> u64 {
        let mut bytes = [0; 16];
        let (start, end) = bytes.split_at_mut(8);
        start.copy_from_slice(&one.to_le_bytes());
        end.copy_from_slice(&other.to_le_bytes());
        self.hasher.hash(bytes)
    }

    fn format(&self, event: &Event<'_>) -> Option<&'static Format> {
        self.formats.by_name(event.format)
    }
}

/// Identifies the records of one file, in order.
#[derive(Debug)]
pub struct FileTurns<'k> {
    keys: &'k TurnKeys,
    /// The hash of the session's id; before the first id, that of the file's name.
    session: u64,
    has_session: bool,
    /// The number of records since the session began.
    n_since: u64,
    /// The offset and the key of the last record, whose events share it.
    last: Option<(u64, u64, Option<u64>)>,
}

impl FileTurns<'_> {
    /// Identifies the record of an event. Events of one record have the same key.
    ///
    /// A record without an id is identified by its content, its session, and the number of records
    /// since the session began.
    pub fn key<'l>(&mut self, place: Place, line: &Line<'_>, event: &Event<'l>) -> TurnKey<'l> {
        let keys = self.keys;
        let origin = keys.format(event).map(|format| (format.origin)(event)).unwrap_or_default();
        if let Some((offset, key, own)) = self.last
            && offset == place.offset
        {
            let in_session = key;
            return TurnKey { key, own, in_session, is_same_record: true, origin };
        }
        if let Some(session) = event.context.session_id {
            let session = keys.hasher.hash_text(session);
            if !self.has_session || session != self.session {
                (self.session, self.has_session, self.n_since) = (session, true, 0);
            }
        }
        self.n_since = self.n_since.saturating_add(1);
        let (key, own) = match origin.id {
            Some(id) if origin.is_local => {
                let time = event.context.time.map_or(0, |time| keys.hasher.hash(time.as_str()));
                (keys.both(keys.hasher.hash_text(id), time), None)
            }
            Some(id) => {
                let key = keys.hasher.hash_text(id);
                let own = event.context.uuid.map(|uuid| keys.hasher.hash_text(uuid));
                (key, own.filter(|own| *own != key))
            }
            None => {
                let content = keys.hasher.hash(line.bytes().trim_ascii_end());
                (keys.both(content, keys.both(self.session, self.n_since)), None)
            }
        };
        self.last = Some((place.offset, key, own));
        let time = event.context.time.map_or(0, |time| keys.hasher.hash(time.as_str()));
        let in_session = keys.both(key, time.wrapping_add(line.bytes().len() as u64));
        TurnKey { key, own, in_session, is_same_record: false, origin }
    }
}

/// The records of a session, by their keys, in the order of its files.
#[derive(Clone, Debug, Default)]
pub struct SessionTurns {
    keys: Vec<u64>,
    /// The times of the records, and which of them are prompts.
    marks: Vec<Mark>,
    /// For records that say that they are copies: their own keys, and the keys of the originals.
    aliases: Vec<(u64, u64)>,
    start: Option<i64>,
    end: Option<i64>,
}

/// What is kept of a record beside its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The time in seconds since 1970; 0 for none.
    pub(crate) time: u32,
    pub(crate) is_prompt: bool,
}

/// Collects the records of a session.
#[derive(Debug, Default)]
pub struct TurnsCollector {
    turns: SessionTurns,
    seen: Hashes,
    is_last_new: bool,
    repeats: Repeats,
}

/// Finds messages that repeat earlier ones, in formats with
/// [`Vocabulary::repeats_messages`](core_model::Vocabulary).
///
/// ```text
/// {"id":"g","type":"gemini","content":"Reading."}                      counts
/// {"id":"g","type":"gemini",..,"toolCalls":[{"id":"c","result":..}]}   counts: the call is new
/// {"$set":{"messages":[{"id":"g",..,"toolCalls":[..]}]}}               repeats both
/// ```
#[derive(Debug, Default)]
struct Repeats {
    messages: IdSet,
    calls: IdSet,
    results: IdSet,
}

impl Repeats {
    /// Adds the message of an event. Returns whether all of it is repeated: its calls and results, or,
    /// if it has none, the message itself.
    fn push(&mut self, event: &Event<'_>) -> bool {
        let Some(message) = event.message() else { return false };
        let (mut has_any, mut has_new) = (false, false);
        for (block, _) in message.blocks() {
            let is_new = match block {
                Block::ToolUse(tool) => self.calls.insert_text(tool.id),
                Block::ToolResult(result) => self.results.insert_text(result.tool_use_id),
                _ => continue,
            };
            (has_any, has_new) = (true, has_new || is_new);
        }
        let is_known = event.context.uuid.map(|id| !self.messages.insert_text(id));
        if has_any { !has_new } else { is_known == Some(true) }
    }
}

impl TurnsCollector {
    /// Adds an event. Returns whether the session does not have its record yet, nor the message that it
    /// repeats.
    pub fn push(&mut self, turn: &TurnKey<'_>, event: &Event<'_>) -> bool {
        let is_new = self.push_record(turn, event);
        is_new && !(event.vocabulary.repeats_messages && self.repeats.push(event))
    }

    fn push_record(&mut self, turn: &TurnKey<'_>, event: &Event<'_>) -> bool {
        if turn.is_same_record {
            return self.is_last_new;
        }
        // The number of a record without an id is a part of its key, so no two are equal.
        self.is_last_new = turn.origin.id.is_none() || self.seen.insert(turn.in_session);
        if !self.is_last_new {
            return false;
        }
        if turn.origin.id.is_none() && matches!(event.body, Body::Other) {
            // It says nothing that could count twice, and a file may have millions of these.
            return true;
        }
        self.turns.keys.push(turn.key);
        let seconds = event_millis(event).map_or(0, |millis| millis.max(0) / 1000);
        let time = u32::try_from(seconds).unwrap_or(u32::MAX);
        self.turns.marks.push(Mark { time, is_prompt: event.is_prompt() });
        self.turns.aliases.extend(turn.own.map(|own| (own, turn.key)));
        let time = event_millis(event);
        self.turns.start = self.turns.start.into_iter().chain(time).min();
        self.turns.end = self.turns.end.max(time);
        true
    }

    /// Returns the records.
    pub fn finish(self) -> SessionTurns {
        self.turns
    }
}

/// The order in which sessions are asked for a record that several have: first the one with the
/// fewest records that say that they are copies, then the one that began first, then the one that
/// ended first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Rank {
    n_copied: usize,
    start: i64,
    end: i64,
    session_idx: usize,
}

impl SessionTurns {
    /// Returns the rank of the session among others.
    pub fn rank(&self, session_idx: usize) -> Rank {
        Rank {
            n_copied: self.aliases.len(),
            start: self.start.unwrap_or(i64::MAX),
            end: self.end.unwrap_or(i64::MAX),
            session_idx,
        }
    }

    /// Returns the keys of the records with what is kept of them, in the order of the files.
    pub(crate) fn records(&self) -> impl DoubleEndedIterator<Item = (u64, Mark)> {
        self.keys.iter().copied().zip(self.marks.iter().copied())
    }

    /// Returns the earliest time, in milliseconds since 1970.
    pub fn start(&self) -> Option<i64> {
        self.start
    }

    /// Returns the latest time, in milliseconds since 1970.
    pub fn end(&self) -> Option<i64> {
        self.end
    }

    /// Returns whether records say that they are copies.
    pub(crate) fn has_copies(&self) -> bool {
        !self.aliases.is_empty()
    }
}

/// The records of several sessions, each with the session that it counts for.
#[derive(Debug, Default)]
pub struct Owners {
    of_key: ByHash<u32>,
    aliases: ByHash<u64>,
}

/// Limit on the copies of copies that are followed to an original.
const MAX_GENERATIONS: usize = 64;

impl Owners {
    /// Finds the session that each record counts for.
    pub fn of<'t>(sessions: impl IntoIterator<Item = &'t SessionTurns> + Clone) -> Self {
        let mut owners = Self::default();
        for session in sessions.clone() {
            owners.aliases.extend(session.aliases.iter().copied());
        }
        let mut in_order: Vec<(Rank, &SessionTurns)> = sessions
            .into_iter()
            .enumerate()
            .map(|(session_idx, session)| (session.rank(session_idx), session))
            .collect();
        // A session alone has no records of others.
        if in_order.len() < 2 {
            return owners;
        }
        in_order.sort_by_key(|(rank, _)| *rank);
        for (rank, session) in in_order {
            let session_idx = u32::try_from(rank.session_idx).unwrap_or(u32::MAX);
            for key in &session.keys {
                let key = owners.original(*key);
                owners.of_key.entry(key).or_insert(session_idx);
            }
        }
        owners
    }

    /// Returns the index of the session that a record counts for; `None` for a record that only one
    /// session can have.
    pub fn owner(&self, key: u64) -> Option<usize> {
        self.of_key.get(&self.original(key)).map(|session_idx| *session_idx as usize)
    }

    /// Returns the records that a session has from others.
    pub fn copies(&self, session_idx: usize, session: &SessionTurns) -> Hashes {
        let is_copy = |key: &u64| self.owner(*key).is_some_and(|owner| owner != session_idx);
        session.keys.iter().copied().filter(is_copy).collect()
    }

    /// Returns the key of the record that a copy of a copy was made from.
    pub(crate) fn original(&self, key: u64) -> u64 {
        let mut original = key;
        for _ in 0..MAX_GENERATIONS {
            match self.aliases.get(&original) {
                Some(next) if *next != original => original = *next,
                _ => break,
            }
        }
        original
    }
}

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);

    fn turns(keys: &TurnKeys, name: &str, format: &'static Format, lines: &[&str]) -> SessionTurns {
        let (mut file, mut all) = (keys.file(&Input::file(name.into())), TurnsCollector::default());
        let (mut scanner, mut offset) = (Scanner::default(), 0);
        for (number, line) in (1..).zip(lines) {
            let line = Line::new(line.as_bytes(), offset);
            offset += line.bytes().len() as u64 + 1;
            let event = format.first_event(scanner.scan(&line).expect("a line"));
            let place = Place { line: number, offset: line.offset() };
            all.push(&file.key(place, &line, &event), &event);
        }
        all.finish()
    }

    fn n_copies(sessions: &[SessionTurns]) -> Vec<usize> {
        let owners = Owners::of(sessions);
        sessions.iter().enumerate().map(|(idx, it)| owners.copies(idx, it).len()).collect()
    }

    fn said(uuid: &str, minute: u32, more: &str) -> String {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","timestamp":"2026-01-01T10:{minute:02}:00.000Z"{more},"message":{{"role":"user","content":"hi"}}}}"#
        )
    }

    #[test]
    fn a_resumed_session_keeps_its_ids() {
        let keys = TurnKeys::new(FORMATS);
        let format = &format_claude_code::FORMAT;
        let [one, two, three, four] =
            [("1", 1), ("2", 2), ("3", 3), ("4", 9)].map(|(uuid, time)| said(uuid, time, ""));
        let first = turns(&keys, "a", format, &[&one, &two, &three]);
        let resumed = turns(&keys, "b", format, &[&one, &two, &four]);
        assert_eq!(n_copies(&[resumed.clone(), first.clone()]), [2, 0]);
        assert_eq!(n_copies(&[first.clone(), resumed, first]), [0, 2, 3]);
    }

    #[test]
    fn a_fork_of_a_fork_has_the_records_of_the_first_session() {
        let keys = TurnKeys::new(FORMATS);
        let format = &format_claude_code::FORMAT;
        let from = |session: &str, uuid: &str| {
            format!(r#","forkedFrom":{{"sessionId":"{session}","messageUuid":"{uuid}"}}"#)
        };
        let first = turns(&keys, "a", format, &[&said("1", 1, ""), &said("2", 9, "")]);
        let fork = turns(&keys, "b", format, &[&said("f", 1, &from("a", "1")), &said("3", 5, "")]);
        let again = turns(
            &keys,
            "c",
            format,
            &[&said("g", 1, &from("b", "f")), &said("h", 5, &from("b", "3"))],
        );
        assert_eq!(n_copies(&[again, fork, first]), [2, 1, 0]);
    }

    #[test]
    fn aliases_in_a_circle_end() {
        let keys = TurnKeys::new(FORMATS);
        let circle = |own: &str, from: &str| {
            said(own, 1, &format!(r#","forkedFrom":{{"messageUuid":"{from}"}}"#))
        };
        let lines = [circle("1", "2"), circle("2", "1"), circle("3", "3")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let session = turns(&keys, "a", &format_claude_code::FORMAT, &lines);
        assert_eq!(n_copies(&[session]), [0]);
    }

    #[test]
    fn equal_words_of_two_sessions_are_no_copies() {
        let keys = TurnKeys::new(FORMATS);
        let format = &format_clido::FORMAT;
        let meta =
            |id: &str| format!(r#"{{"type":"meta","session_id":"{id}","schema_version":1}}"#);
        let hi = r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"hi"}]}"#;
        let (a, b) = (meta("a"), meta("b"));
        let one = turns(&keys, "a", format, &[&a, hi, hi]);
        let other = turns(&keys, "b", format, &[&b, hi, hi]);
        // clido writes the line of the fork before that of the first session.
        let fork = turns(&keys, "c", format, &[&b, &a, hi, hi, hi]);
        assert_eq!(n_copies(&[one.clone(), other]), [0, 0]);
        assert_eq!(n_copies(&[one, fork]), [0, 3]);
    }
}
