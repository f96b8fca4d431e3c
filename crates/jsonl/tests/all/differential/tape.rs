//! Compares the index with simd-json's tape.

use jsonl::{Kind, Scanner, Value};
use simd_json::{Buffers, Node, StaticNode, Tape};

/// Depth beyond which only simd-json indexes values.
const MAX_DEPTH: u32 = 16;

/// A scanner and simd-json, which must find the same values.
#[derive(Default)]
pub(crate) struct Judge {
    scanner: Scanner,
    found: Vec<(usize, Kind)>,
}

impl Judge {
    /// Returns whether simd-json accepts the bytes. It refuses some valid JSON.
    ///
    /// # Panics
    ///
    /// Panics if the scanner and simd-json find different values.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> bool {
        // simd-json rewrites its input.
        let mut scratch = bytes.to_vec();
        let mut buffers = Buffers::new(scratch.len());
        let mut tape = Tape::null();
        if simd_json::fill_tape(&mut scratch, &mut buffers, &mut tape).is_err() {
            return false;
        }
        let root = self.scanner.scan_slice(bytes, 0);
        let Ok(root) = root else {
            assert!(root.is_ok(), "only simd-json accepts: {}", String::from_utf8_lossy(bytes));
            return false;
        };
        if root.oddities().depth > MAX_DEPTH {
            return true;
        }
        self.found.clear();
        visit(bytes, root, &mut self.found);
        let starts = buffers.structural_indexes().iter().map(|at| *at as usize);
        let starts = starts.filter(|at| bytes.get(*at).is_some_and(|byte| !b",:]}".contains(byte)));
        let expected: Vec<_> = starts.zip(tape.0.iter().map(kind)).collect();
        assert_eq!(self.found, expected, "{}", String::from_utf8_lossy(bytes));
        true
    }
}

/// Lists a value and its inner values, keys included, with their positions.
fn visit(line: &[u8], value: Value<'_>, found: &mut Vec<(usize, Kind)>) {
    let place = |written: &str| written.as_ptr() as usize - line.as_ptr() as usize;
    found.push((place(value.raw().as_str()), value.kind()));
    for (key, member) in value.members() {
        found.push((place(key.as_str()), Kind::String));
        visit(line, member, found);
    }
    for item in value.items() {
        visit(line, item, found);
    }
}

fn kind(node: &Node<'_>) -> Kind {
    match node {
        Node::String(_) => Kind::String,
        Node::Object { .. } => Kind::Object,
        Node::Array { .. } => Kind::Array,
        Node::Static(StaticNode::Null) => Kind::Null,
        Node::Static(StaticNode::Bool(true)) => Kind::True,
        Node::Static(StaticNode::Bool(false)) => Kind::False,
        Node::Static(_) => Kind::Number,
    }
}
