//! Restores the files beside the main one.

use std::io::{self, Write};

use jsonl::{LineBuf, UnitScanner};

use super::{SecondPass, unit_in};
use crate::pipeline::engine::{Engine, Flow};

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
        line: &LineBuf,
        flow: Flow,
        scanner: &mut UnitScanner,
    ) -> io::Result<()> {
        let format = self.levels.last().copied();
        let Some(other) = self.others.get_mut(file_idx - 1) else { return Ok(()) };
        match other {
            OtherSink::Agent(engine) => {
                let Some(format) = format else { return Ok(()) };
                let offset = u64::from(!engine.is_at_start());
                let unit = unit_in(format, flow.is_glue);
                let (_, record) = scanner.scan_buf(line, offset, unit, format.framing.paths());
                engine.resume(line.bytes(), flow, None, record.ok(), format)
            }
            OtherSink::Side(sink) => {
                self.report.bytes_out += line.bytes().len() as u64;
                sink.write_all(line.bytes())
            }
            OtherSink::Nowhere => Ok(()),
        }
    }
}
