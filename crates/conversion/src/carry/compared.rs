//! Lines of messages in the form that is compared: their hashes, so that a long line is not in memory once more.
//!
//! In: `Delete \u{200b}it .` and `{"value": [1]}`. Out: the hashes of `Delete\u{200b}it.` and of `{"value":[1]}`, and for
//! the second one also the hash of `[1]`.

use std::hash::Hasher;

use jsonl::is_js_space;

use super::seed::{seeded_hash, seeded_hasher};

/// The length in bytes up to which a line is copied. The hash of a longer one is computed piece by piece.
const MAX_COPIED: usize = if cfg!(test) { 64 } else { 64 * 1024 };

/// The starts of an object that writers put around an input that is none; `}` ends it.
const WRAPPERS: [&str; 2] = ["{\"value\":", "{\"input\":"];

/// The length of each of them.
const WRAPPER: usize = WRAPPERS[0].len();

/// A line without blanks, control characters and replacement characters, which clients change.
#[derive(Debug)]
pub(super) struct ComparedLine {
    pub(super) hash: u64,
    pub(super) n_bytes: usize,
    /// The start of a line that begins with a bracket: it may be a placeholder.
    pub(super) bracketed: Option<Box<str>>,
    /// The hash of an input without the object that writers put around an input that is none: of `[1]` in
    /// `{"value":[1]}` or `{"input":[1]}`.
    pub(super) inner: Option<u64>,
}

/// Calls its argument with the pieces of a text, in order.
type EachPiece<'p> = dyn Fn(&mut dyn FnMut(&str)) + 'p;

impl ComparedLine {
    pub(super) fn of(text: &str) -> Self {
        Self::of_pieces(text.len(), &|each| each(text))
    }

    /// Makes a line of a text that `each_piece` passes on, piece by piece. It is called several times for a text that is
    /// longer than a limit; `length` is about the length of the text in bytes.
    pub(super) fn of_pieces(length: usize, each_piece: &EachPiece<'_>) -> Self {
        if length <= MAX_COPIED {
            let mut text = String::with_capacity(length);
            each_piece(&mut |piece| text.extend(piece.chars().filter(is_compared)));
            return Self::of_compared(&text);
        }
        let (mut start, mut last, mut n_bytes) = (String::new(), None, 0);
        each_run(each_piece, &mut |run| {
            let room = MAX_COPIED.saturating_sub(start.len());
            start.push_str(run.get(..run.floor_char_boundary(room)).unwrap_or_default());
            last = run.bytes().next_back();
            n_bytes += run.len();
        });
        let is_wrapped = n_bytes > WRAPPER && last == Some(b'}');
        let is_wrapped = is_wrapped && WRAPPERS.iter().any(|wrapper| start.starts_with(wrapper));
        Self {
            hash: hash_between(each_piece, 0, n_bytes),
            n_bytes,
            inner: is_wrapped.then(|| hash_between(each_piece, WRAPPER, n_bytes - 1)),
            bracketed: start.starts_with('[').then(|| start.into()),
        }
    }

    /// Makes a line of a text that is in the compared form.
    pub(super) fn of_compared(line: &str) -> Self {
        let mut inner = WRAPPERS.iter().filter_map(|wrapper| line.strip_prefix(wrapper));
        Self {
            hash: hash(line),
            n_bytes: line.len(),
            bracketed: line.starts_with('[').then(|| line.into()),
            inner: inner.find_map(|it| it.strip_suffix('}')).map(hash),
        }
    }
}

/// Returns the lines of a text that are not empty.
pub(super) fn compared_lines(text: &str) -> impl Iterator<Item = ComparedLine> {
    text.split('\n').map(ComparedLine::of).filter(|line| line.n_bytes > 0)
}

/// Returns a text in the form that is compared.
pub(super) fn compared(text: &str) -> String {
    text.chars().filter(is_compared).collect()
}

pub(super) fn hash(text: &str) -> u64 {
    seeded_hash(0, text)
}

fn is_compared(char: &char) -> bool {
    !is_js_space(*char) && !char.is_control() && *char != char::REPLACEMENT_CHARACTER
}

/// Calls `each` with the parts of a text between the characters that are not compared.
fn each_run(each_piece: &EachPiece<'_>, each: &mut dyn FnMut(&str)) {
    each_piece(&mut |piece| {
        let runs = piece.split(|char| !is_compared(&char));
        runs.filter(|run| !run.is_empty()).for_each(&mut *each);
    });
}

/// Returns the hash of the bytes from `from` to `to` of a text in the form that is compared.
fn hash_between(each_piece: &EachPiece<'_>, from: usize, to: usize) -> u64 {
    let (mut hasher, mut at) = (seeded_hasher(0), 0_usize);
    each_run(each_piece, &mut |run| {
        let [start, end] = [from, to].map(|it| it.saturating_sub(at).min(run.len()));
        hasher.write(run.as_bytes().get(start..end).unwrap_or_default());
        at += run.len();
    });
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_compared_as_a_short_one() {
        for part in ["a", "\u{e9} ", "\u{fffd}b\t", "[", "}"] {
            let long = part.repeat(2 * MAX_COPIED);
            for text in [
                long.clone(),
                format!("[image {long}]"),
                format!("{{\"value\": {long}}}"),
                format!(" {{ \"input\":{long} }} "),
                format!("{{\"input\":{long}"),
            ] {
                let line = compared(&text);
                let (found, expected) = (ComparedLine::of(&text), ComparedLine::of_compared(&line));
                assert_eq!((found.hash, found.n_bytes), (expected.hash, expected.n_bytes));
                assert_eq!(found.inner, expected.inner, "{text}");
                let start = &line[..line.floor_char_boundary(MAX_COPIED)];
                assert_eq!(found.bracketed.is_some(), expected.bracketed.is_some());
                assert!(found.bracketed.is_none_or(|found| start.starts_with(&*found)));
            }
        }
    }

    #[test]
    fn wrapped_inputs() {
        for (text, inner) in [
            ("{\"value\": [1]}", Some("[1]")),
            ("{\"input\":\"a\"}", Some("\"a\"")),
            ("{\"value\":1", None),
            ("{\"values\":1}", None),
        ] {
            assert_eq!(ComparedLine::of(text).inner, inner.map(hash), "{text}");
        }
        assert_eq!(
            compared_lines(" a\n\n \u{7}\nb").map(|it| it.hash).collect::<Vec<_>>(),
            ["a", "b"].map(hash)
        );
    }
}
