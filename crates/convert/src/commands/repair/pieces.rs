//! The records of a session that is repaired, each with its bytes and its place in the input.
//!
//! In: a torn line and a whole one. Out: the whole one, and that bytes of line 1 are left out.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt, io,
};

use conversion::{Recovery, is_damage};
use core_model::{Body, Check, Field, Format, Problem};
use jsonl::{ErrorKind, Line, Scanner, Value};

use crate::reading::whole::{MAX_RECORDS, too_many};

/// A change, with its place in the input.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) what: ChangeKind,
}

/// The words of a change. A file may have a million damaged parts, whose words are made when they are printed.
#[derive(Clone, Debug)]
pub(super) enum ChangeKind {
    Damage { n_bytes: usize, error: ErrorKind },
    Other(Box<str>),
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeKind::Damage { n_bytes: 1, error } => {
                write!(f, "left out 1 byte of a damaged line: {error}")
            }
            ChangeKind::Damage { n_bytes, error } => {
                write!(f, "left out {n_bytes} bytes of a damaged line: {error}")
            }
            ChangeKind::Other(what) => f.write_str(what),
        }
    }
}

impl From<String> for ChangeKind {
    fn from(what: String) -> Self {
        ChangeKind::Other(what.into())
    }
}

/// A record that is kept.
#[derive(Debug)]
struct Piece<'s> {
    /// Without a newline at its end.
    bytes: Cow<'s, [u8]>,
    line: u64,
    offset: u64,
}

/// The records that are kept, and the changes so far.
#[derive(Debug)]
pub(super) struct Pieces<'s> {
    format: &'static Format,
    pieces: Vec<Piece<'s>>,
    pub(super) changes: Vec<Change>,
    /// Whether bytes of damaged lines were left out.
    pub(super) has_damage: bool,
    /// The offsets of records that were linked to the one before, each once.
    linked: HashSet<u64>,
}

/// The members that link a record to its parent, in all formats.
const PARENTS: [&str; 2] = ["parentUuid", "parentId"];

impl<'s> Pieces<'s> {
    /// Splits a session. Bytes that are in no record are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many records, or damaged parts of lines.
    pub(super) fn of(source: &'s [u8], format: &'static Format) -> io::Result<Self> {
        let (mut pieces, mut changes, mut split) = (Vec::new(), Vec::new(), Vec::new());
        let (mut scanner, mut recovery) = (Scanner::default(), Recovery::new(&[format]));
        for (line_idx, line) in jsonl::lines(source).enumerate() {
            let number = line_idx as u64 + 1;
            let mut n_records = 0;
            let mut take = |part: &Line<'_>, value: jsonl::Result<Value<'_>>| {
                let start = usize::try_from(part.offset()).unwrap_or(usize::MAX);
                let part_bytes = source.get(start..start.saturating_add(part.bytes().len()));
                let bytes = part_bytes.unwrap_or_default();
                match value {
                    Err(error) if is_damage(error) => changes.push(Change {
                        line: number,
                        offset: part.offset(),
                        what: ChangeKind::Damage { n_bytes: bytes.len(), error: error.kind },
                    }),
                    _ => {
                        n_records += 1;
                        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                        let offset = part.offset();
                        pieces.push(Piece { bytes: bytes.into(), line: number, offset });
                    }
                }
                pieces.len() + changes.len() <= MAX_RECORDS
            };
            recovery.line(&line, scanner.scan(&line), &mut take);
            if pieces.len() + changes.len() > MAX_RECORDS {
                return Err(too_many("records"));
            }
            if n_records > 1 {
                split.push((number, line.offset(), n_records));
            }
        }
        let has_damage = !changes.is_empty();
        for (line, offset, n_records) in split {
            let what = format!("put {n_records} records on lines of their own");
            changes.push(Change { line, offset, what: what.into() });
        }
        if let Some(last) = pieces.last()
            && !source.ends_with(b"\n")
            && last.offset as usize + last.bytes.len() == source.len()
        {
            let what = "added the newline after the last record".to_owned();
            changes.push(Change {
                line: last.line,
                offset: source.len() as u64,
                what: what.into(),
            });
        }
        Ok(Self { format, pieces, changes, has_damage, linked: HashSet::new() })
    }

