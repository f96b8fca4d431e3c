//! Limits on the size of inputs, and the errors for larger ones.

use std::io;

use memchr::{memchr_iter, memrchr};

/// Limit on standard input in memory, in bytes. A longer input goes to a temporary file.
pub const MAX_IN_MEMORY: usize = 8 * 1024 * 1024;

/// Limits on the size of an input. A field that is `None` has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Limit on the bytes of a line. The newline does not count. By default none for a file; for a
    /// compressed input 20 times its size, and at least 32 MiB.
    pub line: Option<u64>,
    /// Limit on the bytes of a compressed input after decompression. By default 100 times its size plus
    /// 1 GiB. It does not apply to other inputs.
    pub expanded: Option<u64>,
}

impl Limits {
    /// Limits that are never reached, for files that this program wrote.
    pub const NONE: Self = Self { line: Some(u64::MAX), expanded: Some(u64::MAX) };
}

/// The error for an input beyond its limits.
///
/// It is the inner error of an [`io::Error`] of the kind [`Other`](io::ErrorKind::Other):
///
/// ```
/// use std::io::Read;
///
/// use storage::{Excess, LineMeter, Metered};
///
/// let mut reader = Metered { reader: &b"a line\n"[..], meter: LineMeter::new(3) };
/// let error = reader.read_to_end(&mut Vec::new()).expect_err("too long");
/// let excess = error.get_ref().and_then(|error| error.downcast_ref::<Excess>());
/// assert!(matches!(excess, Some(Excess::Line(3))));
/// ```
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum Excess {
    /// A line has more bytes than this.
    #[error("a line has more than {0} bytes")]
    Line(u64),
    /// A compressed input expands to more bytes than this.
    #[error("it expands to more than {0} bytes")]
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

    /// Creates a meter that allows lines of at most `max` bytes. The newline does not count; a
    /// carriage return before it does. [`u64::MAX`] is no limit.
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
    /// Returns an [`Excess::Line`] if a line is too long. So does every later call, until
    /// [`LineMeter::restart`].
    pub fn measure(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.check()?;
        self.add(bytes);
        self.check()
    }

    /// Adds bytes that follow the previous ones. Returns how many of them to pass on: all, or the
    /// lines before the one that is too long.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no lines before it in these bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let n_fine = self.add(bytes);
        if n_fine == 0 {
            self.check()?;
        }
        Ok(n_fine)
    }

    /// Adds bytes, up to the end of a line that is too long. Returns the number of bytes before that
    /// line, or of all.
    fn add(&mut self, bytes: &[u8]) -> usize {
        if self.max == u64::MAX {
            return bytes.len();
        }
        let last = memrchr(b'\n', bytes);
        let mut start = 0;
        if last.is_some() && self.line + bytes.len() as u64 > self.max {
            for end in memchr_iter(b'\n', bytes) {
                self.line += (end - start) as u64;
                if self.is_over() {
                    return start;
                }
                (self.line, start) = (0, end + 1);
            }
        }
        if let Some(last) = last {
            (self.line, start) = (0, last + 1);
        }
        self.line += (bytes.len() - start) as u64;
        if self.is_over() { start } else { bytes.len() }
    }

    fn is_over(&self) -> bool {
        self.line > self.max
    }

    fn check(&self) -> io::Result<()> {
        if self.is_over() {
            return Err(io::Error::other(Excess::Line(self.max)));
        }
        Ok(())
    }
}

/// A reader that fails at a line that is too long.
///
/// All lines before it are returned first. Then each read fails with [`Excess::Line`]. Wrap the reader
/// of a `jsonl::Stream` in it to bound the memory of a line.
pub struct Metered<R> {
    /// The inner reader.
    pub reader: R,
    /// The meter.
    pub meter: LineMeter,
}

impl<R: io::Read> io::Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.meter.pass(buffer.get(..n).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Reads to the error and returns the bytes before it, for a reader of `block` bytes each.
    fn read(input: &[u8], max: u64, block: usize) -> (Vec<u8>, bool) {
        let mut metered = Metered { reader: input, meter: LineMeter::new(max) };
        let (mut seen, mut buffer) = (Vec::new(), vec![0; block]);
        loop {
            match metered.read(&mut buffer) {
                Ok(0) => return (seen, false),
                Ok(n) => seen.extend_from_slice(&buffer[..n]),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::Other);
                    let excess = error.downcast::<Excess>().expect("an excess");
                    assert!(matches!(excess, Excess::Line(n) if n == max));
                    let again = metered.read(&mut buffer).expect_err("it fails again");
                    assert!(again.downcast::<Excess>().is_ok());
                    return (seen, true);
                }
            }
        }
    }

    #[test]
    fn lines_before_the_long_one_are_returned() {
        let input = b"one\ntwo\r\n\nlonger\nfour\n";
        for block in 1..30 {
            let (seen, is_error) = read(input, 4, block);
            assert!(is_error);
            let at = seen.len();
            assert!(seen.starts_with(b"one\ntwo\r\n\n") && at <= 14, "{block}: {at}");
            assert!(input.starts_with(&seen));
            assert_eq!(read(input, 6, block), (input.to_vec(), false));
        }
        assert_eq!(read(b"a\nlonger", 4, 30), (b"a\n".to_vec(), true));
        assert_eq!(read(b"", 0, 30), (Vec::new(), false));
    }
}
