//! Keeps the units of a small document in memory, so that it is split and scanned once.
//!
//! In: `{"id":1,"messages":[{"a":1},{"a":2}]}`. Out, for each pass: its five units, of which the two records have
//! their indexes.

use std::io::{self, Read};

use jsonl::{Document, Line, LineBuf, Unit, UnitScanner};

use crate::pipeline::source::EachLine;

/// Limit on the memory of the units, with their indexes.
const MAX_ROOM: usize = if cfg!(test) { 4 * 1024 } else { 8 * 1024 * 1024 };

/// The memory of a unit beside its bytes and its index.
const OVERHEAD: usize = 128;

/// The units of a document, unless they take too much memory.
#[derive(Debug)]
pub(super) struct KeptUnits {
    paths: &'static [&'static str],
    /// `None` for a large document.
    units: Option<Vec<KeptUnit>>,
    /// Their memory in bytes.
    room: usize,
}

#[derive(Debug)]
struct KeptUnit {
    bytes: LineBuf,
    offset: u64,
    unit: Unit,
}

impl KeptUnit {
    fn line(&self) -> Line<'_> {
        Line::of_unit(self.bytes.bytes(), self.offset, self.unit)
    }
}

impl KeptUnits {
    /// Splits a document with records at these paths. Stops if its units take too much memory.
    pub(super) fn read(reader: impl Read, paths: &'static [&'static str]) -> io::Result<Self> {
        let (mut units, mut room) = (Vec::new(), 0);
        let mut document = Document::new(reader, paths);
        while let Some(line) = document.next()? {
            room += line.bytes().len() + OVERHEAD;
            if room > MAX_ROOM {
                return Ok(Self::large(paths));
            }
            let bytes = LineBuf::from(line.bytes().to_vec());
            units.push(KeptUnit { bytes, offset: line.offset(), unit: line.unit() });
        }
        Ok(Self { paths, units: Some(units), room })
    }

    /// Returns no units, for a document that is known to be large.
    pub(super) fn large(paths: &'static [&'static str]) -> Self {
        Self { paths, units: None, room: 0 }
    }

    /// Returns whether the document was split at these paths.
    pub(super) fn is_split_at(&self, paths: &[&str]) -> bool {
        self.paths == paths
    }

    /// Returns the units, without their values; `None` if the document is too large.
    pub(super) fn lines(&self) -> Option<impl Iterator<Item = Line<'_>>> {
        Some(self.units.as_ref()?.iter().map(KeptUnit::line))
    }

    /// Calls `each` with the units and their values until it returns false, and keeps their indexes. Returns false
    /// if the document is too large.
    pub(super) fn for_each(&mut self, scanner: &mut UnitScanner, each: &mut EachLine<'_>) -> bool {
        let Some(units) = &mut self.units else { return false };
        for KeptUnit { bytes, offset, unit } in units {
            let before = bytes.room();
            let (line, value) = match self.room < MAX_ROOM {
                true => scanner.scan_and_keep(bytes, *offset, *unit, self.paths),
                false => scanner.scan_buf(bytes, *offset, *unit, self.paths),
            };
            let goes_on = each(&line, value);
            self.room += bytes.room() - before;
            if !goes_on {
                break;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[&str] = &["m"];

    /// Returns the units of each of two passes.
    fn passes(document: &str) -> Option<[Vec<(u64, String)>; 2]> {
        let mut kept = KeptUnits::read(document.as_bytes(), PATHS).expect("a slice");
        let mut scanner = UnitScanner::default();
        let mut passes = [Vec::new(), Vec::new()];
        for pass in &mut passes {
            let is_kept = kept.for_each(&mut scanner, &mut |line, value| {
                let value = value.map_or("-".to_owned(), |value| value.raw().as_str().to_owned());
                pass.push((line.offset(), value));
                true
            });
            if !is_kept {
                return None;
            }
        }
        Some(passes)
    }

    #[test]
    fn each_pass_gets_the_same_units() {
        let record = r#"{"a":"some text that is longer than its index","b":[1]}"#;
        let document = format!(r#"{{"id":1,"m":[{record},{{"c":}},{{}}],"t":2}}"#);
        let [first, second] = passes(&document).expect("a small document");
        assert_eq!(first, second);
        let values: Vec<&str> = first.iter().map(|(_, value)| &**value).collect();
        assert_eq!(
            values,
            [r#"{"id":1,"m":[]}"#, record, "-", "-", "-", "{}", r#"{"m":[],"t":2}"#]
        );
    }

    #[test]
    fn large_documents_and_many_units_are_not_kept() {
        let text = "x".repeat(MAX_ROOM);
        assert_eq!(passes(&format!(r#"{{"m":[{{"a":"{text}"}}]}}"#)), None);
        let records = "{},".repeat(MAX_ROOM / OVERHEAD);
        assert_eq!(passes(&format!(r#"{{"m":[{records}{{}}]}}"#)), None);
    }
}
