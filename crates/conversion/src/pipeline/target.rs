//! The written file: lines with their carries, the last one held back for what may still ride on it.

use std::io::{self, Write};

use core_model::Format;

use crate::{
    carry::{
        CarryEncoder, MEMBER, MemberOrders, PendingEntries, Queue, Skips, end_member, guard_of,
        push_carried, sidecar::SidecarWriter, start_member,
    },
    pipeline::engine::CarryMode,
};

/// The bytes around the name of a member and its carry, and the end of the line.
const FRAME: usize = ",\"\":\"\"\n".len();

/// How much of a line with a long carry is written at once.
const MAX_UNWRITTEN: usize = 1024 * 1024;

/// A line and its carry.
#[derive(Default)]
struct Held {
    line: Vec<u8>,
    /// What the carry starts with.
    head: Vec<u8>,
    /// The entries of the source records that the line says.
    records: Vec<u8>,
    /// The entries of others.
    others: Queue,
    /// The end mark, if the carry may be the last.
    end: Vec<u8>,
}

impl Held {
    fn carry_len(&self) -> usize {
        self.head.len() + self.records.len() + self.others.n_bytes() as usize
    }
}

pub(crate) struct Target<'w> {
    format: &'static Format,
    mode: CarryMode,
    sink: &'w mut dyn Write,
    sidecar: Option<SidecarWriter<&'w mut dyn Write>>,
    /// The sink of the sidecar, until something is written to it.
    sidecar_sink: Option<&'w mut dyn Write>,
    /// The last line, which waits for what may still ride on it.
    held: Option<Held>,
    spare: Held,
    pub(crate) orders: MemberOrders,
    new_orders: Vec<u8>,
    /// The lines with a carry so far.
    n_carries: u64,
    /// Whether no prompt is written yet, so that carries must be small.
    is_head: bool,
    head_used: usize,
    needs_newline: bool,
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
            spare: Held::default(),
            orders: MemberOrders::default(),
            new_orders: Vec::new(),
            n_carries: 0,
            is_head: format.limits.head > 0 && mode == CarryMode::Inline,
            head_used: 0,
            needs_newline: false,
            n_lines: 0,
            n_bytes: 0,
        }
    }

    /// Sets the sink of the sidecar. Without one there is no sidecar.
    ///
    /// # Errors
    ///
    /// Those of the compressor and the sink.
    pub(crate) fn set_sidecar(&mut self, sink: &'w mut dyn Write) -> io::Result<()> {
        self.sidecar_sink = Some(sink);
        if self.mode == CarryMode::Sidecar {
            self.open_sidecar()?;
        }
        Ok(())
    }

    /// Returns the sidecar, which is created if there is a sink for it.
    fn open_sidecar(&mut self) -> io::Result<Option<&mut SidecarWriter<&'w mut dyn Write>>> {
        if let Some(sink) = self.sidecar_sink.take() {
            self.sidecar = Some(SidecarWriter::new(sink)?);
        }
        Ok(self.sidecar.as_mut())
    }

    /// Writes a line with its own records and, as far as there is room, those that wait; the bytes
    /// of both are taken.
    pub(crate) fn push(
        &mut self,
        line: &mut Vec<u8>,
        records: &mut Vec<u8>,
        skips: &Skips,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        let mut held = self.next_held()?;
        std::mem::swap(&mut held.line, line);
        if self.mode != CarryMode::None {
            self.start_carry(&mut held, skips, encoder);
            std::mem::swap(&mut held.records, records);
            let room = if self.is_head {
                self.format.limits.head.saturating_sub(self.head_used + held.carry_len())
            } else {
                usize::MAX
            };
            pending.take(&mut held.others, room)?;
            self.head_used += held.carry_len();
        }
        self.held = Some(held);
        Ok(())
    }

    fn next_held(&mut self) -> io::Result<Held> {
        self.write_held()?;
        Ok(std::mem::take(&mut self.spare))
    }

    fn start_carry(&mut self, held: &mut Held, skips: &Skips, encoder: &CarryEncoder) {
        self.new_orders.clear();
        self.orders.push_new(&mut self.new_orders, &held.line, skips);
        let guard = guard_of(&[&held.line]);
        encoder.push_head(&mut held.head, guard, self.n_carries, &self.new_orders);
        self.n_carries += 1;
    }

    /// Returns whether a record is short enough to stand before the first prompt, if none is
    /// written yet: the client's list looks for it near the start of the file.
    pub(crate) fn has_room(&self, record: usize) -> bool {
        !self.is_head || record <= self.format.limits.head
    }

    /// Ends the head of the file: the prompt is written, and what had to wait for it follows.
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

    /// Writes what waits on lines of a type that the target's client ignores, if there is one.
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

    /// Makes room for closing lines, which a client looks for near the end of the file.
    pub(crate) fn start_closing(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<()> {
        /// Riders of this size in all may follow a closing line.
        const MAX_TRAILING: usize = 4 * 1024;
        if pending.len() > MAX_TRAILING && self.held.is_some() {
            return self.push_carriers(encoder, pending);
        }
        Ok(())
    }

    /// Writes a restored line, or a piece that goes on with the line before it, byte for byte.
    pub(crate) fn push_restored(
        &mut self,
        bytes: &[u8],
        is_continued: bool,
        is_prompt: bool,
        encoder: &CarryEncoder,
    ) -> io::Result<()> {
        // No other carry may follow.
        if let Some(held) = self.held.as_mut().filter(|_| self.mode != CarryMode::None) {
            encoder.push_end(&mut held.end, self.n_carries);
        }
        let is_continued = is_continued && self.held.is_none();
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

    /// Writes a carry that the sidecar of the restored file had to the target's own.
    pub(crate) fn push_restored_carry(&mut self, carry: &str) -> io::Result<()> {
        let mut none = Queue::default();
        let add =
            |sidecar: &mut SidecarWriter<_>| sidecar.add([carry.as_bytes(), b""], &mut none, b"");
        self.open_sidecar()?.map_or(Ok(()), add)
    }

    /// Ends a restored line that ended its file, now that more follows.
    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.needs_newline) {
            self.sink.write_all(b"\n")?;
            self.n_bytes += 1;
        }
        Ok(())
    }

    fn write_held(&mut self) -> io::Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        self.end_line()?;
        match (self.mode, &mut self.sidecar) {
            (CarryMode::Inline, _) => self.push_carry(&mut held)?,
            (CarryMode::Sidecar, Some(sidecar)) => {
                sidecar.add([&held.head, &held.records], &mut held.others, &held.end)?;
            }
            _ => {}
        }
        held.line.push(b'\n');
        self.sink.write_all(&held.line)?;
        self.n_lines += 1;
        self.n_bytes += held.line.len() as u64;
        held.line.clear();
        held.head.clear();
        held.records.clear();
        held.end.clear();
        self.spare = held;
        Ok(())
    }

    /// Appends its carry to a line; what comes before the end of a long one is written.
    fn push_carry(&mut self, held: &mut Held) -> io::Result<()> {
        let Held { line, head, records, others, end } = held;
        let style = self.format.style;
        start_member(line, style);
        // A piece may end within a character, which goes on in the next.
        let mut cut = Vec::new();
        let mut push = |part: &[u8]| {
            for piece in part.chunks(MAX_UNWRITTEN) {
                if line.len() > MAX_UNWRITTEN {
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
        end_member(line);
        Ok(())
    }

    /// Writes the last line with all that still waits, and returns the bytes of the sidecar, if there
    /// is one, and whether something found no place.
    pub(crate) fn finish(
        &mut self,
        encoder: &CarryEncoder,
        pending: &mut PendingEntries,
    ) -> io::Result<(Option<u64>, bool)> {
        // Restored lines are not touched: entries that follow them need a line of their own.
        if self.held.is_none() && self.n_lines > 0 {
            self.push_carriers(encoder, pending)?;
        }
        if let Some(held) = self.held.as_mut().filter(|_| self.mode != CarryMode::None) {
            pending.take(&mut held.others, usize::MAX)?;
            encoder.push_end(&mut held.end, self.n_carries);
        }
        self.write_held()?;
        self.sink.flush()?;
        let is_stranded = !pending.is_empty() && self.n_lines > 0 && self.sidecar.is_none();
        if !pending.is_empty() && !is_stranded {
            let mut held = Held::default();
            encoder.push_head(&mut held.head, guard_of(&[b""]), self.n_carries, b"");
            self.n_carries += 1;
            pending.take(&mut held.others, usize::MAX)?;
            encoder.push_end(&mut held.end, self.n_carries);
            if let Some(sidecar) = self.open_sidecar()? {
                sidecar.add([&held.head, b""], &mut held.others, &held.end)?;
            }
        }
        let sidecar = self.sidecar.take().map(SidecarWriter::finish).transpose()?;
        Ok((sidecar, is_stranded))
    }
}
