//! Finds the value that stands before its name.
//!
//! In: `SET value='x' WHERE name='api_key'`, `<input value="x" name="api_key">`, `echo x >
//! /etc/wireguard/private.key`, `i tried x as the admin password`. Out: the range of `x`.

use memchr::memmem;

use crate::{
    announced::is_mixed,
    around::{context, past_closers},
    cursor::Cursor,
    name::Name,
    piped::echoed,
    span::{Quote, ends_line, is_blank, is_quote, past_blanks},
    value::{is_scrambled, is_strong, is_uuid},
    worded::{are_words_and_number, is_coined, is_invented, is_word_and_digits, is_word_list},
};

/// Bytes before a name that are searched for its value.
const MAX_BEFORE: usize = 400;

/// Returns the start and the end of the value before a name.
pub(crate) fn find<'b>(name: &Name<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    // Few names have something before them that these forms have. The longer look is for these few.
    let near = name.start.window_before(20);
    match near.last()? {
        b'>' => in_file(name.start),
        b'/' => is_written(name.start.window_before(96)).then(|| in_file(name.start))?,
        byte if is_blank(*byte) => {
            let written = is_written(name.start.window_before(6)).then(|| in_file(name.start));
            written.flatten().or_else(|| in_sentence(name)).or_else(|| commented(name))
        }
        byte if is_quote(*byte) && near.iter().any(|byte| matches!(byte, b'=' | b':')) => {
            in_row(name.start).or_else(|| in_member(name.start))
        }
        byte if is_quote(*byte) => is_written(near).then(|| in_file(name.start))?,
        _ => None,
    }
}

/// Finds the password that a sentence has before its name: `i tried x as the admin password`.
fn in_sentence<'b>(name: &Name<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    /// Bytes before the name that are searched for the verb.
    const MAX_WORDS: usize = 32;
    const VERBS: &[&[u8]] = &[b" as ", b" is ", b" was ", b" als ", INTO, PROMPTED, ASKED];
    const INTO: &[u8] = b" into ";
    /// Words after a value that is typed.
    const PROMPTED: &[u8] = b" when prompted for ";
    const ASKED: &[u8] = b" when asked for ";
    /// Words after the verb.
    const OWNERS: &[&[u8]] =
        &[b"the", b"my", b"your", b"our", b"a", b"new", b"old", b"temporary", b"default"];
    /// Words after the name with which it is that of something else.
    const OTHERS: &[&[u8]] = &[
        b" hash",
        b" field",
        b" manager",
        b" polic",
        b" algorithm",
        b" column",
        b" param",
        b" variable",
        b" encoder",
        b" file",
        b" length",
        b" input",
        b" prompt",
        b" service",
        b" app",
        b" server",
        b" type",
    ];
    let is_password = matches!(name.end.since(name.start.place()).first(), Some(b'p' | b'P'));
    let before = context(name.start, MAX_WORDS);
    let line = name.start.back(before.len());
    let verbs = VERBS.iter().filter_map(|verb| Some((memmem::rfind(before, verb)?, *verb)));
    let (verb_place, verb) = verbs.max()?;
    let words = before.get(verb_place.saturating_add(verb.len())..)?;
    let first = words.split(|byte| *byte == b' ').next()?;
    let is_other = verb != INTO && OTHERS.iter().any(|other| name.end.rest().starts_with(other));
    let is_plain = words.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(byte));
    let is_direct = words.is_empty() && matches!(verb, b" as " | b" als ");
    if is_other || !is_plain || !OWNERS.contains(&first) && !is_direct {
        return None;
    }
    let place = line.forward(verb_place);
    let text = context(place, 80);
    let is_mark = |byte: &u8| is_quote(*byte) || *byte == b'\\';
    let n_closing = text.iter().rev().take_while(|byte| is_mark(byte)).count();
    let text = text.get(..text.len().saturating_sub(n_closing))?;
    let is_in = |byte: &u8| byte.is_ascii_graphic() && !is_mark(byte);
    let n_value = text.iter().rev().take_while(|byte| is_in(byte)).count();
    let end = place.back(n_closing);
    let start = end.back(n_value).skip(1, |byte| byte == b'(');
    let value = end.since(start.place());
    let is_clear = is_strong(value) || is_word_list(value, 0) || is_invented(value);
    let is_typed = [PROMPTED, ASKED].contains(&verb) && is_scrambled(value);
    // A quotation is no word of the sentence.
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let is_quotation = n_closing > 0
        && (has_digit && is_scrambled(value) || are_words_and_number(value))
        || is_mixed(value);
    let is_used = matches!(verb, b" as " | b" als " | INTO) && is_coined(value);
    let is_fit =
        is_clear || is_typed || is_quotation || is_used || !is_direct && is_word_and_digits(value);
    // The key or the token of something may be a hash.
    let is_hash = || is_uuid(value) || value.iter().all(u8::is_ascii_hexdigit);
    let is_key = || value.len() >= 20 && is_strong(value) && !is_hash();
    let is_fit = (if is_password { is_fit } else { is_key() }) && !value.contains(&b'/');
    is_fit.then_some((start, end))
}

