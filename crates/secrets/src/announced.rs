//! Finds the value that a sentence announces: by words between the name and the value, or by a line of its own.
//!
//! In: `password for the user ada is x`, from the end of the name. Out: the position of `x`, and that it is apart.

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder},
    blank::is_long,
    cursor::Cursor,
    link::Link,
    margin::past_line,
    name::Name,
    span::{Quote, bare_end, ends_line, past_blanks, past_break, string_or_word},
    value::{Form, Kind, is_scrambled, is_strong},
    worded::{are_words_and_number, is_coined, is_invented, is_word_list},
};

/// The verbs and signs between the words for a password and its value.
const SIGNS: &[&[u8]] = &[
    b": ",
    b" is ",
    b" was ",
    b" to ",
    b" (",
    b" = ",
    b" ist ",
    b" lautet ",
    b" auf ",
    b" est ",
    b" es ",
    " è ".as_bytes(),
    " é ".as_bytes(),
    b" \\u00e8 ",
    b" \\u00e9 ",
    b" er ",
];

/// Returns the position after the words between a password and its name: `Use the password for the user ada (it is shown
/// once):` and a line break, `password for ada: x`, `the password (x) does`.
pub(crate) fn past_announcement<'b>(
    name: &Name<'b>,
    after: Cursor<'b>,
) -> Option<(Link, Cursor<'b>)> {
    /// Limit in bytes for the rest of the line.
    const MAX_LINE: usize = 120;
    const NAMES: &[&[u8]] = &[b"password", b"passphrase", b"passwd", b"passwort"];
    const KEYS: &[&[u8]] = &[b"key", b"token", b"secret"];
    // `Root-Passwort`
    let text = name.end.since(name.start.place());
    let text = text.rsplit(|byte| *byte == b'-').next().unwrap_or_default();
    let is_first =
        matches!(text.first(), Some(b'p' | b'P' | b'k' | b'K' | b't' | b'T' | b's' | b'S'));
    if !is_first || after.next() != Some(b' ') {
        return None;
    }
    let is_pass = NAMES.iter().any(|word| text.eq_ignore_ascii_case(word));
    if !is_pass {
        let is_key = KEYS.iter().any(|word| text.eq_ignore_ascii_case(word));
        return if is_key { past_purpose(name, after) } else { None };
    }
    // The next word may be the password itself.
    let next = past_blanks(after, 4);
    if next.next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && is_spoken(next) {
        return None;
    }
    let mut colons =
        memchr::memchr_iter(b':', after.window(MAX_LINE)).map(|n| after.forward(n).forward(1));
    let line = colons.find(|colon| past_break(*colon).is_some());
    let is_line = |line: Cursor<'_>| {
        let words = line.since(after.place());
        // A brace ends the string of the name.
        let is_over = words.iter().any(|byte| b"\n{}".contains(byte));
        !is_over && memmem::find(words, b"\\n").is_none()
    };
    line.filter(|line| is_line(*line)).map(|line| (Link::Sign, line)).or_else(|| {
        const ARROWS: &[&[u8]] = &[b" -> ", b" \xe2\x86\x92 ", b" \\u2192 "];
        let window = until_placeholder(after.window(MAX_LINE / 2));
        let starts = SIGNS
            .iter()
            .chain(ARROWS)
            .filter_map(|sign| Some(memmem::find(window, sign)?.saturating_add(sign.len())));
        let start = starts
            .map(|n| after.forward(n))
            .filter(|at| is_line(*at) && (is_spoken(*at) || is_told(name, *at)))
            .min_by_key(|at| at.place())?;
        Some((Link::Apart, start))
    })
}

/// Returns the position after the words that demand a value: `the secret should be "x"`.
pub(crate) fn past_demand(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const WORDS: &[&[u8]] = &[
        b"should be ",
        b"must be ",
        b"will be ",
        b"needs to be ",
        b"has to be ",
        b"reads ",
        b"equals ",
        b"lautet ",
        b"ist ",
        b"est ",
        b"es ",
        b"created: ",
        b"generated: ",
        b"issued: ",
    ];
    WORDS.iter().find_map(|words| at.past(words))
}

