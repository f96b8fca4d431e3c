//! A written record without its carry, as the two slices around the carry.
//!
//! In: `{"a":1` and `}`, around the carry of `{"a":1,"_carried":".."}`. Out: the bytes of any range of `{"a":1}`, without
//! a copy of the record.

use std::borrow::Cow;

/// A written record without its carry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WrittenText<'w> {
    /// The text before the carry.
    before: &'w [u8],
    /// The text behind the carry.
    after: &'w [u8],
}

impl<'w> WrittenText<'w> {
    pub(super) fn new(before: &'w [u8], after: &'w [u8]) -> Self {
        Self { before, after }
    }

    /// Returns the number of bytes.
    pub(super) fn len(self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Returns the two slices.
    pub(super) fn pieces(self) -> [&'w [u8]; 2] {
        [self.before, self.after]
    }

    /// Returns the slices of a range before and behind the carry; `None` if the range is not in the record.
    fn range(self, from: u64, length: u64) -> Option<(&'w [u8], &'w [u8])> {
        let from = usize::try_from(from).ok()?;
        let end = from.checked_add(usize::try_from(length).ok()?)?;
        let middle = self.before.len();
        if end <= middle {
            // The usual case.
            return Some((self.before.get(from..end)?, b""));
        }
        let before = self.before.get(from.min(middle)..end.min(middle))?;
        let after = self.after.get(from.saturating_sub(middle)..end.saturating_sub(middle))?;
        Some((before, after))
    }

    /// Appends the bytes of a range. Returns false if it is not in the record.
    pub(super) fn push_range(self, out: &mut Vec<u8>, from: u64, length: u64) -> bool {
        let Some((before, after)) = self.range(from, length) else { return false };
        out.extend_from_slice(before);
        out.extend_from_slice(after);
        true
    }

    /// Returns the text of a range; `None` if it is not in the record, or no UTF-8.
    pub(super) fn text(self, from: u64, length: u64) -> Option<Cow<'w, str>> {
        Some(match self.range(from, length)? {
            (before, []) => Cow::Borrowed(std::str::from_utf8(before).ok()?),
            ([], after) => Cow::Borrowed(std::str::from_utf8(after).ok()?),
            (before, after) => Cow::Owned(String::from_utf8([before, after].concat()).ok()?),
        })
    }
}

impl<'w> From<&'w str> for WrittenText<'w> {
    fn from(text: &'w str) -> Self {
        Self::new(text.as_bytes(), b"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_before_behind_and_around_the_carry() {
        let whole = b"{\"a\":1}";
        for middle in 0..=whole.len() {
            let (before, after) = whole.split_at(middle);
            let text = WrittenText::new(before, after);
            assert_eq!(text.len(), whole.len());
            for from in 0..whole.len() + 2 {
                for length in 0..whole.len() + 2 {
                    let expected = whole.get(from..from + length);
                    let (mut out, from, length) = (Vec::new(), from as u64, length as u64);
                    assert_eq!(text.push_range(&mut out, from, length), expected.is_some());
                    assert_eq!(out, expected.unwrap_or_default());
                    let found = text.text(from, length);
                    assert_eq!(found.as_deref().map(str::as_bytes), expected);
                }
            }
            assert!(!text.push_range(&mut Vec::new(), 1, u64::MAX));
        }
    }
}
