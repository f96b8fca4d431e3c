//! Finds the private members of a JSON Web Key, in any order.
//!
//! In: `{"kty":"RSA","e":"AQAB","n":"..","d":"x","p":"y"}`, `{"k":"x","kty":"oct"}`. Out: the ranges of `x` and `y`.

use std::ops::Range;

use crate::{
    around::{until_placeholder, without_placeholders},
    class::BASE64_URL,
    cursor::Cursor,
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, is_blank, is_quote, past_blanks},
};

/// Bytes before and after `kty` that are searched. A key of 4096 bits has 3,200.
const MAX_KEY: usize = 4096;

/// Limit for the members before and after `kty`.
const MAX_MEMBERS: usize = 24;

/// The private members of a key, and the minimum of their letters.
const MEMBERS: &[(&[u8], usize)] =
    &[(b"d", 40), (b"p", 40), (b"q", 40), (b"dp", 40), (b"dq", 40), (b"qi", 40), (b"k", 20)];

/// Finds the private members in the object around `start..end`, which is `kty`.
pub(crate) fn members(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let before = without_placeholders(start.window_before(MAX_KEY));
    let brace = memchr::memrchr2(b'{', b'}', before).map_or(0, |n| n.saturating_add(1));
    let before = before.get(brace..).unwrap_or_default();
    let after = until_placeholder(end.window(MAX_KEY));
    let brace = memchr::memchr2(b'{', b'}', after).unwrap_or(after.len());
    let after = after.get(..brace).unwrap_or_default();
    let first = start.back(before.len());
    let mut signs: Vec<Cursor<'_>> =
        memchr::memrchr_iter(b':', before).take(MAX_MEMBERS).map(|n| first.forward(n)).collect();
    signs.reverse();
    signs.extend(memchr::memchr_iter(b':', after).take(MAX_MEMBERS).map(|n| end.forward(n)));
    signs.into_iter().filter_map(|sign| member(first, sign)).collect()
}

/// Returns the range of the value after the sign at a position, if the name before it is private.
fn member(first: Cursor<'_>, sign: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes before the sign that are searched for the name.
    const MAX_BEFORE: usize = 24;
    let before = sign.window_before(MAX_BEFORE.min(sign.since(first.place()).len()));
    let is_mark = |byte: u8| is_blank(byte) || is_quote(byte) || byte == b'\\';
    let n_marks = before.iter().rev().take_while(|byte| is_mark(**byte)).count();
    let text = before.get(..before.len().saturating_sub(n_marks))?;
    let name = text.rsplit(|byte| !byte.is_ascii_alphanumeric()).next()?;
    let (_, min) = MEMBERS.iter().find(|(member, _)| *member == name)?;
    let (_, value) = Quote::open(past_blanks(sign.forward(1), 8))?;
    let value_end = value.skip(MAX_KEY, |byte| BASE64_URL.has(byte));
    let text = value_end.since(value.place());
    let is_cut = value_end.rest().starts_with(PLACEHOLDER);
    let is_key = text.len() >= *min && !is_cut && Makeup::of(text).is_random();
    is_key.then(|| value.place()..value_end.place())
}
