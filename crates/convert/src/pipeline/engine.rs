//! From source lines to written lines and the records of the source lines in them.

use std::io::{self, Write};

use core_model::{Copied, Event, Format, LineId, LossKind, Options, Output, Place, Writer};
use jsonl::Line;

use crate::{
    carry::{Contents, Packer, Riders},
    pipeline::{survey::Survey, target::Target},
};

/// Where source lines go that no written line says in full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CarryMode {
    /// Into the written lines, as their last member.
    #[default]
    Inline,
    /// Into a file beside the written one.
    Sidecar,
    /// Nowhere: the target is clean, and the way back is not exact.
    None,
}

pub(crate) struct Engine<'w> {
    mode: CarryMode,
    writer: Box<dyn Writer>,
    out: Output,
    packer: Packer,
    riders: Riders,
    /// The records of the lines that the writer has not emitted yet, by their ids.
    records: Vec<Vec<u8>>,
    target: Target<'w>,
    /// The lines that say the first prompt; once they are written, the head is over.
    prompt_lines: Vec<LineId>,
    has_prompt: bool,
    line: Vec<u8>,
    copied: Vec<Copied>,
    homes: Vec<(u32, LineId)>,
    n_riders: u64,
    /// Whether the source lines are carried elsewhere.
    is_derived: bool,
}

/// What an engine wrote.
pub(crate) struct Written {
    pub(crate) sidecar: Option<Vec<u8>>,
    pub(crate) n_riders: u64,
    pub(crate) n_stranded: u64,
    pub(crate) n_lines: u64,
    pub(crate) n_bytes: u64,
    pub(crate) losses: core_model::Losses,
}

impl<'w> Engine<'w> {
    pub(crate) fn new(
        from: &'static Format,
        to: &'static Format,
        options: &Options,
        mode: CarryMode,
        survey: &mut Survey,
        sink: &'w mut dyn Write,
    ) -> io::Result<Self> {
        let facts = std::mem::take(&mut survey.facts);
        let session_id = facts.session_id.as_deref().and_then(jsonl::Text::new);
        let session_id = session_id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let size = to.limits.carrier_size;
        let out = Output::new(to.style, from.style, &session_id);
        Ok(Self {
            mode,
            writer: (to.writer)(options, facts),
            // Without a carry nobody asks what stands where.
            out: match mode {
                CarryMode::None => out.without_notes(),
                _ => out,
            },
            packer: Packer::new(from.tag, std::mem::take(&mut survey.base)),
            riders: Riders::new((size > 0).then_some(size / 2)),
            records: Vec::new(),
            target: Target::new(to, mode, sink)?,
            prompt_lines: Vec::new(),
            has_prompt: false,
            line: Vec::new(),
            copied: Vec::new(),
            homes: Vec::new(),
            n_riders: 0,
            is_derived: false,
        })
    }

    /// Lets the lines carry their guards alone: the source is carried elsewhere.
    pub(crate) fn derived(self) -> Self {
        Self { is_derived: true, out: self.out.without_notes(), ..self }
    }

    /// Lets the first carry say which files the source is.
    pub(crate) fn set_contents(&mut self, contents: &Contents) {
        self.packer.set_contents(contents);
    }

    /// Sets the number of the source line.
    pub(crate) fn set_line_number(&mut self, number: u64) {
        self.out.set_line_number(number);
    }

    /// Counts a source line that the target does not show.
    pub(crate) fn lose(&mut self, field: &'static str, place: Place) {
        self.out.lose_at(LossKind::Dropped, field, place);
    }

    /// Returns whether nothing is written yet.
    pub(crate) fn is_at_start(&self) -> bool {
        self.target.n_lines == 0
    }

    /// Takes a source line that no written line says.
    pub(crate) fn ride(&mut self, line: &Line<'_>) {
        self.n_riders += 1;
        if self.mode != CarryMode::None && !self.is_derived {
            self.riders.add(&mut self.packer, line.offset(), line.bytes());
        }
    }

