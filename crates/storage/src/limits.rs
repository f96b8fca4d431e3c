//! How much an input may hold, and what is said of one that holds more.

use std::io;

use memchr::{memchr_iter, memrchr};

/// Standard input up to this size is kept in memory, more of it in a temporary file.
pub const MAX_IN_MEMORY: usize = 8 * 1024 * 1024;

/// How much an input may hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The bytes of a line.
    pub line: Option<u64>,
    /// The bytes that a compressed input expands to.
    pub expanded: Option<u64>,
}

impl Limits {
    /// Whatever it holds: for what we wrote ourselves.
    pub const NONE: Self = Self { line: Some(u64::MAX), expanded: Some(u64::MAX) };
}

/// An input that holds more than it may.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum Excess {
    /// A line has more bytes than this.
    #[error("a line has more than {0} bytes; --max-line allows longer ones")]
    Line(u64),
    /// A compressed input expands to more bytes than this.
    #[error("it expands to more than {0} bytes; --max-expanded allows more")]
    Expanded(u64),
}

/// Counts the bytes of lines as they are read.
#[derive(Clone, Copy, Debug)]
pub struct LineMeter {
    max: u64,
    /// The bytes of the line that was read last, so far.
    line: u64,
}

impl LineMeter {
    /// For lines of any length.
    pub const NONE: Self = Self { max: u64::MAX, line: 0 };

    /// Creates a meter for lines of at most so many bytes.
    pub fn new(max: u64) -> Self {
        Self { max, line: 0 }
    }

    /// Begins anew with the first line.
    pub fn restart(&mut self) {
        self.line = 0;
    }

    /// Takes bytes that follow those before.
    ///
    /// # Errors
    ///
    /// If a line is too long.
    pub fn measure(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.max == u64::MAX {
            return Ok(());
        }
        let Some(last) = memrchr(b'\n', bytes) else {
            self.line += bytes.len() as u64;
            return self.check();
        };
        if self.line + bytes.len() as u64 > self.max {
            let mut start = 0;
            for end in memchr_iter(b'\n', bytes) {
                self.line += (end - start) as u64;
                self.check()?;
                (self.line, start) = (0, end + 1);
            }
        }
        self.line = (bytes.len() - last - 1) as u64;
        self.check()
    }

    fn check(&self) -> io::Result<()> {
        if self.line > self.max {
            return Err(io::Error::other(Excess::Line(self.max)));
        }
        Ok(())
    }
}

/// A reader of which no line may be longer than a meter allows.
pub struct Metered<R> {
    /// The reader.
    pub reader: R,
    /// The counts so far.
    pub meter: LineMeter,
}

impl<R: io::Read> io::Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.meter.measure(buffer.get(..n).unwrap_or_default())?;
        Ok(n)
    }
}
