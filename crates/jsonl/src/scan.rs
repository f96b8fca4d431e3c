//! Strict validation of one line, and the range of every value in it: the index all else reads.
//!
//! The scanner accepts exactly what `serde_json`'s `RawValue` accepts (lone surrogates, numbers of
//! any length and nesting of any depth included) and never recurses. It allocates only to grow its
//! reused buffers.

use memchr::memchr2;

use crate::{
    Error, ErrorKind, Line, Raw, Result, Value,
    value::{Kind, Oddities},
};

/// The longest line that is indexed, in bytes: offsets within a line are 32-bit.
pub const MAX_LINE: usize = u32::MAX as usize - 1;

/// The depth to which values are indexed; what lies deeper is validated and kept as written.
pub(crate) const MAX_INDEXED_DEPTH: usize = 16;

const NO_NODE: u32 = u32::MAX >> 1;
const OBJECT: u32 = 1 << 31;

/// A value's place in its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of the node after this one and all that it holds.
    pub(crate) next: u32,
    pub(crate) kind: Kind,
}

/// Finds the values of one line after another, through reused buffers.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    nodes: Vec<Node>,
    open: Vec<u32>,
}

impl Scanner {
    /// Validates a line and returns its value.
    ///
    /// # Errors
    ///
    /// If the line is blank, is not UTF-8, or is not one JSON value. The offset is absolute.
    pub fn scan<'s>(&'s mut self, line: &Line<'s>) -> Result<Value<'s>> {
        let content = line.content();
        let base = line.offset_of(content).unwrap_or(line.offset());
        self.scan_slice(content, base)
    }

    /// Validates bytes that lie at `base` of an input and returns their value.
    ///
    /// # Errors
    ///
    /// As [`Scanner::scan`].
    pub fn scan_slice<'s>(&'s mut self, content: &'s [u8], base: u64) -> Result<Value<'s>> {
        let error = |at: usize, kind| Error { offset: base + at as u64, kind };
        if content.len() > MAX_LINE {
            return Err(error(0, ErrorKind::TooLong));
        }
        let text = std::str::from_utf8(content)
            .map_err(|found| error(found.valid_up_to(), ErrorKind::InvalidUtf8))?;
        self.nodes.clear();
        self.open.clear();
        let mut scan = Scan {
            bytes: content,
            at: 0,
            check_controls: content.iter().fold(false, |any, byte| any | (*byte < 0x20)),
            nodes: &mut self.nodes,
            open: &mut self.open,
            oddities: Oddities::default(),
        };
        scan.run().map_err(|kind| error(scan.at.min(content.len()), kind))?;
        let oddities = scan.oddities;
        Ok(Value::root(text, &self.nodes, oddities))
    }

    /// Validates a value that is part of a line already read.
    ///
    /// # Errors
    ///
    /// As [`Scanner::scan`].
    pub fn scan_raw<'s>(&'s mut self, raw: Raw<'s>) -> Result<Value<'s>> {
        self.scan_slice(raw.as_str().as_bytes(), 0)
    }
}

/// Checks that bytes are one JSON value.
///
/// # Errors
///
/// If they are not, with the offset in `bytes`.
pub fn validate(bytes: &[u8]) -> Result<()> {
    Scanner::default().scan_slice(bytes, 0).map(|_| ())
}

struct Scan<'s> {
    bytes: &'s [u8],
    at: usize,
    check_controls: bool,
    nodes: &'s mut Vec<Node>,
    open: &'s mut Vec<u32>,
    oddities: Oddities,
}