    /// Writes an event that the target shows.
    pub(crate) fn write(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        from: &Format,
    ) -> io::Result<()> {
        self.out.start_source(line, from.style);
        self.writer.write(event, &mut self.out);
        self.find_homes();
        match self.homes[..] {
            [] => self.ride(line),
            _ if self.mode == CarryMode::None || self.is_derived => {}
            [(_, id)] => {
                self.out.swap_copied(id, &mut self.copied);
                let records = slot(&mut self.records, id);
                let start = records.len();
                self.packer.push_own(records, line, event.value, &mut self.copied);
                if !event.is_prompt() && !self.target.has_room(records.len() - start) {
                    records.truncate(start);
                    self.riders.add(&mut self.packer, line.offset(), line.bytes());
                }
            }
            _ => self.push_parts(line),
        }
        if !self.has_prompt && event.is_prompt() {
            self.has_prompt = true;
            self.prompt_lines.extend(self.homes.iter().map(|(_, id)| *id));
        }
        self.take_emitted()
    }

    /// Finds the lines that say something of the source line, in the order of what they say; or, if
    /// none copies anything, the first that it touched.
    fn find_homes(&mut self) {
        self.homes.clear();
        let touched = self.out.touched();
        let copied = touched.iter().filter_map(|id| Some((self.out.first_copied(*id)?, *id)));
        self.homes.extend(copied);
        if self.homes.len() > 1 {
            self.homes.sort_unstable_by_key(|(first, _)| *first);
        }
        if self.homes.is_empty() {
            self.homes.extend(touched.first().map(|id| (0, *id)));
        }
    }

    fn push_parts(&mut self, line: &Line<'_>) {
        let n_parts = self.homes.len();
        for part in 0..n_parts {
            let (first, id) = self.homes[part];
            let start = if part == 0 { 0 } else { first as usize };
            let end =
                self.homes.get(part + 1).map_or(line.bytes().len(), |(next, _)| *next as usize);
            self.out.swap_copied(id, &mut self.copied);
            let records = slot(&mut self.records, id);
            let part = (part, n_parts);
            self.packer.push_part(records, line, start..end, part, &mut self.copied);
        }
    }

    /// Writes a line of the target's own format that was restored, byte for byte; `is_continued`
    /// says that it goes on with the line before it, which was damaged.
    pub(crate) fn resume(
        &mut self,
        bytes: &[u8],
        is_continued: bool,
        event: Option<&Event<'_>>,
    ) -> io::Result<()> {
        if let Some(event) = event {
            self.out.end_source();
            self.writer.resume(event, &mut self.out);
            self.take_emitted()?;
        }
        self.target.push_restored(bytes, is_continued, event.is_some_and(Event::is_prompt))
    }

    fn take_emitted(&mut self) -> io::Result<()> {
        while let Some(id) = self.out.next_emitted() {
            let records = slot(&mut self.records, id);
            self.out.swap_bytes(id, &mut self.line);
            self.target.push(&mut self.line, records, &self.packer, &mut self.riders)?;
            records.clear();
            self.out.release(id);
            if self.prompt_lines.contains(&id) {
                self.prompt_lines.clear();
                self.target.end_head(&self.packer, &mut self.riders)?;
            }
        }
        Ok(())
    }

    /// Writes what comes after the last source line.
    pub(crate) fn finish(mut self) -> io::Result<Written> {
        self.target.start_closing(&self.packer, &mut self.riders)?;
        self.writer.finish(&mut self.out);
        self.take_emitted()?;
        let (sidecar, is_stranded) = self.target.finish(&self.packer, &mut self.riders)?;
        Ok(Written {
            sidecar,
            n_riders: self.n_riders,
            n_stranded: u64::from(is_stranded),
            n_lines: self.target.n_lines,
            n_bytes: self.target.n_bytes,
            losses: self.out.losses().clone(),
        })
    }
}

fn slot(records: &mut Vec<Vec<u8>>, id: LineId) -> &mut Vec<u8> {
    if records.len() <= id.index() {
        records.resize_with(id.index() + 1, Vec::new);
    }
    &mut records[id.index()]
}
