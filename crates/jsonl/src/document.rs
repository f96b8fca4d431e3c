//! Splits a JSON document into its records and the glue around them, as it is read.
//!
//! In: `{"id":1,"messages":[{"a":1}, {"a":2}]}` and the path `messages`. Out: the units
//!
//! ```text
//! glue    {"id":1,"messages":[      read as {"id":1,"messages":[]}
//! record  {"a":1}
//! glue    ", "
//! record  {"a":2}
//! glue    ]}                        read as {"messages":[]}
//! ```
//!
//! Joined, the units are the document. A unit is all that stays in memory. The splitter follows
//! braces, brackets and strings; it does not validate, so that a damaged document is split as far
//! as its structure goes.

mod scanner;
mod splitter;

use std::io::{self, Read};

use crate::{Line, Stream, line::Unit, stream::Buffer};

pub use self::scanner::UnitScanner;
use self::splitter::Splitter;

/// The way in which the bytes of a format are split into records.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Framing {
    /// Each line is a record.
    #[default]
    Lines,
    /// The input is one JSON document. The objects in the arrays at these paths are its records.
    /// Keys are joined by dots; `[]` stands for each item of an array:
    /// `subagent_trajectories[].steps`. An empty path is the document itself. Records are written
    /// to the array at the first path, which has one key.
    Document(&'static [&'static str]),
}

impl Framing {
    /// Returns whether the input is one JSON document.
    pub fn is_document(self) -> bool {
        matches!(self, Framing::Document(_))
    }

    /// Returns the paths of the arrays of records; none for lines.
    pub fn paths(self) -> &'static [&'static str] {
        match self {
            Framing::Lines => &[],
            Framing::Document(paths) => paths,
        }
    }
}

/// Limit on the bytes of a record. A longer one is given up: the rest of the document is glue.
///
/// A record with an inline carry is about twice as long as its source record, and APIs take requests of 32 MB.
pub const MAX_UNIT: usize = if cfg!(test) { 64 * 1024 } else { 256 * 1024 * 1024 };

/// Limit on the bytes of glue, which is short in every session.
const MAX_GLUE: usize = if cfg!(test) { 64 * 1024 } else { 64 * 1024 * 1024 };

/// Size in bytes of the glue after a unit that was given up.
const LOST_PIECE: usize = if cfg!(test) { 16 * 1024 } else { 256 * 1024 };

/// The units of a document: its records and the glue around them.
///
/// ```
/// use jsonl::Document;
///
/// let input = br#"{"id":1,"messages":[{"a":1}, {"a":2}]}"#;
/// let mut document = Document::new(&input[..], &["messages"]);
/// let mut units = Vec::new();
/// while let Some(unit) = document.next()? {
///     let text = std::str::from_utf8(unit.bytes()).unwrap().to_owned();
///     units.push((unit.offset(), unit.is_glue(), text));
/// }
/// let units: Vec<_> = units.iter().map(|it| (it.0, it.1, &*it.2)).collect();
/// assert_eq!(units, [
///     (0, true, r#"{"id":1,"messages":["#),
///     (20, false, r#"{"a":1}"#),
///     (27, true, ", "),
///     (29, false, r#"{"a":2}"#),
///     (36, true, "]}"),
/// ]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Document<R> {
    reader: R,
    buffer: Buffer,
    offset: u64,
    done: bool,
    /// The number of records so far.
    n_records: u64,
    state: Splitter,
    /// Whether a unit was too long, so that the rest is not split.
    is_lost: bool,
    /// Whether a torn unit was returned, which says that the document is cut.
    is_torn: bool,
}

impl<R: Read> Document<R> {
    /// Creates the units of a document whose records are in the arrays at these paths
    /// ([`Framing::Document`]).
    pub fn new(reader: R, paths: &[&'static str]) -> Self {
        let (buffer, state) = (Buffer::new(), Splitter::new(paths));
        let (offset, n_records, done, is_lost, is_torn) = Default::default();
        Self { reader, buffer, offset, done, n_records, state, is_lost, is_torn }
    }

    /// Returns the next unit, or `None` at the end of the input. If the document is cut right behind a record, the
    /// last unit is torn glue without a byte.
    ///
    /// ```
    /// # use jsonl::{Document, Unit};
    /// let mut cut = Document::new(&br#"{"messages":[{"a":1}"#[..], &["messages"]);
    /// let mut units = Vec::new();
    /// while let Some(unit) = cut.next()? {
    ///     units.push((unit.bytes().len(), unit.unit()));
    /// }
    /// assert_eq!(units, [(13, Unit::Glue), (7, Unit::Record), (0, Unit::TornGlue)]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails. The units before the error have been returned.
    #[expect(clippy::should_implement_trait, reason = "the unit borrows from the document")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let (length, unit) = self.read_unit()?;
        Ok(self.take(length, unit))
    }

