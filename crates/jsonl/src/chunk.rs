//! Lines that have been scanned, kept together with what the scanner found.

use crate::{Error, ErrorKind, Line, Lines, Oddities, Result, Scanner, Value, grammar::Node};

/// Some bytes of an input, their lines, and the value of each.
///
/// ```
/// use jsonl::{Chunk, Scanner};
///
/// let chunk = Chunk::scan(b"{\"a\":1}\ntorn".to_vec(), 100, &mut Scanner::default());
/// let kinds: Vec<_> =
///     chunk.iter().map(|(line, value)| (line.offset(), value.is_ok())).collect();
/// assert_eq!(kinds, [(100, true), (108, false)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    bytes: Vec<u8>,
    offset: u64,
    nodes: Vec<Node>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    end: usize,
    nodes_end: usize,
    oddities: Oddities,
    error: Option<Error>,
}

impl Chunk {
    /// Scans the lines of bytes that start at `offset` of an input.
    pub fn scan(bytes: Vec<u8>, offset: u64, scanner: &mut Scanner) -> Self {
        let mut chunk = Self { bytes, offset, ..Self::default() };
        let mut end = 0;
        for line in Lines::at(&chunk.bytes, offset) {
            end += line.bytes().len();
            let (oddities, error) = match scanner.scan(&line) {
                Ok(value) => {
                    chunk.nodes.extend_from_slice(value.nodes());
                    (value.oddities(), None)
                }
                Err(error) => (Oddities::default(), Some(error)),
            };
            let nodes_end = chunk.nodes.len();
            chunk.entries.push(Entry { end, nodes_end, oddities, error });
        }
        chunk
    }

    /// Returns the bytes that the lines have.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the lines and their values.
    pub fn iter(&self) -> impl Iterator<Item = (Line<'_>, Result<Value<'_>>)> {
        let (mut start, mut nodes_start) = (0, 0);
        self.entries.iter().map(move |entry| {
            let bytes = self.bytes.get(start..entry.end).unwrap_or_default();
            let line = Line::new(bytes, self.offset + start as u64);
            let nodes = self.nodes.get(nodes_start..entry.nodes_end).unwrap_or_default();
            (start, nodes_start) = (entry.end, entry.nodes_end);
            let value = match entry.error {
                Some(error) => Err(error),
                // The scanner has seen that it is text; to see it again is cheaper than to remember.
                None => match simdutf8::basic::from_utf8(line.content()) {
                    Ok(text) => Ok(Value::root(text, nodes, entry.oddities)),
                    Err(_) => Err(Error { offset: line.offset(), kind: ErrorKind::InvalidUtf8 }),
                },
            };
            (line, value)
        })
    }
}
