//! From source lines to written lines with their carries.

use std::io::{self, Write};

use core_model::{Copied, Event, Format, LineId, LossKind, Options, Output, Place, Writer};
use jsonl::Line;

use crate::{
    carry::{Packer, Riders, guard_of, push_member},
    sidecar::SidecarWriter,
    survey::Survey,
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

/// Riders of this size and more do not follow a title, which must stand near the end of a file.
const MAX_TRAILING: usize = 4 * 1024;

pub(crate) struct Engine<'w> {
    to: &'static Format,
    mode: CarryMode,
    writer: Box<dyn Writer>,
    out: Output,
    packer: Packer,
    riders: Riders,
    /// The records of the lines that the writer has not emitted yet, by their ids.
    records: Vec<Vec<u8>>,
    /// The last line, which waits for what may still ride on it.
    held: Option<Held>,
    spare: Held,
    sink: &'w mut dyn Write,
    sidecar: Option<SidecarWriter>,
    is_first: bool,
    head_used: usize,
    /// The lines that say the first prompt; once they are written, the head is over.
    prompt_lines: Vec<LineId>,
    is_head: bool,
    needs_newline: bool,
    copied: Vec<Copied>,
    homes: Vec<(usize, LineId)>,
    pub(crate) n_riders: u64,
    pub(crate) n_stranded: u64,
    pub(crate) lines_out: u64,
    pub(crate) bytes_out: u64,
}

