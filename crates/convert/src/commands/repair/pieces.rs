//! The records of a session that is repaired, each with its place in the input.
//!
//! In: a torn line and a whole one. Out: the whole one, and that bytes of line 1 are left out.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write},
};

use conversion::{Recovery, Source, is_damage};
use core_model::{Body, Check, Field, Format, Problem};
use format_clido::{BadLines, RepairStep, Repairer};
use jsonl::{Line, Scanner, Stream, Value};
use storage::Opened;
use tempfile::SpooledTempFile;

use super::{
    bytes::{Added, Windowed},
    changes::{Change, ChangeKind},
};
use crate::reading::whole::{MAX_RECORDS, check_unchanged, too_many};

/// A record that is kept. There may be a million of them in 2 MB, so that each takes 16 bytes.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its offset in the session.
    offset: u64,
    /// The number of its bytes without a newline at its end; [`ELSEWHERE`] if the record was changed, or is longer.
    n_bytes: u32,
    line: u32,
}

/// Marks a record that is found in a map.
const ELSEWHERE: u32 = u32::MAX;

/// The offset of a record that was put first.
const PUT_FIRST: u64 = u64::MAX;

/// A record that was changed, or is longer than 4 GiB.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// It is in the session.
    Long(u64),
    /// It was added to the changed records.
    Changed { start: u64, n_bytes: u64 },
}

/// The bytes of the records.
struct Records {
    source: Windowed<Opened>,
    /// The session that clido's repair wrote.
    replaced: Option<Added>,
    changed: Added,
    others: HashMap<u64, Other>,
}

impl Records {
    /// Replaces a buffer by the bytes of a record.
    fn read(&mut self, piece: Piece, to: &mut Vec<u8>) -> io::Result<()> {
        let n_bytes = match (piece.n_bytes, self.others.get(&piece.offset)) {
            (ELSEWHERE, Some(&Other::Changed { start, n_bytes })) => {
                return self.changed.read(start, n_bytes, to);
            }
            (ELSEWHERE, Some(&Other::Long(n_bytes))) => n_bytes,
            (n_bytes, _) => n_bytes.into(),
        };
        match &mut self.replaced {
            Some(replaced) => replaced.read(piece.offset, n_bytes, to),
            None => self.source.read(piece.offset, n_bytes, to),
        }
    }

    /// Replaces the bytes of a record.
    fn change(&mut self, piece: &mut Piece, bytes: &[u8]) -> io::Result<()> {
        let (start, n_bytes) = (self.changed.push(bytes)?, bytes.len() as u64);
        piece.n_bytes = ELSEWHERE;
        self.others.insert(piece.offset, Other::Changed { start, n_bytes });
        Ok(())
    }

    /// Returns the piece of a record in the session.
    fn piece(others: &mut HashMap<u64, Other>, line: u64, offset: u64, n_bytes: usize) -> Piece {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let short = u32::try_from(n_bytes).ok().filter(|n_bytes| *n_bytes != ELSEWHERE);
        let n_bytes = short.unwrap_or_else(|| {
            others.insert(offset, Other::Long(n_bytes as u64));
            ELSEWHERE
        });
        Piece { offset, n_bytes, line }
    }
}

/// The records that are kept, and the changes so far.
pub(super) struct Pieces {
    format: &'static Format,
    pieces: Vec<Piece>,
    records: Records,
    /// The changes of records. The changes of damaged lines are found again when they are printed.
    pub(super) changes: Vec<Change>,
    /// The number of changes of damaged lines.
    pub(super) n_split: u64,
    /// Whether bytes of damaged lines were left out.
    pub(super) has_damage: bool,
    /// Whether the session had a message.
    pub(super) had_message: bool,
    /// The offsets of records that were linked to the one before, each once.
    linked: HashSet<u64>,
}

/// The members that link a record to its parent, in all formats.
const PARENTS: [&str; 2] = ["parentUuid", "parentId"];

