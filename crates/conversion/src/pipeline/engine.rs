//! Converts source lines to written lines, and attaches source lines to the written lines that
//! cover them.
//!
//! In: a source line and its event. Out: lines of the target, each with a carry. Written lines that
//! copy bytes of the source line cover it: the carry refers to these bytes instead of repeating
//! them. If several lines cover one source line, each carries a part. If none does, the whole
//! source line is a pending entry, which the next written line holds.
//!
//! # Example: two covering lines
//!
//! A tool result and a text of one message become two clido lines. Each copies a string of the
//! source line at offset 260 (piece `Visible`), and its entry holds one of two parts. The tool use at offset 0 is one entry:
//!
//! ```
//! use conversion::{Carry, CarryMode, Conversion, Member, Piece};
//! use core_model::Formats;
//!
//! static FORMATS: Formats =
//!     Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let session = concat!(
//!     r#"{"type":"assistant","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"assistant","id":"m1","#,
//!     r#""type":"message","model":"c","content":[{"type":"tool_use","id":"t1","#,
//!     r#""name":"Read","input":{"file_path":"/a"}}]}}"#,
//!     "\n",
//!     r#"{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"user","content":["#,
//!     r#"{"type":"tool_result","tool_use_id":"t1","content":"a.rs b.rs"},"#,
//!     r#"{"type":"text","text":"Now fix it."}]}}"#,
//!     "\n",
//! );
//! let conversion = Conversion {
//!     formats: FORMATS,
//!     from: &format_claude_code::FORMAT,
//!     to: &format_clido::FORMAT,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let written = conversion.convert(session.as_bytes(), None)?.bytes;
//! let mut scanner = jsonl::Scanner::default();
//! let mut parts = Vec::new();
//! for line in jsonl::lines(&written) {
//!     let member = Member::find_any(scanner.scan(&line).unwrap(), FORMATS).unwrap();
//!     for entry in Carry::parse(&member.carry).unwrap().entries() {
//!         for piece in entry.pieces() {
//!             if let Piece::Visible(start, length) = piece {
//!                 let copied = &member.visible()[start as usize..][..length as usize];
//!                 parts.push((entry.offset, entry.part, entry.n_parts, copied.to_owned()));
//!             }
//!         }
//!     }
//! }
//! let parts: Vec<_> = parts.iter().map(|it| (it.0, it.1, it.2, it.3.as_str())).collect();
//! assert_eq!(parts, [
//!     (0, 0, 1, r#"{"file_path":"/a"}"#),
//!     (260, 0, 2, r#""a.rs b.rs""#),
//!     (260, 1, 2, r#""Now fix it.""#),
//! ]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod covering;
mod records;
mod title;

use std::io::{self, Write};

use core_model::{
    Answers, Copied, Event, EventWriter, Facts, Format, ImageFile, LineId, LossKind, Options,
    Output, PackedLines, Place,
};
use jsonl::{Line, Value};

pub(crate) use self::title::NewTitle;
use self::{
    records::{Records, packed_entries, slot},
    title::{TitleChange, TitledHead},
};
use crate::{
    carry::{CarryEncoder, MEMBER, Manifest, PendingEntries, Queue, run::Run, temporary_lines},
    pipeline::{report::MAX_PLACES, survey::Survey, target::Target},
};

/// Receives the images of a target, which must be written to files. An error ends the conversion.
pub type EachImage<'w> = &'w mut (dyn FnMut(ImageFile) -> io::Result<()> + 'w);

/// The place of the carry.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CarryMode {
    /// The last member of each written line.
    #[default]
    Inline,
    /// A file beside the target.
    Sidecar,
    /// No carry: the target has only its own members, and the way back is not exact.
    None,
}

impl CarryMode {
    /// Returns the name that `--carry` uses.
    pub fn name(self) -> &'static str {
        match self {
            CarryMode::Inline => "inline",
            CarryMode::Sidecar => "sidecar",
            CarryMode::None => "none",
        }
    }
}

