//! Finds keys by the text around them: PuTTY keys, unseal keys of a vault, JSON Web Keys.
//!
//! In: `Unseal Key 1: q3x..`. Out: the range of `q3x..`.

use std::ops::Range;

use crate::{
    assignment::{past_closers, until_placeholder},
    class::{BASE64, BASE64_URL},
    cursor::Cursor,
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, past_blanks, past_break},
};

/// Minimum number of letters of a key.
const MIN_LETTERS: usize = 40;

/// Finds the lines after `Private-Lines: 8`.
pub(crate) fn putty(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const MAX_LINES: usize = 256;
    let start = past_break(end.skip(3, |byte| byte.is_ascii_digit()))?;
    let mut line_end = start.skip(128, |byte| BASE64.has(byte));
    let is_key = line_end.since(start.place()).len() >= MIN_LETTERS;
    for _ in 0..MAX_LINES {
        let Some(next) = past_break(line_end) else { break };
        let next_end = next.skip(128, |byte| BASE64.has(byte));
        if next_end.place() == next.place() || !is_over(next_end) {
            break;
        }
        line_end = next_end;
    }
    (is_key && !is_cut(line_end)).then(|| start.place()..line_end.place())
}

/// Returns whether a placeholder follows: the rest of a longer key was redacted.
fn is_cut(at: Cursor<'_>) -> bool {
    at.rest().starts_with(PLACEHOLDER)
}

fn is_over(at: Cursor<'_>) -> bool {
    at.next().is_none_or(|byte| b"\r\n\\\"".contains(&byte))
}

/// Finds the first key after `Unseal Key 1:`, `unseal_keys_b64:`.
pub(crate) fn unseal(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after the name that are searched for the key.
    const MAX_BETWEEN: usize = 48;
    let mut at = end;
    let n_between = until_placeholder(end.window(MAX_BETWEEN)).len();
    while at.place() < end.place().saturating_add(n_between) {
        // The letter of an escaped line break is not part of the key.
        at = past_break(at).unwrap_or(at);
        let run = at.skip(128, |byte| BASE64.has(byte));
        let key = run.since(at.place());
        let is_whole = (44..=88).contains(&key.len()) && !is_cut(run);
        if is_whole && Makeup::of(key).is_random() {
            return Some(at.place()..run.place());
        }
        at = run.forward(usize::from(run.place() == at.place()));
        at.next()?;
    }
    None
}

/// Finds the private member of a JSON Web Key. `start..end` is `kty`.
pub(crate) fn jwk(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after `kty` that are searched for the private member.
    const MAX_KEY: usize = 2048;
    let text = until_placeholder(end.window(MAX_KEY));
    for found in memchr::memchr_iter(b'd', text) {
        let name = end.forward(found);
        let is_whole = name.previous() == Some(b'"');
        let (closed, has_quote) = past_closers(name.forward(1));
        let Some(sign) = closed.past(b":").filter(|_| is_whole && has_quote) else { continue };
        let (_, value) = Quote::open(past_blanks(sign, 8))?;
        let value_end = value.skip(MAX_KEY, |byte| BASE64_URL.has(byte));
        let is_key = value_end.since(value.place()).len() >= MIN_LETTERS && !is_cut(value_end);
        return is_key.then(|| value.place()..value_end.place());
    }
    None
}
