//! Reads a carry: its head, its entries, and the source bytes that they restore.
//!
//! In: `2Fb:claude-codeGb:..N1:2;0@n42:Hz3rW50,41T` and a template. Out: the source record of 146
//! bytes (`42` in base 36) at offset 0, with a newline, from the first 145 bytes of the template.
//!
//! Nothing is copied and nothing is allocated while a carry is read: entries and their pieces are
//! slices of its text, and all lengths are checked before a byte is restored. docs/CARRY.md has the
//! grammar of both versions.

mod entry;
mod grammar;

use core_model::{Format, Formats};

use self::grammar::{Reader, guard_bits};
use super::{
    Manifest,
    guard::RecordGuards,
    number::{GUARD_LEN, read_bits},
};

/// Limit on the bytes of a manifest.
const MAX_MANIFEST: usize = 1024 * 1024;

/// Limit on the bytes that the template pieces of an entry restore, as a multiple of the entry's
/// own text; `TEMPLATE_SLACK` is added.
pub(super) const TEMPLATE_FACTOR: u64 = 16;
pub(super) const TEMPLATE_SLACK: u64 = 4096;

/// The end of a source record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// A newline.
    Lf,
    /// A carriage return and a newline.
    CrLf,
    /// The end of the file.
    None,
}

/// A line without its ending, and the ending.
#[derive(Clone, Copy, Debug)]
pub struct SplitLine<'l> {
    /// The bytes before the ending.
    pub content: &'l [u8],
    /// The ending.
    pub ending: Ending,
}

impl Ending {
    /// Splits a line into its content and its ending.
    pub fn split(line: &[u8]) -> SplitLine<'_> {
        let (content, ending) = match line.strip_suffix(b"\n") {
            None => (line, Ending::None),
            Some(rest) => match rest.strip_suffix(b"\r") {
                None => (rest, Ending::Lf),
                Some(rest) => (rest, Ending::CrLf),
            },
        };
        SplitLine { content, ending }
    }

    /// Returns the bytes of the ending; empty at the end of the file.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
            Ending::None => b"",
        }
    }
}

/// The reason why a carry cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CarryError {
    /// This program does not know its version or one of its members.
    #[error("carry of a newer version")]
    Newer,
    /// Its text does not follow the grammar, or breaks a limit.
    #[error("damaged carry")]
    Damaged,
}

/// The name of the source's format in a carry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CarriedFormat<'c> {
    /// The letter of the format, in version 1.
    Letter(char),
    /// The name of the format, in version 2.
    Name(&'c str),
}

impl CarriedFormat<'_> {
    /// Returns whether the name means this format.
    pub fn is(self, format: &Format) -> bool {
        match self {
            CarriedFormat::Letter(letter) => format.tag == letter,
            CarriedFormat::Name(name) => format.name == name,
        }
    }

    /// Returns the format with this name; `None` if it is not one of `formats`.
    pub fn of(self, formats: Formats) -> Option<&'static Format> {
        formats.iter().find(|format| self.is(format)).copied()
    }
}

/// The end mark: totals of all carries of a conversion.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct End {
    /// The written records with a carry.
    pub carries: u64,
    /// The entries in all carries.
    pub entries: u64,
    /// The bytes that the entries restore.
    pub bytes: u64,
    /// The low 36 bits of the sum of all guards.
    pub guards: Option<u64>,
}

/// Adds a guard to the sum of guards in the end mark.
pub(crate) fn sum_of_guards(sum: u64, guard: u64) -> u64 {
    sum.wrapping_add(guard) & ((1 << 36) - 1)
}

