//! Finds clear credentials in the line of the word that names them, whatever is between.
//!
//! In: `rotate the token: old x, new y`, `Use x for the admin password`. Out: `x` and `y`. The text between the word and the
//! value is not read, so that only values count whose shape no other thing has ([`clear`](crate::clear)).

use std::ops::Range;

use crate::{
    around::{context, past_closers, until_placeholder},
    clear::{is_clear_either, is_clear_password, is_clear_token},
    columns,
    command_line::password,
    cursor::Cursor,
    margin::past_line,
    name::{Name, Word},
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, bare_end, is_blank, is_quote, past_blanks, past_break, string_or_word},
    value::Kind,
};

/// Limit in bytes for the text after a word.
const MAX_AFTER: usize = 100;

/// Limit in bytes for the text before a word.
const MAX_BEFORE: usize = 64;

/// Function that returns whether a value can only be a credential.
type IsClear = fn(&[u8]) -> bool;

/// Finds the values near the name of a credential. `start..end` is a word of the name.
pub(crate) fn find(word: Word, start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let has_digit = end.window(MAX_AFTER).iter().any(is_digit)
        || start.window_before(MAX_BEFORE).iter().any(is_digit);
    let name = if has_digit { Name::around(start, end) } else { None };
    let Some(name) = name else { return Vec::new() };
    let Some(kind) = name.kind(word).or_else(|| name.plural(word)) else { return Vec::new() };
    let mut found = columns::below(&name, kind);
    let is_clear: IsClear = match kind {
        _ if word == Word::Credential => is_clear_either,
        Kind::Password | Kind::Passwords | Kind::Passphrase => is_clear_password,
        Kind::Secret | Kind::Token | Kind::TokenOrUuid | Kind::Secrets | Kind::Tokens => {
            is_clear_token
        }
        // `pass` and `key` are also other things, so that only the next word counts.
        Kind::Pass | Kind::Padded => {
            let is_clear = if kind == Kind::Pass { is_clear_password } else { is_clear_token };
            found.extend(next(&name, is_clear));
            return found;
        }
        _ => return found,
    };
    // The name is a part of a path or of base64, of a placeholder, or a word such as `two-pass`.
    let text = name.end.since(name.start.place());
    let is_part = name.start.previous().is_some_and(|byte| b"/+=".contains(&byte))
        || name.start.before().ends_with(PLACEHOLDER)
        || text.ends_with(b"-pass")
        || text.len() > 24 && Makeup::of(text).is_random();
    if !is_part {
        found.extend(around(name.start, name.end, is_clear));
    }
    found
}

/// Returns the value directly after a name and its sign: `key: x`, `pwd: x`.
fn next(name: &Name<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    let closed = past_closers(name.end).0;
    let sign = past_blanks(closed, 4);
    let after = sign.past(b":").or_else(|| sign.past(b"="));
    let is_noun = || name.end.since(name.start.place()).eq_ignore_ascii_case(b"pwd");
    let after =
        after.or_else(|| Some(sign).filter(|_| is_noun() && sign.place() > closed.place()))?;
    let (value, value_end) = string_or_word(past_blanks(after, 4))?;
    let is_fit =
        !name.start.before().ends_with(PLACEHOLDER) && is_clear(value_end.since(value.place()));
    if is_fit { password(value, value_end) } else { None }
}

/// Finds the token that a shell passes to a command: `<<< x`.
pub(crate) fn here(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = string_or_word(end)?;
    password(value, value_end).filter(|_| is_clear_token(value_end.since(value.place())))
}

/// Finds the values before and after a word.
pub(crate) fn around(start: Cursor<'_>, end: Cursor<'_>, is_clear: IsClear) -> Vec<Range<usize>> {
    let last = end.place().saturating_add(until_placeholder(end.window(MAX_AFTER)).len());
    let mut found: Vec<_> = before(start, is_clear).into_iter().collect();
    let is_in_word =
        |byte: u8| byte.is_ascii_graphic() && !is_quote(byte) && !b"\\=:,;)]}>|".contains(&byte);
    let mut at = end.skip(MAX_AFTER, is_in_word);
    while let Some((value, value_end, after)) =
        next_word(at).filter(|(_, end, _)| end.place() <= last)
    {
        if is_clear(value_end.since(value.place())) && !is_other(value) {
            found.extend(password(value, value_end));
        }
        at = after;
    }
    if found.is_empty() {
        found.extend(in_next_line(end, is_clear));
    }
    found
}

/// Returns the value that is alone in the next line but one at most: `Token created. It is shown once:`, and `x` below it.
fn in_next_line(end: Cursor<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    let mut line_end = end;
    while line_end.place() < end.place().saturating_add(MAX_AFTER) && past_break(line_end).is_none()
    {
        line_end = line_end
            .forward(1)
            .skip(MAX_AFTER, |byte| !matches!(byte, b'\n' | b'\r' | b'\\' | b'['));
        if line_end.next().is_none() || line_end.rest().starts_with(PLACEHOLDER) {
            return None;
        }
    }
    let line = past_line(line_end)?;
    let line = past_line(line).unwrap_or(line);
    let start = line.skip(16, |byte| is_blank(byte) || b"=>*-".contains(&byte));
    let (value, value_end) = string_or_word(start)?;
    let closed = past_closers(value_end).0;
    // A search before decoding sees the quote of JSON.
    let is_alone =
        closed.next().is_none() || past_break(closed).is_some() || Quote::open(value_end).is_some();
    let is_fit = is_alone && is_clear(value_end.since(value.place()));
    if is_fit { password(value, value_end) } else { None }
}

