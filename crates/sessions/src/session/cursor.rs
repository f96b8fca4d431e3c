//! Reads one file of a session line by line.

use std::io;

use conversion::{EachEvent, ManifestEntryKind, Recovery};
use core_model::{Event, Format, Framing};
use jsonl::{Error, ErrorKind, Line, Records, Text, Unit, UnitScanner};

use super::{SessionFile, Start};

/// Minimum size in bytes of a group of lines of a file that is not a transcript.
const MIN_SIDE: usize = 16 * 1024;

/// A file that is being read.
pub(super) struct Cursor<'s> {
    file: &'s SessionFile,
    format: &'static Format,
    stream: Records<Start<'s>>,
    scanner: UnitScanner,
    recovery: Recovery,
    /// The tool use that started the sub-agent, as a JSON string; empty if unknown.
    tool_use: String,
    /// A line that waits, and its offset in the source.
    held: Option<(Vec<u8>, u64, Unit)>,
}

impl<'s> Cursor<'s> {
    /// Opens a file.
    pub(super) fn open(
        file: &'s SessionFile,
        format: &'static Format,
        tool_use: String,
    ) -> io::Result<Self> {
        let is_side = file.kind == ManifestEntryKind::Side;
        let framing = if is_side { Framing::Lines } else { format.framing };
        Ok(Self {
            file,
            format,
            stream: Records::new(file.open()?, framing),
            scanner: UnitScanner::default(),
            recovery: Recovery::new(&[format]),
            tool_use,
            held: None,
        })
    }

    /// Delivers the next line. If `waits` returns true for its start and end, the line is held
    /// until the next call.
    pub(super) fn advance(
        &mut self,
        each: &mut EachEvent<'_>,
        waits: impl FnOnce(u64, u64) -> bool,
    ) -> io::Result<Step> {
        if self.file.kind == ManifestEntryKind::Side {
            return self.advance_side(each);
        }
        let Self { file, format, stream, scanner, recovery, tool_use, held } = self;
        let mut hand_on = |line: &Line<'_>| {
            let (line, value) = scanner.scan(line, format.framing.paths());
            recovery.line(&line, value, &mut |line, value| match value {
                Ok(value) => format.for_each_event(value, |event| {
                    let mut event = *event;
                    if file.kind == ManifestEntryKind::Agent {
                        mark(&mut event, tool_use);
                    }
                    each(line, Ok(&event))
                }),
                Err(error) => each(line, Err(error)),
            })
        };
        if let Some((bytes, offset, unit)) = held.take() {
            let goes_on = hand_on(&Line::of_unit(&bytes, offset, unit));
            return Ok(if goes_on { Step::Passed } else { Step::Stopped });
        }
        let Some(line) = stream.next()? else { return Ok(Step::Ended) };
        let offset = file.start + line.offset();
        let end = offset + line.bytes().len() as u64;
        if waits(offset, end) {
            *held = Some((line.bytes().to_vec(), offset, line.unit()));
            return Ok(Step::Held);
        }
        let goes_on = hand_on(&Line::of_unit(line.bytes(), offset, line.unit()));
        Ok(if goes_on { Step::Passed } else { Step::Stopped })
    }

    /// Delivers several lines of a file that is not a transcript as one: a record for each short
    /// line would be longer than the line.
    fn advance_side(&mut self, each: &mut EachEvent<'_>) -> io::Result<Step> {
        let mut hand_on = |bytes: &[u8], offset| {
            each(&Line::new(bytes, offset), Err(Error { offset, kind: ErrorKind::Empty }))
        };
        let (mut bytes, mut start) = (Vec::new(), None);
        while bytes.len() < MIN_SIDE
            && let Some(line) = self.stream.next()?
        {
            let offset = self.file.start + line.offset();
            if line.bytes().len() >= MIN_SIDE {
                // A long line is delivered without a copy.
                let goes_on = start.is_none_or(|start| hand_on(&bytes, start));
                let goes_on = goes_on && hand_on(line.bytes(), offset);
                return Ok(if goes_on { Step::Passed } else { Step::Stopped });
            }
            start.get_or_insert(offset);
            bytes.extend_from_slice(line.bytes());
        }
        let Some(offset) = start else { return Ok(Step::Ended) };
        let goes_on = hand_on(&bytes, offset);
        Ok(if goes_on { Step::Passed } else { Step::Stopped })
    }
}

/// The result of delivering a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// It was delivered.
    Passed,
    /// It waits for lines of other files.
    Held,
    /// The file has ended.
    Ended,
    /// It was delivered, and the receiver stopped.
    Stopped,
}

/// Sets the sub-agent of an event.
fn mark<'l>(event: &mut Event<'l>, tool_use: &'l str) {
    event.context.is_sidechain = true;
    event.context.parent_tool_use = Text::new(tool_use);
}
