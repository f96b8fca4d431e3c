//! Validates the strict grammar of JSON in one walk over a line. An index finds the ends of
//! strings.
//!
//! In: `{"a":01}`. Out: [`ErrorKind::InvalidNumber`] at the offset of the number.

use crate::{
    ErrorKind,
    number::read_number,
    scan::node::{NO_NODE, Node, OBJECT, Open, OpenStack, ROOT, keep_as_written},
    value::{Kind, Oddities},
};

/// Depth to which values are indexed. Deeper values are validated and kept as written.
pub(crate) const MAX_INDEXED_DEPTH: usize = 16;

const DEPTH_LIMIT: usize = MAX_INDEXED_DEPTH + 1;

/// Finder of the ends of strings.
pub(crate) trait Strings {
    /// Returns the end of the string that starts at `start`, quotes included.
    ///
    /// The caller asks for strings in order, each once. An error includes its offset.
    fn end_of(&mut self, bytes: &[u8], start: usize) -> Result<usize, (usize, ErrorKind)>;

    /// Returns whether a string so far contains an escaped surrogate.
    fn has_surrogate(&self) -> bool;
}

/// Validates a line and appends its nodes, at most `max_nodes`, with indices relative to the first. The line must be
/// UTF-8 and within [`MAX_LINE`](crate::MAX_LINE). An error includes its offset; no nodes are then
/// appended.
#[inline(always)]
pub(crate) fn walk(
    bytes: &[u8],
    max_nodes: usize,
    strings: &mut impl Strings,
    nodes: &mut Vec<Node>,
    open: &mut OpenStack,
) -> Result<Oddities, (usize, ErrorKind)> {
    open.clear();
    let first = nodes.len();
    let limit = first + max_nodes;
    let mut walk = Walk {
        bytes,
        at: 0,
        strings,
        nodes,
        first,
        max_nodes: limit,
        limit,
        depth_limit: DEPTH_LIMIT,
        open: ROOT,
        outer: open,
        depth: 0,
        has_wide_number: false,
    };
    match walk.run() {
        Ok(()) => Ok(Oddities {
            surrogate_escape: walk.strings.has_surrogate(),
            wide_number: walk.has_wide_number,
            depth: walk.depth,
            too_many_values: walk.outer.is_full,
        }),
        Err(kind) => {
            let at = walk.at.min(bytes.len());
            nodes.truncate(first);
            Err((at, kind))
        }
    }
}

/// State of the walk. Before you change it: a few instructions per value matter. All methods are
/// inlined and none passes on the whole struct, so that its fields stay in registers.
struct Walk<'s, S> {
    bytes: &'s [u8],
    at: usize,
    strings: &'s mut S,
    nodes: &'s mut Vec<Node>,
    /// Number of nodes before the first one of the line.
    first: usize,
    /// Limit of the nodes at this depth: 0 beyond the indexed depth.
    max_nodes: usize,
    /// Limit of all nodes.
    limit: usize,
    /// Depth from which values are not indexed. It is lower inside a container with too many
    /// values, and 0 while containers are packed.
    depth_limit: usize,
    /// The innermost container.
    open: Open,
    /// The containers around it, and the root.
    outer: &'s mut OpenStack,
    depth: u32,
    has_wide_number: bool,
}