impl Scan<'_> {
    fn run(&mut self) -> Result<(), ErrorKind> {
        self.skip_space();
        if self.at == self.bytes.len() {
            return Err(ErrorKind::Empty);
        }
        loop {
            if self.value()? {
                continue;
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Reads one value, or the start of a container that is not empty (then returns true).
    #[inline]
    fn value(&mut self) -> Result<bool, ErrorKind> {
        let start = self.at;
        match self.peek()? {
            b'"' => {
                self.string()?;
                self.push(start, Kind::String);
            }
            b'{' => return self.enter(Kind::Object),
            b'[' => return self.enter(Kind::Array),
            b't' => self.literal(b"true", Kind::True)?,
            b'f' => self.literal(b"false", Kind::False)?,
            b'n' => self.literal(b"null", Kind::Null)?,
            b'-' | b'0'..=b'9' => {
                self.number()?;
                self.push(start, Kind::Number);
            }
            byte => return Err(ErrorKind::UnexpectedByte(byte)),
        }
        Ok(false)
    }

    /// Reads what follows a value, up to the next one; returns true at the end of the line.
    #[inline]
    fn after_value(&mut self) -> Result<bool, ErrorKind> {
        loop {
            self.skip_space();
            let Some(&open) = self.open.last() else {
                return if self.at == self.bytes.len() {
                    Ok(true)
                } else {
                    Err(ErrorKind::TrailingBytes)
                };
            };
            let is_object = open & OBJECT != 0;
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.skip_space();
                    if is_object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                b'}' if is_object => self.leave(open),
                b']' if !is_object => self.leave(open),
                byte => return Err(ErrorKind::UnexpectedByte(byte)),
            }
        }
    }

    fn enter(&mut self, kind: Kind) -> Result<bool, ErrorKind> {
        let is_object = kind == Kind::Object;
        let node = self.nodes.len() as u32;
        let is_indexed = self.open.len() <= MAX_INDEXED_DEPTH;
        let id = if is_indexed { node } else { NO_NODE };
        self.push(self.at, kind);
        self.at += 1;
        self.open.push(id | if is_object { OBJECT } else { 0 });
        self.oddities.depth = self.oddities.depth.max(self.open.len() as u32);
        self.skip_space();
        match (self.peek()?, is_object) {
            (b'}', true) | (b']', false) => {
                self.leave(*self.open.last().unwrap_or(&NO_NODE));
                Ok(false)
            }
            (_, true) => self.key().map(|()| true),
            (_, false) => Ok(true),
        }
    }

    fn leave(&mut self, open: u32) {
        self.at += 1;
        self.open.pop();
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut((open & !OBJECT) as usize) {
            node.end = self.at as u32;
            node.next = next;
        }
    }

    fn key(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.string()?,
            byte => return Err(ErrorKind::UnexpectedByte(byte)),
        }
        self.push(start, Kind::String);
        self.skip_space();
        match self.peek()? {
            b':' => self.at += 1,
            byte => return Err(ErrorKind::UnexpectedByte(byte)),
        }
        self.skip_space();
        Ok(())
    }

    #[inline]
    fn push(&mut self, start: usize, kind: Kind) {
        if self.open.len() <= MAX_INDEXED_DEPTH && self.nodes.len() < NO_NODE as usize {
            let next = self.nodes.len() as u32 + 1;
            self.nodes.push(Node { start: start as u32, end: self.at as u32, next, kind });
        }
    }

    #[inline]
    fn peek(&self) -> Result<u8, ErrorKind> {
        self.bytes.get(self.at).copied().ok_or(ErrorKind::UnexpectedEnd)
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<(), ErrorKind> {
        let start = self.at;
        for expected in word {
            match self.peek()? {
                byte if byte == *expected => self.at += 1,
                byte => return Err(ErrorKind::UnexpectedByte(byte)),
            }
        }
        self.push(start, kind);
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                return Err(ErrorKind::UnexpectedEnd);
            };
            self.at += found + 1;
            if rest[found] == b'"' {
                break;
            }
            self.escape()?;
        }
        if self.check_controls {
            let body = &self.bytes[start..self.at];
            if let Some(at) = body.iter().position(|byte| *byte < 0x20) {
                self.at = start + at;
                return Err(ErrorKind::ControlCharacter(body[at]));
            }
        }
        Ok(())
    }

    #[inline]
    fn escape(&mut self) -> Result<(), ErrorKind> {
        let length = match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
            b'u' => {
                let digits = self.bytes.get(self.at + 1..self.at + 5);
                let digits = digits.ok_or(ErrorKind::UnexpectedEnd)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(ErrorKind::InvalidEscape);
                }
                self.oddities.surrogate_escape |= matches!(digits, [b'd' | b'D', b'8'..=b'f', ..]);
                5
            }
            _ => return Err(ErrorKind::InvalidEscape),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        if self.peek() == Ok(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Ok(b'0') => self.at += 1,
            Ok(b'1'..=b'9') => self.digits()?,
            _ => return Err(ErrorKind::InvalidNumber),
        }
        if self.peek() == Ok(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Ok(b'e' | b'E') = self.peek() {
            self.oddities.wide_number = true;
            self.at += 1;
            if let Ok(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.oddities.wide_number |= self.at - start > 17;
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ErrorKind> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let n = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += n;
        if n == 0 { Err(ErrorKind::InvalidNumber) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(bytes: &[u8]) -> bool {
        validate(bytes).is_ok()
    }

    #[test]
    fn agrees_with_raw_value() {
        let cases: &[&[u8]] = &[
            b"{}",
            b"[]",
            b"{\"a\":[1,{\"b\":null}]}",
            b" [ 1 , 2 ] ",
            b"\"\\ud800\"",
            b"-0",
            b"-",
            b"01",
            b"1.",
            b".5",
            b"1e",
            b"1E+5",
            b"1e400",
            b"[1,]",
            b"{\"a\"}",
            b"{\"a\":}",
            b"{,}",
            b"{\"a\":1,}",
            b"[1 2]",
            b"\"\t\"",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"tru",
            b"truex",
            b"nul",
            b"\"a",
            b"[",
            b"{",
            b"]",
            b"}",
            b"[}",
            b"{]",
            b"{\"a\":1]",
            b"\xff",
            b"\"\xed\xa0\x80\"",
            b"\"\xc3\xa9\"",
            b"\x00",
            b"1 2",
            b"\"\\",
            b"\"\\u00",
            b"[[[[]]],[]]",
            b"{\"a\" : 1}",
            b"\xef\xbb\xbf{}",
            b"\x0c1",
            b"\"\x7f\"",
            b"123456789012345678901234567890",
        ];
        for case in cases {
            let expected = serde_json::from_slice::<&serde_json::value::RawValue>(case).is_ok();
            assert_eq!(accepts(case), expected, "{}", String::from_utf8_lossy(case));
        }
    }

    #[test]
    fn every_cut_of_a_line_is_an_error_with_its_place() {
        let line = "{\"a\":[1,{\"b\\u00e9\":null,\"c\":-1.5e+3}],\"d\":\"é\\n\"}".as_bytes();
        for end in 0..line.len() {
            let error = validate(&line[..end]).expect_err("cut");
            assert!(error.offset <= end as u64);
        }
        assert!(accepts(line));
    }

    #[test]
    fn a_million_levels() {
        let deep = [vec![b'['; 1_000_000], vec![b']'; 1_000_000]].concat();
        assert!(accepts(&deep));
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(&deep, 0).expect("valid");
        assert_eq!(value.raw().as_str().len(), deep.len());
        assert!(!accepts(&deep[..deep.len() - 1]));
    }
}
