//! Restores the entries of a carry, one at a time.

use std::sync::Arc;

use jsonl::LineBuf;

use super::{Current, Item, Phase, ReadRecord, Restorer};
use crate::carry::{
    CarryEntry, EntryCursor, EntryKind, WrittenText,
    parts::{PartLine, PartOf},
    spilled_runs::RestoredRecord,
};

/// Limit on the parts of a sidecar's carry that are looked at for the record behind them.
const MAX_PARTS: usize = 8;

/// Returns whether an entry is of a record that the written record shows: the record itself, or its carry in the
/// sidecar of the source, which comes directly before it. `next` is behind the entry. So these carries wait for one
/// record each, and not for all of the records that a written record shows.
fn is_of_own(entry: &CarryEntry<'_>, mut next: EntryCursor, carry: &str) -> bool {
    let mut kind = entry.kind;
    for _ in 0..MAX_PARTS {
        if kind != EntryKind::Sidecar {
            break;
        }
        match next.next(carry).filter(|next| next.offset == entry.offset) {
            Some(next) => kind = next.kind,
            None => return false,
        }
    }
    kind == EntryKind::Own
}

impl Restorer {
    /// Restores the next entry of a carry.
    pub(super) fn step(&mut self, mut current: Current) {
        // The entry borrows the carry; `current` is needed at the same time.
        let carry = Arc::clone(&current.carry);
        let is_own = matches!(current.phase, Phase::Own(_));
        let entry = loop {
            let before = current.cursor;
            let entry = current.cursor.next(&carry);
            // Of a record that is gone, the carry in the sidecar of the source is restored alone.
            let is_of_own = entry.as_ref().is_some_and(|entry| match current.is_gone {
                true => entry.kind == EntryKind::Own,
                false => is_of_own(entry, current.cursor, &carry),
            });
            let phase = match (entry, current.phase) {
                (Some(entry), Phase::HeldBefore)
                    if !is_of_own && entry.offset > current.last_own =>
                {
                    Phase::Own(Some(before))
                }
                (Some(entry), _) if is_of_own == is_own => break entry,
                (Some(_), _) => continue,
                (None, Phase::HeldBefore) if !current.is_gone => Phase::Own(None),
                (None, phase @ Phase::Own(Some(_))) => phase,
                (None, _) => return self.end_record(current),
            };
            let is_read = is_own || current.is_restored;
            if current.is_restored && !is_own {
                self.push_restored(std::mem::take(&mut current.own), current.is_moved);
            }
            let (phase, cursor) = match phase {
                Phase::Own(Some(after)) if is_read => (Phase::HeldAfter, after),
                Phase::Own(None) if is_read => return self.end_record(current),
                phase => (phase, current.start),
            };
            self.current = Some(Current { phase, cursor, ..current });
            return;
        };
        match entry.kind == EntryKind::Own {
            false => self.take_held(&entry, current.is_moved),
            true => {
                let own = Own {
                    kept: current.own.pop_front().map(|record| record.line),
                    is_whole: current.is_whole,
                    has_parts: current.has_parts,
                    n_sources: current.n_sources,
                    is_start: current.is_start,
                    is_moved: current.is_moved,
                    is_first: !current.is_placed,
                    visible: &current.visible,
                    record: current.record(),
                    offset: current.offset,
                };
                current.is_placed |= self.take_own(&entry, own);
            }
        }
        self.current = Some(current);
    }

    /// Restores an entry that no record shows. An edit of the record that holds it does not damage
    /// it.
    fn take_held(&mut self, entry: &CarryEntry<'_>, is_moved: bool) {
        if !self.may_restore(entry.length) {
            return;
        }
        let mut bytes = Vec::new();
        if !self.restore(entry, WrittenText::default(), &mut bytes) {
            self.stats.unreadable += 1;
            return;
        }
        let (of, stats) = (part_of(entry), &mut self.stats);
        match (entry.kind, entry.n_parts) {
            (EntryKind::Sidecar, _) => match String::from_utf8(bytes) {
                Ok(carry) => {
                    // A carry starts with its version. Anything else is a source record whose kind was changed.
                    let is_carry = of.part > 0 || carry.starts_with(|it: char| it.is_ascii_digit());
                    stats.unreadable += u64::from(!is_carry);
                    self.buffers.push_sidecar(of, carry, stats);
                }
                Err(_) => stats.unreadable += 1,
            },
            (_, 1) => self.buffers.push_restored(record_of(entry, bytes), is_moved, stats),
            _ => self.buffers.push_part(of, bytes, None, true, stats),
        }
    }

