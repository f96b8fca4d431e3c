//! Finds tokens whose pieces a shell or a program joins.
//!
//! In: `string join '' glpat-0123 4567`, `''.join(['kQ9vL', 'z2xWm'])`, `['kQ9vL', 'z2xWm'].join('')`. Out: the range of
//! each piece, if all of them together are random.

use std::ops::Range;

use crate::{
    around::{past_closers, until_placeholder, without_placeholders},
    cursor::Cursor,
    margin::past_line,
    randomness::Makeup,
    span::{Quote, is_blank, is_quote, past_blanks},
    value::{Form, Kind, is_strong},
};

/// Limit in bytes for the pieces of a token and the marks between them.
const MAX_LIST: usize = 800;

/// Limit for the pieces of a token.
const MAX_PIECES: usize = 24;

type Piece<'b> = (Cursor<'b>, Cursor<'b>);

/// Finds the words that a shell joins: `string join '' a b`, `printf '%s%s' a b`.
pub(crate) fn words(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let last = end.place().saturating_add(until_placeholder(end.window(MAX_LIST)).len());
    // The format may end in a line break: `printf '%s%s\\n' a b`.
    let end = end.skip(63, |byte| byte == b'\\').past(b"n").unwrap_or(end);
    let is_blank_before = end.previous().is_some_and(is_blank);
    let mut at = if is_blank_before { end.back(1) } else { past_closers(end).0 };
    let mut found = Vec::new();
    for _ in 0..MAX_PIECES {
        let word = past_blanks(at, 8);
        if word.place() == at.place() || word.place() >= last {
            break;
        }
        let (value, value_end) = match Quote::open(word) {
            Some((quote, value)) => {
                let Some(value_end) = quote.close(value) else { break };
                (value, value_end)
            }
            None => (word, word.skip(256, is_in_word)),
        };
        if value_end.place() > value.place() {
            found.push((value, value_end));
        }
        at = past_closers(value_end).0;
        if at.place() == word.place() {
            break;
        }
    }
    secrets(&found)
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !is_quote(byte) && !b"();|&<>\\$".contains(&byte)
}

/// Finds the strings of a list that an empty string joins: `''.join(['a', 'b'])`. The prefix ends with the bracket.
pub(crate) fn list(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_empty = |before: &[u8]| {
        let marks: Vec<u8> = before.iter().copied().filter(|byte| *byte != b'\\').collect();
        matches!(marks.as_slice(), [.., a, b] if a == b && is_quote(*a))
            && !matches!(marks.as_slice(), [.., a, b, c] if a == c && a == b)
    };
    if is_empty(start.window_before(12)) { secrets(&strings(end)) } else { Vec::new() }
}

/// Finds the strings of a list before its call of `join`: `['a', 'b'].join('')`. The prefix starts with the bracket.
pub(crate) fn list_before(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let before = without_placeholders(start.window_before(MAX_LIST));
    // Ruby joins without an argument too.
    let is_empty = match end.past(b"(") {
        Some(argument) => match Quote::open(argument) {
            Some((quote, text)) => quote.close(text).is_some_and(|end| end.place() == text.place()),
            None => argument.next() == Some(b')'),
        },
        None => end.next().is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_'),
    };
    let Some(first) = memchr::memrchr(b'[', before).filter(|_| is_empty) else { return Vec::new() };
    let list = start.back(before.len()).forward(first).forward(1);
    let pieces = strings(list);
    let is_whole = pieces.last().is_some_and(|(_, end)| end.place() < start.place());
    if is_whole { secrets(&pieces) } else { Vec::new() }
}

/// Returns the strings of a list from its first item on.
fn strings(start: Cursor<'_>) -> Vec<Piece<'_>> {
    let last = start.place().saturating_add(until_placeholder(start.window(MAX_LIST)).len());
    let (mut at, mut found) = (start, Vec::new());
    for _ in 0..MAX_PIECES {
        let item = past_blanks(at, 40);
        let item = past_line(item).map_or(item, |line| past_blanks(line, 60));
        let item = item.skip(1, |byte| b"bfru".contains(&byte));
        let Some((quote, value)) = Quote::open(item).filter(|_| item.place() < last) else { break };
        let Some(value_end) = quote.close(value).filter(|end| end.place() < last) else { break };
        found.push((value, value_end));
        let closed = past_blanks(value_end.skip(63, |byte| byte == b'\\').forward(1), 8);
        let Some(next) = closed.past(b",") else { break };
        at = next;
    }
    found
}

/// Returns the ranges of the pieces, if all of them together are random and no alphabet.
fn secrets(pieces: &[Piece<'_>]) -> Vec<Range<usize>> {
    /// Minimum length of a token.
    const MIN_TOKEN: usize = 20;
    let whole: Vec<u8> =
        pieces.iter().flat_map(|(start, end)| end.since(start.place())).copied().collect();
    // An alphabet has its digits together.
    let is_turn =
        |pair: &&[u8]| matches!(pair, [a, b] if a.is_ascii_digit() && b.is_ascii_alphabetic());
    let n_turns = whole.windows(2).take(256).filter(is_turn).count();
    let is_token = pieces.len() > 1
        && whole.len() >= MIN_TOKEN
        && n_turns > 1
        && !whole.contains(&b'/')
        && !whole.iter().copied().any(is_blank)
        && is_strong(&whole)
        && Makeup::of(&whole).is_random()
        && Kind::Secret.secret_in(&whole, Form::Quoted).is_some();
    let range = |(start, end): &Piece<'_>| start.place()..end.place();
    let all = pieces.iter().map(range).filter(|range| !range.is_empty());
    if is_token { all.collect() } else { Vec::new() }
}
