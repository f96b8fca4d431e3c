//! Compares the messages of a written record with those that its carry restores.

use core_model::Event;
use jsonl::{Line, LineBuf, Unit, UnitScanner, Value};

use super::{Item, OwnEntries, Restorer};
use crate::carry::{
    Carry, WrittenText,
    agreement::Sayings,
    parts::{PartLine, PartLines},
    portions::{each_event, is_unread},
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

/// The comparison of written records with the record that they restore.
struct Agreement {
    is_equal: bool,
    /// Whether a written record has lists that are not indexed.
    has_unread: bool,
}

impl Restorer {
    /// Counts a record at an offset if it shows other messages than its own entries restore. `shown` is the first event of
    /// the record; `carry` is its carry, unless all own entries are kept.
    pub(super) fn compare(
        &mut self,
        carry: Option<&Carry<'_>>,
        shown: Option<&Event<'_>>,
        visible: WrittenText<'_>,
        own: &mut OwnEntries,
        offset: u64,
    ) {
        if own.is_whole && !own.has_parts && self.differs(carry, shown, visible, own) {
            self.stats.count_difference(offset);
        }
    }

    fn differs(
        &mut self,
        carry: Option<&Carry<'_>>,
        shown: Option<&Event<'_>>,
        visible: WrittenText<'_>,
        own: &mut OwnEntries,
    ) -> bool {
        if own.n_own == 0 || !self.is_comparing {
            return false;
        }
        let mut here = ShownTexts::default();
        self.each_shown(shown, |event| here.add(event));
        let (mut comparison, format) = (TextComparison::new(&here), self.format);
        self.each_own(carry, visible, own, &mut |record| {
            each_event(format, record, false, &mut |event| {
                comparison.add(event);
                true
            })
        });
        if comparison.is_equal(|each| self.each_shown(shown, each)) {
            return false;
        }
        let shown = shown.map(|event| event.value);
        // The lists that are not indexed are compared first, because the hashes of all texts take the least memory.
        let is_unread = shown.is_some_and(is_unread);
        !(is_unread && self.own_hashes_agree(carry, shown, visible, own, true) == Some(true)
            || self.own_agree(carry, shown, visible, own, false)
            || is_unread && self.own_agree(carry, shown, visible, own, true))
    }

    /// Compares the hashes of all texts of a record and of its own entries; if `is_whole`, also in lists that are not
    /// indexed. Returns `None` if some values are not read, so that nothing shows whether they agree.
    fn own_hashes_agree(
        &mut self,
        carry: Option<&Carry<'_>>,
        shown: Option<Value<'_>>,
        visible: WrittenText<'_>,
        own: &mut OwnEntries,
        is_whole: bool,
    ) -> Option<bool> {
        let (format, written) = (self.format, self.written);
        let (mut here, mut said) = (Digest::default(), Digest::default());
        let mut is_read = shown.is_none_or(|it| here.add_record(written, it, is_whole));
        self.each_own(carry, visible, own, &mut |record| {
            is_read = said.add_record(format, record, is_whole) && is_read;
            true
        });
        is_read.then(|| here.is_equal(&mut said))
    }

    /// Returns whether a record shows the same messages as its own entries restore; if `is_whole`, also the messages in
    /// lists that are not indexed.
    fn own_agree(
        &mut self,
        carry: Option<&Carry<'_>>,
        shown: Option<Value<'_>>,
        visible: WrittenText<'_>,
        own: &mut OwnEntries,
        is_whole: bool,
    ) -> bool {
        match self.own_hashes_agree(carry, shown, visible, own, is_whole) {
            Some(false) => {}
            agree => return agree.is_some(),
        }
        let (format, written) = (self.format, self.written);
        let (mut here, mut said) = (Sayings::default(), Sayings::default());
        if let Some(shown) = shown {
            here.add_record(written, shown, is_whole);
        }
        let most = MAX_FACTOR * visible.len() + FREE_BYTES;
        self.each_own(carry, visible, own, &mut |record| {
            each_event(format, record, is_whole, &mut |event| {
                said.add(event);
                said.n_bytes() <= most
            })
        });
        self.replaced_ids.undo([&mut here, &mut Sayings::default()], &said);
        said.n_bytes() <= most && here.is_said_by(&said) && said.is_said_by(&here)
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
        restored: (&LineBuf, bool),
        shown: (&PartLines, Option<Value<'_>>),
        scanner: &mut UnitScanner,
    ) -> bool {
        let mut agree = |is_whole| self.parts_agree(restored, shown, scanner, is_whole);
        let Agreement { is_equal, has_unread } = agree(false);
        !(is_equal || has_unread && agree(true).is_equal)
    }

    /// Compares the written records of the parts with the restored record; if `is_whole`, also the messages in lists that
    /// are not indexed.
    fn parts_agree(
        &mut self,
        (restored, is_glue): (&LineBuf, bool),
        (said_by, shown): (&PartLines, Option<Value<'_>>),
        scanner: &mut UnitScanner,
        is_whole: bool,
    ) -> Agreement {
        let (format, written) = (self.format, self.written);
        let (unit, paths) = (unit_of(is_glue), format.framing.paths());
        let mut each_restored = |each: &mut dyn FnMut(Value<'_>)| {
            if let (_, Ok(value)) = scanner.scan_buf(restored, 0, unit, paths) {
                each(value);
            }
            scanner.free_beyond(MAX_KEPT_BUFFER);
        };
        // The record that was read last is in memory, with its index. A long one is not read and scanned again.
        let last = shown.map(|_| self.n_pushed);
        let each_shown = |each: &mut dyn FnMut(Value<'_>, bool)| {
            let mut scanner = UnitScanner::default();
            said_by.for_each(last, |PartLine { line, offset, is_alone, .. }, is_last| {
                let value = match shown.filter(|_| is_last) {
                    Some(shown) => Ok(shown),
                    None => scanner.scan(&Line::new(line, *offset), &[]).1,
                };
                let Ok(value) = value else { return };
                each(value, *is_alone);
                scanner.free_beyond(MAX_KEPT_BUFFER);
            })
        };
        let (mut here, mut said, mut alone) =
            (Digest::default(), Digest::default(), Digest::default());
        let (mut is_indexed, mut has_unread) = (true, false);
        each_restored(&mut |value| is_indexed &= said.add_record(format, value, is_whole));
        let is_read = each_shown(&mut |value, is_alone| {
            has_unread |= is_unread(value);
            is_indexed &= here.add_record(written, value, is_whole);
            if is_alone {
                alone.add_record(written, value, is_whole);
            }
        });
        if !is_read || !is_indexed {
            // Nothing shows that they agree.
            return Agreement { is_equal: false, has_unread: has_unread && is_read };
        }
        // A written record may also show other source records.
        if said.is_within(&mut here) && alone.is_within(&mut said) {
            return Agreement { is_equal: true, has_unread };
        }
        drop((here, said, alone));
        let (mut said, mut here, mut alone) =
            (Sayings::default(), Sayings::default(), Sayings::default());
        each_restored(&mut |value| said.add_record(format, value, is_whole));
        each_shown(&mut |value, is_alone| {
            here.add_record(written, value, is_whole);
            if is_alone {
                alone.add_record(written, value, is_whole);
            }
        });
        self.replaced_ids.undo([&mut here, &mut alone], &said);
        let is_equal = said.is_said_by(&here) && alone.is_said_by(&said);
        Agreement { is_equal, has_unread }
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

    /// Calls `each` with each restored record until it returns false.
    fn each_own(
        &mut self,
        carry: Option<&Carry<'_>>,
        visible: WrittenText<'_>,
        own: &mut OwnEntries,
        each: &mut dyn FnMut(Value<'_>) -> bool,
    ) {
        let mut scanner = std::mem::take(&mut self.scanner);
        let (format, n_kept) = (self.format, own.kept.len());
        // The index is kept for the writer, which reads the record next.
        let mut read = |line: &mut LineBuf, offset: u64, is_glue: bool| {
            let (unit, paths) = (unit_of(is_glue), format.framing.paths());
            match scanner.scan_and_keep(line, offset, unit, paths) {
                (_, Ok(value)) => each(value),
                _ => true,
            }
        };
        let mut goes_on =
            own.kept.iter_mut().all(|record| read(&mut record.line, record.offset, record.is_glue));
        if let Some(carry) = carry.filter(|_| n_kept < own.n_own) {
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
