//! An owned line that keeps its index, so that it is scanned only once.
//!
//! In: `{"a":1}` and a newline. Out: the same bytes, and the index `0..7 object`, `1..4 string`, `5..6 number`.

use crate::{Line, Oddities, Result, Value, scan::node::Node, utf8};

/// An owned line, or another part of an input, with its terminator.
///
/// [`UnitScanner::scan_and_keep`](crate::UnitScanner::scan_and_keep) keeps the index of the line in it.
///
/// ```
/// use jsonl::{LineBuf, Unit, UnitScanner};
///
/// let (mut line, mut scanner) = (LineBuf::from(b"{\"a\":1}\n".to_vec()), UnitScanner::default());
/// assert!(scanner.scan_and_keep(&mut line, 100, Unit::Line, &[]).1.is_ok());
/// // This reads the index.
/// let (_, value) = scanner.scan_buf(&line, 100, Unit::Line, &[]);
/// assert_eq!(value?.get("a").map(|a| a.raw().as_str()), Some("1"));
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LineBuf {
    bytes: Vec<u8>,
    index: Option<LineIndex>,
}

/// The index of a line without its bytes.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex {
    nodes: Box<[Node]>,
    oddities: Oddities,
    /// The length of the content. It differs for a line that is at the start of an input and has a byte order mark.
    n_content: usize,
}

impl LineBuf {
    /// Returns the bytes with the terminator.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes with the terminator.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the number of bytes that the line and its index take.
    pub fn room(&self) -> usize {
        self.bytes.len() + self.index.as_ref().map_or(0, |index| size_of_val(&*index.nodes))
    }

    /// Returns whether the line keeps an index.
    pub(crate) fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// Returns the bytes, and the place of the index.
    pub(crate) fn parts(&mut self) -> (&[u8], &mut Option<LineIndex>) {
        (&self.bytes, &mut self.index)
    }

    /// Returns the value by the kept index; `None` without one.
    pub(crate) fn value_in<'l>(&'l self, line: &Line<'l>) -> Option<Result<Value<'l>>> {
        let content = line.content();
        let index = self.index.as_ref().filter(|index| index.n_content == content.len())?;
        let text = utf8::from_utf8(content)?;
        Some(Value::root(text, &index.nodes, index.oddities, line.offset()))
    }
}

impl LineIndex {
    /// Copies the index of a line's value; `None` for glue, and if the index takes more memory than the line.
    pub(crate) fn of(value: &Value<'_>, line: &Line<'_>) -> Option<Self> {
        Self::is_kept(value, line).then(|| Self {
            nodes: value.nodes().into(),
            oddities: value.oddities(),
            n_content: line.content().len(),
        })
    }

    /// Returns the index of a line from the nodes and the oddities of its value.
    pub(crate) fn of_nodes(nodes: Box<[Node]>, oddities: Oddities, line: &Line<'_>) -> Self {
        Self { nodes, oddities, n_content: line.content().len() }
    }

    /// Returns whether the index of a line's value is kept.
    pub(crate) fn is_kept(value: &Value<'_>, line: &Line<'_>) -> bool {
        !line.is_glue() && size_of_val(value.nodes()) <= line.bytes().len()
    }
}

impl From<Vec<u8>> for LineBuf {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, index: None }
    }
}

#[cfg(test)]
mod tests {
    use crate::{LineBuf, Scanner, Unit, UnitScanner};

    #[test]
    fn a_kept_index_is_that_of_the_scanner() {
        let long = "text".repeat(40);
        let lines = [
            format!("{{\"a\":[1,{{\"b\":null}}],\"c\":\"\\ud83d{long}\"}}\r\n"),
            format!("\u{feff}{{\"a\":\"{long}\"}}"),
            format!("[\"{long}\""),
        ];
        for bytes in lines.iter().map(String::as_bytes) {
            for offset in [0, 9] {
                let (mut line, mut scanner) =
                    (LineBuf::from(bytes.to_vec()), UnitScanner::default());
                let found = scanner.scan_and_keep(&mut line, offset, Unit::Line, &[]).1.is_ok();
                assert_eq!(line.index.is_some(), found);
                for offset in [0, 9] {
                    let of = crate::Line::new(bytes, offset);
                    let mut fresh = Scanner::default();
                    let (expected, mut again) = (fresh.scan(&of), UnitScanner::default());
                    match (again.scan_buf(&line, offset, Unit::Line, &[]).1, expected) {
                        (Ok(value), Ok(expected)) => assert!(value.is_same_index(&expected)),
                        (value, expected) => assert_eq!(value.err(), expected.err()),
                    }
                }
            }
        }
    }

    /// An index that takes more memory than the line is not kept.
    #[test]
    fn the_index_of_many_small_values_is_not_kept() {
        let (mut line, mut scanner) =
            (LineBuf::from(b"[1,2,3,4]".to_vec()), UnitScanner::default());
        assert!(scanner.scan_and_keep(&mut line, 0, Unit::Line, &[]).1.is_ok());
        assert_eq!(line.room(), line.bytes().len());
    }
}
