//! Writes the target: lines with their carries.
//!
//! In: lines and the entries of their source records. Out: the target and its sidecar. The last
//! line is held back, because pending entries that come after it are attached to it, and because
//! only the last carry gets the end mark.

use std::io::{self, Write};

use core_model::{CarryMark, DocumentPart, Format};

use crate::{
    carry::{
        CarryEncoder, MEMBER, MemberOrders, PendingEntries, Queue, Skips, end_marked_member,
        end_member,
        guard::{RecordGuards, is_of_value},
        guard_of, push_carried,
        separators::escape_separators,
        sidecar::SidecarWriter,
        start_marked_member, start_member, sum_of_guards,
    },
    pipeline::{
        assembler::Assembler,
        engine::{CarryMode, Flow},
    },
};

/// The bytes around the member's name and carry, and the newline.
const FRAME: usize = ",\"\":\"\"\n".len();

/// A line with a long carry is written in blocks of this size, and no longer buffer is kept for the next line.
const MAX_UNWRITTEN: usize = 1024 * 1024;

/// Limit on the entries of other records in a carry of a sidecar. The entries beyond it get carries of their own, so
/// that a reader needs the memory of one of them.
const MAX_IN_SIDECAR: usize = 4 * 1024 * 1024;

/// A line and its carry.
#[derive(Default)]
struct Held {
    line: Vec<u8>,
    /// The head of the carry, and the guard in it.
    head: Vec<u8>,
    guard: u64,
    /// The entries of source records that the line covers, if they are short.
    records: Vec<u8>,
    /// Long entries of source records that the line covers, then the entries of other source records.
    others: Queue,
    /// The end mark, if this carry is the last.
    end: Vec<u8>,
    /// The part of a document that the line is.
    part: DocumentPart,
    /// The place of the carry in the line; `None` for its last member.
    mark: Option<CarryMark>,
}

impl Held {
    fn carry_len(&self) -> usize {
        self.head.len() + self.records.len() + self.others.n_bytes() as usize
    }
}

/// Empties a buffer, and frees the room of a long line: each buffer would get as long as the longest line.
fn clear(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > MAX_UNWRITTEN {
        *buffer = Vec::new();
    }
}

pub(crate) struct Target<'w> {
    format: &'static Format,
    mode: CarryMode,
    pub(crate) sink: &'w mut dyn Write,
    sidecar: Option<SidecarWriter<&'w mut dyn Write>>,
    /// The sink of the sidecar; `None` once the sidecar is open.
    sidecar_sink: Option<&'w mut dyn Write>,
    /// The last line, which gets the entries that come after it.
    held: Option<Box<Held>>,
    /// A line that was written, whose buffers the next one gets.
    spare: Option<Box<Held>>,
    pub(crate) orders: MemberOrders,
    new_orders: Vec<u8>,
    /// The lines with a carry so far, and the sum of their guards.
    n_carries: u64,
    guards: u64,
    /// Whether no prompt has been written, so that carries must be small.
    is_head: bool,
    head_used: usize,
    /// Whether the written bytes do not end in a newline.
    pub(crate) needs_newline: bool,
    /// Puts the document together; `None` in a format of lines.
    document: Option<Assembler>,
    /// Whether a line had no place in the document.
    has_lost_line: bool,
    scratch: Vec<u8>,
    pub(crate) n_lines: u64,
    pub(crate) n_bytes: u64,
}

impl<'w> Target<'w> {
    pub(crate) fn new(format: &'static Format, mode: CarryMode, sink: &'w mut dyn Write) -> Self {
        Self {
            format,
            mode,
            sink,
            sidecar: None,
            sidecar_sink: None,
            held: None,
            spare: None,
            orders: MemberOrders::default(),
            new_orders: Vec::new(),
            n_carries: 0,
            guards: 0,
            is_head: format.limits.head > 0 && mode == CarryMode::Inline,
            head_used: 0,
            needs_newline: false,
            document: Assembler::new(format.framing),
            has_lost_line: false,
            scratch: Vec::new(),
            n_lines: 0,
            n_bytes: 0,
        }
    }

    /// Sets the sink of the sidecar. Without a sink, and without a carry, no sidecar is written.
    pub(crate) fn set_sidecar(&mut self, sink: &'w mut dyn Write) {
        self.sidecar_sink = Some(sink);
    }