    /// Frees the memory of a long unit that was returned, unless much is held behind it.
    ///
    /// ```
    /// # use jsonl::{Document, UnitScanner};
    /// let (mut document, mut scanner) = (Document::new(&br#"{"id":1,"m":[]}"#[..], &["m"]), UnitScanner::default());
    /// let unit = document.next()?.expect("a unit");
    /// let (glue, value) = scanner.scan_glue(&unit, &["m"]).expect("glue with members");
    /// document.shrink();
    /// assert_eq!(value?.raw().as_str().as_bytes(), glue.bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink(&mut self) {
        self.buffer.shrink();
    }

    /// Returns the next record or the next glue with members, and the number of records up to it;
    /// `None` at the end of the input.
    ///
    /// ```
    /// let input = br#"{"id":1,"messages":[{"a":1}, {"a":2}]}"#;
    /// let mut document = jsonl::Document::new(&input[..], &["messages"]);
    /// let mut offsets = Vec::new();
    /// while let Some((number, unit)) = document.next_filled()? {
    ///     offsets.push((number, unit.offset()));
    /// }
    /// assert_eq!(offsets, [(0, 0), (1, 20), (2, 29)]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails.
    pub fn next_filled(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            let (length, unit) = self.read_unit()?;
            let bytes = self.buffer.held().get(..length).unwrap_or_default();
            if length == 0 || !Line::of_unit(bytes, self.offset, unit).is_punctuation() {
                let number = self.n_records + u64::from(unit == Unit::Record);
                return Ok(self.take(length, unit).map(|line| (number, line)));
            }
            self.take(length, unit);
        }
    }

    /// Reads to the end of the next unit and returns its length; 0 at the end of the input.
    fn read_unit(&mut self) -> io::Result<(usize, Unit)> {
        self.buffer.shrink();
        let mut n_searched = 0;
        let (length, unit) = loop {
            let held = self.buffer.held();
            if self.is_lost && (self.done || held.len() >= LOST_PIECE) {
                break (held.len(), Unit::TornGlue);
            }
            if !self.is_lost {
                let fresh = held.get(n_searched..).unwrap_or_default();
                if let Some((at, unit)) = self.state.cut(fresh, n_searched == 0) {
                    break (n_searched + at, unit);
                }
                n_searched = held.len();
                let is_whole = self.done && self.state.is_at_end();
                let is_in_record = self.state.is_in_record();
                if self.done || n_searched >= if is_in_record { MAX_UNIT } else { MAX_GLUE } {
                    self.is_lost = !self.done;
                    let unit = match is_in_record {
                        true => Unit::Record,
                        false if is_whole => Unit::Glue,
                        false => Unit::TornGlue,
                    };
                    break (n_searched, unit);
                }
            }
            match self.buffer.read_more(&mut self.reader) {
                Ok(n) => self.done = n == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        Ok((length, unit))
    }

    /// Consumes and returns a unit that was read; `None` at the end.
    fn take(&mut self, length: usize, unit: Unit) -> Option<Line<'_>> {
        let is_cut = length == 0 && self.offset > 0 && unit == Unit::TornGlue && !self.is_torn;
        self.is_torn |= unit == Unit::TornGlue;
        let bytes = self.buffer.take(length);
        let line = Line::of_unit(bytes, self.offset, unit);
        self.offset += bytes.len() as u64;
        self.n_records += u64::from(unit == Unit::Record);
        (is_cut || !bytes.is_empty()).then_some(line)
    }
}

/// The units of an input, in either framing.
#[derive(Debug)]
pub enum Records<R> {
    /// The lines.
    Lines(Stream<R>),
    /// The records of a document and the glue around them.
    Document(Document<R>),
}

impl<R: Read> Records<R> {
    /// Creates the units of an input.
    pub fn new(reader: R, framing: Framing) -> Self {
        match framing {
            Framing::Lines => Self::Lines(Stream::new(reader)),
            Framing::Document(paths) => Self::Document(Document::new(reader, paths)),
        }
    }

