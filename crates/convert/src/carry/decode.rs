//! Reading a carry: its records, and the source bytes that they stand for.

use jsonl::Style;
use twox_hash::XxHash3_64;

use super::{
    Contents,
    number::{CHECK_LEN, GUARD_LEN, check_bits, read_base64, read_bits, read_number},
};

/// How a source line ends.
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
    /// Returns the ending of a line, and the line without it.
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

/// A carry, read.
#[derive(Clone, Debug)]
pub struct Carry<'c> {
    /// The letter of the source's format.
    pub tag: char,
    /// The hash of the line that it was written on.
    pub guard: u64,
    /// The base, on the first line of a conversion.
    pub base: Option<&'c str>,
    /// The files of the source, on the first line of a conversion, where that needs saying.
    pub contents: Option<Contents>,
    /// The records.
    pub records: Vec<Record<'c>>,
}

/// A source line, or a part of one.
#[derive(Clone, Debug)]
pub struct Record<'c> {
    /// Where the source line starts in the source.
    pub offset: u64,
    /// The number of this part, from 0.
    pub part: u64,
    /// The number of parts; 1 for a whole line.
    pub n_parts: u64,
    /// Whether it only rides on its line, which says nothing of it.
    pub is_rider: bool,
    ending: Ending,
    check: u64,
    pieces: Vec<Piece<'c>>,
}

/// A piece of a record.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'c> {
    /// Bytes as they are.
    Literal(&'c str),
    /// Bytes in base 64.
    Base64(&'c str),
    /// Bytes of the written line: start and length.
    Visible(usize, usize),
    /// Bytes of the written line, to be spelled as the source does.
    Respelt(usize, usize),
    /// Bytes of the base.
    Base(usize, usize),
}

impl<'c> Carry<'c> {
    /// Reads a carry; `None` if it is none.
    pub fn parse(text: &'c str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        if reader.take(1)? != "1" {
            return None;
        }
        let tag = reader.take(1)?.chars().next()?;
        let guard = read_bits(reader.take(GUARD_LEN)?.as_bytes())?;
        let (mut base, mut contents) = (None, None);
        if reader.rest().starts_with('H') {
            reader.take(1)?;
            let length = reader.number()?;
            reader.expect(":")?;
            base = Some(reader.take(length as usize)?);
            if reader.rest().starts_with('T') {
                reader.take(1)?;
                let length = reader.number()?;
                reader.expect(":")?;
                contents = Some(Contents::parse(reader.take(length as usize)?)?);
            }
        }
        let mut records = Vec::new();
        while !reader.rest().is_empty() {
            let record = reader.record()?;
            records.push(record);
        }
        Some(Self { tag, guard, base, contents, records })
    }
}

struct Reader<'c> {
    text: &'c str,
    at: usize,
}

impl<'c> Reader<'c> {
    fn rest(&self) -> &'c str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, n: usize) -> Option<&'c str> {
        let taken = self.rest().get(..n)?;
        self.at += n;
        Some(taken)
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        (self.take(word.len())? == word).then_some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut rest = self.rest().as_bytes();
        let before = rest.len();
        let number = read_number(&mut rest)?;
        self.at += before - rest.len();
        Some(number)
    }

    /// Reads a record up to the start of the next one.
    fn record(&mut self) -> Option<Record<'c>> {
        let offset = self.number()?;
        let (mut part, mut n_parts) = (0, 1);
        if self.rest().starts_with(',') {
            self.take(1)?;
            part = self.number()?;
            self.expect(",")?;
            n_parts = self.number()?;
        }
        let is_rider = match self.take(1)? {
            "@" => false,
            "&" => true,
            _ => return None,
        };
        let ending = match self.take(1)? {
            "n" => Ending::Lf,
            "r" => Ending::CrLf,
            "e" => Ending::None,
            _ => return None,
        };
        let check = read_bits(self.take(CHECK_LEN)?.as_bytes())?;
        let mut pieces = Vec::new();
        while let Some(piece) = self.piece()? {
            pieces.push(piece);
        }
        Some(Record { offset, part, n_parts, is_rider, ending, check, pieces })
    }

    /// Reads a piece, or returns `Some(None)` where the next record or nothing follows.
    fn piece(&mut self) -> Option<Option<Piece<'c>>> {
        if self.rest().is_empty() {
            return Some(None);
        }
        let before = self.at;
        let first = self.number()? as usize;
        let piece = match self.take(1)? {
            "L" => Piece::Literal(self.take(first)?),
            "X" => Piece::Base64(self.take(first)?),
            "," => {
                let second = self.number()? as usize;
                match self.take(1)? {
                    "V" => Piece::Visible(first, second),
                    "R" => Piece::Respelt(first, second),
                    "B" => Piece::Base(first, second),
                    // The number was the offset of a part: the next record.
                    "," => {
                        self.at = before;
                        return Some(None);
                    }
                    _ => return None,
                }
            }
            "@" | "&" => {
                self.at = before;
                return Some(None);
            }
            _ => return None,
        };
        Some(Some(piece))
    }
}

impl Record<'_> {
    /// Appends the source bytes of the record to `out` and returns whether they are right.
    ///
    /// `visible` is the written line without its carry, `style` how the source spells JSON.
    pub fn restore(&self, out: &mut Vec<u8>, visible: &[u8], base: &[u8], style: Style) -> bool {
        let start = out.len();
        let is_whole = self.pieces.iter().all(|piece| match *piece {
            Piece::Literal(text) => push(out, Some(text.as_bytes())),
            Piece::Base64(digits) => read_base64(out, digits.as_bytes()),
            Piece::Visible(from, length) => push(out, slice(visible, from, length)),
            Piece::Base(from, length) => push(out, slice(base, from, length)),
            Piece::Respelt(from, length) => {
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

    /// Appends what the record says apart from the written line: the source line with `null`, or
    /// nothing within a string, in the places of what the written line said.
    pub fn skeleton(&self, out: &mut Vec<u8>, base: &[u8]) {
        for piece in &self.pieces {
            match *piece {
                Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Base64(digits) => _ = read_base64(out, digits.as_bytes()),
                Piece::Base(from, length) => _ = push(out, slice(base, from, length)),
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

fn slice(bytes: &[u8], from: usize, length: usize) -> Option<&[u8]> {
    bytes.get(from..from.checked_add(length)?)
}
