//! From source lines to written lines and the records of the source lines in them.

use std::io::{self, Write};

use core_model::{
    Answers, Copied, Event, Format, LineId, LossKind, Options, Output, Place, Writer,
};
use jsonl::Line;

use crate::{
    carry::{CarryEncoder, Manifest, PendingEntries, Skips, run::Run},
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

impl CarryMode {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            CarryMode::Inline => "inline",
            CarryMode::Sidecar => "sidecar",
            CarryMode::None => "none",
        }
    }
}

pub(crate) struct Engine<'w> {
    mode: CarryMode,
    writer: Box<dyn Writer>,
    /// Finds answers that no message says; none where the target says outcomes as the source does.
    answers: Option<Answers>,
    out: Output,
    encoder: CarryEncoder,
    pending: PendingEntries,
    /// Tiny source lines that become one entry.
    run: Run,
    /// What is known of the lines that the writer has not emitted yet, by their ids.
    records: Vec<Records>,
    target: Target<'w>,
    /// The lines that say the first prompt; once they are written, the head is over.
    prompt_lines: Vec<LineId>,
    has_prompt: bool,
    line: Vec<u8>,
    copied: Vec<Copied>,
    homes: Vec<(u32, LineId)>,
    n_riders: u64,
    /// The carry that the source's own sidecar has for the next source line.
    source_carry: Option<String>,
    /// Whether the source lines are carried elsewhere.
    is_derived: bool,
}

/// What an engine wrote.
pub struct Written {
    /// The bytes of the sidecar, if there is one.
    pub bytes_sidecar: Option<u64>,
    /// Source records that a written record holds and does not say.
    pub n_riders: u64,
    /// Source records that no written record holds.
    pub n_stranded: u64,
    /// Written lines.
    pub n_lines: u64,
    /// Written bytes, without a sidecar.
    pub n_bytes: u64,
    /// What the target does not show.
    pub losses: core_model::Losses,
}

impl<'w> Engine<'w> {
    pub(crate) fn new(
        from: &'static Format,
        to: &'static Format,
        options: &Options,
        mode: CarryMode,
        survey: &mut Survey,
        sink: &'w mut dyn Write,
    ) -> Self {
        let facts = std::mem::take(&mut survey.facts);
        let session_id = facts.session_id.as_deref().and_then(jsonl::Text::new);
        let session_id = session_id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let size = to.limits.filler_record_size;
        let out = Output::new(to.style, from.style, &session_id);
        Self {
            mode,
            writer: (to.writer)(options, facts),
            answers: (from.family != to.family).then(Answers::default),
            // Without a carry nobody asks what stands where.
            out: match mode {
                CarryMode::None => out.without_notes(),
                _ => out,
            },
            encoder: CarryEncoder::new(from.name, std::mem::take(&mut survey.template)),
            pending: PendingEntries::new((size > 0).then_some(size / 2)),
            run: Run::default(),
            records: Vec::new(),
            target: Target::new(to, mode, sink),
            prompt_lines: Vec::new(),
            has_prompt: false,
            line: Vec::new(),
            copied: Vec::new(),
            homes: Vec::new(),
            n_riders: 0,
            source_carry: None,
            is_derived: false,
        }
    }

    /// Sets the sink of the sidecar. Without one there is no sidecar.
    pub(crate) fn set_sidecar(&mut self, sink: &'w mut dyn Write) -> io::Result<()> {
        self.target.set_sidecar(sink)
    }

    /// Lets the lines carry their guards alone: the source is carried elsewhere.
    pub(crate) fn derived(self) -> Self {
        Self { is_derived: true, out: self.out.without_notes(), ..self }
    }

    /// Lets the first carry say which files the source is.
    pub(crate) fn set_contents(&mut self, contents: &Manifest) {
        self.encoder.set_contents(contents);
    }

    /// Sets the number of the source line.
    pub(crate) fn set_line_number(&mut self, number: u64) {
        self.out.set_line_number(number);
    }

