//! Collects bytes in a buffer, and has none while there are no bytes.
//!
//! In: a few lines for each of 8,000 pending files, each flushed before the next file. Out: one buffer, not 8,000.

use std::io::{self, BufWriter, Write};

/// The buffer size in bytes. Longer lines are written without a copy.
const BUFFER: usize = 32 * 1024;

/// The size in bytes of the buffers of all files that are written at the same time, and the least size of one.
const MAX_BUFFERS: usize = 2 * 1024 * 1024;
const MIN_BUFFER: usize = 512;

/// A sink with a buffer, which a flush returns to the system.
pub struct Buffered<W: Write> {
    size: usize,
    /// `None` only within a call.
    sink: Option<Sink<W>>,
}

enum Sink<W: Write> {
    Bare(W),
    Buffered(BufWriter<W>),
}

impl<W: Write> Buffered<W> {
    /// Creates the sink of one of `n_files` files that are written at the same time. Their buffers have 2 MiB together,
    /// and each has 512 bytes to 32 KiB.
    pub fn of_files(n_files: usize, sink: W) -> Self {
        let size = (MAX_BUFFERS / n_files.max(1)).clamp(MIN_BUFFER, BUFFER);
        Self { size, sink: Some(Sink::Bare(sink)) }
    }

    /// Writes the bytes in the buffer, and returns the sink.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.empty()?;
        match self.sink {
            Some(Sink::Bare(sink)) => Ok(sink),
            _ => Err(gone()),
        }
    }

    /// Writes the bytes in the buffer, and frees it. If that fails, the other bytes stay in it.
    fn empty(&mut self) -> io::Result<&mut W> {
        self.sink = match self.sink.take() {
            Some(Sink::Buffered(buffer)) => match buffer.into_inner() {
                Ok(sink) => Some(Sink::Bare(sink)),
                Err(error) => {
                    let (error, buffer) = error.into_parts();
                    self.sink = Some(Sink::Buffered(buffer));
                    return Err(error);
                }
            },
            other => other,
        };
        match &mut self.sink {
            Some(Sink::Bare(sink)) => Ok(sink),
            _ => Err(gone()),
        }
    }

    fn buffer(&mut self) -> io::Result<&mut BufWriter<W>> {
        if let Some(Sink::Bare(_)) = &self.sink
            && let Some(Sink::Bare(sink)) = self.sink.take()
        {
            self.sink = Some(Sink::Buffered(BufWriter::with_capacity(self.size, sink)));
        }
        match &mut self.sink {
            Some(Sink::Buffered(buffer)) => Ok(buffer),
            _ => Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the sink is gone")
}

impl<W: Write> Write for Buffered<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.empty()?.flush()
    }
}
