//! Finds passwords and keys after their names in other languages.
//!
//! In: `пароль: x`, `der API-Schlüssel lautet x`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{past_closers, until_placeholder},
    blank::is_given,
    clear::{is_clear_password, is_clear_token},
    command_line::password,
    cursor::Cursor,
    randomness::Makeup,
    span::{Quote, bare_end, is_quote, past_blanks, string_or_word},
    value::{MAX_VALUE, is_scrambled, is_strong},
    vicinity,
    worded::{are_words_and_number, is_coined, is_invented, is_word_list},
};

/// Finds the value after a name and a colon, `пароль: x`, and clear passwords near the name.
pub(crate) fn name(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let near = vicinity::around(start, end, is_clear_password);
    after_name(start, end).into_iter().chain(near).collect()
}

fn after_name(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const SIGNS: &[&[u8]] = &[b":", "：".as_bytes(), b"\\uff1a", b"="];
    let end = end.back(usize::from(matches!(end.previous(), Some(b':' | b' '))));
    let sign = past_blanks(past_closers(end).0, 2);
    let Some(at) = SIGNS.iter().find_map(|text| sign.past(text)) else {
        return after_words(start, end);
    };
    let (value, value_end) = string_or_word(past_blanks(at, 4))?;
    password(value, value_end)
}

/// Finds the password after its name and a verb: `le mot de passe du serveur est x`. An ordinary word is no value.
pub(crate) fn after_words(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    // `heslo je x`
    let has_verb = end.since(start.place()).contains(&b' ');
    // The value may follow without a verb.
    let next = past_blanks(end, 2);
    let word = string_or_word(next).map_or(&[][..], |(word, end)| end.since(word.place()));
    let is_next = next.place() > end.place()
        && (is_strong(word)
            || is_invented(word)
            || are_words_and_number(word)
            || is_word_list(word, 0)
            || is_coined(word) && (is_given(start) || has_verb));
    if is_next {
        let (value, value_end) = word_at(next)?;
        return password(value, value_end);
    }
    linked(end, |value, text| {
        let n_digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
        let has_mark = text.iter().any(u8::is_ascii_punctuation);
        let is_quoted = value.previous().is_some_and(is_quote) && text.len() >= 10 && n_digits > 0;
        let is_random = is_scrambled(text) && (n_digits > 0 || has_mark)
            || is_quoted && Makeup::of(text).is_random();
        is_strong(text)
            || is_invented(text)
            || is_random
            || are_words_and_number(text)
            || is_word_list(text, 0)
            || is_coined(text)
    })
}

/// Finds the key after its name, and clear tokens near the name.
pub(crate) fn key(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let near = vicinity::around(start, end, is_clear_token);
    after_key(end).into_iter().chain(near).collect()
}

/// Finds the key after its name and a sign or a verb: `clé API : x`, `der API-Schlüssel lautet x`.
fn after_key(end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a key.
    const MIN_KEY: usize = 20;
    linked(end, |_, text| text.len() >= MIN_KEY && is_strong(text) && !text.contains(&b'/'))
}

/// The signs and verbs between a name and its value, in all languages. Some scripts have no blanks around them.
const LINKS: &[&str] = &[
    ": ",
    "：",
    "=",
    " = ",
    " ist ",
    " ist jetzt ",
    " lautet ",
    " est ",
    " es ",
    " é ",
    " è ",
    " is ",
    " is now ",
    " to ",
    " jest ",
    " je ",
    "는 ",
    " är ",
    " er ",
    " on ",
    "— ",
    "– ",
    "是",
    "为",
    "為",
    "は",
    "は「",
    "\\uff1a",
    " \\u00e8 ",
    " \\u00e9 ",
    "\\u2014 ",
    "\\u662f",
    "\\u4e3a",
    "\\u70ba",
    "\\u306f",
    "\\u306f\\u300c",
    "\\ub294 ",
];

/// Finds the first value after a name and a link that `is_fit` accepts, in the same line.
fn linked(end: Cursor<'_>, is_fit: impl Fn(Cursor<'_>, &[u8]) -> bool) -> Option<Range<usize>> {
    /// Bytes after the name that are searched for the link.
    const MAX_WORDS: usize = 64;
    // Most values have a digit or a mark, and most names are in sentences.
    let is_in_value = |byte: &u8| byte.is_ascii_digit() || b"-!@#$%^&*+_".contains(byte);
    if !end.window(MAX_WORDS.saturating_mul(2)).iter().any(is_in_value) {
        return None;
    }
    let window = until_placeholder(end.window(MAX_WORDS)).split(|byte| *byte == b'\n').next()?;
    let places = |link: &&'static str| {
        let length = link.len();
        memmem::find_iter(window, link.as_bytes()).map(move |n| n.saturating_add(length))
    };
    let mut places: Vec<usize> = LINKS.iter().flat_map(places).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().find_map(|n| {
        let (value, value_end) = word_at(past_blanks(end.forward(n), 2))?;
        let is_fit = is_fit(value, value_end.since(value.place()));
        if is_fit { password(value, value_end) } else { None }
    })
}

/// Returns the start and the end of the string or the word at a position. Letters of another script end a word without a
/// blank: `は「x」です`.
fn word_at(at: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    match Quote::open(at) {
        Some((quote, value)) => Some((value, quote.close(value)?)),
        None => {
            let word = at.skip(MAX_VALUE, |byte| byte.is_ascii_graphic());
            Some((at, bare_end(at.until(word.place()), |_| false)))
        }
    }
}
