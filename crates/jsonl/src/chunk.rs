//! Lines that have been scanned, kept together with what the scanner found.

use std::convert::Infallible;

use crate::{
    Error, ErrorKind, Line, Lines, Oddities, Result, Scanner, Value, node::Node, simd::Buffer,
};

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
    buffer: Buffer,
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
        let mut chunk = Self::default();
        let filled: Result<(), Infallible> = chunk.refill(offset, scanner, |buffer| {
            *buffer = bytes;
            Ok(buffer.len())
        });
        let Ok(()) = filled;
        chunk
    }

    /// Scans the lines of other bytes, which start at `offset` of an input, in the place of its own.
    ///
    /// `fill` is given a buffer in which anything may stand; it makes it as long as it likes, and
    /// returns how many bytes from its start on are the new ones. So a buffer that is used again and
    /// again is cleared but once.
    ///
    /// # Errors
    ///
    /// Those of `fill`; the chunk is empty then.
    pub fn refill<E>(
        &mut self,
        offset: u64,
        scanner: &mut Scanner,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<usize, E>,
    ) -> Result<(), E> {
        /// About how many bytes of a session there are for each node.
        const BYTES_PER_NODE: usize = 32;

        self.offset = offset;
        self.nodes.clear();
        self.entries.clear();
        self.buffer.fill(fill)?;
        let bytes = self.buffer.bytes();
        self.nodes.reserve(bytes.len() / BYTES_PER_NODE);
        for line in Lines::at(bytes, offset) {
            let value = match text_of(&line, self.buffer.text(), offset) {
                Some((text, base)) => scanner.scan_text(text, base),
                None => scanner.scan(&line),
            };
            let (oddities, error) = match value {
                Ok(value) => {
                    self.nodes.extend_from_slice(value.nodes());
                    (value.oddities(), None)
                }
                Err(error) => (Oddities::default(), Some(error)),
            };
            let end = (line.offset() - offset) as usize + line.bytes().len();
            self.entries.push(Entry { end, nodes_end: self.nodes.len(), oddities, error });
        }
        Ok(())
    }

    /// Returns the bytes that the lines have.
    pub fn len(&self) -> usize {
        self.buffer.bytes().len()
    }

    /// Returns whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what is wrong with lines that have no value.
    pub fn errors(&self) -> impl Iterator<Item = Error> {
        self.entries.iter().filter_map(|entry| entry.error)
    }

    /// Returns the lines and their values.
    pub fn iter(&self) -> impl Iterator<Item = (Line<'_>, Result<Value<'_>>)> {
        let (mut start, mut nodes_start) = (0, 0);
        let (bytes, text) = (self.buffer.bytes(), self.buffer.text());
        self.entries.iter().map(move |entry| {
            let line_bytes = bytes.get(start..entry.end).unwrap_or_default();
            let line = Line::new(line_bytes, self.offset + start as u64);
            let nodes = self.nodes.get(nodes_start..entry.nodes_end).unwrap_or_default();
            (start, nodes_start) = (entry.end, entry.nodes_end);
            let value = match (entry.error, text_of(&line, text, self.offset)) {
                (Some(error), _) => Err(error),
                (None, Some((text, _))) => Ok(Value::root(text, nodes, entry.oddities)),
                // Some other line is no text: seen again, which is cheaper than remembered.
                (None, None) => match simdutf8::basic::from_utf8(line.content()) {
                    Ok(text) => Ok(Value::root(text, nodes, entry.oddities)),
                    Err(_) => Err(Error { offset: line.offset(), kind: ErrorKind::InvalidUtf8 }),
                },
            };
            (line, value)
        })
    }
}

/// Returns the content of a line as a part of the text that starts at `offset`, and its own offset.
fn text_of<'t>(line: &Line<'_>, text: Option<&'t str>, offset: u64) -> Option<(&'t str, u64)> {
    let content = line.content();
    let base = line.offset_of(content)?;
    let start = (base - offset) as usize;
    Some((text?.get(start..start + content.len())?, base))
}
