//! Finds tokens that a terminal or an editor broke into lines.
//!
//! In: `ghp_0123\n4567…`, or with `\\n` in JSON. Out: the range over both lines.

use crate::{
    class::Class,
    cursor::Cursor,
    randomness::Makeup,
    span::{is_blank, past_break},
};

/// Limit of the indentation of a line that continues a token.
const MAX_INDENT: usize = 8;

/// Limit of the lines of a token.
const MAX_LINES: usize = 16;

/// Returns the end of a run of a class with a length within limits. A shorter run may continue in
/// the next lines.
pub(crate) fn run_over_breaks<'b>(
    class: &Class,
    start: Cursor<'b>,
    min: usize,
    max: usize,
) -> Option<Cursor<'b>> {
    let length = class.run(start.rest(), max);
    let mut at = start.forward(length);
    if length >= min {
        let is_open = max == usize::MAX && !class.has(b'=');
        // A full stop at the end of a sentence is not part of the token.
        let ends_a_sentence = max == usize::MAX && length > min && at.previous() == Some(b'.');
        at = if ends_a_sentence { at.back(1) } else { at };
        return Some(if is_open { last_piece(class, at).unwrap_or(at) } else { at });
    }
    if length == 0 && start.next() != Some(b'\\') && start.next() != Some(b'\n') {
        return None;
    }
    let mut whole = start.window(length).to_vec();
    for _ in 0..MAX_LINES {
        let line = past_break(at)?.skip(MAX_INDENT, is_blank);
        let length = class.run(line.rest(), max.saturating_sub(whole.len()));
        at = line.forward(length);
        whole.extend_from_slice(at.since(line.place()));
        if length == 0 {
            return None;
        }
        if whole.len() >= min {
            return Makeup::of(&whole).is_random().then_some(at);
        }
    }
    None
}

/// Returns the end of a complete token, if the next line contains only a remainder of it.
fn last_piece<'b>(class: &Class, end: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Minimum length of a remainder. Shorter ones may be words.
    const MIN_PIECE: usize = 6;
    let line = past_break(end)?;
    let after = line.forward(class.run(line.rest(), 256));
    let piece = after.since(line.place());
    let makeup = Makeup::of(piece);
    let kinds = [makeup.n_lower, makeup.n_upper, makeup.n_digits];
    let n_kinds = kinds.into_iter().filter(|n| *n > 0).count();
    let is_over = after.next().is_none_or(|byte| match byte {
        b' ' => n_kinds == 3 && piece.len() >= 10,
        byte => !byte.is_ascii_alphanumeric() && !b"_=:(-./".contains(&byte),
    });
    let is_key = piece.len() >= MIN_PIECE && n_kinds >= 2 && makeup.is_random();
    (is_over && is_key && !is_another(piece)).then_some(after)
}

/// Returns whether a line starts like another token: `sk-`, `glpat-`, `AKIA`.
fn is_another(piece: &[u8]) -> bool {
    let n_letters = piece.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let has_prefix = (2..=10).contains(&n_letters) && piece.get(n_letters) == Some(&b'-');
    has_prefix
        || [&b"AKIA"[..], b"ASIA", b"AIza", b"eyJ"].iter().any(|text| piece.starts_with(text))
}
