//! Restores the files beside the main one.

use std::io::{self, Write};

use jsonl::{Line, Scanner};

use super::SecondPass;
use crate::pipeline::engine::Engine;

/// The sink of a file beside the main one.
pub(crate) enum OtherSink<'w> {
    /// A sub-agent's transcript.
    Agent(Box<Engine<'w>>),
    /// A file that is not a transcript.
    Side(&'w mut dyn Write),
    /// Drops the file.
    Nowhere,
}

impl<'w> OtherSink<'w> {
    /// Returns the engine of a sub-agent's transcript; `None` for other files.
    pub(super) fn agent(&mut self) -> Option<&mut Engine<'w>> {
        match self {
            OtherSink::Agent(engine) => Some(engine),
            OtherSink::Side(_) | OtherSink::Nowhere => None,
        }
    }
}

impl SecondPass<'_> {
    /// Writes a restored line to a file beside the main one.
    pub(super) fn restore_other(
        &mut self,
        file_idx: usize,
        bytes: &[u8],
        is_continued: bool,
        scanner: &mut Scanner,
    ) -> io::Result<()> {
        let format = self.levels.last().copied();
        let Some(other) = self.others.get_mut(file_idx - 1) else { return Ok(()) };
        match other {
            OtherSink::Agent(engine) => {
                let line = Line::new(bytes, u64::from(!engine.is_at_start()));
                let value = scanner.scan(&line).ok();
                let event = value.zip(format).map(|(value, format)| (format.read)(value));
                engine.resume(bytes, is_continued, None, event.as_ref())
            }
            OtherSink::Side(sink) => {
                self.report.bytes_out += bytes.len() as u64;
                sink.write_all(bytes)
            }
            OtherSink::Nowhere => Ok(()),
        }
    }
}