    /// Returns the next unit, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails.
    #[expect(clippy::should_implement_trait, reason = "the unit borrows from the reader")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        match self {
            Self::Lines(lines) => lines.next(),
            Self::Document(document) => document.next(),
        }
    }

    /// Returns the next line that is not blank, with its number from 1, or the next unit of a
    /// document as [`Document::next_filled`] does; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails.
    pub fn next_filled(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        match self {
            Self::Lines(lines) => lines.next_filled(),
            Self::Document(document) => document.next_filled(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts = Vec<(Unit, String, Option<String>)>;

    fn units(input: &str, paths: &[&'static str], step: usize) -> Parts {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let n = self.1.min(self.0.len()).min(buffer.len());
                buffer[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let mut document = Document::new(Slow(input.as_bytes(), step), paths);
        let (mut scanner, mut found, mut offset) = (UnitScanner::default(), Vec::new(), 0);
        while let Some(unit) = document.next().expect("no errors") {
            assert_eq!(unit.offset(), offset);
            offset = unit.end();
            let text = String::from_utf8_lossy(unit.bytes()).into_owned();
            let (same, value) = scanner.scan(&unit, paths);
            assert_eq!(same, unit);
            let value = value.ok().map(|value| value.raw().as_str().to_owned());
            found.push((unit.unit(), text, value));
        }
        let joined: String = found.iter().map(|(_, text, _)| &**text).collect();
        assert_eq!(joined, input);
        found
    }

    fn said(input: &str, paths: &[&'static str]) -> Vec<String> {
        let all = units(input, paths, usize::MAX);
        for step in [1, 2, 7] {
            assert_eq!(units(input, paths, step), all);
        }
        let name = |(unit, _, value): &(Unit, String, Option<String>)| {
            let kind = match unit {
                Unit::Record => 'r',
                Unit::Glue => 'g',
                _ => 't',
            };
            format!("{kind} {}", value.as_deref().unwrap_or("-"))
        };
        all.iter().map(name).collect()
    }

    #[test]
    fn records_and_glue() {
        let input = "{ \"m\" : [ {\"a\":\"]}\\\"{\"} ,\n{}\n], \"t\":[{\"m\":[{}]}]}\n";
        assert_eq!(
            said(input, &["m"]),
            [
                "g { \"m\" : [ ]}",
                "r {\"a\":\"]}\\\"{\"}",
                "g -",
                "r {}",
                "g {\"m\":[\n], \"t\":[{\"m\":[{}]}]}",
            ]
        );
        assert_eq!(said("{\"m\":[]}", &["m"]), ["g {\"m\":[]}"]);
        assert_eq!(said("{\"m\":{\"m\":[{}]}}", &["m"]), ["g {\"m\":{\"m\":[{}]}}"]);
        assert_eq!(said("[{\"m\":[{}]}]", &["m"]), ["g [{\"m\":[{}]}]"]);
        assert_eq!(said("[{},1,{}]", &[""]), ["g []", "r {}", "g [null,1,null]", "r {}", "g -"]);
        assert_eq!(said("", &["m"]), [""; 0]);
    }

    #[test]
    fn records_in_arrays_of_objects() {
        let input =
            r#"{"s":[{"x":1}],"a":[{"id":7,"s":[{"x":2},{"x":3}],"y":1},{"s":[{}]}],"z":0}"#;
        assert_eq!(
            said(input, &["s", "a[].s"]),
            [
                r#"g {"s":[]}"#,
                r#"r {"x":1}"#,
                r#"g {"s":[],"a":[{"id":7,"s":[]}]}"#,
                r#"r {"x":2}"#,
                "g -",
                r#"r {"x":3}"#,
                r#"g {"a":[{"s":[],"y":1},{"s":[]}]}"#,
                "r {}",
                r#"g {"a":[{"s":[]}],"z":0}"#,
            ]
        );
    }

    /// Vectors follow records of 64 bytes and more; byte by byte, the units are the same.
    #[test]
    fn long_records_are_split_like_short_ones() {
        let pieces = [
            "{",
            "[",
            "}",
            "]",
            "\"",
            "\\\"",
            "\\\\",
            "\\n",
            "\n",
            "\\",
            ",",
            ":",
            "a word of text",
            "{\"a\":[1,\"]}\"]}",
        ];
        let mut state = 3_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..if cfg!(miri) { 4 } else { 1_000 } {
            let mut input = "{\"id\":1,\"m\":[".to_owned();
            for _ in 0..1 + random(6) {
                input.push_str("{\"text\":\"");
                for _ in 0..random(80) {
                    let piece = random(200);
                    let piece = if piece < 10 { piece } else { 10 + piece % 4 };
                    input.push_str(match pieces[piece] {
                        "\"" => "\",\"b\":\"",
                        piece => piece,
                    });
                }
                input.push_str("\"},");
            }
            input.push_str("]}");
            let all = units(&input, &["m"], usize::MAX);
            for step in [1, 65, 200] {
                assert_eq!(units(&input, &["m"], step), all, "{input}");
            }
        }
    }

    #[test]
    fn torn_and_damaged_documents() {
        assert_eq!(said("{\"m\":[{},", &["m"]), ["g {\"m\":[]}", "r {}", "t -"]);
        assert_eq!(said("{\"m\":[{\"a\":", &["m"]), ["g {\"m\":[]}", "r -"]);
        assert_eq!(said("{\"id\":1", &["m"]), ["t -"]);
        assert_eq!(said("}]{\"m\":[{}]}", &["m"]).len(), 3);
        // A string that lost its quote ends at the newline.
        let input = "{\"m\":[{\"a\":\"x,\n\"b\":1},\n{\"c\":2}]}";
        assert_eq!(said(input, &["m"])[1..4], ["r -", "g -", "r {\"c\":2}"]);
        let deep = "[".repeat(2_000) + &"{\"m\":".repeat(2_000);
        assert_eq!(said(&deep, &["m"]), ["t -"]);
    }

    #[test]
    fn a_unit_that_is_too_long_is_given_up() {
        let input = format!("{{\"m\":[{{\"a\":\"{}\"}},{{}}]}}", "x".repeat(3 * MAX_UNIT));
        let found = units(&input, &["m"], usize::MAX);
        assert_eq!(found[1].0, Unit::Record);
        assert!(found[1].1.len() < 2 * MAX_UNIT && found[1].2.is_none());
        assert!(
            found[2..].iter().all(|(unit, _, value)| *unit == Unit::TornGlue && value.is_none())
        );
        assert!(found.len() > 2);
    }
}
