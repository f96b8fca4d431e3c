//! Finds passwords and keys after their names in other languages.
//!
//! In: `пароль: x`, `der API-Schlüssel lautet x`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{past_closers, until_placeholder},
    clear::{is_clear_password, is_clear_token},
    command_line::password,
    cursor::Cursor,
    randomness::Makeup,
    span::{Quote, bare_end, past_blanks, string_or_word},
    value::{MAX_VALUE, is_scrambled, is_strong},
    vicinity,
    worded::{are_words_and_number, is_invented},
};

/// Finds the value after a name and a colon, `пароль: x`, and clear passwords near the name.
pub(crate) fn name(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let near = vicinity::around(start, end, is_clear_password);
    after_name(end).into_iter().chain(near).collect()
}

fn after_name(end: Cursor<'_>) -> Option<Range<usize>> {
    const SIGNS: &[&[u8]] = &[b":", "：".as_bytes(), b"\\uff1a", b"="];
    let end = end.back(usize::from(matches!(end.previous(), Some(b':' | b' '))));
    let sign = past_blanks(past_closers(end).0, 2);
    let Some(at) = SIGNS.iter().find_map(|text| sign.past(text)) else { return after_verb(end) };
    let (value, value_end) = string_or_word(past_blanks(at, 4))?;
    password(value, value_end)
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
    const LINKS: &[&str] = &[
        ": ",
        "：",
        " = ",
        "=",
        " ist ",
        " lautet ",
        " est ",
        " es ",
        " é ",
        " è ",
        " is ",
        " to ",
        " — ",
        "是",
        "为",
        "は",
        "は「",
        " \\u00e9 ",
        " \\u00e8 ",
        "\\uff1a",
        "\\u662f",
        "\\u4e3a",
        "\\u306f",
        " \\u2014 ",
    ];
    /// Bytes after the name that are searched for the link.
    const MAX_WORDS: usize = 32;
    let window = until_placeholder(end.window(MAX_WORDS)).split(|byte| *byte == b'\n').next()?;
    let links =
        LINKS.iter().filter_map(|link| Some((memmem::find(window, link.as_bytes())?, link.len())));
    let (n_before, n_link) = links.min()?;
    let at = past_blanks(end.forward(n_before).forward(n_link), 2);
    let (value, value_end) = string_or_word(at)?;
    let word = value.skip(MAX_VALUE, |byte| byte.is_ascii_graphic());
    let value_end = if word.place() < value_end.place() { word } else { value_end };
    let text = value_end.since(value.place());
    let is_key = text.len() >= MIN_KEY && is_strong(text) && !text.contains(&b'/');
    password(value, value_end).filter(|_| is_key)
}

/// Finds the value after a name and a verb: `le mot de passe du serveur est x`. An ordinary word is no value.
fn after_verb(end: Cursor<'_>) -> Option<Range<usize>> {
    const VERBS: &[&str] = &[
        " est ",
        " es ",
        " è ",
        " é ",
        " is ",
        " jest ",
        " to ",
        " ist ",
        " lautet ",
        " är ",
        " er ",
        "— ",
        "– ",
        " \\u00e8 ",
        " \\u00e9 ",
        "\\u2014 ",
        "\\u662f",
        "\\u4e3a",
        "\\u70ba",
        "\\u306f\\u300c",
        "\\u306f",
        ": ",
        "是",
        "为",
        "為",
        "は「",
        "は",
    ];
    /// Bytes after the name that are searched for the verb.
    const MAX_WORDS: usize = 48;
    let window = until_placeholder(end.window(MAX_WORDS)).split(|byte| *byte == b'\n').next()?;
    // The value may follow without a verb.
    let next = past_blanks(end, 2);
    let word = string_or_word(next).map_or(&[][..], |(word, end)| end.since(word.place()));
    let is_next = next.place() > end.place()
        && (is_strong(word) || is_invented(word) || are_words_and_number(word));
    let verb = || {
        let find = |verb: &&str| Some((memmem::find(window, verb.as_bytes())?, verb.len()));
        VERBS.iter().find_map(find)
    };
    let verb = if is_next { (0, 0) } else { verb()? };
    let start = past_blanks(end.forward(verb.0).forward(verb.1), 2);
    let (value, value_end) = match Quote::open(start) {
        Some((quote, value)) => (value, quote.close(value)?),
        // Letters of another script end it without a blank: `は「x」です`.
        None => {
            let word = start.skip(MAX_VALUE, |byte| byte.is_ascii_graphic());
            (start, bare_end(start.until(word.place()), |_| false))
        }
    };
    let text = value_end.since(value.place());
    // `mot de passe du compte : x`
    let n_digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_mark = text.iter().any(u8::is_ascii_punctuation);
    let is_quoted = Quote::open(start).is_some() && text.len() >= 10 && n_digits > 0;
    let is_random = is_scrambled(text) && (n_digits > 0 || has_mark)
        || is_quoted && Makeup::of(text).is_random();
    let is_said = value.window_before(2) == b": " && text.len() >= 8 && n_digits > 1;
    let is_said = is_said && !text.contains(&b'/');
    let is_said = is_said || are_words_and_number(text);
    let is_fit = is_strong(text) || is_invented(text) || is_random || is_said;
    password(value, value_end).filter(|_| is_fit)
}