/// Returns the position of a password alone in its line, below its name: `password`, an empty line, `    x`.
pub(crate) fn past_gap(at: Cursor<'_>) -> Option<Cursor<'_>> {
    /// Blanks before a line of code.
    const MIN_INDENT: usize = 2;
    let line = past_line(at)?;
    let line = past_line(line).unwrap_or(line);
    let value = past_blanks(line, 16);
    let end = bare_end(value, |_| false);
    let is_code = value.since(line.place()).len() >= MIN_INDENT;
    (is_code && ends_line(end) && is_spoken(value)).then_some(value)
}

/// Returns the position after the words between a key and its value: `api key for the weather service is x`.
fn past_purpose<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<(Link, Cursor<'b>)> {
    const VERBS: &[&[u8]] = &[
        b": ",
        b" is ",
        b" is: ",
        b" was ",
        b" should be ",
        b" must be ",
        b" will be ",
        b" has to be ",
    ];
    /// The first of the words.
    const NEXT: &[&[u8]] = &[b" for ", b" of ", b" to ", b" you ", b" that ", b" we "];
    /// Limit in bytes for the words.
    const MAX_WORDS: usize = 60;
    // `export the token (x) first`
    let noted = after.past(b" (").filter(|at| {
        let Some((value, end)) = string_or_word(*at) else { return false };
        let value = end.since(value.place());
        let closed = past_closers(end).0;
        let is_closed = closed.next() == Some(b')') || closed.previous() == Some(b')');
        value.len() >= 20 && is_strong(value) && is_closed
    });
    if let Some(start) = noted {
        return Some((Link::Apart, start));
    }
    let words = NEXT.iter().find_map(|word| after.past(word))?;
    let window = until_placeholder(words.window(MAX_WORDS));
    let mut starts = VERBS
        .iter()
        .filter_map(|verb| Some(memmem::find(window, verb)?.saturating_add(verb.len())));
    let start = starts.find_map(|n| {
        let start = words.forward(n);
        let (value_start, end) = string_or_word(start)?;
        let value = end.since(value_start.place());
        let is_line = !window.get(..n)?.contains(&b'\n');
        // The key or the token of something may be the hash of a commit.
        let n_hex = value.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let is_hash = n_hex.saturating_add(1) >= value.len() && !name.is_owned();
        (is_line && is_long(value_start) && !is_hash).then_some(start)
    })?;
    Some((Link::Apart, start))
}

/// Returns whether a value is a password that no sentence has as a word.
pub(crate) fn is_spoken(at: Cursor<'_>) -> bool {
    let phrase = Quote::open(at).and_then(|(quote, start)| {
        let text = quote.close(start)?.since(start.place());
        // Longer texts are no phrases.
        let text = if text.len() <= 200 { text } else { &[] };
        let has_words = text.contains(&b' ') || text.contains(&b'-');
        Kind::Passphrase.secret_in(text, Form::Quoted).filter(|_| has_words)
    });
    if phrase.is_some() {
        return true;
    }
    let quoted = Quote::open(at).and_then(|(quote, start)| Some((start, quote.close(start)?)));
    let (start, end) = quoted.unwrap_or_else(|| (at, bare_end(at, |_| false)));
    let value = end.since(start.place());
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let has_all = count(u8::is_ascii_digit) > 1
        && count(u8::is_ascii_lowercase) > 1
        && count(u8::is_ascii_uppercase) > 1;
    // A quotation is no word of the sentence.
    let has_classes = count(u8::is_ascii_digit) > 0
        && count(u8::is_ascii_lowercase) > 0
        && count(u8::is_ascii_uppercase) > 0;
    let is_quotation = quoted.is_some() && has_classes && value.len() >= 10;
    let is_quotation = is_quotation && Kind::Password.secret_in(value, Form::Quoted).is_some();
    (is_strong(value) || has_all && is_scrambled(value) || is_quotation)
        && !value.contains(&b'/')
        && !value.contains(&b'=')
        || is_word_list(value, 0)
        || is_invented(value)
        || is_coined(value) && is_after_verb(at)
        || (are_words_and_number(value) || is_mixed(value))
            && (quoted.is_some() || is_after_verb(at))
}

/// Returns whether a random value has several digits, and letters of both cases or a mark: `pepFlP43.98x`.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let has_mark = count(u8::is_ascii_punctuation) > 0;
    value.len() >= 10
        && count(u8::is_ascii_digit) > 1
        && (has_mark || count(u8::is_ascii_uppercase) > 0)
        && !value.iter().any(|byte| b"/=(:".contains(byte))
        && is_scrambled(value)
}

/// Returns whether a verb or a sign before a position says that a value follows. Without it, `reset-flow-12` may be the next
/// word of a sentence.
fn is_after_verb(at: Cursor<'_>) -> bool {
    const OTHERS: &[&[u8]] = &[b" be ", b"give it ", b"? ", b"-> ", b"type ", b"enter "];
    let before = at.window_before(12);
    SIGNS.iter().chain(OTHERS).any(|sign| before.ends_with(sign))
}

/// Returns the position after the words that say what to type at a prompt: `, give it x`.
pub(crate) fn past_prompt(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const WORDS: &[&[u8]] = &[
        b", give it ",
        b", enter ",
        b", type ",
        b", use ",
        b", answer ",
        b", just type ",
        b", type in ",
        b", put in ",
    ];
    WORDS.iter().find_map(|words| at.past(words))
}

/// Returns whether a sentence sets the password to a value, or gives it in German, with capital and small letters and digits.
pub(crate) fn is_told(name: &Name<'_>, at: Cursor<'_>) -> bool {
    const VERBS: &[&[u8]] =
        &[b"change", b"Change", b"set ", b"Set ", b"reset", b"Reset", b"update"];
    let value = bare_end(at, |_| false).since(at.place());
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let is_free = value.len() >= 10 && is_scrambled(value);
    let min = if is_free { 1 } else { 2 };
    let is_mixed = value.len() >= 8
        && (count(u8::is_ascii_digit) > 1 || count(u8::is_ascii_digit) > 0 && is_scrambled(value))
        && count(u8::is_ascii_lowercase) >= min
        && count(u8::is_ascii_uppercase) >= min
        && !value.iter().any(|byte| b"/=.:(".contains(byte));
    let before = context(name.start, 32);
    let is_set = || VERBS.iter().any(|verb| memmem::find(before, verb).is_some());
    // `Das Passwort ist x`
    let is_german =
        [&b" ist "[..], b" lautet "].iter().any(|verb| at.window_before(8).ends_with(verb));
    is_mixed && (is_german || at.window_before(4) == b" to " && is_set())
}
