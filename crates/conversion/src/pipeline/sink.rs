//! The sinks of a conversion, and how a conversion that begins before its first pass has ended takes its
//! bytes back.
//!
//! In: a file, which can be emptied, or standard output, which cannot. Out: the bytes of a file go to
//! it at once. Others are held until the conversion is known to be right.

use std::{
    cell::Cell,
    io::{self, Write},
};

/// Limit on the bytes that are held for a sink.
const MAX_HELD: usize = if cfg!(test) { 64 * 1024 } else { 8 * 1024 * 1024 };

/// Limit on a source whose bytes are held. The output of a larger one hardly fits.
pub(super) const MAX_HELD_SOURCE: u64 = 2 * MAX_HELD as u64;

/// A sink whose bytes can be taken back.
pub trait Retract: Write {
    /// Removes all bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    fn retract(&mut self) -> io::Result<()>;
}

/// The sink of a file.
pub enum Sink<'w> {
    /// A sink that keeps its bytes, such as standard output.
    Final(&'w mut dyn Write),
    /// A sink whose bytes can be taken back, such as a temporary file.
    Retractable(&'w mut dyn Retract),
}

impl Sink<'_> {
    /// Returns the sink, shorter borrowed.
    pub(super) fn reborrow(&mut self) -> Sink<'_> {
        match self {
            Sink::Final(sink) => Sink::Final(&mut **sink),
            Sink::Retractable(sink) => Sink::Retractable(&mut **sink),
        }
    }

    /// Takes back the bytes of a conversion that was not right.
    pub(super) fn retract(&mut self) -> io::Result<()> {
        match self {
            Sink::Final(_) => Ok(()),
            Sink::Retractable(sink) => sink.retract(),
        }
    }

    /// Returns the number of sinks whose bytes must be held.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Sink::Final(_))
    }
}

impl<'w> Sink<'w> {
    /// Returns the writer.
    pub(super) fn into_writer(self) -> &'w mut dyn Write {
        match self {
            Sink::Final(sink) => sink,
            Sink::Retractable(sink) => sink,
        }
    }
}

/// A sink of a conversion that may be taken back.
pub(super) struct Trial<'t> {
    sink: Sink<'t>,
    held: Vec<u8>,
    /// Whether a sink got more bytes than are held.
    is_full: &'t Cell<bool>,
}

impl<'t> Trial<'t> {
    pub(super) fn new(sink: Sink<'t>, is_full: &'t Cell<bool>) -> Self {
        Self { sink, held: Vec::new(), is_full }
    }

    /// Writes the bytes that were held.
    pub(super) fn accept(self) -> io::Result<()> {
        match self.sink {
            Sink::Final(sink) if !self.held.is_empty() => {
                sink.write_all(&self.held)?;
                sink.flush()
            }
            _ => Ok(()),
        }
    }
}

impl Write for Trial<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Retractable(sink) => sink.write(bytes),
            Sink::Final(_) => {
                if self.held.len() + bytes.len() > MAX_HELD {
                    self.is_full.set(true);
                    self.held = Vec::new();
                }
                if !self.is_full.get() {
                    self.held.extend_from_slice(bytes);
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Retractable(sink) => sink.flush(),
            Sink::Final(_) => Ok(()),
        }
    }
}