    /// Counts a source line that the target does not show.
    pub(crate) fn lose(&mut self, field: &'static str, place: Place) {
        self.out.lose_at(LossKind::Dropped, field, place);
    }

    /// Counts a source line that the target does not show, under the name of its kind.
    pub(crate) fn lose_record(&mut self, event: &Event<'_>, place: Place) {
        self.out.lose_record_at(event, place);
    }

    /// Returns whether nothing is written yet.
    pub(crate) fn is_at_start(&self) -> bool {
        self.target.n_lines == 0
    }

    /// Sets the carry that the source's own sidecar has for the next source line.
    pub(crate) fn set_source_carry(&mut self, carry: Option<String>) {
        self.source_carry = carry;
    }

    /// Takes a carry of the source's own sidecar that belongs to no source line; `offset` is behind the
    /// last line, and of no other such carry.
    pub(crate) fn hold_source_carry(&mut self, carry: &str, offset: u64) -> io::Result<()> {
        if !self.has_carries() {
            return Ok(());
        }
        self.end_run()?;
        self.pending.add_sidecar(&mut self.encoder, offset, carry.as_bytes())
    }

    /// Takes a source line that no written line says.
    pub(crate) fn ride(&mut self, line: &Line<'_>) -> io::Result<()> {
        self.n_riders += 1;
        let carry = self.source_carry.take();
        if !self.has_carries() {
            return Ok(());
        }
        let is_in_run = self.run.notes(line) && carry.is_none();
        if !is_in_run || !self.run.has_room() {
            self.end_run()?;
        }
        if !is_in_run {
            return self.hold(line, carry.as_deref());
        }
        self.run.push(line);
        Ok(())
    }

    /// Ends a run of tiny source lines: the next line does not belong to it.
    pub(crate) fn end_run(&mut self) -> io::Result<()> {
        if let Some((offset, bytes)) = self.run.get() {
            self.pending.add(&mut self.encoder, offset, bytes)?;
            self.run.clear();
        }
        Ok(())
    }

    fn has_carries(&self) -> bool {
        self.mode != CarryMode::None && !self.is_derived
    }

    fn hold(&mut self, line: &Line<'_>, carry: Option<&str>) -> io::Result<()> {
        self.end_run()?;
        if let Some(carry) = carry {
            self.pending.add_sidecar(&mut self.encoder, line.offset(), carry.as_bytes())?;
        }
        self.pending.add(&mut self.encoder, line.offset(), line.bytes())
    }