/// A carry whose entries follow the grammar. They are parsed when they are asked for.
#[derive(Clone, Debug)]
pub struct Carry<'c> {
    /// The source's format.
    pub format: CarriedFormat<'c>,
    /// The hash of the written record without its carry.
    pub guard: u64,
    /// The hash of the head of a document with the members that its client may change.
    pub(super) whole: Option<u64>,
    /// The index of the written record among the records with a carry; `None` in version 1.
    pub ordinal: Option<u64>,
    /// The template, in the first carry of a conversion.
    pub template: Option<&'c str>,
    /// The files of the source, in the first carry of a conversion of several files.
    pub manifest: Option<Manifest>,
    /// The member orders that are new with this record.
    pub(super) orders: &'c str,
    /// The end mark, if this is the last carry of its conversion.
    pub end: Option<End>,
    entries: &'c str,
    /// The first entry, which is read while the carry is checked. Most carries have no other.
    first: Option<CarryEntry<'c>>,
    kinds: Kinds<'c>,
    is_v1: bool,
}

/// The entries of a carry by kind, which are counted while the carry is checked.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds<'c> {
    /// The first entry that the written record shows. Most carries have no other one.
    first_own: Option<CarryEntry<'c>>,
    n_own: usize,
    n_entries: u64,
    /// The bytes that the entries restore.
    n_bytes: u64,
    /// Whether there are entries that the written record does not show, and whether they are of the source's sidecar.
    has_held: bool,
    has_sidecar: bool,
}

impl<'c> Kinds<'c> {
    fn note(&mut self, entry: CarryEntry<'c>) {
        self.n_entries += 1;
        self.n_bytes = self.n_bytes.saturating_add(entry.length);
        match entry.kind {
            EntryKind::Own => {
                self.n_own += 1;
                self.first_own.get_or_insert(entry);
            }
            EntryKind::Held => self.has_held = true,
            EntryKind::Sidecar => (self.has_held, self.has_sidecar) = (true, true),
        }
    }
}

/// A source record, or a part of one, in a carry.
#[derive(Clone, Copy, Debug)]
pub struct CarryEntry<'c> {
    /// The offset of the source record in the source.
    pub offset: u64,
    /// The number of this part, from 0.
    pub part: u64,
    /// The number of parts; 1 for a whole record.
    pub n_parts: u64,
    /// Whether the written record shows the source record.
    pub kind: EntryKind,
    /// Whether the source record is the glue around the records of a document.
    pub is_glue: bool,
    /// The number of restored bytes, with the ending. In version 1, an upper limit.
    pub length: u64,
    ending: Ending,
    check: u64,
    pieces: Pieces<'c>,
    copied: CopiedLengths,
    /// The size of the entry's own text in bytes.
    text_len: u64,
    is_v1: bool,
}

/// The number of bytes that the pieces of an entry copy, by source.
#[derive(Clone, Copy, Debug, Default)]
struct CopiedLengths {
    /// Bytes of the written record, before they are respelt.
    visible: u64,
    template: u64,
}

impl CopiedLengths {
    /// Adds the length of a piece.
    fn add(&mut self, piece: &Piece<'_>) {
        match *piece {
            Piece::Visible(_, length)
            | Piece::Respelt(_, length, _)
            | Piece::Indented(_, length, ..) => self.visible = self.visible.saturating_add(length),
            Piece::Template(_, length) => self.template = self.template.saturating_add(length),
            Piece::Literal(_) | Piece::Base64(_) => {}
        }
    }
}

/// The relation of an entry to the written record that has the carry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// The written record shows the source record.
    Own,
    /// No written record shows the source record; the carry holds all of it, and restores it whether or not the
    /// written record was edited. If the written record is deleted, a sidecar still restores the source record;
    /// with an inline carry it is missing, and counted.
    Held,
    /// The carry that the source's own sidecar has for the source record at the offset.
    Sidecar,
}

