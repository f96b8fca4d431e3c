//! Lines joined are the input, however it is cut into chunks and however it is read.

use std::io::Read;

/// Checks that lines, chunks and streams agree with each other and with the input.
pub fn split(input: &[u8]) {
    let lines: Vec<_> = jsonl::lines(input).collect();
    let joined: Vec<u8> = lines.iter().flat_map(|line| line.bytes().to_vec()).collect();
    assert_eq!(joined, input, "lines joined are the input");
    let mut offset = 0;
    for line in &lines {
        assert_eq!(line.offset(), offset, "a line starts where the one before ended");
        assert!(line.offset_of(line.content()).is_some(), "the content lies in the line");
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
    assert_eq!(n_lines, lines.len(), "a stream has all lines");
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
