//! Finds the serial number of a license.
//!
//! In: `"serial":"7QK2M-X9ZTL-4RBN8-WC6VS-J3HFP"`, `License: 7QK2M-X9ZTL-…`. Out: the range of the groups.

use std::ops::Range;

use crate::{
    around::past_closers,
    cursor::Cursor,
    placeholder::{PLACEHOLDER, is_template},
    randomness::Makeup,
    span::{Quote, past_blanks},
};

/// Finds the groups after a name and a sign.
pub(crate) fn serial(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const GROUPS: std::ops::RangeInclusive<usize> = 4..=8;
    const LETTERS: std::ops::RangeInclusive<usize> = 4..=8;
    let name = end.skip(24, |byte| byte.is_ascii_alphanumeric() || b"_-# ".contains(&byte));
    let sign = past_blanks(past_closers(name).0, 8);
    let option = || end.previous().filter(|byte| *byte == b' ').map(|_| end);
    let at = past_blanks(sign.past(b":").or_else(|| sign.past(b"=")).or_else(option)?, 8);
    let value = Quote::open(at).map_or(at, |(_, value)| value);
    let is_in = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-';
    let value_end = value.skip(80, is_in);
    let text = value_end.since(value.place());
    let groups = || text.split(|byte| *byte == b'-');
    let makeup = Makeup::of(text);
    let length = groups().next_back()?.len();
    let is_over = value_end.next().is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
        && !value_end.rest().starts_with(PLACEHOLDER);
    let is_serial = GROUPS.contains(&groups().count())
        && LETTERS.contains(&length)
        // The serial of Unity begins with a shorter group: `SC-7QK2-..`.
        && groups().skip(1).all(|group| group.len() == length)
        && (2..=length).contains(&groups().next()?.len())
        && makeup.n_digits > 1
        && makeup.n_upper > 4
        && makeup.is_random()
        && !is_template(text);
    (is_serial && is_over).then(|| value.place()..value_end.place())
}
