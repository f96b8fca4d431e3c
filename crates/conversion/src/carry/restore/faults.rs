//! The faults of the carries as a whole, during a restoration and at its end.
//!
//! In: an end mark of three carries, after two. Out: one carry is missing.

use super::{RestoreStats, Restorer, totals::DocumentTotals};
use crate::carry::totals::Shortfall;

impl Restorer {
    /// Returns whether the first carry was read, which has the template.
    pub(crate) fn has_first(&self) -> bool {
        self.totals.has_first()
    }

    /// Returns the faults of the carries so far. `is_whole` says that the file has no others.
    pub(crate) fn faults_so_far(&self, is_whole: bool) -> RestoreStats {
        match is_whole {
            true => self.stats,
            false => {
                let missing = self.totals.missing_so_far();
                RestoreStats { missing, cut: 0, miscounted: 0, ..self.stats }
            }
        }
    }

    /// Compares the carries that were read with the end mark.
    pub(super) fn finish_totals(&mut self) {
        let Shortfall { is_cut, missing, is_miscounted } = self.totals.shortfall();
        self.stats.cut += u64::from(is_cut);
        self.stats.missing += missing;
        self.stats.miscounted += u64::from(is_miscounted);
        // Edited or missing records are said themselves, and change the totals.
        let agree = self.document_totals.as_ref().is_none_or(DocumentTotals::agree);
        if !agree && !self.stats.is_not_the_source() {
            self.stats.wrong_totals += 1;
        }
    }
}
