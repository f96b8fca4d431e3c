//! Checks splitting: the lines joined are the input, also in chunks and from a stream.

use std::io::Read;

/// Compares the lines of the input, of its chunks and of a stream.
pub fn split(input: &[u8]) {
    let lines: Vec<_> = jsonl::lines(input).collect();
    let joined: Vec<u8> = lines.iter().flat_map(|line| line.bytes().to_vec()).collect();
    assert_eq!(joined, input, "the lines joined are not the input");
    let mut offset = 0;
    for line in &lines {
        assert_eq!(line.offset(), offset, "a line does not start at the end of the line before it");
        assert!(line.offset_of(line.content()).is_some(), "the content is outside of the line");
        offset += line.bytes().len() as u64;
    }
    for size in [1, 7, input.len().max(1)] {
        let chunked: Vec<_> = jsonl::chunks(input, size).into_iter().flatten().collect();
        assert_eq!(chunked, lines, "chunks of {size}");
    }
    let step = input.first().map_or(1, |byte| usize::from(*byte) + 1);
    let mut stream = jsonl::Stream::new(Slow { rest: input, step });
    let mut n_lines = 0;
    while let Some(line) = stream.next().expect("a slice has no errors") {
        assert_eq!(Some(&line), lines.get(n_lines), "line {n_lines} of a stream");
        n_lines += 1;
    }
    assert_eq!(n_lines, lines.len(), "a stream has another number of lines");
    document(input, step);
}

/// Compares the units of the input as a document, read at once and slowly, with the input.
fn document(input: &[u8], step: usize) {
    const PATHS: &[&str] = &["messages", "a[].s", ""];
    let (mut at_once, mut slow) = (
        jsonl::Document::new(input, PATHS),
        jsonl::Document::new(Slow { rest: input, step }, PATHS),
    );
    let mut units = jsonl::UnitScanner::default();
    let mut joined = Vec::new();
    while let Some(unit) = at_once.next().expect("a slice has no errors") {
        assert_eq!(unit.offset(), joined.len() as u64, "a unit does not follow the one before it");
        joined.extend_from_slice(unit.bytes());
        assert_eq!(slow.next().expect("no errors"), Some(unit), "a unit that is read slowly");
        let (same, _) = units.scan(&unit, PATHS);
        assert_eq!(same, unit, "a unit that is scanned");
    }
    assert!(slow.next().expect("no errors").is_none(), "a unit too many");
    assert_eq!(joined, input, "the units joined are not the input");
}

/// A reader that returns a few bytes at a time.
struct Slow<'i> {
    rest: &'i [u8],
    step: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.step.min(buffer.len());
        let n = self.rest.take(n as u64).read(buffer)?;
        self.rest = &self.rest[n..];
        Ok(n)
    }
}