    /// Writes an event that the target shows.
    pub(crate) fn write(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        from: &Format,
    ) -> io::Result<()> {
        self.out.start_source(line, from.style);
        if let Some(answer) = self.answers.as_mut().and_then(|answers| answers.answer_of(event)) {
            self.writer.write(&answer, &mut self.out);
        }
        self.writer.write(event, &mut self.out);
        self.find_homes();
        for (id, repeated) in self.out.repeated() {
            let skips = &mut slot(&mut self.records, *id).skips;
            skips.note(&self.target.orders, line.bytes(), event.value, repeated);
        }
        match self.homes[..] {
            [] => self.ride(line)?,
            _ if !self.has_carries() => {}
            [(_, id)] => self.push_own(line, event, id)?,
            _ => self.push_parts(line, event),
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

    fn push_own(&mut self, line: &Line<'_>, event: &Event<'_>, id: LineId) -> io::Result<()> {
        let carry = self.source_carry.take();
        self.out.swap_copied(id, &mut self.copied);
        let Records { entries, skips } = slot(&mut self.records, id);
        let start = entries.len();
        if let Some(carry) = &carry {
            self.encoder.push_sidecar(entries, line.offset(), carry);
        }
        for copy in &self.copied {
            skips.note(&self.target.orders, line.bytes(), event.value, copy);
        }
        self.encoder.push_own(entries, line, event.value, &mut self.copied);
        if !event.is_prompt() && !self.target.has_room(entries.len() - start) {
            entries.truncate(start);
            self.encoder.retract(line.bytes().len());
            if let Some(carry) = &carry {
                self.encoder.retract(carry.len());
            }
            return self.hold(line, carry.as_deref());
        }
        Ok(())
    }

    fn push_parts(&mut self, line: &Line<'_>, event: &Event<'_>) {
        let n_parts = self.homes.len();
        let carry = self.source_carry.take();
        if let (Some(carry), Some((_, id))) = (&carry, self.homes.first()) {
            let entries = &mut slot(&mut self.records, *id).entries;
            self.encoder.push_sidecar(entries, line.offset(), carry);
        }
        for part in 0..n_parts {
            let (first, id) = self.homes[part];
            let start = if part == 0 { 0 } else { first as usize };
            let end =
                self.homes.get(part + 1).map_or(line.bytes().len(), |(next, _)| *next as usize);
            self.out.swap_copied(id, &mut self.copied);
            let Records { entries, skips } = slot(&mut self.records, id);
            for copy in &self.copied {
                skips.note(&self.target.orders, line.bytes(), event.value, copy);
            }
            let part = (part, n_parts);
            self.encoder.push_part(entries, line, start..end, part, &mut self.copied);
        }
    }

    /// Writes a line of the target's own format that was restored, byte for byte, and to the target's
    /// sidecar the carry that its own had; `is_continued` says that it goes on with the line before it,
    /// which was damaged.
    pub(crate) fn resume(
        &mut self,
        bytes: &[u8],
        is_continued: bool,
        carry: Option<&str>,
        event: Option<&Event<'_>>,
    ) -> io::Result<()> {
        if let Some(event) = event {
            self.out.end_source();
            self.writer.resume(event, &mut self.out);
            self.take_emitted()?;
        }
        let is_prompt = event.is_some_and(Event::is_prompt);
        self.target.push_restored(bytes, is_continued, is_prompt, &self.encoder)?;
        carry.map_or(Ok(()), |carry| self.push_restored_carry(carry))
    }

    /// Writes a carry that the source's own sidecar had to the target's sidecar.
    pub(crate) fn push_restored_carry(&mut self, carry: &str) -> io::Result<()> {
        self.target.push_restored_carry(carry)
    }

    fn take_emitted(&mut self) -> io::Result<()> {
        while let Some(id) = self.out.next_emitted() {
            self.end_run()?;
            let Records { entries, skips } = slot(&mut self.records, id);
            self.out.swap_bytes(id, &mut self.line);
            skips.sort();
            self.target.push(&mut self.line, entries, skips, &self.encoder, &mut self.pending)?;
            entries.clear();
            skips.clear();
            self.out.release(id);
            if self.prompt_lines.contains(&id) {
                self.prompt_lines.clear();
                self.target.end_head(&self.encoder, &mut self.pending)?;
            }
        }
        Ok(())
    }

    /// Writes what comes after the last source line.
    pub(crate) fn finish(mut self) -> io::Result<Written> {
        self.end_run()?;
        self.target.start_closing(&self.encoder, &mut self.pending)?;
        self.writer.finish(&mut self.out);
        self.take_emitted()?;
        let (bytes_sidecar, is_stranded) = self.target.finish(&self.encoder, &mut self.pending)?;
        Ok(Written {
            bytes_sidecar,
            n_riders: self.n_riders,
            n_stranded: u64::from(is_stranded),
            n_lines: self.target.n_lines,
            n_bytes: self.target.n_bytes,
            losses: self.out.losses().clone(),
        })
    }
}

/// The entries of a line that is not emitted yet.
#[derive(Default)]
struct Records {
    entries: Vec<u8>,
    skips: Skips,
}

fn slot(records: &mut Vec<Records>, id: LineId) -> &mut Records {
    if records.len() <= id.index() {
        records.resize_with(id.index() + 1, Records::default);
    }
    &mut records[id.index()]
}
