//! Finds keys in the settings of a proxy, which compares them with a header or a cookie of each request.
//!
//! In: `map $http_x_api_key $is_valid {`, and `"x" 1;` below it; `if ($cookie_auth != "x")`. Out: the range of `x`.

use std::ops::Range;

use crate::{
    around::until_placeholder,
    command_line::password,
    cursor::Cursor,
    margin::past_line,
    piped::is_named,
    span::{Quote, past_blanks, string_or_word},
    value::{is_scrambled, is_strong},
};

/// Minimum length of a key.
const MIN_KEY: usize = 16;

/// Finds the keys in a table whose variable has the name of a secret.
pub(crate) fn table(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit for the lines of a table.
    const MAX_LINES: usize = 32;
    let name = end.skip(48, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let head = until_placeholder(name.window(80));
    let block = memchr::memchr(b'{', head).map(|n| name.forward(n).forward(1));
    let text = name.since(end.place());
    let is_secret = is_named(text) || text.ends_with(b"authorization");
    let (Some(mut at), mut found) = (block.filter(|_| is_secret), Vec::new()) else {
        return Vec::new();
    };
    for _ in 0..MAX_LINES {
        let blank = past_blanks(at, 40);
        let Some(line) = past_line(blank).map(|line| past_blanks(line, 40)) else { break };
        let Some((value, value_end)) = string_or_word(line).filter(|_| line.next() != Some(b'}'))
        else {
            break;
        };
        found.extend(key(value, value_end));
        at = value_end.skip(120, |byte| !matches!(byte, b'\n' | b'\r' | b';')).forward(1);
        // The quotes of the values may have backslashes before them.
        if at.previous() != Some(b';') {
            break;
        }
    }
    found
}

/// Finds the key in a condition. `end` is within the name of the variable.
pub(crate) fn condition(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let name = end.skip(48, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let sign = past_blanks(name, 4);
    let at = past_blanks(sign.past(b"!=").or_else(|| sign.past(b"="))?, 4);
    let (quote, value) = Quote::open(at)?;
    key(value, quote.close(value)?)
}

fn key(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let text = end.since(start.place());
    let is_key = text.len() >= MIN_KEY
        && text.iter().all(u8::is_ascii_alphanumeric)
        && (is_strong(text) || is_scrambled(text));
    password(start, end).filter(|_| is_key)
}