impl<S: Strings> Walk<'_, S> {
    #[inline(always)]
    fn run(&mut self) -> Result<(), ErrorKind> {
        if self.token().is_none() {
            return if self.at == self.bytes.len() {
                Err(ErrorKind::Empty)
            } else {
                Err(self.unexpected())
            };
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

    /// Reads one value, or the start of a non-empty container; then returns true.
    #[inline(always)]
    fn value(&mut self) -> Result<bool, ErrorKind> {
        let token = self.token();
        let start = self.at;
        if token == Some(b'"') {
            self.string()?;
            return Ok(false);
        }
        match token {
            Some(b'{') => return self.enter(Kind::Object),
            Some(b'[') => return self.enter(Kind::Array),
            Some(b't') => self.literal(b"true", Kind::True)?,
            Some(b'f') => self.literal(b"false", Kind::False)?,
            Some(b'n') => self.literal(b"null", Kind::Null)?,
            Some(b'-' | b'0'..=b'9') => {
                let read = read_number(self.bytes, start);
                self.at = read.end;
                if read.is_invalid {
                    return Err(ErrorKind::InvalidNumber);
                }
                self.has_wide_number |= read.is_wide;
                self.push(start, Kind::Number);
            }
            _ => return Err(self.unexpected()),
        }
        Ok(false)
    }

    /// Reads from the end of a value to the next one. Returns true at the end of the line.
    #[inline(always)]
    fn after_value(&mut self) -> Result<bool, ErrorKind> {
        loop {
            let token = self.token();
            let is_object = self.open & OBJECT != 0;
            match token {
                Some(b',') if is_object => {
                    self.at += 1;
                    if self.members()? {
                        return Ok(false);
                    }
                }
                _ if self.open == ROOT => {
                    let is_end = self.at == self.bytes.len();
                    return if is_end { Ok(true) } else { Err(ErrorKind::TrailingBytes) };
                }
                Some(b',') => {
                    self.at += 1;
                    return Ok(false);
                }
                Some(b'}') if is_object => self.leave(),
                Some(b']') if !is_object => self.leave(),
                _ => return Err(self.unexpected()),
            }
        }
    }

    #[inline(always)]
    fn enter(&mut self, kind: Kind) -> Result<bool, ErrorKind> {
        let node_idx = self.nodes.len();
        self.outer.levels.push(self.open);
        self.open = if node_idx < self.max_nodes { node_idx as Open } else { NO_NODE };
        self.push(self.at, kind);
        self.at += 1;
        let depth = self.outer.levels.len();
        self.depth = self.depth.max(depth as u32);
        if depth >= self.depth_limit {
            self.max_nodes = 0;
            self.depth = self.depth.max(self.outer.depth() as u32);
            self.depth_limit = self.outer.pack_many(self.depth_limit);
        }
        let token = self.token();
        if kind == Kind::Object {
            self.open |= OBJECT;
            if token != Some(b'}') {
                return self.members();
            }
        } else if token != Some(b']') {
            return Ok(true);
        }
        self.leave();
        Ok(false)
    }

    #[inline(always)]
    fn leave(&mut self) {
        self.at += 1;
        let next = self.nodes.len() - self.first;
        if let Some(node) = self.nodes.get_mut((self.open & !OBJECT) as usize) {
            node.close(self.at, next);
        }
        self.open = match self.outer.levels.pop() {
            Some(open) => open,
            None => {
                let (open, depth_limit) = self.outer.unpack();
                self.depth_limit = depth_limit;
                open
            }
        };
        if self.outer.levels.len() < self.depth_limit {
            self.max_nodes = self.limit;
            self.depth_limit = DEPTH_LIMIT;
        }
    }

    /// Reads members with string values right after their keys. Returns true before another value,
    /// which the caller reads.
    #[inline(always)]
    fn members(&mut self) -> Result<bool, ErrorKind> {
        if self.token() != Some(b'"') {
            return Err(self.unexpected());
        }
        loop {
            self.string()?;
            if !self.is_at(b":\"") {
                if self.token() != Some(b':') {
                    return Err(self.unexpected());
                }
                self.at += 1;
                return Ok(true);
            }
            self.at += 1;
            self.string()?;
            if !self.is_at(b",\"") {
                return Ok(false);
            }
            self.at += 1;
        }
    }

    /// Returns whether the next two bytes are the given ones.
    #[inline(always)]
    fn is_at(&self, pair: &[u8; 2]) -> bool {
        self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) == Some(pair)
    }

    #[inline(always)]
    fn push(&mut self, start: usize, kind: Kind) {
        let n = self.nodes.len();
        if n < self.max_nodes {
            self.nodes.push(Node::new(start, self.at, n - self.first + 1, kind));
        } else if self.max_nodes > 0 {
            self.max_nodes = 0;
            self.depth_limit = 1 + keep_as_written(self.nodes, self.first, self.open, self.outer);
        }
    }

    /// Skips white space and returns the byte after it; `None` at the end or at a control character.
    #[inline(always)]
    fn token(&mut self) -> Option<u8> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            Some(_) => {
                self.at = after_space(self.bytes, self.at);
                self.bytes.get(self.at).copied().filter(|byte| *byte > b' ')
            }
            None => None,
        }
    }

    fn unexpected(&self) -> ErrorKind {
        self.bytes.get(self.at).map_or(ErrorKind::UnexpectedEnd, |b| ErrorKind::UnexpectedByte(*b))
    }

    #[inline(always)]
    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<(), ErrorKind> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            self.push(start, kind);
            return Ok(());
        }
        self.at += rest.iter().zip(word).take_while(|(byte, expected)| byte == expected).count();
        Err(self.unexpected())
    }

    #[inline(always)]
    fn string(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        match self.strings.end_of(self.bytes, start) {
            Ok(end) => {
                self.at = end;
                self.push(start, Kind::String);
                Ok(())
            }
            Err((at, kind)) => {
                self.at = at;
                Err(kind)
            }
        }
    }
}

/// Returns the offset of the first byte that is not white space.
#[inline(never)]
fn after_space(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}
