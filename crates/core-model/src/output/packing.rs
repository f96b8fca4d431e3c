//! Parts of lines, and lines that have all their bytes and wait.
//!
//! In: a response with sixty thousand calls, each of which becomes a line behind the response. Out: these lines in
//! few buffers, and most of them in a file, until they are emitted and taken.

use std::io;

use super::{MAX_DRAFTS, Output};
use crate::{draft::LineId, packed::CreateLineFile};

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
        let draft = self.drafts.line_mut(part);
        let bytes = std::mem::take(&mut draft.bytes);
        self.drafts.line_mut(line).bytes.extend_from_slice(&bytes);
        self.drafts.line_mut(part).bytes = bytes;
        self.drafts.release(part);
    }

    /// Packs a line or a part that has all its bytes and waits, if many others wait too. Returns its new id: a
    /// packed line can only be emitted, and a packed part only be unpacked or appended.
    pub fn pack(&mut self, id: LineId) -> LineId {
        match id.packed_number().is_none() && self.drafts.n_open() > MAX_DRAFTS {
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
        if !is_bare || !draft.copied.is_empty() {
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