/// Finds the string before a comment that names it: `value = "x" # db password`.
fn commented<'b>(name: &Name<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    const MARKS: &[&[u8]] = &[b" # ", b" // ", b" -- ", b" <- "];
    let is_last = ends_line(name.end);
    let before = context(name.start, 160);
    let mark = MARKS.iter().filter_map(|mark| memmem::rfind(before, mark)).max()?;
    let words = before.get(mark.saturating_add(4)..).unwrap_or_default();
    let is_note =
        words.len() <= 16 && words.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    let code = before.get(..mark)?.trim_ascii_end();
    let n_ends = code.iter().rev().take_while(|byte| b";,)".contains(byte)).count();
    let code = code.get(..code.len().saturating_sub(n_ends))?;
    let quote = code.last().copied().filter(|byte| is_quote(*byte) && is_last && is_note)?;
    let n_slashes = code.iter().rev().skip(1).take_while(|byte| **byte == b'\\').count();
    let text = code.get(..code.len().saturating_sub(n_slashes).saturating_sub(1))?;
    let value = text.rsplit(|byte| *byte == quote).next()?;
    let end = name.start.back(before.len()).forward(text.len());
    let is_random = is_scrambled(value) && value.iter().any(u8::is_ascii_digit);
    let is_clear = is_strong(value) || is_invented(value) || is_random || is_coined(value);
    (is_clear && value.len() < text.len() && !value.contains(&b'/'))
        .then(|| (end.back(value.len()), end))
}

/// Returns whether a command writes to a file in some bytes before its name.
fn is_written(before: &[u8]) -> bool {
    memchr::memchr(b'>', before).is_some() || memmem::find(before, b"tee ").is_some()
}

/// Finds what `echo` writes to a file with the name of a secret.
fn in_file(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let is_in_path = |byte: &u8| byte.is_ascii_graphic() && !b"<>|&;()".contains(byte);
    let before = context(name, MAX_BEFORE);
    let n_path = before.iter().rev().take_while(|byte| is_in_path(byte)).count();
    let n_blank = before.iter().rev().skip(n_path).take_while(|byte| is_blank(**byte)).count();
    let sign = name.back(n_path.saturating_add(n_blank));
    let line = name.back(before.len());
    let command = sign.since(line.place());
    if command.ends_with(b" tee") || command.ends_with(b" tee -a") {
        return echoed(line, line.forward(memchr::memrchr(b'|', command)?));
    }
    let end = sign.back(1);
    if sign.previous() != Some(b'>') {
        return None;
    }
    echoed(line, if end.previous() == Some(b'>') { end.back(1) } else { end })
}

/// Finds the column that SQL sets in the row with the name of a secret.
fn in_row(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    /// Limit for the signs that are tried.
    const MAX_SIGNS: usize = 8;
    let before = context(name, MAX_BEFORE);
    let line = name.back(before.len());
    let place =
        [&b" WHERE "[..], b" where "].iter().find_map(|word| memmem::rfind(before, word))?;
    let clause = line.forward(place);
    let set = before.get(..place)?;
    memchr::memrchr_iter(b'=', set).take(MAX_SIGNS).find_map(|sign| {
        let (quote, value) = Quote::open(past_blanks(line.forward(sign).forward(1), 4))?;
        let end = quote.close(value)?;
        (past_closers(end).0.place() == clause.place()).then_some((value, end))
    })
}

/// Finds the value of an object or an element whose name follows it.
fn in_member(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    const MAX_BETWEEN: usize = 48;
    let before = context(name, MAX_BEFORE);
    const KEYS: &[&[u8]] = &[b"name", b"Name", b"kind", b"type", b"label", b"role"];
    let keys = KEYS.iter().filter_map(|key| Some((memmem::rfind(before, key)?, key.len())));
    let (key_place, key_length) = keys.max()?;
    let line = name.back(before.len());
    let key = line.forward(key_place);
    // `data-kind`
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'-';
    let n_letters = key.window_before(16).iter().rev().take_while(|byte| is_letter(byte)).count();
    let key_end = key.forward(key_length);
    let key = key.back(n_letters);
    let place = memmem::rfind(key.since(line.place()), b"alue")?;
    let sign = past_blanks(past_closers(line.forward(place).forward(4)).0, 4);
    let sign = sign.past(b":").or_else(|| sign.past(b"="))?;
    let (quote, value) = Quote::open(past_blanks(sign, 4))?;
    let end = quote.close(value).filter(|end| end.place() < key.place())?;
    let is_near = |from: Cursor<'_>, to: Cursor<'_>| {
        let between = to.since(from.place());
        let is_in = |byte: &u8| is_blank(*byte) || is_quote(*byte) || b",:=\\".contains(byte);
        between.len() <= MAX_BETWEEN && between.iter().all(is_in)
    };
    (is_near(end, key) && is_near(key_end, name)).then_some((value, end))
}