/// A piece of an entry.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'c> {
    /// Literal text.
    Literal(&'c str),
    /// Bytes in base 64.
    Base64(&'c str),
    /// Bytes of the written record: start and length.
    Visible(u64, u64),
    /// Bytes of the written record, respelt in the source's style: start, length, and the length
    /// after respelling, which version 1 does not have.
    Respelt(u64, u64, Option<u64>),
    /// Bytes of the written record, respelt in the source's style and indented: start, length, the
    /// length after that, and the spaces before the last line.
    Indented(u64, u64, u64, u64),
    /// Bytes of the template: start and length.
    Template(u64, u64),
}

impl Piece<'_> {
    /// Returns the number of bytes that the piece restores; for a respelt piece of version 1, an
    /// upper limit.
    fn restored_len(&self) -> Option<u64> {
        Some(match *self {
            Piece::Literal(text) => text.len() as u64,
            Piece::Base64(digits) => {
                let (groups, rest) = (digits.len() / 4, digits.len() % 4);
                (groups * 3 + rest.saturating_sub(1)) as u64
            }
            Piece::Visible(_, length) | Piece::Template(_, length) => length,
            Piece::Respelt(_, length, None) => length.checked_mul(LONGEST_ESCAPE)?,
            Piece::Respelt(_, _, Some(length)) | Piece::Indented(_, _, length, _) => length,
        })
    }
}

/// The longest respelling of one byte: `\u0001`.
const LONGEST_ESCAPE: u64 = 6;

/// The pieces of an entry, in order.
#[derive(Clone, Copy, Debug)]
struct Pieces<'c> {
    text: &'c str,
}

impl<'c> Iterator for Pieces<'c> {
    type Item = Piece<'c>;

    fn next(&mut self) -> Option<Piece<'c>> {
        let mut reader = Reader { text: self.text };
        let piece = reader.piece();
        self.text = reader.text;
        piece
    }
}

impl<'c> Carry<'c> {
    /// Returns whether a carry after records without one belongs to a session that was continued in another client and came
    /// home: its source has records before it. `None` if the carry has no entry; then the next carry tells. If the
    /// first carry is not the first that was written, records are missing.
    pub(crate) fn continues_a_session(&self, is_first: bool) -> Option<bool> {
        if is_first && self.ordinal.is_some_and(|ordinal| ordinal > 0) {
            return Some(false);
        }
        let mut offsets = self.entries().map(|entry| entry.offset).peekable();
        offsets.peek()?;
        Some(offsets.all(|offset| offset > 0))
    }

    /// Reads a carry and checks that all of its entries follow the grammar.
    ///
    /// # Errors
    ///
    /// Returns [`CarryError::Newer`] if its version or one of its members is unknown, and
    /// [`CarryError::Damaged`] if it does not follow the grammar or breaks a limit.
    pub fn parse(text: &'c str) -> Result<Self, CarryError> {
        let mut reader = Reader { text };
        let carry = match reader.take(1) {
            Some("1") => reader.head_v1().ok_or(CarryError::Damaged)?,
            Some("2") => reader.head()?,
            Some("3" | "4" | "5" | "6" | "7" | "8" | "9") => return Err(CarryError::Newer),
            _ => return Err(CarryError::Damaged),
        };
        carry.checked().ok_or(CarryError::Damaged)
    }

    /// Returns the guards of the written record.
    pub(super) fn guards(&self) -> RecordGuards {
        RecordGuards { guard: self.guard, whole: self.whole }
    }

    /// Returns whether the carry has version 1.
    pub(crate) fn is_version_1(&self) -> bool {
        self.is_v1
    }

    /// Checks all entries once, and finds the end mark.
    fn checked(mut self) -> Option<Self> {
        let mut reader = Reader { text: self.entries };
        while !reader.text.is_empty() {
            if !self.is_v1 && reader.text.starts_with('!') {
                let at = self.entries.len() - reader.text.len();
                reader.take(1)?;
                let carries = reader.number()?;
                reader.expect(",")?;
                let entries = reader.number()?;
                reader.expect(",")?;
                let bytes = reader.number()?;
                let guards = match reader.text.starts_with(',') {
                    true => Some(reader.take(1).and_then(|_| reader.number())?),
                    false => None,
                };
                self.end = Some(End { carries, entries, bytes, guards });
                self.entries = self.entries.get(..at)?;
                return reader.text.is_empty().then_some(self);
            }
            let entry = match self.is_v1 {
                true => reader.entry_v1()?,
                false => reader.entry()?,
            };
            self.kinds.note(entry);
            self.first.get_or_insert(entry);
        }
        Some(self)
    }

