//! Compares the messages of a written record with those that its carry restores.

use core_model::Event;
use jsonl::{Line, LineBuf, Unit, UnitScanner, Value};

use super::{Item, OwnEntries, Restorer};
use crate::carry::{
    Carry,
    agreement::Sayings,
    parts::{PartLine, PartLines},
    said::{Digest, ShownTexts, TextComparison},
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
    /// Returns whether a record shows other messages than its own entries restore. `shown` is the first event of the
    /// record.
    pub(super) fn differs(
        &mut self,
        carry: &Carry<'_>,
        shown: Option<&Event<'_>>,
        visible: &str,
        own: &mut OwnEntries,
    ) -> bool {
        if own.n_own == 0 || !self.is_comparing {
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

    /// Compares a restored record with the written records that show its parts. `shown` is the value of the last written
    /// record.
    pub(super) fn compare_parts(&mut self, item: &Item, shown: Option<Value<'_>>) {
        let Item::Restored { line, said_by, is_glue, .. } = item else { return };
        if said_by.is_empty() || !self.is_comparing {
            return;
        }
        let mut scanner = std::mem::take(&mut self.scanner);
        if self.parts_differ((line, *is_glue), (said_by, shown), &mut scanner) {
            let mut first = None;
            said_by.for_each(None, |line, _| {
                first = Some(first.map_or(line.offset, |it: u64| it.min(line.offset)))
            });
            self.stats.count_difference(first.unwrap_or_default());
        }
        scanner.free_beyond(MAX_KEPT_BUFFER);
        self.scanner = scanner;
    }

    /// Returns whether the written records of the parts show other messages than the restored record.
    fn parts_differ(
        &mut self,
        (restored, is_glue): (&LineBuf, bool),
        (said_by, shown): (&PartLines, Option<Value<'_>>),
        scanner: &mut UnitScanner,
    ) -> bool {
        let (format, written) = (self.format, self.written);
        let (unit, paths) = (unit_of(is_glue), format.framing.paths());
        let mut each_restored = |each: &mut dyn FnMut(&Event<'_>)| {
            if let (_, Ok(value)) = scanner.scan_buf(restored, 0, unit, paths) {
                format.for_each_event(value, |event| {
                    each(event);
                    true
                });
            }
            scanner.free_beyond(MAX_KEPT_BUFFER);
        };
        // The record that was read last is in memory, with its index. A long one is not read and scanned again.
        let last = shown.map(|_| self.n_pushed);
        let each_shown = |each: &mut dyn FnMut(&Event<'_>, bool)| {
            let mut scanner = UnitScanner::default();
            said_by.for_each(last, |PartLine { line, offset, is_alone, .. }, is_last| {
                let value = match shown.filter(|_| is_last) {
                    Some(shown) => Ok(shown),
                    None => scanner.scan(&Line::new(line, *offset), &[]).1,
                };
                let Ok(value) = value else { return };
                written.for_each_event(value, |event| {
                    each(event, *is_alone);
                    true
                });
                scanner.free_beyond(MAX_KEPT_BUFFER);
            })
        };
        let (mut here, mut said, mut alone) =
            (Digest::default(), Digest::default(), Digest::default());
        each_restored(&mut |event| said.add(event));
        let is_read = each_shown(&mut |event, is_alone| {
            here.add(event);
            if is_alone {
                alone.add(event);
            }
        });
        if !is_read {
            // Nothing shows that they agree.
            return true;
        }
        // A written record may also show other source records.
        if said.is_within(&mut here) && alone.is_within(&mut said) {
            return false;
        }
        drop((here, said, alone));
        let (mut said, mut here, mut alone) =
            (Sayings::default(), Sayings::default(), Sayings::default());
        each_restored(&mut |event| said.add(event));
        each_shown(&mut |event, is_alone| {
            here.add(event);
            if is_alone {
                alone.add(event);
            }
        });
        self.replaced_ids.undo([&mut here, &mut alone], &said);
        !said.is_said_by(&here) || !alone.is_said_by(&said)
    }

    /// Calls `each` with the events of a written record whose first event this is.
    fn each_shown(&self, first: Option<&Event<'_>>, mut each: impl FnMut(&Event<'_>)) {
        match first {
            // The usual case: the record is not read again.
            Some(only) if !only.has_next => each(only),
            Some(first) => {
                self.written.for_each_event(first.value, |event| {
                    each(event);
                    true
                });
            }
            None => {}
        }
    }

    /// Calls `each` with the events of each restored record until it returns false.
    fn each_own(
        &mut self,
        carry: &Carry<'_>,
        visible: &str,
        own: &mut OwnEntries,
        each: &mut dyn FnMut(&Event<'_>) -> bool,
    ) {
        let mut scanner = std::mem::take(&mut self.scanner);
        let (format, n_kept) = (self.format, own.kept.len());
        // The index is kept for the writer, which reads the record next.
        let mut read = |line: &mut LineBuf, offset: u64, is_glue: bool| {
            let (unit, paths) = (unit_of(is_glue), format.framing.paths());
            match scanner.scan_and_keep(line, offset, unit, paths) {
                (_, Ok(value)) => format.for_each_event(value, &mut *each),
                _ => true,
            }
        };
        let mut goes_on =
            own.kept.iter_mut().all(|record| read(&mut record.line, record.offset, record.is_glue));
        if n_kept < own.n_own {
            for entry in carry.own_entries().skip(n_kept) {
                if !goes_on {
                    break;
                }
                let mut bytes = Vec::new();
                self.restore(&entry, visible, &mut bytes);
                goes_on = read(&mut bytes.into(), entry.offset, entry.is_glue);
            }
        }
        scanner.free_beyond(MAX_KEPT_BUFFER);
        self.scanner = scanner;
    }
}
