//! Finds carries that are late or repeated, by their ordinals.
//!
//! In: the ordinals 0, 2, 1, 2. Out: `Next`, `Next`, `Late`, `Again`.

use std::collections::BTreeMap;

/// The ordinals that were read, as ranges. An unedited file has one range.
#[derive(Debug, Default)]
pub(crate) struct Ordinals {
    /// The ordinal after each range, by the range's first ordinal.
    ranges: BTreeMap<u64, u64>,
    n_seen: u64,
}

/// The position of an ordinal among those read before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Seen {
    /// It is the highest so far.
    Next,
    /// A higher one was read before.
    Late,
    /// It was read before.
    Again,
}

impl Ordinals {
    /// Adds an ordinal.
    pub(crate) fn see(&mut self, ordinal: u64) -> Seen {
        let before = self.before(ordinal);
        if before.is_some_and(|(_, end)| ordinal < end) {
            return Seen::Again;
        }
        let is_highest = ordinal >= self.end();
        self.n_seen += 1;
        let after =
            self.ranges.remove(&ordinal.saturating_add(1)).unwrap_or(ordinal.saturating_add(1));
        let start = before.filter(|(_, end)| *end == ordinal).map_or(ordinal, |(start, _)| start);
        self.ranges.insert(start, after);
        if is_highest { Seen::Next } else { Seen::Late }
    }

    /// Returns whether an ordinal was added.
    pub(crate) fn has(&self, ordinal: u64) -> bool {
        self.before(ordinal).is_some_and(|(_, end)| ordinal < end)
    }

    /// Returns the last range that begins at an ordinal or before it.
    fn before(&self, ordinal: u64) -> Option<(u64, u64)> {
        self.ranges.range(..=ordinal).next_back().map(|(start, end)| (*start, *end))
    }

    /// Returns the number of different ordinals.
    pub(crate) fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// Returns the highest ordinal plus one.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last_key_value().map_or(0, |(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_next_late_or_again() {
        let mut ordinals = Ordinals::default();
        let seen = [0, 1, 4, 2, 2, 3, 5, 0, 7].map(|ordinal| ordinals.see(ordinal));
        use Seen::{Again, Late, Next};
        assert_eq!(seen, [Next, Next, Next, Late, Again, Late, Next, Again, Next]);
        assert_eq!((ordinals.n_seen(), ordinals.end()), (7, 8));
        assert_eq!(ordinals.ranges.len(), 2);
    }
}
