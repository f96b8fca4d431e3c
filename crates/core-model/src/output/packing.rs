//! Parts of lines, and lines that have all their bytes and wait.
//!
//! In: a response with sixty thousand calls, each of which becomes a line behind the response. Out: these lines in
//! few buffers, and most of them in a file, until they are emitted and taken.

use std::io;

use super::{MAX_OPEN, Output};
use crate::{draft::LineId, packed::CreateLineFile};

/// Length in bytes from which a part becomes the buffer of its line.
const LONG_PART: usize = 1024 * 1024;

/// Number of open lines up to which none is packed because of its length: a response waits for its next record.
const FEW: usize = 16;

impl Output {
    /// Sets a function that creates a file for packed lines. Without it, they stay in memory.
    pub fn pack_into(mut self, create: CreateLineFile) -> Self {
        self.packed.set_file(create);
        self
    }

    /// Opens a part of a line, which [`Output::append_part`] appends to it. A line covers the source
    /// records of its parts. For formats whose carries refer to no bytes of a record
    /// ([`Rewrites::Values`](crate::Rewrites)), because the offset of the part is not known yet.
    ///
    /// In: a line `{"role":"assistant"`, and a part `,"result":"a.rs"}` that a later record
    /// completes. Out: `{"role":"assistant","result":"a.rs"}`.
    pub fn open_part(&mut self, line: LineId) -> LineId {
        let id = self.drafts.open();
        self.drafts.line_mut(id).owner = Some(line);
        self.touch(line);
        id
    }

    /// Appends a part to its line. The id of the part is not valid afterwards.
    pub fn append_part(&mut self, part: LineId, line: LineId) {
        if let Some(number) = part.packed_number() {
            self.packed.copy(number, &mut self.drafts.line_mut(line).bytes);
            return self.packed.remove(number);
        }
        let mut bytes = std::mem::take(&mut self.drafts.line_mut(part).bytes);
        let before = &mut self.drafts.line_mut(line).bytes;
        if bytes.len() >= LONG_PART && bytes.len() > before.len() {
            // So the part is not in memory twice.
            bytes.splice(0..0, std::mem::take(before));
            *before = bytes;
        } else {
            before.extend_from_slice(&bytes);
            self.drafts.line_mut(part).bytes = bytes;
        }
        self.drafts.release(part);
    }

    /// Packs a line or a part that has all its bytes and waits, if many others wait too, or long ones. Returns its new id: a
    /// packed line can only be emitted, and a packed part only be unpacked or appended.
    pub fn pack(&mut self, id: LineId) -> LineId {
        let n_open = self.drafts.n_open();
        match id.packed_number().is_none() && n_open > FEW && self.are_many(n_open, id) {
            true => self.packed(id).unwrap_or(id),
            false => id,
        }
    }

    /// Opens a part of a line again that may be packed, and returns its new id.
    pub fn unpack_part(&mut self, part: LineId, line: LineId) -> LineId {
        let Some(number) = part.packed_number() else { return part };
        let id = self.drafts.open();
        let draft = self.drafts.line_mut(id);
        draft.owner = Some(line);
        draft.mark = self.packed.mark(number);
        self.packed.copy(number, &mut draft.bytes);
        self.packed.remove(number);
        id
    }

    /// Packs the bytes of lines that show the current source record and wait for a later one, if many lines wait.
    pub(super) fn pack_starts(&mut self) {
        let n_open = self.drafts.n_open();
        if n_open <= FEW {
            return;
        }
        for id in &self.touched {
            let draft = self.drafts.line_mut(*id);
            if n_open.saturating_mul(draft.bytes.len()) <= MAX_OPEN {
                continue;
            }
            let Some(number) = self.packed.add(&draft.bytes, None) else { continue };
            let start = draft.start.get_or_insert_default();
            start.numbers.push(number);
            start.length = start.length.saturating_add(draft.bytes.len());
            draft.bytes = Vec::new();
        }
    }