/// Returns the value before a word: `Use x as the admin password`.
fn before(start: Cursor<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    let line = context(start, MAX_BEFORE);
    let is_between = |byte: &u8| {
        byte.is_ascii_alphabetic() || is_blank(*byte) || b"|<-".contains(byte) || *byte > 127
    };
    let n_words = line.iter().rev().take_while(|byte| is_between(byte)).count();
    let words = line.get(line.len().saturating_sub(n_words)..)?;
    let n_words = n_words.saturating_sub(words.iter().position(|byte| is_blank(*byte))?);
    let is_mark = |byte: &u8| is_quote(*byte) || b"\\)]},:;".contains(byte);
    let rest = line.get(..line.len().saturating_sub(n_words))?;
    let n_marks = rest.iter().rev().take_while(|byte| is_mark(byte)).count();
    let rest = rest.get(..rest.len().saturating_sub(n_marks))?;
    let is_in = |byte: &u8| byte.is_ascii_graphic() && !is_quote(*byte) && *byte != b'\\';
    let n_value = rest.iter().rev().take_while(|byte| is_in(byte)).count();
    let end = start.back(n_words).back(n_marks);
    let value = end.back(n_value);
    let is_fit =
        (n_words > 1 || n_marks > 1) && is_clear(end.since(value.place())) && !is_other(value);
    is_fit.then_some(value.place()..end.place())
}

/// Returns the next word in a line, without the marks around it, and the position after it.
fn next_word(at: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>, Cursor<'_>)> {
    let is_between = |byte: u8| is_blank(byte) || b"([{<>,;:=|*)]}".contains(&byte);
    let start = at.skip(MAX_AFTER, is_between);
    if start.next().is_none() || past_break(start).is_some() {
        return None;
    }
    // The format of `printf` may end in a line break.
    if let Some(format) = start.past(b"%s") {
        let letter = format.skip(63, |byte| byte == b'\\');
        let after = letter.past(b"n").filter(|_| letter.place() > format.place()).unwrap_or(format);
        return Some((format, format, after));
    }
    if let Some((quote, text)) = Quote::open(start) {
        let is_word =
            |end: &Cursor<'_>| !end.since(text.place()).iter().any(u8::is_ascii_whitespace);
        let Some(end) = quote.close(text).filter(is_word) else { return Some((text, text, text)) };
        return Some((text, end, end.skip(63, |byte| byte == b'\\').forward(1)));
    }
    // `ada:x`
    let user = start.skip(32, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let joint = user.skip(1, |byte| byte == b':');
    let is_name = user.since(start.place()).iter().any(u8::is_ascii_lowercase);
    let is_user = is_name
        && joint.place() > user.place()
        && joint.next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let start = if is_user { joint } else { start };
    let end = bare_end(start, |_| false);
    let after = if end.place() > start.place() { end } else { start.forward(1) };
    Some((start, end, after))
}

/// Returns whether a value has a name of its own, which is none of a credential: `id=x`, `"sha": "x"`.
fn is_other(value: Cursor<'_>) -> bool {
    /// Names of values that something else names.
    const NAMES: &[&[u8]] =
        &[b"value", b"default", b"val", b"v", b"data", b"content", b"old", b"new"];
    /// Names of things that are as random as a credential.
    const OTHERS: &[&[u8]] = &[
        b"id",
        b"ids",
        b"uuid",
        b"hash",
        b"sha",
        b"commit",
        b"digest",
        b"checksum",
        b"fingerprint",
        b"trace",
        b"span",
        b"request",
        b"version",
        b"etag",
        b"nonce",
        b"path",
        b"file",
        b"url",
        b"uri",
        b"ref",
        b"branch",
        b"image",
        b"arn",
        b"signature",
        b"integrity",
        b"error",
        b"code",
    ];
    let before = value.window_before(40);
    let is_mark = |byte: &u8| is_quote(*byte) || matches!(byte, b'\\' | b' ');
    let n_marks = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let before = before.get(..before.len().saturating_sub(n_marks)).unwrap_or_default();
    let (name, has_colon) = match before {
        [name @ .., b'='] => (name, false),
        [name @ .., b':'] => (name, true),
        _ => return false,
    };
    let name = name.trim_ascii_end();
    let name = name
        .rsplit(|byte| !byte.is_ascii_alphabetic())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // `for ada: x`
    let marks = value.window_before(n_marks);
    let is_said = has_colon && marks.iter().all(|byte| *byte == b' ') && !before.ends_with(b"::");
    let is_said = is_said && !OTHERS.contains(&&*name);
    !is_said && !NAMES.contains(&&*name)
}