/// The relation of restored bytes to the ones before them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    /// Whether they continue a damaged line.
    pub(crate) is_continued: bool,
    /// Whether they start where the ones before ended.
    pub(crate) follows: bool,
    /// Whether they are the glue around the records of a document.
    pub(crate) is_glue: bool,
}

pub(crate) struct Engine<'w> {
    mode: CarryMode,
    writer: Box<dyn EventWriter>,
    /// Makes results for tool uses whose outcome the source tells in another way than a message.
    /// `None` if both formats are of one family.
    answers: Option<Answers>,
    out: Output,
    encoder: CarryEncoder,
    pending: PendingEntries,
    /// The first records whose entries are pending.
    unheld: Vec<Place>,
    line_number: u64,
    /// Tiny source lines that become one entry.
    run: Run,
    /// The entries of lines that the writer has not emitted yet, indexed by line id.
    records: Vec<Records>,
    /// Entries of lines that wait, if they are many.
    packed: PackedLines,
    /// The long entries of the line that is written.
    long_entries: Queue,
    target: Target<'w>,
    /// The lines of the first prompt. After they are written, the head of the file is complete.
    prompt_lines: Vec<LineId>,
    has_prompt: bool,
    /// Whether an event of the current source record is a prompt.
    is_prompt: bool,
    line: Vec<u8>,
    copied: Vec<Copied>,
    covering_lines: Vec<(u32, LineId)>,
    n_carried_whole: u64,
    /// Whether a source record that no written line covers has a carry.
    has_carry_in_whole: bool,
    /// The carry that the sidecar of the source has for the next source line.
    source_carry: Option<String>,
    /// Whether another file carries the source lines.
    is_derived: bool,
    /// Whether a carry refers to no bytes of its line.
    is_whole: bool,
    /// Whether U+2028 and U+2029 become longer when a line is written, so that carries refer to no bytes behind them.
    escapes_separators: bool,
    /// Whether a record was written whose values may go over several lines.
    has_newlines: bool,
    /// The time at which the session starts, for [`Written::start`].
    start: Option<String>,
    /// Receives images that are files.
    images: Option<EachImage<'w>>,
    titled_head: Option<TitledHead>,
    title_change: Option<TitleChange>,
}

