//! Keeps the results of scanning lines without the bytes of the lines.
//!
//! In: lines that detection has scanned. Out: their values, without a second scan.

use crate::{Error, ErrorKind, Line, Oddities, Result, Value, scan::node::Node, utf8};

/// The results of scanning some lines of an input, so that lines that are read twice are scanned
/// once.
///
/// ```
/// use jsonl::{Index, Scanner};
///
/// let bytes = b"{\"a\":1}\ntorn";
/// let (mut index, mut scanner) = (Index::default(), Scanner::default());
/// for line in jsonl::lines(bytes) {
///     index.push(&line, &scanner.scan(&line));
/// }
/// let known: Vec<_> =
///     jsonl::lines(bytes).filter_map(|line| index.get(&line)).map(|value| value.is_ok()).collect();
/// assert_eq!(known, [true, false]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Index {
    nodes: Vec<Node>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The oddities of the line.
    offset: u64,
    nodes_end: usize,
    oddities: Oddities,
    error: Option<Error>,
}

impl Index {
    /// Limit of values that are kept: about a megabyte.
    const MAX_NODES: usize = if cfg!(miri) { 1 << 6 } else { 1 << 16 };

    /// Creates an empty index.
    pub const fn new() -> Self {
        Self { nodes: Vec::new(), entries: Vec::new() }
    }

    /// Keeps the result of a line, if there is room. The line must follow the lines before it.
    pub fn push(&mut self, line: &Line<'_>, value: &Result<Value<'_>>) {
        let (oddities, error) = match value {
            Ok(value) if self.nodes.len() + value.nodes().len() > Self::MAX_NODES => return,
            Ok(value) => {
                self.nodes.extend_from_slice(value.nodes());
                (value.oddities(), None)
            }
            Err(error) => (Oddities::default(), Some(*error)),
        };
        let (offset, nodes_end) = (line.offset(), self.nodes.len());
        self.entries.push(Entry { offset, nodes_end, oddities, error });
    }

    /// Returns the result of a line if it was kept. The line must be unchanged.
    pub fn get<'i>(&'i self, line: &Line<'i>) -> Option<Result<Value<'i>>> {
        let found = self.entries.binary_search_by_key(&line.offset(), |entry| entry.offset).ok()?;
        let entry = self.entries.get(found)?;
        if let Some(error) = entry.error {
            return Some(Err(error));
        }
        let before = found.checked_sub(1).and_then(|before| self.entries.get(before));
        let nodes = self.nodes.get(before.map_or(0, |entry| entry.nodes_end)..entry.nodes_end)?;
        Some(match utf8::from_utf8(line.content()) {
            Some(text) => Value::root(text, nodes, entry.oddities, line.offset()),
            None => Err(Error { offset: line.offset(), kind: ErrorKind::InvalidUtf8 }),
        })
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scanner, lines};

    #[test]
    fn what_is_kept_is_what_was_found() {
        let many = format!("[{}0]\n", "0,".repeat(Index::MAX_NODES));
        let input = format!("{{\"a\":\"é\",\"b\":[1,{{}}]}}\n\n{many}[1e5,\"\\ud800\"]\r\ntorn");
        let (mut index, mut scanner) = (Index::default(), Scanner::default());
        for line in lines(input.as_bytes()) {
            index.push(&line, &scanner.scan(&line));
        }
        let mut n_known = 0;
        for line in lines(input.as_bytes()) {
            let found = scanner.scan(&line);
            match (index.get(&line), found) {
                (Some(Ok(known)), Ok(found)) => assert!(known.is_same_index(&found)),
                (Some(Err(known)), Err(found)) => assert_eq!(known, found),
                (None, Ok(found)) => assert_eq!(found.raw().as_str(), many.trim_end()),
                other => unreachable!("{other:?}"),
            }
            n_known += usize::from(index.get(&line).is_some());
        }
        assert_eq!(n_known, 4);
        index.clear();
        assert!(lines(input.as_bytes()).all(|line| index.get(&line).is_none()));
    }
}
