//! A value that owns its text and its index.

use std::fmt;

use super::{Oddities, Value};
use crate::{Result, Scanner, scan::node::Node};

/// A JSON value that owns its text and its index, so that it is scanned only once.
///
/// ```
/// let owned = jsonl::ValueBuf::new(r#"{"type":"user","n":1e-05}"#)?;
/// let of_thread = std::thread::spawn(move || owned.value().get("n").map(|n| n.raw().to_string()));
/// assert_eq!(of_thread.join().expect("no panic").as_deref(), Some("1e-05"));
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone)]
pub struct ValueBuf {
    text: String,
    nodes: Box<[Node]>,
    root: Node,
    oddities: Oddities,
}

impl ValueBuf {
    /// Scans a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not one JSON value.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let mut scanner = Scanner::default();
        let value = scanner.scan_text(&text, 0)?;
        let (nodes, root, oddities) = (value.nodes.into(), value.node, value.oddities);
        Ok(Self { text, nodes, root, oddities })
    }

    /// Copies the value of a line with its index; `None` for an inner value.
    pub(super) fn of_line(value: &Value<'_>) -> Option<Self> {
        (value.at == 0).then(|| Self {
            text: value.line.to_owned(),
            nodes: value.nodes.into(),
            root: value.node,
            oddities: value.oddities,
        })
    }

    /// Returns the value.
    pub fn value(&self) -> Value<'_> {
        let Self { text, nodes, root, oddities } = self;
        Value { line: text, nodes, node: *root, at: 0, oddities: *oddities }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for ValueBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ValueBuf").field(&self.text).finish()
    }
}

impl Eq for ValueBuf {}

impl PartialEq for ValueBuf {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
