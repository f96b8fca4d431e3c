//! Limits the bytes that a restoration writes.
//!
//! In: 1 MiB of written records. Out: at most 17 MiB of restored ones, unless `--max-expanded` allows more.

use super::Restorer;

/// Returns the limit on the bytes that are restored from some bytes: 16 times as many, and a megabyte.
pub const fn max_restored(n_read: u64) -> u64 {
    n_read.saturating_mul(16).saturating_add(1024 * 1024)
}

impl Restorer {
    /// Sets the number of bytes that may be restored from an input of any size.
    pub(crate) fn set_max_restored(&mut self, max_restored: u64) {
        self.max_restored = max_restored;
    }

    /// Counts bytes to be restored. Returns false if they exceed the limit.
    pub(super) fn may_restore(&mut self, length: u64) -> bool {
        let n_restored = self.n_restored.saturating_add(length);
        if n_restored > max_restored(self.n_read).max(self.max_restored) {
            self.stats.refused += 1;
            return false;
        }
        self.n_restored = n_restored;
        true
    }
}
