//! Compares the messages of a written record with those that its carry restores.

use core_model::Event;
use jsonl::{Line, Unit, Value};

use super::{Item, OwnEntries, Restorer};
use crate::carry::{
    Carry, EntryKind,
    agreement::Sayings,
    said::{Digest, ShownTexts, TextComparison},
    waiting::PartLine,
};

/// Limit on restored text, as a multiple of the record's own text; `FREE_BYTES` is added.
const MAX_FACTOR: usize = 4;
const FREE_BYTES: usize = 64 * 1024;

/// Limit on the buffers of a scanner between two records, in bytes. The index of a long record would
/// otherwise stay in memory until the end.
const MAX_KEPT_BUFFER: usize = 1024 * 1024;

fn unit_of(is_glue: bool) -> Unit {
    if is_glue { Unit::Glue } else { Unit::Line }
}

impl Restorer {
    /// Returns whether a record shows other messages than its own entries restore.
    pub(super) fn differs(
        &mut self,
        carry: &Carry<'_>,
        shown: Option<Value<'_>>,
        visible: &str,
        own: &OwnEntries,
    ) -> bool {
        if own.n_own == 0 {
            return false;
        }
        let mut here = ShownTexts::default();
        self.each_shown(shown, |event| here.add(event));
        let mut comparison = TextComparison::new(&here);
        self.each_own(carry, visible, own, &mut |event| {
            comparison.add(event);
            true
        });
        if comparison.is_equal(|each| self.each_shown(shown, each)) {
            return false;
        }
        let (mut here, mut said) = (Digest::default(), Digest::default());
        self.each_own(carry, visible, own, &mut |event| {
            said.add(event);
            true
        });
        self.each_shown(shown, |event| here.add(event));
        if here.is_equal(&mut said) {
            return false;
        }
        let (mut here, mut said) = (Sayings::default(), Sayings::default());
        self.each_shown(shown, |event| here.add(event));
        let most = MAX_FACTOR * visible.len() + FREE_BYTES;
        self.each_own(carry, visible, own, &mut |event| {
            said.add(event);
            said.n_bytes() <= most
        });
        self.replaced_ids.undo([&mut here, &mut Sayings::default()], &said);
        said.n_bytes() > most || !here.is_said_by(&said) || !said.is_said_by(&here)
    }

    /// Compares a restored record with the written records that show its parts.
    pub(super) fn compare_parts(&mut self, item: &Item) {
        let Item::Restored { bytes, said_by, is_glue, .. } = item else { return };
        if said_by.is_empty() {
            return;
        }
        let mut scanner = std::mem::take(&mut self.scanner);
        let (mut said, mut here, mut alone) =
            (Sayings::default(), Sayings::default(), Sayings::default());
        let line = Line::of_unit(bytes, 0, unit_of(*is_glue));
        if let (_, Ok(value)) = scanner.scan(&line, self.format.framing.paths()) {
            self.format.for_each_event(value, |event| {
                said.add(event);
                true
            });
        }
        for PartLine { line, offset, is_alone, .. } in said_by {
            let (_, Ok(value)) = scanner.scan(&Line::new(line, *offset), &[]) else { continue };
            self.each_shown(Some(value), |event| {
                here.add(event);
                if *is_alone {
                    alone.add(event);
                }
            });
        }
        self.replaced_ids.undo([&mut here, &mut alone], &said);
        if !said.is_said_by(&here) || !alone.is_said_by(&said) {
            let offset = said_by.iter().map(|line| line.offset).min();
            self.stats.count_difference(offset.unwrap_or_default());
        }
        scanner.free_beyond(MAX_KEPT_BUFFER);
        self.scanner = scanner;
    }

    /// Calls `each` with the events of a written record.
    fn each_shown(&self, record: Option<Value<'_>>, mut each: impl FnMut(&Event<'_>)) {
        if let Some(record) = record {
            self.written.for_each_event(record, |event| {
                each(event);
                true
            });
        }
    }

    /// Calls `each` with the events of each restored record until it returns false.
    fn each_own(
        &mut self,
        carry: &Carry<'_>,
        visible: &str,
        own: &OwnEntries,
        each: &mut dyn FnMut(&Event<'_>) -> bool,
    ) {
        let mut scanner = std::mem::take(&mut self.scanner);
        let (format, n_kept) = (self.format, own.kept.len());
        let mut read = |bytes: &[u8], offset: u64, is_glue: bool| {
            let line = Line::of_unit(bytes, offset, unit_of(is_glue));
            match scanner.scan(&line, format.framing.paths()) {
                (_, Ok(value)) => format.for_each_event(value, &mut *each),
                _ => true,
            }
        };
        let mut goes_on =
            own.kept.iter().all(|record| read(&record.bytes, record.offset, record.is_glue));
        if n_kept < own.n_own {
            let entries = carry.entries().filter(|entry| entry.kind == EntryKind::Own);
            let mut bytes = Vec::new();
            for entry in entries.skip(n_kept) {
                if !goes_on {
                    break;
                }
                bytes.clear();
                self.restore(&entry, visible, &mut bytes);
                goes_on = read(&bytes, entry.offset, entry.is_glue);
            }
        }
        scanner.free_beyond(MAX_KEPT_BUFFER);
        self.scanner = scanner;
    }
}