    /// Returns the session.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let n_bytes = self.pieces.iter().map(|piece| piece.bytes.len() + 1).sum();
        let mut bytes = Vec::with_capacity(n_bytes);
        for piece in &self.pieces {
            bytes.extend_from_slice(&piece.bytes);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns all problems.
    pub(super) fn problems(&self) -> Vec<Problem> {
        Check::all((self.format.checker)(), &self.bytes())
    }

    /// Returns the problems that stop the client.
    pub(super) fn stops(&self) -> Vec<Problem> {
        let mut problems = self.problems();
        problems.retain(Problem::stops);
        problems
    }

    /// Adds a change of the record on a line of the repaired session.
    pub(super) fn change(&mut self, line: u64, what: String) {
        let place = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let piece = place.and_then(|place| self.pieces.get(place));
        let (line, offset) = piece.map_or((0, 0), |piece| (piece.line, piece.offset));
        self.changes.push(Change { line, offset, what: what.into() });
    }

    /// Removes a byte order mark at the start. Returns whether there was one.
    pub(super) fn remove_mark(&mut self) -> bool {
        let Some(first) = self.pieces.first_mut() else { return false };
        let Some(rest) = first.bytes.strip_prefix(b"\xef\xbb\xbf") else { return false };
        first.bytes = rest.to_vec().into();
        self.change(1, "left out a byte order mark".to_owned());
        true
    }

    /// Leaves out the records that problems are about, and links the records after them to the ones
    /// before. Returns whether any was left out.
    pub(super) fn leave_out(&mut self, problems: &[Problem]) -> bool {
        let mut reasons: HashMap<u64, &Problem> = HashMap::new();
        for problem in problems {
            reasons.entry(problem.line).or_insert(problem);
        }
        let mut parents = HashMap::new();
        let (mut kept, mut scanner) = (Vec::new(), Scanner::default());
        let n_before = self.pieces.len();
        for (piece_idx, piece) in std::mem::take(&mut self.pieces).into_iter().enumerate() {
            let Some(problem) = reasons.get(&(piece_idx as u64 + 1)) else {
                kept.push(piece);
                continue;
            };
            let what = format!("left out a record ({}): {}", problem.rule, problem.message);
            self.changes.push(Change { line: piece.line, offset: piece.offset, what: what.into() });
            if let Some((id, parent)) = link(&piece.bytes, self.format, &mut scanner) {
                parents.insert(id, parent);
            }
        }
        self.pieces = kept;
        self.link_again(&parents);
        self.pieces.len() < n_before
    }

    /// Replaces parents that were left out by their parents.
    fn link_again(&mut self, parents: &HashMap<String, String>) {
        if parents.is_empty() {
            return;
        }
        let mut scanner = Scanner::default();
        for piece in &mut self.pieces {
            let Ok(value) = scanner.scan_slice(&piece.bytes, 0) else { continue };
            let event = self.format.first_event(value);
            let Field::Value(parent) = event.context.parent else { continue };
            let is_same = |written: &&str| *written == parent.as_str();
            let Some(written) = written_parent(value).filter(is_same) else { continue };
            let mut other = parents.get(&*parent.decode());
            // Parents may form a circle.
            for _ in 0..parents.len() {
                let id = other.and_then(|other| jsonl::Text::new(other));
                match id.and_then(|id| parents.get(&*id.decode())) {
                    Some(next) => other = Some(next),
                    None => break,
                }
            }
            let Some(other) = other else { continue };
            let Some(bytes) = replaced(&piece.bytes, written, other) else { continue };
            let what = format!("linked a record to {other}, since its parent was left out");
            self.changes.push(Change { line: piece.line, offset: piece.offset, what: what.into() });
            piece.bytes = bytes.into();
        }
    }

    /// Replaces all records by the lines of another session.
    pub(super) fn replace(&mut self, session: &[u8]) {
        let piece = |(line_idx, line): (usize, Line<'_>)| {
            let bytes = line.bytes().strip_suffix(b"\n").unwrap_or(line.bytes()).to_vec();
            Piece { bytes: bytes.into(), line: line_idx as u64 + 1, offset: line.offset() }
        };
        self.pieces = jsonl::lines(session).enumerate().map(piece).collect();
    }

    /// Links the record on a line to the record before it, and that one too if it has no parent and is
    /// no prompt, and so on. Returns whether a link changed.
    pub(super) fn link_to_previous(&mut self, line: u64) -> bool {
        let Some(mut at) = usize::try_from(line).ok().and_then(|line| line.checked_sub(1)) else {
            return false;
        };
        let (mut scanner, mut other_scanner) = (Scanner::default(), Scanner::default());
        let mut is_changed = false;
        while let Some(piece) = self.pieces.get(at) {
            if !self.linked.insert(piece.offset) {
                break;
            }
            let before = self.pieces.get(..at).unwrap_or_default().iter().enumerate().rev();
            let previous = before.into_iter().find_map(|(before_at, before)| {
                let value = scanner.scan_slice(&before.bytes, 0).ok()?;
                let event = self.format.first_event(value);
                let id = event.context.uuid?.as_str().to_owned();
                let goes_on = event.context.parent == Field::Null && !event.is_prompt();
                (!matches!(event.body, Body::Start(_))).then_some((before_at, id, goes_on))
            });
            let Some((before_at, id, goes_on)) = previous else { break };
            let Ok(value) = other_scanner.scan_slice(&piece.bytes, 0) else { break };
            let Some(bytes) =
                written_parent(value).and_then(|written| replaced(&piece.bytes, written, &id))
            else {
                break;
            };
            let what = format!("linked a record to the one before, {id}");
            self.changes.push(Change { line: piece.line, offset: piece.offset, what: what.into() });
            if let Some(piece) = self.pieces.get_mut(at) {
                piece.bytes = bytes.into();
            }
            is_changed = true;
            if !goes_on {
                break;
            }
            at = before_at;
        }
        is_changed
    }

    /// Returns whether a record is a message.
    pub(super) fn has_message(&self) -> bool {
        let mut scanner = Scanner::default();
        self.pieces.iter().any(|piece| {
            let value = scanner.scan_slice(&piece.bytes, 0);
            value.is_ok_and(|value| self.format.first_event(value).message().is_some())
        })
    }

    /// Puts a record before all others.
    pub(super) fn put_first(&mut self, bytes: Vec<u8>, what: String) {
        self.pieces.insert(0, Piece { bytes: bytes.into(), line: 1, offset: 0 });
        self.change(1, what);
    }
}

/// Returns the parent of a record as JSON.
fn written_parent(value: Value<'_>) -> Option<&str> {
    PARENTS.iter().find_map(|name| value.get(name)).map(|parent| parent.raw().as_str())
}

/// Returns bytes with a part of them replaced.
fn replaced(bytes: &[u8], part: &str, other: &str) -> Option<Vec<u8>> {
    let start = (part.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    let tail = bytes.get(start.checked_add(part.len())?..)?;
    Some([bytes.get(..start)?, other.as_bytes(), tail].concat())
}

/// Returns the id of a record, and its parent as JSON; `None` without a link.
fn link(bytes: &[u8], format: &Format, scanner: &mut Scanner) -> Option<(String, String)> {
    let value = scanner.scan_slice(bytes, 0).ok()?;
    let event = format.first_event(value);
    let parent = match event.context.parent {
        Field::Value(parent) => parent.as_str().to_owned(),
        Field::Null => "null".to_owned(),
        Field::Absent => return None,
    };
    Some((event.context.uuid?.decode().into_owned(), parent))
}
