//! Validates a line strictly and indexes the range of every value in it.
//!
//! In: `{"a":[1,2]}`. Out: a [`Value`] whose member `a` is the slice `[1,2]`, or an [`Error`] with
//! the offset of the first invalid byte.
//!
//! The scanner accepts the same lines as `serde_json`'s `RawValue`, with lone surrogates, numbers
//! of any length and nesting of any depth. It never recurses, and allocates only to grow its reused
//! buffers.

#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "only vector instructions fill the bitmaps")
)]
mod bitmap;
pub(crate) mod grammar;
pub(crate) mod nesting;
pub(crate) mod node;
mod portable;
pub(crate) mod same;
pub(crate) mod simd;
mod unescape;

use std::num::NonZeroUsize;

use crate::{Error, ErrorKind, Line, Raw, Result, Value, utf8, value::Oddities};

pub(crate) use self::unescape::{unescape, unescape_into};
use self::{
    bitmap::Quotes,
    grammar::walk,
    node::{Node, OpenStack, max_nodes},
    portable::Portable,
    simd::Kernel,
};
pub use self::{simd::with_vectors, unescape::Unescape};

/// Length in bytes of the longest line that is indexed. Offsets within a line are 32-bit.
pub const MAX_LINE: usize = u32::MAX as usize - 1;

/// The instructions that a scanner uses. All find the same values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Backend {
    /// The widest vectors that this CPU has.
    #[default]
    Best,
    /// The vectors that every CPU of this architecture has.
    Baseline,
    /// No vectors in this crate.
    Portable,
}

/// Indexer of lines, one at a time, with reused buffers.
///
/// It does not recurse: values of every depth are validated with a few bytes for each level. Values below the
/// 16th level are not indexed ([`Value::is_indexed`]).
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    nodes: Vec<Node>,
    open: OpenStack,
    quotes: Quotes,
    backend: Backend,
    /// Limit on the nodes of a line, below the usual one.
    most: Option<NonZeroUsize>,
}

/// Limit on the nodes of a sparing scanner.
const SPARING: NonZeroUsize = NonZeroUsize::new(if cfg!(miri) { 1 << 9 } else { 1 << 16 }).unwrap();

impl Scanner {
    /// Creates a scanner with a backend, for comparisons.
    ///
    /// ```
    /// let mut portable = jsonl::Scanner::with_backend(jsonl::Backend::Portable);
    /// let mut best = jsonl::Scanner::default();
    /// let line = br#"{"n":1}"#;
    /// assert!(portable.scan_slice(line, 0)?.is_same_index(&best.scan_slice(line, 0)?));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn with_backend(backend: Backend) -> Self {
        Self { backend, ..Self::default() }
    }

    /// Creates a scanner that indexes fewer values of a long line, so that its index takes less than a megabyte.
    pub(crate) fn sparing() -> Self {
        Self { most: Some(SPARING), ..Self::default() }
    }

    /// Frees the index if it has more than `max_bytes`.
    pub(crate) fn free_beyond(&mut self, max_bytes: usize) {
        if self.nodes.capacity().saturating_mul(size_of::<Node>()) > max_bytes {
            self.nodes = Vec::new();
        }
    }

    /// Takes the index of the last line out of the scanner. It is in memory once.
    pub(crate) fn take_nodes(&mut self) -> Box<[Node]> {
        std::mem::take(&mut self.nodes).into_boxed_slice()
    }

    /// Validates a line and returns its value.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is blank, is not UTF-8, or is not one JSON value. The offset is
    /// absolute.
    pub fn scan<'s>(&'s mut self, line: &Line<'s>) -> Result<Value<'s>> {
        let content = line.content();
        let base = line.offset_of(content).unwrap_or(line.offset());
        self.scan_slice(content, base)
    }

    /// Validates bytes at offset `base` of an input and returns their value.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`Scanner::scan`].
    pub fn scan_slice<'s>(&'s mut self, content: &'s [u8], base: u64) -> Result<Value<'s>> {
        self.scan_text(text_of(content, base)?, base)
    }

    /// Validates text at offset `base` of an input and returns its value.
    pub(crate) fn scan_text<'s>(&'s mut self, text: &'s str, base: u64) -> Result<Value<'s>> {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.clear();
        let found = self.append(text, base, &mut nodes);
        self.nodes = nodes;
        Value::root(text, &self.nodes, found?, base)
    }

    /// Validates bytes at offset `base` of an input and appends their nodes, if they are a value.
    /// `text` is the bytes as text, if they are known to be UTF-8.
    pub(crate) fn append_slice(
        &mut self,
        content: &[u8],
        text: Option<&str>,
        base: u64,
        nodes: &mut Vec<Node>,
    ) -> Result<Oddities> {
        match text {
            Some(text) => self.append(text, base, nodes),
            None => self.append(text_of(content, base)?, base, nodes),
        }
    }

    /// Validates text at offset `base` of an input and appends its nodes.
    fn append(&mut self, text: &str, base: u64, nodes: &mut Vec<Node>) -> Result<Oddities> {
        if text.len() > MAX_LINE {
            return Err(Error { offset: base, kind: ErrorKind::TooLong });
        }
        let found = if self.backend == Backend::Portable { None } else { self.index(text, nodes) };
        let found = match found {
            Some(oddities) => Ok(oddities),
            // The slower scanner computes the exact error.
            None => {
                let mut strings = Portable::new(text.as_bytes());
                walk(text.as_bytes(), self.limit(text), &mut strings, nodes, &mut self.open)
            }
        };
        if found.as_ref().is_ok_and(|oddities| oddities.too_many_values) {
            free_removed(nodes);
        }
        found.map_err(|(at, kind)| Error { offset: base + at as u64, kind })
    }

    /// Validates a value inside a line that was already read.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`Scanner::scan`].
    pub fn scan_raw<'s>(&'s mut self, raw: Raw<'s>) -> Result<Value<'s>> {
        self.scan_text(raw.as_str(), 0)
    }

    /// Returns the number of nodes that a line may have.
    fn limit(&self, text: &str) -> usize {
        let usual = max_nodes(text.len());
        self.most.map_or(usual, |most| usual.min(most.get()))
    }

    /// Appends the nodes, with vector instructions; `None` if the text is not valid.
    fn index(&mut self, text: &str, nodes: &mut Vec<Node>) -> Option<Oddities> {
        if !simd::IS_AVAILABLE {
            return None;
        }
        let is_best = self.backend == Backend::Best;
        let kernel = if is_best { Kernel::Best } else { Kernel::Baseline };
        self.quotes.start(text.len(), kernel);
        let first = nodes.len();
        let limit = self.limit(text);
        let found = walk(text.as_bytes(), limit, &mut self.quotes, nodes, &mut self.open).ok();
        if !self.quotes.is_clean() {
            nodes.truncate(first);
            return None;
        }
        found
    }
}