    /// Returns the sidecar, and creates it if it has a sink; `None` without a sink.
    fn open_sidecar(&mut self) -> io::Result<Option<&mut SidecarWriter<&'w mut dyn Write>>> {
        if let Some(sink) = self.sidecar_sink.take() {
            self.sidecar = Some(SidecarWriter::new(sink)?);
        }
        Ok(self.sidecar.as_mut())
    }

    /// Writes a line with its own entries, and the pending entries that fit. Empties the buffers. Own entries are in
    /// `records`, or in `long`.
    pub(crate) fn push(
        &mut self,
        (line, part, mark): (&mut Vec<u8>, DocumentPart, Option<CarryMark>),
        (records, long): (&mut Vec<u8>, &mut Queue),
        skips: &Skips,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        if let (DocumentPart::Tail, Some(document)) = (part, &mut self.document) {
            document.set_tail(line);
            return Ok(());
        }
        let is_full = pending.len() > self.format.limits.filler_record_size;
        if is_full && !self.is_head && self.n_carries > 0 {
            // The client would read megabytes of them with this line.
            self.push_carriers(encoder, pending)?;
        }
        let mut held = self.next_held()?;
        // The first carry is that of a line, because it has the manifest.
        while self.mode == CarryMode::Sidecar
            && self.n_carries > 0
            && pending.len() > MAX_IN_SIDECAR
        {
            self.push_alone(encoder, pending)?;
        }
        self.is_head &= self.n_bytes <= self.format.limits.head_size;
        (held.part, held.mark) = (part, mark);
        std::mem::swap(&mut held.line, line);
        if self.mode != CarryMode::None {
            self.start_carry(&mut held, skips, encoder);
            std::mem::swap(&mut held.records, records);
            std::mem::swap(&mut held.others, long);
            let room = if self.is_head {
                self.format.limits.head.saturating_sub(self.head_used + held.carry_len())
            } else {
                self.room()
            };
            pending.take(&mut held.others, room)?;
            self.head_used += held.carry_len();
        }
        self.held = Some(held);
        Ok(())
    }

    /// Returns the limit on the entries of other records in a carry.
    fn room(&self) -> usize {
        if self.mode == CarryMode::Sidecar { MAX_IN_SIDECAR } else { usize::MAX }
    }

    /// Writes the first pending entries, of which there must be one, to the sidecar as a carry that belongs to no line.
    /// The last such carry has the end mark.
    fn push_alone(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        let mut held = Held::default();
        let guard = guard_of(&[b""]);
        encoder.push_head(&mut held.head, guard, self.n_carries, b"");
        self.n_carries += 1;
        self.guards = sum_of_guards(self.guards, guard);
        let mut room = MAX_IN_SIDECAR;
        while !pending.take(&mut held.others, room)? {
            room = room.saturating_mul(2);
        }
        if pending.is_empty() {
            encoder.push_end(&mut held.end, self.n_carries, self.guards);
        }
        self.open_sidecar()?
            .map_or(Ok(()), |sidecar| sidecar.add([&held.head, b""], &mut held.others, &held.end))
    }

    fn next_held(&mut self) -> io::Result<Box<Held>> {
        self.write_held()?;
        Ok(self.spare.take().unwrap_or_default())
    }

    fn start_carry(&mut self, held: &mut Held, skips: &Skips, encoder: &CarryEncoder) {
        self.new_orders.clear();
        let is_head = self.document.is_some() && held.part == DocumentPart::Head;
        if !is_of_value(self.format, is_head) {
            self.orders.push_new(&mut self.new_orders, &held.line, skips);
        }
        let guards = RecordGuards::of(self.format, is_head, &held.line);
        encoder.push_head(&mut held.head, guards, self.n_carries, &self.new_orders);
        self.n_carries += 1;
        held.guard = guards.guard;
        self.guards = sum_of_guards(self.guards, guards.guard);
    }

    /// Returns whether an entry may precede the first prompt. Clients look for the prompt near the
    /// start of the file, so that entries before it must be short.
    pub(crate) fn has_room(&self, record: usize) -> bool {
        !self.is_head || record <= self.format.limits.head
    }

    /// Ends the head of the file: attaches the entries that were too long for it.
    pub(crate) fn end_head(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        if std::mem::take(&mut self.is_head) {
            self.push_carriers(encoder, pending)
        } else {
            Ok(())
        }
    }

    /// Writes the pending entries on filler records, which the target's client ignores. Does
    /// nothing if the format has none.
    fn push_carriers(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        let limits = self.format.limits;
        if limits.filler_record.is_empty() || self.mode != CarryMode::Inline {
            return Ok(());
        }
        while !pending.is_empty() {
            let mut held = self.next_held()?;
            held.mark = None;
            held.line.extend_from_slice(limits.filler_record.as_bytes());
            held.line.push(b'}');
            self.start_carry(&mut held, &Skips::default(), encoder);
            let taken = held.line.len() + held.carry_len() + MEMBER.len() + FRAME;
            if !pending.take(&mut held.others, limits.filler_record_size.saturating_sub(taken))? {
                pending.take(&mut held.others, usize::MAX)?;
            }
            self.held = Some(held);
        }
        Ok(())
    }

    /// Writes long pending entries before the closing lines, which a client looks for near the end
    /// of the file.
    pub(crate) fn start_closing(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        /// Limit on the bytes of pending entries that may follow a closing line.
        const MAX_TRAILING: usize = 4 * 1024;
        if pending.len() > MAX_TRAILING && self.held.is_some() {
            return self.push_carriers(encoder, pending);
        }
        Ok(())
    }

    /// Writes a restored line byte for byte, or a piece that continues the line before.
    pub(crate) fn push_restored(
        &mut self,
        bytes: &[u8],
        flow: Flow,
        is_prompt: bool,
        encoder: &CarryEncoder,
    ) -> io::Result<()> {
        // The carry of the held line may be the last one, so that it gets an end mark.
        if let Some(held) = self.held.as_mut().filter(|_| self.mode != CarryMode::None) {
            encoder.push_end(&mut held.end, self.n_carries, self.guards);
        }
        if self.document.is_some() {
            self.write_held()?;
            self.n_lines += u64::from(!flow.is_glue);
            self.is_head &= !is_prompt;
            return self.assemble(|document, out| {
                document.push_restored(bytes, flow.follows, flow.is_glue, out);
            });
        }
        let is_continued = flow.is_continued && self.held.is_none();
        self.needs_newline &= !is_continued;
        self.n_lines += u64::from(!is_continued);
        self.write_held()?;
        self.end_line()?;
        self.sink.write_all(bytes)?;
        self.n_bytes += bytes.len() as u64;
        self.needs_newline = !bytes.ends_with(b"\n");
        self.is_head &= !is_prompt;
        Ok(())
    }

    /// Notes that the end of the restored source is gone.
    pub(crate) fn end_verbatim(&mut self) -> io::Result<()> {
        self.assemble(Assembler::end_verbatim)
    }

    /// Writes to the sidecar of the target a carry that the restored sidecar had.
    pub(crate) fn push_restored_carry(&mut self, carry: &str) -> io::Result<()> {
        let mut none = Queue::default();
        let add =
            |sidecar: &mut SidecarWriter<_>| sidecar.add([carry.as_bytes(), b""], &mut none, b"");
        self.open_sidecar()?.map_or(Ok(()), add)
    }

    /// Writes the newline that a restored last line did not have, because more lines follow.
    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.needs_newline) {
            self.sink.write_all(b"\n")?;
            self.n_bytes += 1;
        }
        Ok(())
    }

    /// Writes the bytes that `change` appends to the document. Does nothing in a format of lines.
    fn assemble(&mut self, change: impl FnOnce(&mut Assembler, &mut Vec<u8>)) -> io::Result<()> {
        let Some(document) = &mut self.document else { return Ok(()) };
        self.scratch.clear();
        change(document, &mut self.scratch);
        self.sink.write_all(&self.scratch)?;
        self.n_bytes += self.scratch.len() as u64;
        clear(&mut self.scratch);
        Ok(())
    }

    fn write_held(&mut self) -> io::Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        self.end_line()?;
        let mut has_place = true;
        self.assemble(|document, out| has_place = document.start_line(held.part, out))?;
        if !has_place {
            self.has_lost_line = true;
            return Ok(());
        }
        match self.mode {
            CarryMode::Inline => self.push_carry(&mut held)?,
            CarryMode::Sidecar => {
                if let Some(sidecar) = self.open_sidecar()? {
                    sidecar.add([&held.head, &held.records], &mut held.others, &held.end)?;
                }
            }
            CarryMode::None => {}
        }
        match &mut self.document {
            Some(document) => document.end_line(held.part, &mut held.line),
            None => held.line.push(b'\n'),
        }
        if self.format.escapes_separators {
            escape_separators(&mut held.line);
        }
        self.sink.write_all(&held.line)?;
        self.n_lines += 1;
        self.n_bytes += held.line.len() as u64;
        let Held { line, head, records, end, .. } = &mut *held;
        [line, head, records, end].into_iter().for_each(clear);
        self.spare = Some(held);
        Ok(())
    }

    /// Appends the carry to its line. The start of a long line is written before the end is ready.
    fn push_carry(&mut self, held: &mut Held) -> io::Result<()> {
        let Held { line, head, records, others, end, mark, .. } = held;
        let style = self.format.style;
        let after_mark = mark.map(|mark| (mark, start_marked_member(line, mark, style)));
        if after_mark.is_none() {
            start_member(line, style);
        }
        // A part may end within a character; its first bytes are kept for the next part.
        let mut cut = Vec::new();
        let mut push = |part: &[u8]| {
            for piece in part.chunks(MAX_UNWRITTEN) {
                if line.len() > MAX_UNWRITTEN {
                    if self.format.escapes_separators {
                        escape_separators(line);
                    }
                    self.sink.write_all(line)?;
                    self.n_bytes += line.len() as u64;
                    line.clear();
                }
                let joined = if cut.is_empty() { None } else { Some([&cut[..], piece].concat()) };
                let piece = joined.as_deref().unwrap_or(piece);
                let n_pushed = push_carried(line, piece, style);
                cut.clear();
                cut.extend_from_slice(piece.get(n_pushed..).unwrap_or_default());
            }
            Ok(())
        };
        push(head)?;
        push(records)?;
        others.drain(&mut push)?;
        push(end)?;
        match after_mark {
            Some((mark, rest)) => end_marked_member(line, mark, &rest),
            None => end_member(line),
        }
        Ok(())
    }

    /// Returns the sum of the guards of all carries so far.
    pub(crate) fn guards(&self) -> u64 {
        self.guards
    }

    /// Returns the number of carries so far.
    pub(crate) fn n_carries(&self) -> u64 {
        self.n_carries
    }

    /// Writes the held line with all pending entries. Returns the size of the sidecar in bytes, if
    /// there is one, and whether entries were left out.
    pub(crate) fn finish(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<(Option<u64>, bool)> {
        // A restored line must keep its bytes, so entries that follow it need a line of their own.
        if self.held.is_none() && self.n_lines > 0 {
            self.push_carriers(encoder, pending)?;
        }
        if let (Some(held), Some(document)) = (&mut self.held, &self.document)
            && held.part == DocumentPart::Head
            && !held.head.is_empty()
        {
            // Without records, the head is read with the members of the tail.
            let object = document.with_tail(&held.line);
            held.head.clear();
            let guards = RecordGuards::of(self.format, true, &object);
            self.guards = sum_of_guards(self.guards, guards.guard.wrapping_sub(held.guard));
            encoder.push_head(&mut held.head, guards, self.n_carries - 1, b"");
        }
        let room = self.room();
        if let Some(held) = self.held.as_mut().filter(|_| self.mode != CarryMode::None) {
            pending.take(&mut held.others, room)?;
            if pending.is_empty() {
                encoder.push_end(&mut held.end, self.n_carries, self.guards);
            }
        }
        self.write_held()?;
        self.assemble(Assembler::finish)?;
        self.sink.flush()?;
        let has_sidecar = self.sidecar.is_some()
            || self.mode == CarryMode::Sidecar && self.sidecar_sink.is_some();
        let is_left_out = !pending.is_empty() && self.n_lines > 0 && !has_sidecar;
        while !pending.is_empty() && !is_left_out {
            self.push_alone(encoder, pending)?;
        }
        let sidecar = self.sidecar.take().map(SidecarWriter::finish).transpose()?;
        Ok((sidecar, is_left_out || self.has_lost_line))
    }
}