    /// Puts packed bytes before the others of a line again.
    pub(super) fn unpack_start(&mut self, id: LineId) {
        let draft = self.drafts.line_mut(id);
        let Some(start) = draft.start.take() else { return };
        let last = std::mem::take(&mut draft.bytes);
        draft.bytes.reserve_exact(start.length.saturating_add(last.len()));
        for number in start.numbers {
            self.packed.copy(number, &mut draft.bytes);
            self.packed.remove(number);
        }
        draft.bytes.extend_from_slice(&last);
    }

    /// Packs a line, unless the carry needs its notes.
    pub(super) fn packed(&mut self, id: LineId) -> Option<LineId> {
        let draft = self.drafts.line(id);
        // A line of an earlier source record may have entries of the carry, which its id finds.
        let is_new = draft.source == self.source.count;
        // The values that a derived line repeats are known until the next record.
        let repeated = self.repeated.iter().rev().take_while(|(other, _)| *other == id).count();
        let is_forgotten = draft.is_derived && repeated == draft.n_repeated as usize;
        let is_bare = !self.is_noting
            || is_new && (self.has_many_lines || is_forgotten)
            || draft.owner.is_some();
        if !is_bare || !draft.copied.is_empty() || draft.start.is_some() {
            return None;
        }
        let packed = LineId::packed(self.packed.add(&draft.bytes, draft.mark)?)?;
        self.repeated.truncate(self.repeated.len() - repeated);
        self.drafts.release(id);
        Some(packed)
    }

    /// Returns the first error of the file of packed lines since the last call. A line that cannot be read is
    /// empty.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.packed.take_error()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use jsonl::{Line, Style};

    use super::*;

    fn output() -> Output {
        Output::new(Style::Compact, Style::Compact, "s1")
            .pack_into(|| Box::new(Cursor::new(Vec::new())))
    }

    /// Returns the bytes of the buffers of all lines.
    fn room(out: &Output, ids: &[LineId]) -> usize {
        ids.iter().map(|id| out.drafts.line(*id).bytes.capacity()).sum()
    }

    #[test]
    fn long_lines_that_wait_are_packed_and_keep_their_notes() {
        let source = format!("{{\"text\":\"{}\"}}", "x".repeat(20_000));
        let text = source.get(8..20_010).expect("a string");
        let line = Line::new(source.as_bytes(), 0);
        let (mut out, mut ids) = (output(), Vec::new());
        for _ in 0..1000 {
            out.start_source(&line, Style::Compact);
            let id = out.open();
            out.put(id, "{\"a\":");
            out.copy_slice(id, text);
            ids.push(id);
        }
        out.start_source(&line, Style::Compact);
        assert!(room(&out, &ids) <= 2 * MAX_OPEN, "{} of 20,000,000", room(&out, &ids));
        let last = *ids.last().expect("a line");
        assert_eq!((out.bytes(last).len(), out.len(last)), (0, 20_007));
        out.copy_slice(last, text);
        let copied = &out.drafts.line(last).copied;
        assert_eq!(copied.last().map(|it| (it.at, it.written)), Some((20_007, 20_002)));
        for id in &ids {
            out.put(*id, "}");
            out.emit(*id);
        }
        for id in &ids {
            assert_eq!(out.next_emitted(), Some(*id));
            let again = if *id == last { text } else { "" };
            assert!(out.bytes(*id) == format!("{{\"a\":{text}{again}}}").as_bytes());
            out.release(*id);
        }
        assert!(room(&out, &ids) <= MAX_OPEN && out.take_error().is_none());
    }

    #[test]
    fn a_long_part_becomes_the_buffer_of_its_line() {
        for length in [LONG_PART - 1, LONG_PART] {
            let mut out = output();
            let line = out.open();
            out.put(line, "[");
            let part = out.open_part(line);
            out.put(part, &"1".repeat(length));
            let start = out.bytes(part).len();
            out.append_part(part, line);
            out.put(line, "]");
            assert_eq!(out.len(line), start + 2);
            assert!(out.bytes(line).starts_with(b"[1") && out.bytes(line).ends_with(b"1]"));
        }
    }
}
