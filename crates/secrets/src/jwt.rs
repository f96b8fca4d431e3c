//! Finds tokens by their first letters that are in several lines or in base64.
//!
//! In: `ZXlKaGJHY2lPaUp..`, the base64 of a JSON Web Token. Out: its range.

use std::ops::Range;

use memchr::memmem;

use crate::{
    cursor::Cursor,
    edge::is_edge,
    pieces::{last_pieces, past_seam},
};

/// Finds a signed JSON Web Token whose parts are in several lines, broken anywhere.
pub(crate) fn broken_jwt(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit for the lines of a token.
    const MAX_LINES: usize = 40;
    /// Limit in bytes for a part of a token in one line.
    const MAX_LINE: usize = 1024;
    /// Minimum length of a signature.
    const MIN_SIGNATURE: usize = 20;
    let (mut at, mut n_dots, mut n_breaks, mut part) = (end, 0_usize, 0_usize, 0_usize);
    for _ in 0..MAX_LINES {
        let run = at.skip(MAX_LINE, |byte| crate::class::BASE64_URL.has(byte));
        part = part.saturating_add(run.since(at.place()).len());
        at = run;
        if n_dots < 2
            && let Some(after) = at.past(b".")
        {
            (at, n_dots, part) = (after, n_dots.saturating_add(1), 0);
        }
        if n_dots == 2 && part >= MIN_SIGNATURE {
            break;
        }
        let Some((next, _)) = past_seam(at) else {
            if at.place() == run.place() {
                break;
            }
            continue;
        };
        (at, n_breaks) = (next, n_breaks.saturating_add(1));
    }
    let is_token = n_dots == 2 && n_breaks > 0 && part >= MIN_SIGNATURE;
    let last = last_pieces(&crate::class::BASE64_URL, at);
    (is_token && is_edge(start.before())).then(|| start.place()..last.place())
}

/// Finds a token of a bot of Discord in base64, whose first letters are the prefix.
pub(crate) fn encoded_bot(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Letters of a token: the shortest and the longest.
    const LENGTHS: std::ops::RangeInclusive<usize> = 72..=108;
    let last = end.skip(200, |byte| crate::class::BASE64.has(byte));
    let text = last.since(start.place());
    if !LENGTHS.contains(&text.len()) || !is_edge(start.before()) {
        return None;
    }
    let mut decoded = Vec::new();
    jsonl::decode_base64(text, &mut decoded);
    let lengths: Vec<usize> = decoded.split(|byte| *byte == b'.').map(<[u8]>::len).collect();
    let is_in = |byte: &u8| *byte == b'.' || crate::class::BASE64_URL.has(*byte);
    let is_token = matches!(lengths.as_slice(), [20..=28, 6, 27..=45]) && decoded.iter().all(is_in);
    is_token.then(|| start.place()..last.place())
}

/// Finds a signed JSON Web Token in base64, whose first letters are the prefix.
pub(crate) fn encoded_jwt(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit on the letters that are decoded: the header and the first claims.
    const MAX_LOOK: usize = 1024;
    /// Minimum length of a signed token in base64.
    const MIN_TOKEN: usize = 100;
    // A run of letters may have the prefix many times: it is read to its end only for a token.
    if !is_edge(start.before()) {
        return None;
    }
    let is_in = |byte: u8| crate::class::BASE64.has(byte);
    let text = end.skip(MAX_LOOK, is_in).since(start.place());
    let mut decoded = Vec::new();
    jsonl::decode_base64(text, &mut decoded);
    let is_token = text.len() >= MIN_TOKEN && memmem::find(&decoded, b".eyJ").is_some();
    is_token.then(|| start.place()..end.skip(usize::MAX, is_in).place())
}
