//! Reads a carry: its head, its entries, and the source bytes that they restore.
//!
//! Nothing is copied and nothing is allocated while a carry is read: entries and their pieces are
//! slices of its text, and all lengths are checked before a byte is restored. docs/CARRY.md has the
//! grammar of both versions.

use core_model::Format;
use jsonl::Style;
use twox_hash::XxHash3_64;

use super::{
    Contents,
    number::{CHECK_LEN, GUARD_LEN, check_bits, read_base64, read_bits, read_number},
    template::MAX_TEMPLATE,
};

/// The most bytes of a manifest.
const MAX_MANIFEST: usize = 1024 * 1024;

/// Of an entry's own text, how many times that its template pieces may restore, and how many bytes
/// more.
pub(super) const TEMPLATE_FACTOR: u64 = 16;
pub(super) const TEMPLATE_SLACK: u64 = 4096;

/// How a source record ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// With a newline.
    Lf,
    /// With a carriage return and a newline.
    CrLf,
    /// With the file.
    None,
}

impl Ending {
    /// Splits a line into its content and its ending.
    pub fn split(line: &[u8]) -> (&[u8], Ending) {
        match line.strip_suffix(b"\n") {
            None => (line, Ending::None),
            Some(rest) => match rest.strip_suffix(b"\r") {
                None => (rest, Ending::Lf),
                Some(rest) => (rest, Ending::CrLf),
            },
        }
    }

    /// Returns the bytes of the ending.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
            Ending::None => b"",
        }
    }
}

/// Why a carry cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CarryError {
    /// It has a version, or a member, that this program does not know.
    #[error("carry of a newer version")]
    Newer,
    /// Its text does not follow the grammar, or breaks a limit.
    #[error("damaged carry")]
    Damaged,
}

/// The source's format, as a carry names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CarriedFormat<'c> {
    /// By its letter, in version 1.
    Letter(char),
    /// By its name, in version 2.
    Name(&'c str),
}

impl CarriedFormat<'_> {
    /// Returns whether a carry means this format.
    pub fn is(self, format: &Format) -> bool {
        match self {
            CarriedFormat::Letter(letter) => format.tag == letter,
            CarriedFormat::Name(name) => format.name == name,
        }
    }
}

/// The end mark: what all carries of a conversion hold together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct End {
    /// The written records with a carry.
    pub carries: u64,
    /// The entries in them.
    pub entries: u64,
    /// The bytes that the entries restore.
    pub bytes: u64,
}

/// A carry. Its entries are read when they are asked for; all of them follow the grammar.
#[derive(Clone, Debug)]
pub struct Carry<'c> {
    /// The source's format.
    pub format: CarriedFormat<'c>,
    /// The hash of the written record without its carry.
    pub guard: u64,
    /// The place of the written record among those with a carry; `None` in version 1.
    pub ordinal: Option<u64>,
    /// The template, in the first carry of a conversion.
    pub template: Option<&'c str>,
    /// The files of the source, in the first carry of a conversion of several files.
    pub contents: Option<Contents>,
    /// The member orders that are new with this record.
    pub(super) orders: &'c str,
    /// The end mark, if this is the last carry of its conversion.
    pub end: Option<End>,
    entries: &'c str,
    is_v1: bool,
}

/// A source record, or a part of one, in a carry.
#[derive(Clone, Copy, Debug)]
pub struct CarryEntry<'c> {
    /// Where the source record starts in the source.
    pub offset: u64,
    /// The number of this part, from 0.
    pub part: u64,
    /// The number of parts; 1 for a whole record.
    pub n_parts: u64,
    /// Who says it.
    pub kind: EntryKind,
    /// The bytes that it restores, with the ending; in version 1, at most so many.
    pub length: u64,
    ending: Ending,
    check: u64,
    pieces: Pieces<'c>,
    /// The entry's own text, in bytes.
    text_len: u64,
    is_v1: bool,
}

/// Who says what an entry restores.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// The written record that has the carry.
    Own,
    /// No written record; the carry only holds it.
    Held,
    /// It is the carry that the source's own sidecar has for the source record at the offset.
    Sidecar,
}