    /// Returns a cursor at the first entry. `text` is the text of this carry.
    pub(crate) fn cursor(&self, text: &str) -> EntryCursor {
        let start = (self.entries.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        EntryCursor { at: start, end: start + self.entries.len(), is_v1: self.is_v1 }
    }

    /// Reads only the guard from the text of a carry.
    pub(crate) fn guard_in(text: &str) -> Option<u64> {
        let mut reader = Reader { text };
        match reader.take(1)? {
            "1" => reader.take(1).and_then(|_| read_bits(reader.take(GUARD_LEN)?.as_bytes())),
            "2" => loop {
                let key = reader.byte().filter(|key| *key != b';')?;
                let value = reader.sized()?;
                if key == b'G' {
                    return guard_bits(value);
                }
            },
            _ => None,
        }
    }

    /// Returns the number of entries, and of the bytes that they restore.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.kinds.n_entries, self.kinds.n_bytes)
    }

    /// Returns whether the carry has entries that the written record does not show.
    pub(crate) fn has_held(&self) -> bool {
        self.kinds.has_held
    }

    /// Returns whether the carry has carries of the source's own sidecar.
    pub(crate) fn has_sidecar(&self) -> bool {
        self.kinds.has_sidecar
    }

    /// Returns the entries that the written record shows. If there is one, the others are not read for it.
    pub(crate) fn own_entries(&self) -> impl Iterator<Item = CarryEntry<'c>> + use<'c> {
        let has_many = self.kinds.n_own > 1;
        let one = self.kinds.first_own.filter(|_| !has_many);
        let many = has_many.then(|| self.entries()).into_iter().flatten();
        one.into_iter().chain(many.filter(|entry| entry.kind == EntryKind::Own))
    }

    /// Returns the entries.
    pub fn entries(&self) -> impl Iterator<Item = CarryEntry<'c>> + use<'c> {
        let n_first = self.first.map_or(0, |first| first.text_len as usize);
        let rest = self.entries.get(n_first..).unwrap_or_default();
        let (mut reader, is_v1) = (Reader { text: rest }, self.is_v1);
        let rest = std::iter::from_fn(move || match is_v1 {
            _ if reader.text.is_empty() => None,
            true => reader.entry_v1(),
            false => reader.entry(),
        });
        self.first.into_iter().chain(rest)
    }
}

/// The position of an entry in the text of a carry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryCursor {
    at: usize,
    end: usize,
    is_v1: bool,
}

impl EntryCursor {
    /// Returns the entries that no record shows, from the cursor on, with a cursor at their start; `None` if they are more
    /// than a quarter of the text, so that they would take much memory beside it.
    pub(crate) fn held(mut self, text: &str) -> Option<(String, Self)> {
        let mut held = String::new();
        loop {
            let start = self.at;
            let Some(entry) = self.next(text) else { break };
            if entry.kind != EntryKind::Own {
                held.push_str(text.get(start..self.at).unwrap_or_default());
            }
            if held.len() > text.len() / 4 {
                return None;
            }
        }
        let cursor = Self { at: 0, end: held.len(), is_v1: self.is_v1 };
        Some((held, cursor))
    }

    /// Returns the entry at the cursor and advances; `None` after the last entry.
    pub(crate) fn next<'c>(&mut self, text: &'c str) -> Option<CarryEntry<'c>> {
        let text = text.get(self.at..self.end).filter(|text| !text.is_empty())?;
        let mut reader = Reader { text };
        let entry = if self.is_v1 { reader.entry_v1() } else { reader.entry() };
        self.at = self.end - reader.text.len();
        entry
    }
}