/// Frees the nodes of a container with too many values. They take as much memory as the line.
#[cold]
#[inline(never)]
fn free_removed(nodes: &mut Vec<Node>) {
    nodes.shrink_to(2 * nodes.len());
}

/// Returns bytes at offset `base` of an input as text.
fn text_of(content: &[u8], base: u64) -> Result<&str> {
    // The fast check only finds that there is an error. The slow check finds its offset.
    utf8::from_utf8(content).map_or_else(|| std::str::from_utf8(content), Ok).map_err(|found| {
        Error { offset: base + found.valid_up_to() as u64, kind: ErrorKind::InvalidUtf8 }
    })
}

/// Checks that bytes are one JSON value.
///
/// # Errors
///
/// Returns an error if they are not. Its offset counts from the start of `bytes`.
pub fn validate(bytes: &[u8]) -> Result<()> {
    // Its index is not needed.
    Scanner::sparing().scan_slice(bytes, 0).map(|_| ())
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

    /// The memory of a removed index is freed: the index of a container with too many values.
    #[test]
    fn a_removed_index_has_no_memory() {
        for limit in [SPARING, NonZeroUsize::new(max_nodes(0)).expect("not zero")] {
            let line = format!("{{\"a\":[{}1]}}", "1,".repeat(limit.get() + 9));
            let mut scanner = Scanner { most: Some(limit), ..Scanner::default() };
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("valid");
            assert!(value.get("a").is_some_and(|array| !array.is_indexed()));
            assert!(scanner.nodes.capacity() < 64, "{}", scanner.nodes.capacity());
        }
    }

    #[test]
    fn a_million_levels() {
        let n_levels = if cfg!(miri) { 2_000 } else { 1_000_000 };
        let deep = [vec![b'['; n_levels], vec![b']'; n_levels]].concat();
        assert!(accepts(&deep));
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(&deep, 0).expect("valid");
        assert_eq!(value.raw().as_str().len(), deep.len());
        assert!(!accepts(&deep[..deep.len() - 1]));
    }

    #[test]
    fn deep_containers_close_as_they_were_opened() {
        let mut scanner = Scanner::default();
        for n_levels in [60, 1000, 2047, 2048, 2049, 5000, 12_345] {
            // Arrays and objects in an order without a period.
            let is_object = |level: usize| (level * level + level / 7).is_multiple_of(3);
            let open = (0..n_levels).map(|level| if is_object(level) { "{\"a\":" } else { "[" });
            let close = (0..n_levels).rev().map(|level| if is_object(level) { '}' } else { ']' });
            let (open, close): (String, String) = (open.collect(), close.collect());
            let line = format!("[{open}1{close},{{\"x\":[{open}2{close},3]}}]");
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("valid");
            assert_eq!(value.oddities().depth as usize, n_levels + 3);
            let second = value.items().nth(1).and_then(|item| item.get("x")).expect("indexed");
            let three = second.items().nth(1).map(|item| item.raw().as_str());
            assert_eq!(three, Some("3"), "{n_levels}");
            for at in [0, n_levels / 2, n_levels.saturating_sub(30)] {
                let mut wrong = close.clone().into_bytes();
                wrong[at] ^= b']' ^ b'}';
                let wrong = [open.as_bytes(), b"1", &wrong].concat();
                assert!(!accepts(&wrong), "{n_levels} {at}");
            }
        }
    }
}
