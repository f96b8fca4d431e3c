//! The matches of rules, and the choice between two that overlap.
//!
//! In: `token=ghp_..` by its name, and `ghp_..` by its prefix. Out: the longer one; of two with one length, the one by its
//! prefix.

use std::{cmp::Reverse, ops::Range};

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

/// The matches in some text, in order, without overlaps.
#[derive(Debug, Default)]
pub(crate) struct Found {
    fits: Vec<Fit>,
}

impl Found {
    pub(crate) fn is_empty(&self) -> bool {
        self.fits.is_empty()
    }

    /// Adds a match behind the others.
    pub(crate) fn push(&mut self, fit: Fit) {
        self.fits.push(fit);
    }

    /// Returns the text without the secrets.
    pub(crate) fn redacted(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut redacted, mut done) = (Vec::new(), 0);
        for Fit { rule, secret, .. } in &self.fits {
            redacted.extend_from_slice(bytes.get(done..secret.start).unwrap_or_default());
            redacted.extend_from_slice(rule.placeholder().as_bytes());
            done = secret.end;
        }
        redacted.extend_from_slice(bytes.get(done..).unwrap_or_default());
        redacted
    }

    /// Adds matches in the redacted text. A match with a whole placeholder in it replaces the secret. Returns whether there
    /// were any.
    ///
    /// In: the secret `2..42` of `a ghp_.. b x`, and the match `28..29` in `a [REDACTED:github-token] b x`. Out: `2..42` and
    /// `45..46`.
    pub(crate) fn add(&mut self, others: Vec<Fit>) -> bool {
        let shifts = self.shifts();
        let others = others.into_iter().filter_map(|fit| {
            let start = original(&shifts, fit.secret.start)?;
            let end = original(&shifts, fit.secret.end).filter(|end| *end > start)?;
            Some(Fit { rule: fit.rule, secret: start..end, end })
        });
        let n_before = self.fits.len();
        self.fits.extend(others);
        let is_new = self.fits.len() > n_before;
        self.fits.sort_by_key(|fit| (fit.secret.start, Reverse(fit.secret.end)));
        let mut done = 0;
        self.fits.retain(|fit| {
            let is_free = fit.secret.start >= done;
            done = done.max(fit.secret.end);
            is_free
        });
        is_new
    }

    /// Returns each secret's placeholder: its range in the redacted text, and the end of the secret.
    fn shifts(&self) -> Vec<(Range<usize>, usize)> {
        let (mut done, mut n_redacted) = (0_usize, 0_usize);
        let shift = |Fit { rule, secret, .. }: &Fit| {
            let start = n_redacted.saturating_add(secret.start.saturating_sub(done));
            n_redacted = start.saturating_add(rule.placeholder().len());
            done = secret.end;
            (start..n_redacted, secret.end)
        };
        self.fits.iter().map(shift).collect()
    }

    /// Returns the matches, in order.
    pub(crate) fn into_fits(self) -> impl Iterator<Item = Fit> {
        self.fits.into_iter()
    }
}

/// Returns the place in the text of a place in the redacted text; `None` within a placeholder.
fn original(shifts: &[(Range<usize>, usize)], at: usize) -> Option<usize> {
    let n_before = shifts.partition_point(|(redacted, _)| redacted.end <= at);
    let is_within = shifts.get(n_before).is_some_and(|(redacted, _)| redacted.start < at);
    let last = n_before.checked_sub(1).and_then(|n| shifts.get(n));
    let place =
        last.map_or(at, |(redacted, end)| end.saturating_add(at.saturating_sub(redacted.end)));
    (!is_within).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rules;

    #[test]
    fn places_in_redacted_text_are_places_in_the_text() {
        let rule = rules().next().expect("a rule");
        let fit = |secret: Range<usize>| Fit { rule, end: secret.end, secret };
        let bytes = b"ab SECRET cd OTHER ef";
        let mut found = Found::default();
        [3..9, 13..18].into_iter().for_each(|secret| found.push(fit(secret)));
        let redacted = found.redacted(bytes);
        let at = |text: &[u8]| memmem::find(&redacted, text).expect("there");
        let (first, cd, last) = (at(b"[RED"), at(b"cd"), at(b" ef"));
        // Within a placeholder, the text between two, and all from one to the end.
        let others = [fit(first + 2..first + 5), fit(cd..cd + 2), fit(cd + 3..last + 3)];
        assert!(found.add(others.into()));
        let places: Vec<_> = found.into_fits().map(|fit| fit.secret).collect();
        assert_eq!(places, [3..9, 10..12, 13..21]);
        assert!(!Found::default().add(Vec::new()));
    }
}
