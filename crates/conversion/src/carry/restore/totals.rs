//! Compares the totals of a written document with its records.

use core_model::{Format, Totals};
use jsonl::Value;

/// The totals of a document, compared with all records and with the records that our writer wrote. A program that adds
/// records computes the totals anew, or leaves them as they are.
#[derive(Debug)]
pub(super) struct DocumentTotals {
    all: Box<dyn Totals>,
    written: Box<dyn Totals>,
    /// Whether the object around the records has a carry, and with it the totals of our writer.
    is_ours: bool,
}

impl DocumentTotals {
    /// Creates the comparisons for a document of a format; `None` for a format without totals.
    pub(super) fn new(format: &Format) -> Option<Self> {
        let create = format.totals?;
        Some(Self { all: create(), written: create(), is_ours: false })
    }

    /// Adds the object around the records, or a part of it.
    pub(super) fn add_root(&mut self, root: Value<'_>, has_carry: bool) {
        self.is_ours |= has_carry;
        self.all.add_root(root);
        self.written.add_root(root);
    }

    /// Adds a record.
    pub(super) fn add_record(&mut self, record: Value<'_>, is_added: bool) {
        self.all.add_record(record);
        if !is_added {
            self.written.add_record(record);
        }
    }

    /// Returns whether the totals are as our writer makes them.
    pub(super) fn agree(&self) -> bool {
        !self.is_ours || self.all.agree() || self.written.agree()
    }
}
