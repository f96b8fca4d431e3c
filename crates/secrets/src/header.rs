//! Finds tokens after the name of their scheme.
//!
//! In: `Authorization: Bearer x`, `Proxy-Authorization: Basic x`. Out: the range of `x`.

use std::ops::Range;

use crate::{
    base64::user_and_password,
    cursor::Cursor,
    edge::is_edge,
    name::follows_placeholder,
    placeholder::PLACEHOLDER,
    span::{Quote, is_blank},
    value::{Form, Kind},
};

/// Limit in bytes for a token.
const MAX_TOKEN: usize = 8 * 1024;

/// Finds the token after `Bearer`, `Token`, and the like.
pub(crate) fn bearer(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let token = in_call(end).or_else(|| after_scheme(start, end))?;
    let bytes = token.1.since(token.0.place());
    let is_secret = bytes.len() >= 12 && Kind::Secret.secret_in(bytes, Form::Quoted).is_some();
    is_secret.then(|| token.0.place()..token.1.place())
}

/// Returns the string argument of a call: `.bearer_auth("x")`, `bearerToken("x")`.
fn in_call<'b>(end: Cursor<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    const NAMES: &[&[u8]] = &[b"_auth(", b"Auth(", b"_token(", b"Token(", b"="];
    let (quote, start) = Quote::open(NAMES.iter().find_map(|name| end.past(name))?)?;
    Some((start, quote.close(start)?))
}

/// Finds the user and the password after `Basic`.
pub(crate) fn basic(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let token = after_scheme(start, end)?;
    user_and_password(token.1.since(token.0.place())).then(|| token.0.place()..token.1.place())
}

/// Returns the range of the token after a scheme.
fn after_scheme<'b>(start: Cursor<'b>, end: Cursor<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    if !is_edge(start.before()) || follows_placeholder(start) {
        return None;
    }
    // `'Bearer ' + 'x'`, `"Bearer", "x"`, `"Bearer %s"`, `Bearer: x`.
    let slash = end.skip(63, |byte| byte == b'\\');
    // A shell has `Basic\ x` without quotes.
    let end = if slash.next() == Some(b' ') { slash } else { end };
    let blank = end.skip(8, |byte| is_blank(byte) || byte == b':' || byte == b'+');
    if blank.place() == end.place() {
        return None;
    }
    let token = Quote::open(blank).map_or(blank, |(_, token)| token);
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=|:".contains(&byte);
    let token_end = token.skip(MAX_TOKEN, is_in);
    // The token is at the end of a sentence.
    let is_dot = matches!(token_end.previous(), Some(b'.' | b':'));
    let token_end = if is_dot { token_end.back(1) } else { token_end };
    (!token_end.rest().starts_with(PLACEHOLDER)).then_some((token, token_end))
}
