//! Writes the carry entries of a source line to the written lines that cover it.
//!
//! In: a source line with a tool result and a text, and the two written lines that copy them. Out: an entry of part 0 of
//! 2 for the first written line, and one of part 1 for the second.

use std::io;

use core_model::{DocumentPart, Event, LineId};
use jsonl::Line;

use super::{
    Engine,
    records::{LONG, LongEntries, Records, slot},
};

impl Engine<'_> {
    /// Finds the written lines that cover the source line, sorted by the first byte that they copy.
    /// If no line copies bytes, takes the first line that the event changed.
    pub(super) fn find_covering_lines(&mut self) {
        self.covering_lines.clear();
        let touched = self.out.touched();
        let touched = touched.iter().filter(|id| self.out.part(**id) != DocumentPart::Tail);
        let copied = touched.clone().filter_map(|id| Some((self.out.first_copied(*id)?, *id)));
        self.covering_lines.extend(copied);
        if self.covering_lines.len() > 1 {
            self.covering_lines.sort_unstable_by_key(|(first, _)| *first);
        }
        if self.out.has_many_lines() {
            self.covering_lines.clear();
        } else if self.covering_lines.is_empty() {
            self.covering_lines.extend(touched.take(1).map(|id| (0, *id)));
        }
    }

    pub(super) fn push_own(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        id: LineId,
    ) -> io::Result<()> {
        let carry = self.source_carry.take();
        self.out.swap_copied(id, &mut self.copied);
        let is_whole = self.needs_whole_entries(id);
        let records = slot(&mut self.records, id);
        let start = records.entries.len();
        if let Some(carry) = &carry {
            self.encoder.push_sidecar(&mut records.entries, line.offset(), carry);
        }
        if is_whole {
            self.copied.clear();
            if line.bytes().len() >= LONG && (self.is_prompt || self.target.has_room(usize::MAX)) {
                // The entry has the bytes of the record, which are not in memory once more.
                let mut entries = LongEntries::new(records, &mut self.packed);
                self.encoder.push_own(&mut entries, line, event.value, &mut []);
                return Ok(());
            }
        }
        let Records { entries, skips, .. } = records;
        for copy in &self.copied {
            skips.note(&self.target.orders, line.bytes(), event.value, copy);
        }
        self.encoder.push_own(entries, line, event.value, &mut self.copied);
        if !self.is_prompt && !self.target.has_room(entries.len() - start) {
            entries.truncate(start);
            self.encoder.retract(line.bytes().len());
            if let Some(carry) = &carry {
                self.encoder.retract(carry.len());
            }
            return self.hold(line, carry.as_deref());
        }
        Ok(())
    }

    /// Returns whether the next entry of a line refers to none of its bytes: never, or because the line has a character
    /// that becomes longer when it is written. What earlier entries refer to comes before it.
    fn needs_whole_entries(&mut self, id: LineId) -> bool {
        let separators = &mut slot(&mut self.records, id).separators;
        let bytes = self.out.bytes(id);
        let start = self.out.len(id).saturating_sub(bytes.len());
        self.is_whole || self.escapes_separators && separators.search(bytes, start)
    }

    pub(super) fn push_parts(&mut self, line: &Line<'_>, event: &Event<'_>) {
        let n_parts = self.covering_lines.len();
        let carry = self.source_carry.take();
        if let (Some(carry), Some((_, id))) = (&carry, self.covering_lines.first()) {
            let entries = &mut slot(&mut self.records, *id).entries;
            self.encoder.push_sidecar(entries, line.offset(), carry);
        }
        for part in 0..n_parts {
            let (first, id) = self.covering_lines[part];
            let start = if part == 0 { 0 } else { first as usize };
            let end = self
                .covering_lines
                .get(part + 1)
                .map_or(line.bytes().len(), |(next, _)| *next as usize);
            self.out.swap_copied(id, &mut self.copied);
            let is_whole = self.needs_whole_entries(id);
            let Records { entries, skips, .. } = slot(&mut self.records, id);
            if is_whole {
                self.copied.clear();
            }
            for copy in &self.copied {
                skips.note(&self.target.orders, line.bytes(), event.value, copy);
            }
            let part = (part, n_parts);
            self.encoder.push_part(entries, line, start..end, part, &mut self.copied);
        }
    }
}
