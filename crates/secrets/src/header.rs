//! Finds tokens after the name of their scheme.
//!
//! In: `Authorization: Bearer x`, `Proxy-Authorization: Basic x`. Out: the range of `x`.

use std::ops::Range;

use crate::{
    base64::user_and_password,
    cursor::Cursor,
    edge::is_edge,
    name::follows_placeholder,
    pieces::{past_joint, past_pieces},
    placeholder::PLACEHOLDER,
    span::{self, Quote, is_blank, is_quote, past_blanks},
    value::{Form, Kind, is_scheme, is_strong},
};

/// Limit in bytes for a token.
const MAX_TOKEN: usize = 8 * 1024;

/// Finds the token after `Bearer`, `Token`, and the like.
pub(crate) fn bearer(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let token = in_call(end).or_else(|| assigned(end)).or_else(|| {
        // `xh -A bearer -a x`
        let word = end.past(b" token").or_else(|| end.past(b" -a"));
        after_scheme(start, word.unwrap_or(end))
    })?;
    let bytes = token.1.since(token.0.place());
    let is_secret = bytes.len() >= 12 && Kind::Secret.secret_in(bytes, Form::Quoted).is_some();
    is_secret.then(|| past_pieces(token.0.place()..token.1.place(), token.1))
}

/// Returns the string argument of a call: `.bearer_auth("x")`, `bearerToken("x")`.
fn in_call<'b>(end: Cursor<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    const NAMES: &[&[u8]] = &[b"_auth(", b"Auth(", b"_token(", b"Token(", b"="];
    let (quote, start) = Quote::open(NAMES.iter().find_map(|name| end.past(name))?)?;
    Some((start, quote.close(start)?))
}

/// Returns the string that a name has: `BEARER = "x"`, `"bearer": "x"`.
fn assigned<'b>(end: Cursor<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    let (quote, start) = span::assigned(end)?;
    Some((start, quote.close(start)?))
}

/// Finds the token in `"Token " + "x"` and `HeaderValue("ApiKey", "x")`. The prefix ends after the first byte
/// of the quote that closes the scheme, or opens it.
pub(crate) fn joined(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let scheme_end = match end.previous() {
        Some(b'(') => {
            let (quote, scheme) = Quote::open(end)?;
            quote.close(scheme).filter(|end| is_scheme(end.since(scheme.place())))?
        }
        _ => end.back(1),
    };
    let token = past_joint(scheme_end, true).filter(|_| is_edge(start.before()))?;
    let token_end =
        token.skip(MAX_TOKEN, |byte| byte.is_ascii_graphic() && !is_quote(byte) && byte != b'\\');
    let bytes = token_end.since(token.place());
    let is_secret = bytes.len() >= 12 && Kind::Secret.secret_in(bytes, Form::Quoted).is_some();
    is_secret.then(|| token.place()..token_end.place())
}

/// Finds the last of the protocols that a client offers to a socket: `token, x`.
pub(crate) fn protocol(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit for the protocols.
    const MAX_PROTOCOLS: usize = 4;
    let mut at = end.skip(12, |byte| is_quote(byte) || b"\\: ".contains(&byte));
    for _ in 0..MAX_PROTOCOLS {
        let protocol = past_blanks(at, 4);
        let protocol_end =
            protocol.skip(MAX_TOKEN, |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let text = protocol_end.since(protocol.place());
        if text.len() >= 20 && is_strong(text) {
            return crate::command_line::password(protocol, protocol_end);
        }
        at = protocol_end.past(b",")?;
    }
    None
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
    let encoded = end.past(b"%20");
    let blank = encoded
        .unwrap_or_else(|| end.skip(8, |byte| is_blank(byte) || byte == b':' || byte == b'+'));
    let joined = past_joint(blank, true);
    if blank.place() == end.place() && joined.is_none() {
        return None;
    }
    // A template may have the token as a string: `Bearer ${'x'}`.
    let start = blank.past(b"${").unwrap_or(blank);
    let token = joined.unwrap_or_else(|| Quote::open(start).map_or(blank, |(_, token)| token));
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=|:".contains(&byte);
    let token_end = token.skip(MAX_TOKEN, is_in);
    let is_cut = token_end.rest().starts_with(PLACEHOLDER);
    // The token is at the end of a sentence.
    let is_dot = matches!(token_end.previous(), Some(b'.' | b':'));
    let token_end = if is_dot { token_end.back(1) } else { token_end };
    (!is_cut).then_some((token, token_end))
}