/// A piece of an entry.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'c> {
    /// Bytes as they are.
    Literal(&'c str),
    /// Bytes in base 64.
    Base64(&'c str),
    /// Bytes of the written record: start and length.
    Visible(u64, u64),
    /// Bytes of the written record, respelt in the source's style: start, length, and the length
    /// after respelling, which version 1 does not tell.
    Respelt(u64, u64, Option<u64>),
    /// Bytes of the template: start and length.
    Template(u64, u64),
}

impl Piece<'_> {
    /// Returns how many bytes the piece restores; of a version 1 respelt one, the most.
    fn restored_len(&self) -> Option<u64> {
        Some(match *self {
            Piece::Literal(text) => text.len() as u64,
            Piece::Base64(digits) => {
                let (groups, rest) = (digits.len() / 4, digits.len() % 4);
                (groups * 3 + rest.saturating_sub(1)) as u64
            }
            Piece::Visible(_, length) | Piece::Template(_, length) => length,
            Piece::Respelt(_, length, None) => length.checked_mul(LONGEST_ESCAPE)?,
            Piece::Respelt(_, _, Some(length)) => length,
        })
    }
}

/// The bytes that one byte may take after respelling: `\u0001`.
const LONGEST_ESCAPE: u64 = 6;

/// The pieces of an entry, one after the other.
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
    /// Reads a carry and checks that all of its entries follow the grammar.
    ///
    /// # Errors
    ///
    /// Returns [`CarryError::Newer`] if its version or one of its members is not known, and
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

    /// Returns whether it is of version 1.
    pub(crate) fn is_version_1(&self) -> bool {
        self.is_v1
    }

    /// Goes through all entries once, and finds the end mark.
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
                self.end = Some(End { carries, entries, bytes: reader.number()? });
                self.entries = self.entries.get(..at)?;
                return reader.text.is_empty().then_some(self);
            }
            match self.is_v1 {
                true => reader.entry_v1()?,
                false => reader.entry()?,
            };
        }
        Some(self)
    }

    /// Returns the place of the first entry in the text that the carry was read from.
    pub(crate) fn cursor(&self, text: &str) -> EntryCursor {
        let start = (self.entries.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        EntryCursor { at: start, end: start + self.entries.len(), is_v1: self.is_v1 }
    }

    /// Returns the guard that a carry's text says, without reading its entries.
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

    /// Returns the entries.
    pub fn entries(&self) -> impl Iterator<Item = CarryEntry<'c>> + use<'c> {
        let (mut reader, is_v1) = (Reader { text: self.entries }, self.is_v1);
        std::iter::from_fn(move || match is_v1 {
            _ if reader.text.is_empty() => None,
            true => reader.entry_v1(),
            false => reader.entry(),
        })
    }
}

/// The place of an entry in the text of a carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryCursor {
    at: usize,
    end: usize,
    is_v1: bool,
}

impl EntryCursor {
    /// Returns the entry at the place, and goes to the next one.
    pub(crate) fn next<'c>(&mut self, text: &'c str) -> Option<CarryEntry<'c>> {
        let text = text.get(self.at..self.end).filter(|text| !text.is_empty())?;
        let mut reader = Reader { text };
        let entry = if self.is_v1 { reader.entry_v1() } else { reader.entry() };
        self.at = self.end - reader.text.len();
        entry
    }
}

#[derive(Clone, Copy)]
struct Reader<'c> {
    text: &'c str,
}

