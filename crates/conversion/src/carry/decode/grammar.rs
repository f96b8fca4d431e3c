//! Parses the grammar of carries, in both versions (docs/CARRY.md).
//!
//! In: `0@nr:H0OFWC5L{"t":8,eV`. Out: an entry at offset 0 (`@`: the written record shows it, `n`: it
//! ends with a newline) that restores 27 bytes from the pieces `5L` (5 literal bytes) and `8,eV`
//! (14 bytes of the written record, from byte 8).

use super::{
    CarriedFormat, Carry, CarryEntry, CarryError, CopiedLengths, Ending, EntryKind, Kinds,
    MAX_MANIFEST, Piece, Pieces,
};
use crate::carry::{
    Manifest,
    number::{CHECK_LEN, GUARD_LEN, number_at, read_bits, read_number},
    template::MAX_TEMPLATE,
};

/// A parser at the front of a carry's text.
#[derive(Clone, Copy)]
pub(super) struct Reader<'c> {
    pub(super) text: &'c str,
}

impl<'c> Reader<'c> {
    pub(super) fn take(&mut self, n: usize) -> Option<&'c str> {
        let (taken, rest) = self.text.split_at_checked(n)?;
        self.text = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?.as_bytes()[0])
    }

    pub(super) fn expect(&mut self, word: &str) -> Option<()> {
        (self.take(word.len())? == word).then_some(())
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, end) = self.number_at(0)?;
        self.text = self.text.get(end..)?;
        Some(number)
    }

    /// Returns the number at an offset of the text, and the offset of its end.
    #[inline(always)]
    fn number_at(&self, start: usize) -> Option<(u64, usize)> {
        number_at(self.text.as_bytes(), start).filter(|(number, _)| *number < 1 << 63)
    }

    /// Reads a length, a colon, and that number of bytes.
    pub(super) fn sized(&mut self) -> Option<&'c str> {
        let length = usize::try_from(self.number()?).ok()?;
        self.expect(":")?;
        self.take(length)
    }

    pub(super) fn head_v1(&mut self) -> Option<Carry<'c>> {
        let letter = self.take(1)?.chars().next()?;
        let guard = read_bits(self.take(GUARD_LEN)?.as_bytes())?;
        let (mut template, mut manifest) = (None, None);
        if self.text.starts_with('H') {
            self.take(1)?;
            template = Some(self.sized().filter(|text| text.len() <= MAX_TEMPLATE)?);
            if self.text.starts_with('T') {
                self.take(1)?;
                manifest = Some(parse_manifest(self.sized()?)?);
            }
        }
        let format = CarriedFormat::Letter(letter);
        let (orders, entries) = ("", self.text);
        Some(Carry {
            format,
            guard,
            whole: None,
            ordinal: None,
            template,
            manifest,
            orders,
            end: None,
            entries,
            first: None,
            kinds: Kinds::default(),
            is_v1: true,
        })
    }

    pub(super) fn head(&mut self) -> Result<Carry<'c>, CarryError> {
        let damaged = CarryError::Damaged;
        let (mut format, mut guard, mut whole, mut ordinal) = (None, None, None, None);
        let (mut template, mut manifest, mut orders) = (None, None::<Manifest>, "");
        // A bit for each known member. Their keys differ in the low five bits.
        let mut seen = 0_u32;
        loop {
            let key = self.byte().ok_or(damaged)?;
            if key == b';' {
                break;
            }
            let value = self.sized().ok_or(damaged)?;
            // Of two values, one reader would take the first and another the last.
            if matches!(key, b'F' | b'G' | b'N' | b'T' | b'M' | b'a' | b'k' | b'v') {
                let bit = 1 << (key & 31);
                if seen & bit != 0 {
                    return Err(damaged);
                }
                seen |= bit;
            }
            match key {
                b'F' => format = Some(value),
                b'G' => guard = Some(guard_bits(value).ok_or(damaged)?),
                b'N' => ordinal = Some(whole_number(value).ok_or(damaged)?),
                b'T' if value.len() > MAX_TEMPLATE => return Err(damaged),
                b'T' => template = Some(value),
                b'M' => {
                    let read = parse_manifest(value).ok_or(damaged)?;
                    manifest.get_or_insert_default().entries = read.entries;
                }
                b'a' => {
                    let read = parse_agents(value).ok_or(damaged)?;
                    manifest.get_or_insert_default().agents = read;
                }
                b'd' => {
                    let read = parse_agents(value).ok_or(damaged)?;
                    manifest.get_or_insert_default().derived = read;
                }
                b's' => {
                    let read = Manifest::parse_derived_from(value).ok_or(damaged)?;
                    manifest.get_or_insert_default().derived_from = Some(read);
                }
                b'k' => orders = value,
                b'v' => whole = Some(guard_bits(value).ok_or(damaged)?),
                b'b'..=b'z' => {}
                b'A'..=b'Z' => return Err(CarryError::Newer),
                _ => return Err(damaged),
            }
        }
        let format = CarriedFormat::Name(format.ok_or(damaged)?);
        let (guard, ordinal) = (guard.ok_or(damaged)?, Some(ordinal.ok_or(damaged)?));
        // The template and the manifest belong to the first carry.
        if (template.is_some() || manifest.is_some()) && ordinal != Some(0) {
            return Err(damaged);
        }
        Ok(Carry {
            format,
            guard,
            whole,
            ordinal,
            template,
            manifest,
            orders,
            end: None,
            entries: self.text,
            first: None,
            kinds: Kinds::default(),
            is_v1: false,
        })
    }

    /// Reads the start of an entry, up to its length: offset, part, kind and ending.
    fn place(&mut self) -> Option<Place> {
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
        let (kind, is_glue) = match self.byte()? {
            b'@' => (EntryKind::Own, false),
            b'&' => (EntryKind::Held, false),
            b'^' => (EntryKind::Sidecar, false),
            b'~' => (EntryKind::Own, true),
            b'=' => (EntryKind::Held, true),
            _ => return None,
        };
        let ending = match self.byte()? {
            b'n' => Ending::Lf,
            b'r' => Ending::CrLf,
            b'e' => Ending::None,
            _ => return None,
        };
        Some(Place { offset, part, kind, is_glue, ending })
    }

    /// Reads an entry of version 2. Its pieces end when they add up to its length.
    pub(super) fn entry(&mut self) -> Option<CarryEntry<'c>> {
        let before = self.text;
        let Place { offset, part: (part, n_parts), kind, is_glue, ending } = self.place()?;
        let length = self.number()?;
        self.expect(":")?;
        let check = read_bits(self.take(CHECK_LEN)?.as_bytes())?;
        let start = self.text;
        let mut copied = CopiedLengths::default();
        let mut left = length.checked_sub(ending.bytes().len() as u64)?;
        while left > 0 {
            let piece = self.piece()?;
            let restored = piece.restored_len().filter(|length| *length > 0)?;
            left = left.checked_sub(restored)?;
            copied.add(&piece);
        }
        offset.checked_add(length).filter(|end| *end < 1 << 63)?;
        let pieces = Pieces { text: start.get(..start.len() - self.text.len())? };
        let text_len = (before.len() - self.text.len()) as u64;
        Some(CarryEntry {
            offset,
            part,
            n_parts,
            kind,
            is_glue,
            length,
            ending,
            check,
            pieces,
            copied,
            text_len,
            is_v1: false,
        })
    }

    /// Reads an entry of version 1. Its pieces end at the next entry or at the end.
    pub(super) fn entry_v1(&mut self) -> Option<CarryEntry<'c>> {
        let before = self.text;
        let Place { offset, part: (part, n_parts), kind, is_glue, ending } = self.place()?;
        if kind == EntryKind::Sidecar || is_glue {
            return None;
        }
        let check = read_bits(self.take(CHECK_LEN)?.as_bytes())?;
        let start = self.text;
        let mut copied = CopiedLengths::default();
        let mut length = ending.bytes().len() as u64;
        while !self.text.is_empty() {
            let mut ahead = *self;
            match ahead.piece() {
                Some(piece) => {
                    length = length.checked_add(piece.restored_len()?)?;
                    copied.add(&piece);
                }
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
            is_glue,
            length,
            ending,
            check,
            pieces,
            copied,
            text_len,
            is_v1: true,
        })
    }

    fn place_follows(&self) -> bool {
        let mut ahead = *self;
        ahead.place().is_some()
    }

    /// Reads a piece; `None` if there is none. In version 1, `B` marks a template piece.
    ///
    /// Carries consist of pieces: the text is cut once for each of them.
    pub(super) fn piece(&mut self) -> Option<Piece<'c>> {
        let byte = |at: usize| self.text.as_bytes().get(at).copied();
        let (first, at) = self.number_at(0)?;
        let (piece, end) = match byte(at)? {
            kind @ (b'L' | b'X') => {
                let start = at + 1;
                let end = start.checked_add(usize::try_from(first).ok()?)?;
                let text = self.text.get(start..end)?;
                (if kind == b'L' { Piece::Literal(text) } else { Piece::Base64(text) }, end)
            }
            b',' => {
                let (second, at) = self.number_at(at + 1)?;
                match byte(at)? {
                    b'V' => (Piece::Visible(first, second), at + 1),
                    b'T' | b'B' => (Piece::Template(first, second), at + 1),
                    b'R' => (Piece::Respelt(first, second, None), at + 1),
                    b',' => {
                        let (third, at) = self.number_at(at + 1)?;
                        match byte(at)? {
                            b'R' => (Piece::Respelt(first, second, Some(third)), at + 1),
                            b',' => {
                                let (fourth, at) = self.number_at(at + 1)?;
                                let is_piece = byte(at)? == b'P';
                                let piece = Piece::Indented(first, second, third, fourth);
                                (is_piece.then_some(piece)?, at + 1)
                            }
                            _ => return None,
                        }
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        self.text = self.text.get(end..)?;
        Some(piece)
    }
}

/// The start of an entry.
struct Place {
    offset: u64,
    part: (u64, u64),
    kind: EntryKind,
    is_glue: bool,
    ending: Ending,
}

fn parse_manifest(text: &str) -> Option<Manifest> {
    if text.len() > MAX_MANIFEST { None } else { Manifest::parse(text) }
}

fn parse_agents(text: &str) -> Option<Vec<String>> {
    if text.len() > MAX_MANIFEST { None } else { Manifest::parse_agents(text) }
}

pub(super) fn guard_bits(value: &str) -> Option<u64> {
    if value.len() == GUARD_LEN { read_bits(value.as_bytes()) } else { None }
}

fn whole_number(value: &str) -> Option<u64> {
    let mut rest = value.as_bytes();
    read_number(&mut rest).filter(|_| rest.is_empty())
}