/// Splits the lines of a session. Calls `take` with each record and its line's number, and `change` with each change.
/// `take` returns whether to go on.
///
/// # Errors
///
/// Returns an error if the session cannot be read.
fn split(
    source: &mut Opened,
    format: &'static Format,
    take: &mut dyn FnMut(u64, &Line<'_>, jsonl::Result<Value<'_>>) -> bool,
    change: &mut dyn FnMut(u64, u64, ChangeKind) -> bool,
) -> io::Result<()> {
    let (mut scanner, mut recovery) = (Scanner::default(), Recovery::new(&[format]));
    let (mut stream, mut number, mut last) = (Stream::new(source), 0, None);
    let mut end = 0;
    while let Some(line) = stream.next()? {
        number += 1;
        let (mut n_records, mut is_wanted) = (0_u64, true);
        let mut split_at = Some(line.offset());
        recovery.line(&line, scanner.scan(&line), &mut |part, value| {
            let n_bytes = part.bytes().len();
            is_wanted = match value {
                Err(error) if is_damage(error) => {
                    let what = ChangeKind::Damage { n_bytes, error: error.kind };
                    change(number, part.offset(), what)
                }
                value => {
                    n_records += 1;
                    last = Some((number, part.end(), part.is_terminated()));
                    take(number, part, value)
                }
            };
            is_wanted
        });
        if n_records > 1
            && let Some(offset) = split_at.take()
        {
            is_wanted &= change(number, offset, ChangeKind::Split { n_records });
        }
        end = line.end();
        if !is_wanted {
            return Ok(());
        }
    }
    if let Some((line, last_end, false)) = last
        && last_end == end
    {
        change(line, end, ChangeKind::Newline);
    }
    Ok(())
}

impl Pieces {
    /// Splits a session. Bytes that are in no record are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or has too many records or damaged parts of lines.
    pub(super) fn of(mut source: Opened, format: &'static Format) -> io::Result<Self> {
        let (mut pieces, mut others) = (Vec::new(), HashMap::new());
        let (mut n_damaged, mut n_split, mut had_message) = (0, 0, false);
        let n_all = std::cell::Cell::new(0_usize);
        let has_room = || {
            n_all.set(n_all.get() + 1);
            n_all.get() <= MAX_RECORDS
        };
        let mut take = |number, part: &Line<'_>, value: jsonl::Result<Value<'_>>| {
            had_message |= value.is_ok_and(|value| format.first_event(value).message().is_some());
            let bytes = part.bytes().strip_suffix(b"\n").unwrap_or(part.bytes());
            pieces.push(Records::piece(&mut others, number, part.offset(), bytes.len()));
            has_room()
        };
        split(&mut source, format, &mut take, &mut |_, _, what| {
            n_split += 1;
            match what {
                ChangeKind::Damage { .. } => {
                    n_damaged += 1;
                    has_room()
                }
                _ => true,
            }
        })?;
        if n_all.get() > MAX_RECORDS {
            return Err(too_many("records"));
        }
        let (replaced, changed) = (None, Added::default());
        let records = Records { source: Windowed::new(source), replaced, changed, others };
        let (changes, linked, has_damage) = (Vec::new(), HashSet::new(), n_damaged > 0);
        Ok(Self { format, pieces, records, changes, n_split, has_damage, had_message, linked })
    }

    /// Calls `each` with all changes in the order of their offsets.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read again.
    pub(super) fn each_change(&mut self, each: &mut dyn FnMut(&Change)) -> io::Result<()> {
        self.changes.sort_by_key(|change| change.offset);
        let mut changes = self.changes.iter().peekable();
        let mut waiting: Vec<Change> = Vec::new();
        if self.n_split > 0 {
            let source = self.records.source.rewound()?;
            // The change of a line that was split has the offset of its start, and is known at its end.
            let mut flush = |waiting: &mut Vec<Change>, each: &mut dyn FnMut(&Change)| {
                waiting.sort_by_key(|change| change.offset);
                for change in waiting.drain(..) {
                    while let Some(before) = changes.next_if(|it| it.offset < change.offset) {
                        each(before);
                    }
                    each(&change);
                }
            };
            split(source, self.format, &mut |_, _, _| true, &mut |line, offset, what| {
                if waiting.last().is_some_and(|change| change.line != line) {
                    flush(&mut waiting, each);
                }
                waiting.push(Change { line, offset, what });
                true
            })?;
            flush(&mut waiting, each);
        }
        changes.for_each(each);
        Ok(())
    }