impl<'c> Reader<'c> {
    fn take(&mut self, n: usize) -> Option<&'c str> {
        let (taken, rest) = self.text.split_at_checked(n)?;
        self.text = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?.as_bytes()[0])
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        (self.take(word.len())? == word).then_some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut rest = self.text.as_bytes();
        let before = rest.len();
        let number = read_number(&mut rest).filter(|number| *number < 1 << 63)?;
        self.take(before - rest.len())?;
        Some(number)
    }

    /// Takes a length, a colon, and so many bytes.
    fn sized(&mut self) -> Option<&'c str> {
        let length = usize::try_from(self.number()?).ok()?;
        self.expect(":")?;
        self.take(length)
    }

    fn head_v1(&mut self) -> Option<Carry<'c>> {
        let letter = self.take(1)?.chars().next()?;
        let guard = read_bits(self.take(GUARD_LEN)?.as_bytes())?;
        let (mut template, mut contents) = (None, None);
        if self.text.starts_with('H') {
            self.take(1)?;
            template = Some(self.sized().filter(|text| text.len() <= MAX_TEMPLATE)?);
            if self.text.starts_with('T') {
                self.take(1)?;
                contents = Some(manifest(self.sized()?)?);
            }
        }
        let format = CarriedFormat::Letter(letter);
        let (orders, entries) = ("", self.text);
        Some(Carry {
            format,
            guard,
            ordinal: None,
            template,
            contents,
            orders,
            end: None,
            entries,
            is_v1: true,
        })
    }

    fn head(&mut self) -> Result<Carry<'c>, CarryError> {
        let damaged = CarryError::Damaged;
        let (mut format, mut guard, mut ordinal) = (None, None, None);
        let (mut template, mut contents, mut orders) = (None, None, "");
        loop {
            let key = self.byte().ok_or(damaged)?;
            if key == b';' {
                break;
            }
            let value = self.sized().ok_or(damaged)?;
            match key {
                b'F' => format = Some(value),
                b'G' => guard = Some(guard_bits(value).ok_or(damaged)?),
                b'N' => ordinal = Some(whole_number(value).ok_or(damaged)?),
                b'T' if value.len() > MAX_TEMPLATE => return Err(damaged),
                b'T' => template = Some(value),
                b'M' => contents = Some(manifest(value).ok_or(damaged)?),
                b'k' => orders = value,
                b'a'..=b'z' => {}
                b'A'..=b'Z' => return Err(CarryError::Newer),
                _ => return Err(damaged),
            }
        }
        let format = CarriedFormat::Name(format.ok_or(damaged)?);
        let (guard, ordinal) = (guard.ok_or(damaged)?, Some(ordinal.ok_or(damaged)?));
        // A template and a manifest come first or not at all.
        if (template.is_some() || contents.is_some()) && ordinal != Some(0) {
            return Err(damaged);
        }
        let (end, entries) = (None, self.text);
        Ok(Carry { format, guard, ordinal, template, contents, orders, end, entries, is_v1: false })
    }

    /// Reads what comes before an entry's length: offset, part, kind and ending.
    fn place(&mut self) -> Option<(u64, (u64, u64), EntryKind, Ending)> {
        let offset = self.number()?;
        let mut part = (0, 1);
        if self.text.starts_with(',') {
            self.take(1)?;
            part.0 = self.number()?;
            self.expect(",")?;
            part.1 = self.number()?;
            if part.0 >= part.1 {
                return None;
            }
        }
        let kind = match self.byte()? {
            b'@' => EntryKind::Own,
            b'&' => EntryKind::Held,
            b'^' => EntryKind::Sidecar,
            _ => return None,
        };
        let ending = match self.byte()? {
            b'n' => Ending::Lf,
            b'r' => Ending::CrLf,
            b'e' => Ending::None,
            _ => return None,
        };
        Some((offset, part, kind, ending))
    }

    /// Reads an entry of version 2: its pieces end where their lengths make up its own.
    fn entry(&mut self) -> Option<CarryEntry<'c>> {
        let before = self.text;
        let (offset, (part, n_parts), kind, ending) = self.place()?;
        let length = self.number()?;
        self.expect(":")?;
        let check = read_bits(self.take(CHECK_LEN)?.as_bytes())?;
        let start = self.text;
        let mut left = length.checked_sub(ending.bytes().len() as u64)?;
        while left > 0 {
            let restored = self.piece()?.restored_len().filter(|length| *length > 0)?;
            left = left.checked_sub(restored)?;
        }
        offset.checked_add(length).filter(|end| *end < 1 << 63)?;
        let pieces = Pieces { text: start.get(..start.len() - self.text.len())? };
        let text_len = (before.len() - self.text.len()) as u64;
        Some(CarryEntry {
            offset,
            part,
            n_parts,
            kind,
            length,
            ending,
            check,
            pieces,
            text_len,
            is_v1: false,
        })
    }

    /// Reads an entry of version 1: its pieces end where the next entry, or nothing, follows.
    fn entry_v1(&mut self) -> Option<CarryEntry<'c>> {
        let before = self.text;
        let (offset, (part, n_parts), kind, ending) = self.place()?;
        if kind == EntryKind::Sidecar {
            return None;
        }
        let check = read_bits(self.take(CHECK_LEN)?.as_bytes())?;
        let start = self.text;
        let mut length = ending.bytes().len() as u64;
        while !self.text.is_empty() {
            let mut ahead = *self;
            match ahead.piece() {
                Some(piece) => length = length.checked_add(piece.restored_len()?)?,
                // The number was the offset of the next entry.
                None if self.place_follows() => break,
                None => return None,
            }
            *self = ahead;
        }
        offset.checked_add(length).filter(|end| *end < 1 << 63)?;
        let pieces = Pieces { text: start.get(..start.len() - self.text.len())? };
        let text_len = (before.len() - self.text.len()) as u64;
        Some(CarryEntry {
            offset,
            part,
            n_parts,
            kind,
            length,
            ending,
            check,
            pieces,
            text_len,
            is_v1: true,
        })
    }

    fn place_follows(&self) -> bool {
        let mut ahead = *self;
        ahead.place().is_some()
    }

    /// Reads a piece; `None` if none follows. `B` is what version 1 calls a template piece.
    fn piece(&mut self) -> Option<Piece<'c>> {
        let first = self.number()?;
        let text = |reader: &mut Self| reader.take(usize::try_from(first).ok()?);
        match self.byte()? {
            b'L' => Some(Piece::Literal(text(self)?)),
            b'X' => Some(Piece::Base64(text(self)?)),
            b',' => {
                let second = self.number()?;
                match self.byte()? {
                    b'V' => Some(Piece::Visible(first, second)),
                    b'T' | b'B' => Some(Piece::Template(first, second)),
                    b'R' => Some(Piece::Respelt(first, second, None)),
                    b',' => {
                        let third = self.number()?;
                        self.expect("R")?;
                        Some(Piece::Respelt(first, second, Some(third)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn manifest(text: &str) -> Option<Contents> {
    if text.len() > MAX_MANIFEST { None } else { Contents::parse(text) }
}

fn guard_bits(value: &str) -> Option<u64> {
    if value.len() == GUARD_LEN { read_bits(value.as_bytes()) } else { None }
}

fn whole_number(value: &str) -> Option<u64> {
    let mut rest = value.as_bytes();
    read_number(&mut rest).filter(|_| rest.is_empty())
}

impl<'c> CarryEntry<'c> {
    /// Returns the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'c>> + use<'c> {
        self.pieces
    }

    /// Returns whether the entry keeps to the limits, before a byte is copied.
    fn is_within_limits(&self, n_visible: usize) -> bool {
        let (mut of_visible, mut of_template) = (0u64, 0u64);
        for piece in self.pieces {
            match piece {
                Piece::Visible(_, length) | Piece::Respelt(_, length, _) => {
                    of_visible = of_visible.saturating_add(length);
                }
                Piece::Template(_, length) => of_template = of_template.saturating_add(length),
                Piece::Literal(_) | Piece::Base64(_) => {}
            }
        }
        let most = self.text_len.saturating_mul(TEMPLATE_FACTOR).saturating_add(TEMPLATE_SLACK);
        // Version 1 may have written more for a pattern that repeats itself.
        of_visible <= n_visible as u64 && (of_template <= most || self.is_v1)
    }

    /// Appends the source bytes of the entry to `out` and returns whether they are right; if not,
    /// `out` is as before.
    ///
    /// `visible` is the written record without its carry, `style` the source's spelling of JSON.
    pub fn restore(
        &self,
        out: &mut Vec<u8>,
        visible: &[u8],
        template: &[u8],
        style: Style,
    ) -> bool {
        let start = out.len();
        if !self.is_within_limits(visible.len()) {
            return false;
        }
        let is_whole = self.pieces.into_iter().all(|piece| match piece {
            Piece::Literal(text) => push(out, Some(text.as_bytes())),
            Piece::Base64(digits) => read_base64(out, digits.as_bytes()),
            Piece::Visible(from, length) => push(out, slice(visible, from, length)),
            Piece::Template(from, length) => push(out, slice(template, from, length)),
            Piece::Respelt(from, length, _) => {
                let text = slice(visible, from, length).and_then(|it| std::str::from_utf8(it).ok());
                let is_value = text.is_some_and(|text| jsonl::validate(text.as_bytes()).is_ok());
                if is_value {
                    jsonl::respell_str(out, text.unwrap_or_default(), style);
                }
                is_value
            }
        });
        out.extend_from_slice(self.ending.bytes());
        let is_right = is_whole
            && out
                .get(start..)
                .is_some_and(|bytes| check_bits(XxHash3_64::oneshot(bytes)) == self.check);
        if !is_right {
            out.truncate(start);
        }
        is_right
    }

    /// Appends what the entry says apart from the written record: the source record with `null`, or
    /// nothing within a string, in the places that the written record filled.
    pub fn skeleton(&self, out: &mut Vec<u8>, template: &[u8]) {
        for piece in self.pieces {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Base64(digits) => _ = read_base64(out, digits.as_bytes()),
                Piece::Template(from, length) => _ = push(out, slice(template, from, length)),
                Piece::Visible(..) | Piece::Respelt(..) => {
                    let before = out.iter().rfind(|byte| **byte != b' ');
                    if matches!(before, Some(b':' | b',' | b'[')) {
                        out.extend_from_slice(b"null");
                    }
                }
            }
        }
    }
}

fn push(out: &mut Vec<u8>, bytes: Option<&[u8]>) -> bool {
    out.extend_from_slice(bytes.unwrap_or_default());
    bytes.is_some()
}

fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let from = usize::try_from(from).ok()?;
    bytes.get(from..from.checked_add(usize::try_from(length).ok()?)?)
}
