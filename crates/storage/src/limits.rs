//! Limits on the size of inputs, and the errors for larger ones.

use std::io;

use memchr::{memchr_iter, memrchr};

/// Limit on standard input in memory, in bytes. A longer input goes to a temporary file.
pub const MAX_IN_MEMORY: usize = 8 * 1024 * 1024;

/// Limits on the size of an input. `None` is a default that depends on the size of the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Limit on the bytes of a line.
    pub line: Option<u64>,
    /// Limit on the bytes of a compressed input after decompression.
    pub expanded: Option<u64>,
}

impl Limits {
    /// No limits, for files that this program wrote.
    pub const NONE: Self = Self { line: Some(u64::MAX), expanded: Some(u64::MAX) };
}

/// The error for an input beyond its limits.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum Excess {
    /// A line has more bytes than this.
    #[error("a line has more than {0} bytes; --max-line allows longer ones")]
    Line(u64),
    /// A compressed input expands to more bytes than this.
    #[error("it expands to more than {0} bytes; --max-expanded allows more")]
    Expanded(u64),
}

/// Measures the length of lines as they are read.
#[derive(Clone, Copy, Debug)]
pub struct LineMeter {
    max: u64,
    /// The bytes of the last line so far.
    line: u64,
}

impl LineMeter {
    /// A meter without a limit.
    pub const NONE: Self = Self { max: u64::MAX, line: 0 };

    /// Creates a meter that allows lines of at most `max` bytes.
    pub fn new(max: u64) -> Self {
        Self { max, line: 0 }
    }

    /// Starts again with the first line.
    pub fn restart(&mut self) {
        self.line = 0;
    }

    /// Adds bytes that follow the previous ones.
    ///
    /// # Errors
    ///
    /// Returns an error if a line is too long.
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

/// A reader that fails at a line that is too long.
pub struct Metered<R> {
    /// The inner reader.
    pub reader: R,
    /// The meter.
    pub meter: LineMeter,
}

impl<R: io::Read> io::Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.meter.measure(buffer.get(..n).unwrap_or_default())?;
        Ok(n)
    }
}
