//! The matches of rules, and the choice between two that overlap.
//!
//! In: `token=ghp_..` by its name, and `ghp_..` by its prefix. Out: the longer one; of two with one length, the one by its
//! prefix.

use std::ops::Range;

use memchr::memmem;

use crate::rule::Rule;

/// A match of a rule.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) rule: &'static Rule,
    /// The range of the secret.
    pub(crate) secret: Range<usize>,
    /// The end of the whole match.
    pub(crate) end: usize,
}

impl Fit {
    /// Ends a secret before a private key that follows without a blank: `x-----BEGIN PRIVATE KEY-----`. Most tokens may have
    /// dashes, and the rest of the key would not be found without its start.
    pub(crate) fn before_key(mut self, bytes: &[u8]) -> Self {
        let secret = bytes.get(self.secret.clone()).unwrap_or_default();
        let key = memmem::find(secret, b"-----BEGIN").filter(|length| *length > 0);
        if let Some(length) = key {
            self.secret.end = self.secret.start.saturating_add(length);
            self.end = self.end.min(self.secret.end);
        }
        self
    }
}

/// Matches whose secrets are still ahead, in order.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    fits: Vec<Fit>,
}

impl Waiting {
    /// Returns the first match whose secret starts before a position.
    pub(crate) fn pop_before(&mut self, place: usize) -> Option<Fit> {
        let is_due = self.fits.first().is_some_and(|fit| fit.secret.start < place);
        is_due.then(|| self.fits.remove(0))
    }

    /// Adds a match, unless there is a better one for the same bytes.
    pub(crate) fn push(&mut self, fit: Fit) {
        let Range { start, end } = fit.secret;
        let overlaps = |other: &Fit| other.secret.start < end && start < other.secret.end;
        let is_worse = |other: &Fit| {
            let length = other.secret.len();
            fit.secret.len() > length
                || fit.secret.len() == length && fit.rule.rank() > other.rule.rank()
        };
        if self.fits.iter().filter(|other| overlaps(other)).all(is_worse) {
            self.fits.retain(|other| !overlaps(other));
            let at = self.fits.partition_point(|other| other.secret.start < start);
            self.fits.insert(at, fit);
        }
    }
    /// Returns all that are left, in order.
    pub(crate) fn into_fits(self) -> impl Iterator<Item = Fit> {
        self.fits.into_iter()
    }
}
