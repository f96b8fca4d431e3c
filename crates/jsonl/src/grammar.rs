//! The strict grammar of JSON, walked once over a line; where strings end, an index tells.

use crate::{
    ErrorKind,
    value::{Kind, Oddities},
};

/// The depth to which values are indexed; what lies deeper is validated and kept as written.
pub(crate) const MAX_INDEXED_DEPTH: usize = 16;

const NO_NODE: u32 = u32::MAX >> 1;
const OBJECT: u32 = 1 << 31;

/// A value's place in its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of the node after this one and all that it holds.
    pub(crate) next: u32,
    pub(crate) kind: Kind,
}

/// Finds where strings end.
pub(crate) trait Strings {
    /// Returns where the string that starts at `start` ends, its quotes included.
    ///
    /// Strings are asked for in their order, each once. An error comes with its place.
    fn end_of(
        &mut self,
        bytes: &[u8],
        start: usize,
        oddities: &mut Oddities,
    ) -> Result<usize, (usize, ErrorKind)>;
}

/// Validates a line, which is UTF-8 and within [`MAX_LINE`](crate::MAX_LINE), and fills in its
/// nodes. An error comes with its place.
#[inline(always)]
pub(crate) fn walk<S: Strings>(
    bytes: &[u8],
    strings: &mut S,
    nodes: &mut Vec<Node>,
    open: &mut Vec<u32>,
) -> Result<Oddities, (usize, ErrorKind)> {
    nodes.clear();
    open.clear();
    let oddities = Oddities::default();
    let mut walk =
        Walk { bytes, at: 0, max_nodes: NO_NODE as usize, strings, nodes, open, oddities };
    match walk.run() {
        Ok(()) => Ok(walk.oddities),
        Err(kind) => Err((walk.at.min(bytes.len()), kind)),
    }
}

struct Walk<'s, S> {
    bytes: &'s [u8],
    at: usize,
    /// How many nodes there may be: none beyond the depth that is indexed.
    max_nodes: usize,
    strings: &'s mut S,
    nodes: &'s mut Vec<Node>,
    open: &'s mut Vec<u32>,
    oddities: Oddities,
}

impl<S: Strings> Walk<'_, S> {
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
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

    #[inline(always)]
    fn enter(&mut self, kind: Kind) -> Result<bool, ErrorKind> {
        let is_object = kind == Kind::Object;
        let id = if self.max_nodes > 0 { self.nodes.len() as u32 } else { NO_NODE };
        self.push(self.at, kind);
        self.at += 1;
        self.open.push(id | if is_object { OBJECT } else { 0 });
        let depth = self.open.len();
        self.oddities.depth = self.oddities.depth.max(depth as u32);
        if depth > MAX_INDEXED_DEPTH {
            self.max_nodes = 0;
        }
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

    #[inline(always)]
    fn leave(&mut self, open: u32) {
        self.at += 1;
        self.open.pop();
        if self.open.len() <= MAX_INDEXED_DEPTH {
            self.max_nodes = NO_NODE as usize;
        }
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut((open & !OBJECT) as usize) {
            node.end = self.at as u32;
            node.next = next;
        }
    }

    #[inline(always)]
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

    #[inline(always)]
    fn push(&mut self, start: usize, kind: Kind) {
        let n = self.nodes.len();
        if n < self.max_nodes {
            let next = n as u32 + 1;
            self.nodes.push(Node { start: start as u32, end: self.at as u32, next, kind });
        }
    }

    #[inline(always)]
    fn peek(&self) -> Result<u8, ErrorKind> {
        self.bytes.get(self.at).copied().ok_or(ErrorKind::UnexpectedEnd)
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        // One comparison where nothing is to be skipped, which is the rule.
        while let Some(&byte) = self.bytes.get(self.at)
            && byte <= b' '
            && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
        {
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

    #[inline(always)]
    fn string(&mut self) -> Result<(), ErrorKind> {
        match self.strings.end_of(self.bytes, self.at, &mut self.oddities) {
            Ok(end) => {
                self.at = end;
                Ok(())
            }
            Err((at, kind)) => {
                self.at = at;
                Err(kind)
            }
        }
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