#[derive(Default)]
struct Held {
    line: Vec<u8>,
    carry: Vec<u8>,
    guard: u64,
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
        Ok(Self {
            to,
            mode,
            writer: (to.writer)(options, facts),
            out: Output::new(to.style, from.style, &session_id),
            packer: Packer::new(from.tag, std::mem::take(&mut survey.base)),
            riders: Riders::default(),
            records: Vec::new(),
            held: None,
            spare: Held::default(),
            sink,
            sidecar: match mode {
                CarryMode::Sidecar => Some(SidecarWriter::new()?),
                CarryMode::Inline | CarryMode::None => None,
            },
            is_first: true,
            head_used: 0,
            prompt_lines: Vec::new(),
            is_head: to.limits.head > 0 && mode == CarryMode::Inline,
            needs_newline: false,
            copied: Vec::new(),
            homes: Vec::new(),
            n_riders: 0,
            n_stranded: 0,
            lines_out: 0,
            bytes_out: 0,
        })
    }

    pub(crate) fn output(&mut self) -> &mut Output {
        &mut self.out
    }

    /// Takes a source line that the target does not show.
    pub(crate) fn ride(&mut self, line: &Line<'_>) {
        self.n_riders += 1;
        if self.mode != CarryMode::None {
            let longest = match self.to.limits.carrier_size {
                0 => usize::MAX,
                size => size / 2,
            };
            self.riders.add(&mut self.packer, line.offset(), line.bytes(), longest);
        }
    }

    /// Writes an event that the target shows.
    pub(crate) fn write(&mut self, line: &Line<'_>, event: &Event<'_>, from: &Format) -> io::Result<()> {
        self.out.start_source(line, from.style);
        self.writer.write(event, &mut self.out);
        self.find_homes();
        match self.homes.len() {
            // Without a carry nobody asks what stands where.
            1.. if self.mode == CarryMode::None => self.forget_copied(),
            0 => self.ride(line),
            1 => {
                let (_, id) = self.homes[0];
                self.out.take_copied(id, &mut self.copied);
                let records = slot(&mut self.records, id);
                self.packer.push_own(records, line.offset(), line.bytes(), &mut self.copied);
            }
            _ => self.push_parts(line),
        }
        if self.is_head && self.prompt_lines.is_empty() && event.is_prompt() {
            self.prompt_lines.extend(self.homes.iter().map(|(_, id)| *id));
        }
        self.take_emitted()
    }

    fn forget_copied(&mut self) {
        for (_, id) in &self.homes {
            self.out.take_copied(*id, &mut self.copied);
        }
    }

    /// Finds the lines that say something of the source line, in the order of what they say; or, if
    /// none copies anything, the first that it touched.
    fn find_homes(&mut self) {
        self.homes.clear();
        let touched = self.out.touched().to_vec();
        for id in &touched {
            if let Some(first) = self.out.first_copied(*id) {
                self.homes.push((first, *id));
            }
        }
        self.homes.sort_by_key(|(first, _)| *first);
        if self.homes.is_empty() {
            self.homes.extend(touched.first().map(|id| (0, *id)));
        }
    }

    fn push_parts(&mut self, line: &Line<'_>) {
        let n_parts = self.homes.len();
        for part in 0..n_parts {
            let (first, id) = self.homes[part];
            let start = if part == 0 { 0 } else { first };
            let end = self.homes.get(part + 1).map_or(line.bytes().len(), |(next, _)| *next);
            self.out.take_copied(id, &mut self.copied);
            let records = slot(&mut self.records, id);
            let range = (start, end);
            self.packer.push_part(
                records,
                line.offset(),
                line.bytes(),
                range,
                part,
                n_parts,
                &mut self.copied,
            );
        }
    }

    /// Writes a line of the target's own format that was restored, byte for byte.
    pub(crate) fn resume(&mut self, bytes: &[u8], event: Option<&Event<'_>>) -> io::Result<()> {
        if let Some(event) = event {
            self.writer.resume(event, &mut self.out);
            self.take_emitted()?;
            self.is_head &= !event.is_prompt();
        }
        self.write_held()?;
        self.end_line()?;
        self.sink.write_all(bytes)?;
        self.lines_out += 1;
        self.bytes_out += bytes.len() as u64;
        self.needs_newline = !bytes.ends_with(b"\n");
        Ok(())
    }

    /// Ends a restored line that ended its file, now that more follows.
    fn end_line(&mut self) -> io::Result<()> {
        if self.needs_newline {
            self.sink.write_all(b"\n")?;
            self.bytes_out += 1;
            self.needs_newline = false;
        }
        Ok(())
    }

    fn take_emitted(&mut self) -> io::Result<()> {
        while let Some(id) = self.out.next_emitted() {
            self.write_held()?;
            let mut held = std::mem::take(&mut self.spare);
            held.line.extend_from_slice(self.out.bytes(id));
            self.out.release(id);
            let mut records = std::mem::take(slot(&mut self.records, id));
            self.start_carry(&mut held, &records);
            records.clear();
            *slot(&mut self.records, id) = records;
            self.held = Some(held);
            if self.is_head && self.prompt_lines.contains(&id) {
                self.is_head = false;
                self.write_carriers()?;
            }
        }
        Ok(())
    }

    /// Gives a line its carry: its own records and, as far as there is room, those that wait.
    fn start_carry(&mut self, held: &mut Held, records: &[u8]) {
        if self.mode == CarryMode::None {
            return;
        }
        held.guard = guard_of(&[&held.line]);
        self.packer.push_head(&mut held.carry, held.guard, self.is_first);
        self.is_first = false;
        held.carry.extend_from_slice(records);
        let room = if self.is_head {
            self.to.limits.head.saturating_sub(self.head_used + held.carry.len())
        } else {
            usize::MAX
        };
        self.riders.take(&mut held.carry, room);
        self.head_used += held.carry.len();
    }

    /// Writes what waits on lines of a type that the target's client ignores, if there is one.
    fn write_carriers(&mut self) -> io::Result<()> {
        let limits = self.to.limits;
        if limits.carrier.is_empty() || self.mode != CarryMode::Inline {
            return Ok(());
        }
        while !self.riders.is_empty() {
            self.write_held()?;
            let mut held = std::mem::take(&mut self.spare);
            held.line.extend_from_slice(limits.carrier.as_bytes());
            held.line.push(b'}');
            held.guard = guard_of(&[&held.line]);
            self.packer.push_head(&mut held.carry, held.guard, self.is_first);
            self.is_first = false;
            if self.riders.take(&mut held.carry, limits.carrier_size) == 0 {
                self.riders.take(&mut held.carry, usize::MAX);
            }
            self.held = Some(held);
        }
        Ok(())
    }

    fn write_held(&mut self) -> io::Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        self.end_line()?;
        match self.mode {
            CarryMode::Inline => push_member(&mut held.line, &held.carry, self.to.style),
            CarryMode::Sidecar => {
                if let Some(sidecar) = &mut self.sidecar {
                    sidecar.add(held.guard, &held.carry)?;
                }
            }
            CarryMode::None => {}
        }
        held.line.push(b'\n');
        self.sink.write_all(&held.line)?;
        self.lines_out += 1;
        self.bytes_out += held.line.len() as u64;
        held.line.clear();
        held.carry.clear();
        self.spare = held;
        Ok(())
    }

    /// Writes what comes after the last source line, and returns the sidecar if there is one.
    pub(crate) fn finish(mut self) -> io::Result<(Self, Option<Vec<u8>>)> {
        if self.riders.len() > MAX_TRAILING {
            self.write_carriers_if_begun()?;
        }
        self.writer.finish(&mut self.out);
        self.take_emitted()?;
        if let Some(held) = &mut self.held {
            self.riders.take(&mut held.carry, usize::MAX);
        }
        self.write_held()?;
        let mut sidecar = self.sidecar.take();
        if !self.riders.is_empty() {
            self.strand(&mut sidecar)?;
        }
        let sidecar = sidecar.map(SidecarWriter::finish).transpose()?;
        self.sink.flush()?;
        Ok((self, sidecar))
    }

    fn write_carriers_if_begun(&mut self) -> io::Result<()> {
        if self.held.is_some() { self.write_carriers() } else { Ok(()) }
    }

    /// Finds a place for source lines in a target that shows nothing: a sidecar.
    fn strand(&mut self, sidecar: &mut Option<SidecarWriter>) -> io::Result<()> {
        if self.lines_out > 0 && self.mode == CarryMode::Inline {
            // Restored lines are not touched; what was added to them has no place.
            self.n_stranded += 1;
            self.out.lose_at(LossKind::Dropped, "line without a place", Place::default());
            return Ok(());
        }
        let mut carry = Vec::new();
        let guard = guard_of(&[b""]);
        self.packer.push_head(&mut carry, guard, self.is_first);
        self.riders.take(&mut carry, usize::MAX);
        if sidecar.is_none() {
            *sidecar = Some(SidecarWriter::new()?);
        }
        match sidecar {
            Some(sidecar) => sidecar.add(guard, &carry),
            None => Ok(()),
        }
    }
}

fn slot(records: &mut Vec<Vec<u8>>, id: LineId) -> &mut Vec<u8> {
    if records.len() <= id.index() {
        records.resize_with(id.index() + 1, Vec::new);
    }
    &mut records[id.index()]
}
