//! A source that can be read from its start more than once: what is small stays in memory, scanned.

use std::io::{self, Read, Seek, SeekFrom, Write};

use jsonl::{Chunk, Scanner, Stream};

use crate::survey::{EachLine, Lines};

/// A source up to this size, in bytes, is read and scanned once and kept.
const MAX_KEPT: u64 = 8 * 1024 * 1024;

/// A source that can be read from its start more than once.
#[derive(Debug)]
pub struct Source<R> {
    reader: R,
    scanner: Scanner,
    kept: Option<Chunk>,
    is_large: bool,
}

impl<R: Read + Seek> Source<R> {
    /// Creates a source.
    pub fn new(reader: R) -> Self {
        Self { reader, scanner: Scanner::default(), kept: None, is_large: false }
    }

    /// Reads the source if it is small and has not been read yet.
    fn keep(&mut self) -> io::Result<()> {
        if self.kept.is_some() || self.is_large {
            return Ok(());
        }
        self.is_large = self.reader.seek(SeekFrom::End(0))? > MAX_KEPT;
        self.reader.seek(SeekFrom::Start(0))?;
        if !self.is_large {
            let mut bytes = Vec::new();
            // One byte more than may be kept tells a source that grows while it is read.
            (&mut self.reader).take(MAX_KEPT + 1).read_to_end(&mut bytes)?;
            self.is_large = bytes.len() as u64 > MAX_KEPT;
            if !self.is_large {
                self.kept = Some(Chunk::scan(bytes, 0, &mut self.scanner));
            }
        }
        Ok(())
    }

    /// Writes all bytes to `sink` and returns how many they are.
    pub(crate) fn copy_to(&mut self, sink: &mut dyn Write) -> io::Result<u64> {
        self.reader.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.reader, sink)
    }
}

impl<R: Read + Seek> Lines for Source<R> {
    fn for_each(&mut self, each: &mut EachLine<'_>) -> io::Result<()> {
        self.keep()?;
        if let Some(chunk) = &self.kept {
            for (line, value) in chunk.iter() {
                if !each(&line, value) {
                    break;
                }
            }
            return Ok(());
        }
        self.reader.seek(SeekFrom::Start(0))?;
        let mut stream = Stream::new(&mut self.reader);
        while let Some(line) = stream.next()? {
            if !each(&line, self.scanner.scan(&line)) {
                break;
            }
        }
        Ok(())
    }
}