/// The counts of what an engine wrote.
pub struct Written {
    /// The size of the sidecar in bytes; `None` without one.
    pub bytes_sidecar: Option<u64>,
    /// The sum of guards in the end mark.
    pub guards: u64,
    /// The carries.
    pub n_carries: u64,
    /// Source records that no written record covers.
    pub n_carried_whole: u64,
    /// Whether one of these records has a carry.
    pub has_carry_in_whole: bool,
    /// 1 if pending entries were left out because the target had no line for them, otherwise 0.
    pub n_left_out: u64,
    /// The first source records among them.
    pub left_out: Vec<Place>,
    /// Written records that the client hides.
    pub n_hidden: u64,
    /// Written lines.
    pub n_lines: u64,
    /// Written bytes, without the sidecar.
    pub n_bytes: u64,
    /// The values that the target does not show.
    pub losses: core_model::Losses,
    /// The time at which the session starts, a JSON value, if a client imports documents of the target.
    pub start: Option<String>,
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
        let start = facts.start.clone().filter(|_| to.documents.is_some());
        let out = Output::new(to.style, from.style, &session_id).pack_into(temporary_lines);
        Self {
            mode,
            writer: (to.writer)(options, facts),
            answers: (from.family != to.family).then(Answers::default),
            // Without a carry, nothing reads the offsets of copied values.
            out: match mode {
                CarryMode::None => out.without_notes(),
                _ => out,
            },
            encoder: CarryEncoder::new(from.name, std::mem::take(&mut survey.template)),
            pending: PendingEntries::new((size > 0).then_some(size / 2)),
            unheld: Vec::new(),
            line_number: 0,
            run: Run::default(),
            records: Vec::new(),
            packed: packed_entries(),
            long_entries: Queue::default(),
            target: Target::new(to, mode, sink),
            prompt_lines: Vec::new(),
            has_prompt: false,
            is_prompt: false,
            line: Vec::new(),
            copied: Vec::new(),
            covering_lines: Vec::new(),
            n_carried_whole: 0,
            has_carry_in_whole: false,
            source_carry: None,
            is_derived: false,
            is_whole: to.rewrites.is_values(),
            escapes_separators: to.escapes_separators,
            has_newlines: false,
            start,
            images: None,
            titled_head: None,
            title_change: None,
        }
    }

    /// Sets the receiver of images, which the writer refers to as files from now on.
    pub(crate) fn set_images(&mut self, images: EachImage<'w>) {
        self.images = Some(images);
        self.collect_images();
    }

    /// Lets the writer refer to images as files, which [`Engine::take_images`] returns.
    pub(crate) fn collect_images(&mut self) {
        self.out.collect_images();
    }

    /// Returns the images since the last call.
    pub(crate) fn take_images(&mut self) -> Vec<ImageFile> {
        self.out.take_images()
    }

    /// Sets the sink of the sidecar. Without a sink, no sidecar is written.
    pub(crate) fn set_sidecar(&mut self, sink: &'w mut dyn Write) {
        self.target.set_sidecar(sink);
    }

    /// Makes an engine whose lines carry only guards, because another file carries the source.
    pub(crate) fn derived(self) -> Self {
        Self { is_derived: true, out: self.out.without_notes(), ..self }
    }

    /// Passes the facts so far to the writer. Returns whether they change no line in the output.
    pub(crate) fn learn(&mut self, facts: &Facts) -> bool {
        self.writer.learn(facts)
    }

    /// Sets the manifest, which the first carry contains.
    pub(crate) fn set_manifest(&mut self, manifest: &Manifest) {
        self.encoder.set_manifest(manifest);
    }

    /// Sets the ids of the sub-agents with derived files, which the first carry contains.
    pub(crate) fn set_derived(&mut self, ids: &[String]) {
        self.encoder.set_derived(ids);
    }

    /// Sets the number of the source line.
    pub(crate) fn set_line_number(&mut self, number: u64) {
        self.line_number = number;
        self.out.set_line_number(number);
    }

    /// Counts a source line that the target does not show, under a field name.
    pub(crate) fn lose(&mut self, field: &'static str, place: Place) {
        self.out.lose_at(LossKind::Dropped, field, place);
    }

    /// Counts a source line whose longest lists are not read.
    fn lose_values(&mut self, line: &Line<'_>, event: &Event<'_>) {
        if event.value.unread(line).is_some() {
            let place = Place { line: self.line_number, offset: line.offset() };
            self.lose("too many values", place);
        }
    }

    /// Counts a member of a source line that the target shows with less structure.
    pub(crate) fn flatten(&mut self, field: &'static str, place: Place) {
        self.out.lose_at(LossKind::Flattened, field, place);
    }

    /// Counts a source line that the target does not show, under its record type.
    pub(crate) fn lose_record(&mut self, event: &Event<'_>, place: Place) {
        self.out.lose_record_at(event, place);
    }

    /// Returns whether no line has been written.
    pub(crate) fn is_at_start(&self) -> bool {
        self.target.n_lines == 0
    }

    /// Sets the carry that the sidecar of the source has for the next source line.
    pub(crate) fn set_source_carry(&mut self, carry: Option<String>) {
        self.source_carry = carry;
    }

    /// Adds a carry of the source's sidecar that belongs to no source line. `offset` is past the
    /// last line and unique.
    pub(crate) fn hold_source_carry(&mut self, carry: &str, offset: u64) -> io::Result<()> {
        if !self.has_carries() {
            return Ok(());
        }
        self.end_run()?;
        self.pending.add_sidecar(&mut self.encoder, offset, carry.as_bytes())
    }

    /// Adds a source line that no written line covers to the pending entries; the next written line
    /// holds it.
    pub(crate) fn attach(&mut self, line: &Line<'_>) -> io::Result<()> {
        self.n_carried_whole += u64::from(!line.is_glue());
        let carry = self.source_carry.take();
        if !self.has_carries() {
            return Ok(());
        }
        if self.unheld.len() < MAX_PLACES && !line.is_glue() {
            self.unheld.push(Place { line: self.line_number, offset: line.offset() });
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

    /// Ends a run of tiny source lines and adds it to the pending entries.
    pub(crate) fn end_run(&mut self) -> io::Result<()> {
        if let Some((offset, bytes)) = self.run.get() {
            self.pending.add(&mut self.encoder, offset, bytes, false)?;
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
        self.pending.add(&mut self.encoder, line.offset(), line.bytes(), line.is_glue())
    }

    /// Writes an event that the target shows, and the carry entries of its source line.
    pub(crate) fn write(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        from: &Format,
    ) -> io::Result<()> {
        self.has_newlines |= line.is_in_document();
        if event.nth == 0 {
            self.out.start_source(line, from.style);
            self.is_prompt = false;
            self.lose_values(line, event);
        }
        self.is_prompt |= !self.has_prompt && event.is_prompt();
        if self.title_change.as_ref().is_some_and(|title| title.is_of(event)) {
            // The head of the document has it, and no line.
            return match (event.nth, event.has_next) {
                (0, false) | (_, true) => Ok(()),
                (_, false) => self.end_record(line, event),
            };
        }
        if let Some(answer) = self.answers.as_mut().and_then(|answers| answers.answer_of(event)) {
            self.writer.write(&answer, &mut self.out);
        }
        self.writer.write(event, &mut self.out);
        if let Some(images) = &mut self.images {
            self.out.take_images().into_iter().try_for_each(images)?;
        }
        match event.has_next {
            true => Ok(()),
            false => self.end_record(line, event),
        }
    }

    /// Notes an event that the target hides. Another event of its record may be shown.
    pub(crate) fn hide(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        from: &Format,
    ) -> io::Result<()> {
        if event.nth == 0 {
            self.lose_values(line, event);
        }
        match (event.nth, event.has_next) {
            (0, false) => self.attach_record(line, event),
            (0, true) => {
                self.out.start_source(line, from.style);
                self.is_prompt = false;
                Ok(())
            }
            (_, true) => Ok(()),
            (_, false) => self.end_record(line, event),
        }
    }

    /// Adds a source record that no written line covers to the pending entries. A carry in it is not among the losses.
    fn attach_record(&mut self, line: &Line<'_>, event: &Event<'_>) -> io::Result<()> {
        self.has_carry_in_whole |= event.value.members().any(|(key, _)| key.body() == MEMBER);
        self.attach(line)
    }

    /// Adds the carry entries of a source line after its last event.
    fn end_record(&mut self, line: &Line<'_>, event: &Event<'_>) -> io::Result<()> {
        self.find_covering_lines();
        for (id, repeated) in self.out.repeated() {
            let skips = &mut slot(&mut self.records, *id).skips;
            skips.note(&self.target.orders, line.bytes(), event.value, repeated);
        }
        match self.covering_lines[..] {
            [] => self.attach_record(line, event)?,
            _ if !self.has_carries() => {}
            [(_, id)] => self.push_own(line, event, id)?,
            _ => self.push_parts(line, event),
        }
        if !self.has_prompt && self.is_prompt {
            self.has_prompt = true;
            match &self.covering_lines[..] {
                [] => self.prompt_lines.extend(self.out.touched().first()),
                covering_lines => {
                    self.prompt_lines.extend(covering_lines.iter().map(|(_, id)| *id))
                }
            }
        }
        self.take_emitted()?;
        for (_, id) in &self.covering_lines {
            slot(&mut self.records, *id).pack(self.out.n_open(), &mut self.packed);
        }
        Ok(())
    }

    /// Writes a restored line of the target's format, byte for byte. `carry` is the carry that the
    /// sidecar had for it. `record` is its value; `None` if it is unreadable.
    pub(crate) fn resume(
        &mut self,
        bytes: &[u8],
        flow: Flow,
        carry: Option<&str>,
        record: Option<Value<'_>>,
        format: &Format,
    ) -> io::Result<()> {
        let mut is_prompt = false;
        if let Some(record) = record {
            self.out.end_source();
            format.for_each_event(record, |event| {
                is_prompt |= event.is_prompt();
                if let Some(head) = &mut self.titled_head {
                    head.observe(event);
                }
                self.writer.resume(event, &mut self.out);
                true
            });
            self.take_emitted()?;
        }
        self.target.push_restored(bytes, flow, is_prompt, &self.encoder)?;
        carry.map_or(Ok(()), |carry| self.push_restored_carry(carry))
    }

    /// Notes that the end of the restored source is gone.
    pub(crate) fn end_verbatim(&mut self) -> io::Result<()> {
        self.target.end_verbatim()
    }

    /// Writes to the sidecar of the target a carry that the restored sidecar had.
    pub(crate) fn push_restored_carry(&mut self, carry: &str) -> io::Result<()> {
        self.target.push_restored_carry(carry)
    }

    fn take_emitted(&mut self) -> io::Result<()> {
        while let Some(id) = self.out.next_emitted() {
            if let Some(error) = self.out.take_error() {
                return Err(error);
            }
            self.end_run()?;
            slot(&mut self.records, id).unpack(&mut self.packed, &mut self.long_entries)?;
            let Records { entries, skips, separators, .. } = slot(&mut self.records, id);
            *separators = Default::default();
            self.out.swap_bytes(id, &mut self.line);
            if self.has_newlines {
                // A writer may have appended a value without the output's help. No string has these
                // bytes, and no copy of the carry.
                let is_newline = |byte: &&mut u8| matches!(**byte, b'\n' | b'\r');
                self.line.iter_mut().filter(is_newline).for_each(|byte| *byte = b' ');
            }
            skips.sort();
            let line = (&mut self.line, self.out.part(id), self.out.carry_mark(id));
            let entries = (entries, &mut self.long_entries);
            self.target.push(line, entries, skips, &self.encoder, &mut self.pending)?;
            if self.pending.is_empty() {
                self.unheld.clear();
            }
            slot(&mut self.records, id).clear(id);
            self.out.release(id);
            if self.prompt_lines.contains(&id) {
                self.prompt_lines.clear();
                self.target.end_head(&self.encoder, &mut self.pending)?;
            }
        }
        Ok(())
    }

    /// Makes an engine go on after one that was finished. `needs_newline` means that the bytes of that one do not end
    /// in a newline.
    pub(crate) fn goes_on_after(&mut self, needs_newline: bool) {
        self.target.needs_newline = needs_newline;
    }

    /// Finishes, and returns the sink too, and whether the bytes in it do not end in a newline.
    pub(crate) fn shut(mut self) -> io::Result<(Written, &'w mut dyn Write, bool)> {
        let written = self.end()?;
        Ok((written, self.target.sink, self.target.needs_newline))
    }

    /// Writes closing lines and the remaining pending entries, and returns the counts.
    pub(crate) fn finish(mut self) -> io::Result<Written> {
        self.end()
    }

    fn end(&mut self) -> io::Result<Written> {
        self.end_run()?;
        self.target.start_closing(&self.encoder, &mut self.pending)?;
        self.writer.finish(&mut self.out);
        self.take_emitted()?;
        let (bytes_sidecar, is_left_out) = self.target.finish(&self.encoder, &mut self.pending)?;
        Ok(Written {
            bytes_sidecar,
            guards: self.target.guards(),
            n_carries: self.target.n_carries(),
            n_carried_whole: self.n_carried_whole,
            has_carry_in_whole: self.has_carry_in_whole,
            n_left_out: u64::from(is_left_out),
            left_out: if is_left_out { std::mem::take(&mut self.unheld) } else { Vec::new() },
            n_hidden: self.out.n_hidden(),
            n_lines: self.target.n_lines,
            n_bytes: self.target.n_bytes,
            losses: self.out.take_losses(),
            start: self.start.take(),
        })
    }
}
