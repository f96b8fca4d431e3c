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

/// Returns the position of the first string in an object: `"oauth": {"github.com": "x"}`.
pub(crate) fn inner(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let at = past_blanks(past_blanks(at, 8).past(b"{")?, 8);
    let at = past_line(at).map_or(at, |at| past_blanks(at, 40));
    let (quote, name) = Quote::open(at)?;
    let end = quote.close(name)?;
    let text = end.since(name.place());
    let sign = past_blanks(past_closers(end).0, 8).past(b":")?;
    if text.contains(&b'.') {
        return Some(past_blanks(sign, 8));
    }
    value_in(text, past_blanks(sign, 8))
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
        let (quote, start) = Quote::open(next)?;
        let name_end = quote.close(start)?;
        name = name_end.since(start.place());
        at = past_blanks(past_blanks(past_closers(name_end).0, 8).past(b":")?, 8);
    }
    None
}

/// Returns the position of the fallback string of a value: `get("X") ?: "x"`.
pub(crate) fn fallback(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const SIGNS: &[&[u8]] = &[b" ?: ", b" || ", b" ?? ", b" or "];
    /// Bytes after the sign that are searched for it.
    const MAX_CALL: usize = 80;
    let line = until_placeholder(at.window(MAX_CALL))
        .split(|byte| *byte == b'\n' || *byte == b';')
        .next()?;
    let found = SIGNS.iter().find_map(|sign| Some((memmem::find(line, sign)?, sign.len())))?;
    Some(at.forward(found.0).forward(found.1))
}