    /// Restores an entry that the record shows. Returns whether an edited record now has a position
    /// in the source.
    fn take_own(&mut self, entry: &CarryEntry<'_>, own: Own<'_>) -> bool {
        if !own.has_parts && !own.is_whole {
            // A start that needs no bytes of the edited record is restored, with the new folder.
            let mut bytes = Vec::new();
            if own.is_start
                && own.is_first
                && self.may_restore(entry.length)
                && self.restore(entry, own.visible.into(), &mut bytes)
            {
                self.stats.edited += 1;
                let record = record_of(entry, bytes);
                self.buffers.push_restored(record, own.is_moved, &mut self.stats);
                return true;
            }
            // An edited record is converted once.
            if own.is_first {
                let place = (!own.is_moved).then_some(entry.offset);
                let skeleton = self.skeleton(entry);
                self.push_edited(&own, place, Some(skeleton));
            }
            return true;
        }
        let line = own.kept.unwrap_or_else(|| {
            let mut bytes = Vec::new();
            self.restore(entry, own.visible.into(), &mut bytes);
            bytes.into()
        });
        if entry.n_parts == 1 {
            if own.is_whole {
                let record = record_of(entry, line);
                self.buffers.push_restored(record, own.is_moved, &mut self.stats);
            }
            return false;
        }
        // The records of all parts are judged together, so that each adds its part even if it was
        // edited. An edited record is converted once; an intact one with any of its source records.
        let is_needed = own.is_whole || own.is_first;
        let said_by = (is_needed && self.may_restore(own.record.len() as u64)).then(|| PartLine {
            line: own.record.to_vec(),
            offset: own.offset,
            number: self.n_pushed,
            skeleton: self.skeleton(entry),
            is_alone: own.n_sources == 1,
        });
        self.buffers.push_part(
            part_of(entry),
            line.into_bytes(),
            said_by,
            own.is_whole,
            &mut self.stats,
        );
        true
    }

    /// Ends a record. An edited record without entries of its own is converted.
    fn end_record(&mut self, current: Current) {
        if !current.is_gone && !current.is_placed && !current.is_whole {
            let own = Own {
                kept: None,
                is_whole: false,
                has_parts: false,
                n_sources: 0,
                is_start: false,
                is_moved: current.is_moved,
                is_first: true,
                visible: &current.visible,
                record: current.record(),
                offset: current.offset,
            };
            self.push_edited(&own, None, None);
        }
    }

    fn push_edited(&mut self, own: &Own<'_>, place: Option<u64>, skeleton: Option<Vec<u8>>) {
        self.stats.edited += 1;
        let skeletons = Some(skeleton.into_iter().collect());
        let (line, offset) = (own.record.to_vec(), own.offset);
        let number = self.line_number;
        let item = Item::Converted { line, offset, number, skeletons, is_doubled: false };
        self.buffers.push_edited(place, item, &mut self.stats);
    }

    fn skeleton(&mut self, entry: &CarryEntry<'_>) -> Vec<u8> {
        let mut skeleton = Vec::new();
        if self.may_restore(entry.length) {
            entry.skeleton(&mut skeleton, self.template.as_deref().unwrap_or_default());
        }
        skeleton
    }
}

/// The record of an own entry.
struct Own<'r> {
    /// The restored bytes, if they were kept.
    kept: Option<LineBuf>,
    is_whole: bool,
    has_parts: bool,
    n_sources: u64,
    is_start: bool,
    is_moved: bool,
    is_first: bool,
    visible: &'r str,
    record: ReadRecord<'r>,
    offset: u64,
}

fn part_of(entry: &CarryEntry<'_>) -> PartOf {
    let CarryEntry { offset, part, n_parts, is_glue, .. } = *entry;
    PartOf { offset, part, n_parts, is_glue }
}

fn record_of(entry: &CarryEntry<'_>, line: impl Into<LineBuf>) -> RestoredRecord {
    RestoredRecord { offset: entry.offset, line: line.into(), is_glue: entry.is_glue }
}