    /// Calls `each` with the lines of the session, until it returns false.
    fn each_line(
        &mut self,
        each: &mut dyn FnMut(&mut Scanner, &Line<'_>) -> bool,
    ) -> io::Result<()> {
        let (mut scanner, mut bytes, mut offset) = (Scanner::default(), Vec::new(), 0);
        for piece in &self.pieces {
            self.records.read(*piece, &mut bytes)?;
            bytes.push(b'\n');
            if !each(&mut scanner, &Line::new(&bytes, offset)) {
                break;
            }
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Writes the session.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read or written, or changed since it was read.
    pub(super) fn write(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        let mut written = Ok(());
        self.each_line(&mut |_, line| {
            written = sink.write_all(line.bytes());
            written.is_ok()
        })?;
        written?;
        check_unchanged(self.records.source.rewound()?)
    }

    /// Returns the session as a source.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or a temporary file not written.
    pub(super) fn written_source(&mut self) -> io::Result<Source<SpooledTempFile>> {
        let mut file = Added::default();
        let mut added = Ok(0);
        self.each_line(&mut |_, line| {
            added = file.push(line.bytes());
            added.is_ok()
        })?;
        added?;
        Ok(Source::new(file.into_file()?))
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the wanted problems.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read.
    pub(super) fn problems(
        &mut self,
        is_wanted: impl Fn(&Problem) -> bool,
    ) -> io::Result<Vec<Problem>> {
        let (mut problems, mut check) = (Vec::new(), Check::new((self.format.checker)()));
        let mut report = |problem| {
            if is_wanted(&problem) {
                problems.push(problem);
            }
        };
        self.each_line(&mut |scanner, line| {
            check.line(line, scanner.scan(line), &mut report);
            true
        })?;
        check.finish(&mut report);
        Ok(problems)
    }

    /// Returns the problems that stop the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read.
    pub(super) fn stops(&mut self) -> io::Result<Vec<Problem>> {
        self.problems(Problem::stops)
    }

    /// Adds a change of the record on a line of the repaired session.
    pub(super) fn change(&mut self, line: u64, what: String) {
        let place = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let piece = place.and_then(|place| self.pieces.get(place)).copied();
        let (line, offset) = piece.map_or((0, 0), Piece::place);
        self.changes.push(Change { line, offset, what: what.into() });
    }

    /// Removes a byte order mark at the start. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or a temporary file not written.
    pub(super) fn remove_mark(&mut self) -> io::Result<bool> {
        let Some(first) = self.pieces.first_mut() else { return Ok(false) };
        let mut bytes = Vec::new();
        self.records.read(*first, &mut bytes)?;
        let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") else { return Ok(false) };
        self.records.change(first, rest)?;
        self.change(1, "left out a byte order mark".to_owned());
        Ok(true)
    }

    /// Leaves out the records that problems are about, and links the records after them to the ones
    /// before. Returns whether any was left out.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or a temporary file not written.
    pub(super) fn leave_out(&mut self, problems: &[Problem]) -> io::Result<bool> {
        let mut reasons: HashMap<u64, &Problem> = HashMap::new();
        for problem in problems {
            reasons.entry(problem.line).or_insert(problem);
        }
        let (mut parents, mut bytes) = (HashMap::new(), Vec::new());
        let (mut scanner, mut read) = (Scanner::default(), Ok(()));
        let (n_before, mut number) = (self.pieces.len(), 0);
        self.pieces.retain(|piece| {
            number += 1;
            let Some(problem) = reasons.get(&number) else { return true };
            let what = format!("left out a record ({}): {}", problem.rule, problem.message);
            let (line, offset) = piece.place();
            self.changes.push(Change { line, offset, what: what.into() });
            if read.is_ok() {
                read = self.records.read(*piece, &mut bytes);
                parents.extend(link(&bytes, self.format, &mut scanner));
            }
            false
        });
        read?;
        self.link_again(&parents)?;
        Ok(self.pieces.len() < n_before)
    }

    /// Replaces parents that were left out by their parents.
    fn link_again(&mut self, parents: &HashMap<String, String>) -> io::Result<()> {
        if parents.is_empty() {
            return Ok(());
        }
        let (mut scanner, mut bytes) = (Scanner::default(), Vec::new());
        for piece in &mut self.pieces {
            self.records.read(*piece, &mut bytes)?;
            let Ok(value) = scanner.scan_slice(&bytes, 0) else { continue };
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
            let Some(changed) = replaced(&bytes, written, other) else { continue };
            let what = format!("linked a record to {other}, since its parent was left out");
            let (line, offset) = piece.place();
            self.changes.push(Change { line, offset, what: what.into() });
            self.records.change(piece, &changed)?;
        }
        Ok(())
    }

    /// Leaves out what clido does not load, and answers open calls as clido does.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or a temporary file not written.
    pub(super) fn repair_as_clido(&mut self) -> io::Result<()> {
        let (mut bad_lines, mut bad_blocks, mut closed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut session, mut pieces, mut others) = (Added::default(), Vec::new(), HashMap::new());
        let (mut is_changed, mut written) = (false, Ok(0));
        let mut take = |step: RepairStep<'_>| {
            is_changed |= !matches!(step, RepairStep::Kept(_));
            match step {
                RepairStep::Kept(line) | RepairStep::Written(line) => {
                    let number = pieces.len() as u64 + 1;
                    let added = session.push(line).and_then(|offset| {
                        pieces.push(Records::piece(&mut others, number, offset, line.len()));
                        session.push(b"\n")
                    });
                    if added.is_err() {
                        written = added;
                    }
                }
                RepairStep::BadLine(problem) => bad_lines.push(problem),
                RepairStep::BadBlock(block) => {
                    bad_blocks.push(block.as_str().chars().take(MAX_JSON).collect::<String>());
                }
                RepairStep::Closed(id) => closed.push(id),
            }
        };
        let mut repairer = Repairer::new(BadLines::Drop);
        self.each_line(&mut |_, line| {
            repairer.line(line, &mut take);
            true
        })?;
        repairer.finish(&mut take);
        written?;
        for Problem { line, rule, message, .. } in bad_lines {
            self.change(line, format!("left out a record ({rule}): {message}"));
        }
        // The blocks are in the order of their records, which are not known.
        for json in bad_blocks {
            self.change(0, format!("left out a block that clido does not know: {json}"));
        }
        for id in closed {
            let what = format!("gave the open call {id} an error as its result, as clido does");
            self.change(self.pieces.len() as u64, what);
        }
        if is_changed {
            self.pieces = pieces;
            (self.records.replaced, self.records.others) = (Some(session), others);
        }
        Ok(())
    }

    /// Links the record on a line to the record before it, and that one too if it has no parent and is
    /// no prompt, and so on. Returns whether a link changed.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read, or a temporary file not written.
    pub(super) fn link_to_previous(&mut self, line: u64) -> io::Result<bool> {
        let Some(mut at) = usize::try_from(line).ok().and_then(|line| line.checked_sub(1)) else {
            return Ok(false);
        };
        let (mut scanner, mut bytes, mut is_changed) = (Scanner::default(), Vec::new(), false);
        while let Some(mut piece) = self.pieces.get(at).copied() {
            if !self.linked.insert(piece.offset) {
                break;
            }
            let Some((before_at, id, goes_on)) = self.previous(at, &mut scanner)? else { break };
            self.records.read(piece, &mut bytes)?;
            let Ok(value) = scanner.scan_slice(&bytes, 0) else { break };
            let Some(changed) =
                written_parent(value).and_then(|written| replaced(&bytes, written, &id))
            else {
                break;
            };
            let what = format!("linked a record to the one before, {id}");
            let (line, offset) = piece.place();
            self.changes.push(Change { line, offset, what: what.into() });
            self.records.change(&mut piece, &changed)?;
            if let Some(place) = self.pieces.get_mut(at) {
                *place = piece;
            }
            is_changed = true;
            if !goes_on {
                break;
            }
            at = before_at;
        }
        Ok(is_changed)
    }

    /// Returns the last record with an id before another one, its id, and whether it has no parent and is no prompt.
    fn previous(
        &mut self,
        at: usize,
        scanner: &mut Scanner,
    ) -> io::Result<Option<(usize, String, bool)>> {
        let mut bytes = Vec::new();
        for (before_at, before) in self.pieces.iter().enumerate().take(at).rev() {
            self.records.read(*before, &mut bytes)?;
            let Ok(value) = scanner.scan_slice(&bytes, 0) else { continue };
            let event = self.format.first_event(value);
            let Some(id) = event.context.uuid else { continue };
            let goes_on = event.context.parent == Field::Null && !event.is_prompt();
            if !matches!(event.body, Body::Start(_)) {
                return Ok(Some((before_at, id.as_str().to_owned(), goes_on)));
            }
        }
        Ok(None)
    }

    /// Returns whether a record is a message.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read.
    pub(super) fn has_message(&mut self) -> io::Result<bool> {
        let (format, mut is_found) = (self.format, false);
        self.each_line(&mut |scanner, line| {
            let value = scanner.scan(line);
            is_found = value.is_ok_and(|value| format.first_event(value).message().is_some());
            !is_found
        })?;
        Ok(is_found)
    }

    /// Puts a record before all others.
    ///
    /// # Errors
    ///
    /// Returns an error if a temporary file cannot be written.
    pub(super) fn put_first(&mut self, bytes: &[u8], what: String) -> io::Result<()> {
        let mut piece = Piece { offset: PUT_FIRST, n_bytes: 0, line: 1 };
        self.records.change(&mut piece, bytes)?;
        self.pieces.insert(0, piece);
        self.change(1, what);
        Ok(())
    }
}

/// Limit on the printed characters of a block.
const MAX_JSON: usize = 80;

impl Piece {
    /// Returns the line and the offset that are printed.
    fn place(self) -> (u64, u64) {
        let offset = if self.offset == PUT_FIRST { 0 } else { self.offset };
        (self.line.into(), offset)
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
