//! Finds the value inside the text that a name is assigned: in an object, in the block of a parameter, in a fallback.
//!
//! In: `adminPassword: { "value": "x" }`, `DbPassword:` and `  Default: x`, `get("X") ?: "x"`. Out: the position of `x`.

use memchr::memmem;

use crate::{
    around::{past_closers, until_placeholder},
    cursor::Cursor,
    margin::past_line,
    placeholder::PLACEHOLDER,
    span::{Quote, is_blank, past_blanks, string_or_word},
};

/// Returns the position of the first string in a list or an object: `"secret": ["x"]`, `"oauth": {"github.com": "x"}`,
/// `TOKEN = { value = "x" }`.
pub(crate) fn inner(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let at = past_blanks(at, 8);
    if let Some(item) = at.past(b"[") {
        let item = next_item(item);
        let (start, end) = string_or_word(item)?;
        // The name of a class: `["django.contrib.auth.backends.ModelBackend"]`.
        let n_dots = end.since(start.place()).iter().filter(|byte| **byte == b'.').count();
        return (n_dots < 2).then_some(item);
    }
    let (text, value) = member(next_item(at.past(b"{")?))?;
    if text.contains(&b'.') { Some(value) } else { value_in(text, value) }
}

/// Moves past blanks, and past the line break before the first item.
fn next_item(at: Cursor<'_>) -> Cursor<'_> {
    let at = past_blanks(at, 8);
    past_line(at).map_or(at, |at| past_blanks(at, 40))
}

/// Returns the name of a member, with or without quotes, and the position of its value.
fn member(at: Cursor<'_>) -> Option<(&[u8], Cursor<'_>)> {
    let (name, end) = match Quote::open(at) {
        Some((quote, name)) => {
            let end = quote.close(name)?;
            (end.since(name.place()), past_closers(end).0)
        }
        None => {
            let end = at.skip(24, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            (end.since(at.place()), end)
        }
    };
    let sign = past_blanks(end, 8);
    let value = sign.past(b":").or_else(|| sign.past(b"="))?;
    Some((name, past_blanks(value, 8)))
}

/// Returns the default of a parameter, among the lines below its name: `DbPassword:`, `  Type: String`, `  Default: x`.
pub(crate) fn default_below(sign: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    /// Limit for the lines of a parameter.
    const MAX_LINES: usize = 8;
    let mut line = past_line(sign)?;
    let indent = line.skip(40, is_blank).since(line.place());
    for _ in 0..MAX_LINES {
        let name = line
            .past(indent)
            .filter(|name| !indent.is_empty() && !name.next().is_none_or(is_blank))?;
        if let Some(value) = name.past(b"Default: ").or_else(|| name.past(b"default: ")) {
            let (start, end) = string_or_word(past_blanks(value, 8))?;
            return (!end.rest().starts_with(PLACEHOLDER)).then_some((start, end));
        }
        let is_in = |byte: u8| byte != b'\n' && byte != b'\r' && byte != b'\\' && byte != b'[';
        line = past_line(name.skip(240, is_in))?;
    }
    None
}

/// Returns the position of the value in an object whose first member is given: `"sensitive": true, "value": "x"`.
fn value_in<'b>(mut name: &'b [u8], mut at: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Limit for the members before the value.
    const MAX_MEMBERS: usize = 4;
    for _ in 0..MAX_MEMBERS {
        if name.eq_ignore_ascii_case(b"value") || name.eq_ignore_ascii_case(b"defaultValue") {
            return Some(at);
        }
        let end = match Quote::open(at) {
            Some((quote, value)) => past_closers(quote.close(value)?).0,
            None => at.skip(8, |byte| byte.is_ascii_alphanumeric()),
        };
        let next = past_blanks(past_blanks(end, 8).past(b",")?, 8);
        let next = past_line(next).map_or(next, |next| past_blanks(next, 40));
        (name, at) = member(next)?;
    }
    None
}

/// Returns the position of the fallback string of a value: `get("X") ?: "x"`.
pub(crate) fn fallback(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const SIGNS: &[&[u8]] = &[b" ?: ", b" || ", b" ?? ", b" or ", b"default("];
    /// Bytes after the sign that are searched for it.
    const MAX_CALL: usize = 80;
    let line = until_placeholder(at.window(MAX_CALL))
        .split(|byte| *byte == b'\n' || *byte == b';')
        .next()?;
    let found = SIGNS.iter().find_map(|sign| Some((memmem::find(line, sign)?, sign.len())))?;
    Some(at.forward(found.0).forward(found.1))
}
