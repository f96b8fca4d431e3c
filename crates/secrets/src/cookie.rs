//! Finds cookies in headers, calls, options and cookie files.
//!
//! In: `Cookie: theme=dark; sid=4f9aK2…`, `cookies={"sid": ".."}`, `res.cookie("sid", "..")`, `curl
//! -b sid=..`, and the seven columns of a cookie file. Out: the range of each value that a program
//! generated, whatever its name is. `dark` is not one.

use std::ops::Range;

use memchr::memmem;

use crate::{
    assignment::{context, past_closers},
    cursor::Cursor,
    name::follows_placeholder,
    placeholder::PLACEHOLDER,
    span::{Quote, is_blank, is_quote, past_blanks, past_tab},
    value::{Form, Kind, is_uuid},
};

/// Limit for the cookies in a header.
const MAX_PAIRS: usize = 64;

/// Finds the values after the word `Cookie`.
pub(crate) fn header(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    if follows_placeholder(start) {
        return Vec::new();
    }
    let name = end.skip(1, |byte| byte == b's' || byte == b'S');
    let name = name.past(b".set").or_else(|| name.past(b".Set")).unwrap_or(name);
    let closed = past_closers(name).0;
    let at = past_blanks(closed, 8);
    let is_sign = matches!(at.next(), Some(b':' | b'=' | b'('));
    // The prefix has no first letter, which may be a capital: `--cookie`.
    let is_option =
        at.place() > closed.place() && matches!(start.window_before(3), b"--c" | b"--C");
    match at.skip(2, |byte| b":=>(".contains(&byte)) {
        sign if is_sign => pairs(sign),
        _ if is_option => pairs(at),
        _ => Vec::new(),
    }
}

/// Finds the values after `-b` of `curl`.
pub(crate) fn option(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_apart = end.next().is_some_and(|byte| is_blank(byte) || is_quote(byte));
    let is_curl = || memmem::find(context(start, 160), b"curl").is_some();
    if is_apart && is_curl() { pairs(end) } else { Vec::new() }
}

/// Finds the value in a line of a cookie file: domain, `TRUE` or `FALSE`, path, `TRUE` or `FALSE`,
/// expiry, name, value. `start..end` is one of the flags with the tab before it.
pub(crate) fn jar(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let found = || {
        let time = past_tab(end)?;
        let name = time.skip(20, |byte| byte.is_ascii_digit());
        let name = past_tab(name).filter(|_| name.place() > time.place())?;
        let value = past_tab(name.skip(128, is_in_name))?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.~%$!".contains(&byte)
}

fn is_in_value(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b";,\\<>{}()[]".contains(&byte) && !is_quote(byte)
}

/// Returns the secrets among pairs of names and values.
fn pairs(start: Cursor<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let is_opener = |byte: u8| b" \t\"'`\\[{(@\n".contains(&byte);
    let mut at = start.skip(24, is_opener);
    for _ in 0..MAX_PAIRS {
        let name = at.skip(128, is_in_name);
        if name.place() == at.place() {
            break;
        }
        let (closed, has_quote) = past_closers(name);
        let sign = past_blanks(closed, 4);
        let value = match sign.next() {
            Some(b'=') => sign.forward(1),
            Some(b':') if has_quote || sign.forward(1).next() == Some(b' ') => sign.forward(1),
            Some(b',') if has_quote => sign.forward(1),
            // `HttpOnly`
            Some(b';') => name,
            _ => break,
        };
        let value = past_blanks(value, 4);
        let value = Quote::open(value).map_or(value, |(_, value)| value);
        let end = value.skip(4096, is_in_value);
        found.extend(secret(value, end));
        let next = past_closers(end).0;
        if !matches!(next.next(), Some(b';' | b',')) {
            break;
        }
        at = past_blanks(next.forward(1), 4).skip(64, |byte| is_quote(byte) || byte == b'\\');
    }
    found
}

/// Returns the range of a value that a program generated.
fn secret(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_sentence = end.previous() == Some(b'.') && end.next().is_none_or(is_blank);
    let end = if is_sentence { end.back(1) } else { end };
    let value = end.since(start.place());
    let is_secret = is_uuid(value) || Kind::Token.secret_in(value, Form::Quoted).is_some();
    let is_cut = end.rest().starts_with(PLACEHOLDER);
    (is_secret && !is_cut).then(|| start.place()..end.place())
}
