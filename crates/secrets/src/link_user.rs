//! Finds passwords and tokens of URLs whose user part other rules do not read.
//!
//! In: `ldap://cn=ada,dc=corp:x@host`, `https://x:x-oauth-basic@host`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, without_placeholders},
    command_line::password,
    cursor::Cursor,
    placeholder::is_template,
    span::{bare_end, is_quote},
};

/// Finds the password after the name of an entry in a directory.
pub(crate) fn directory(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_in = |byte: u8| byte.is_ascii_graphic() && !is_quote(byte) && !b"/<>\\?".contains(&byte);
    let whole = end.skip(400, is_in).since(end.place());
    let host = end.forward(memchr::memrchr(b'@', whole)?);
    let user = end.forward(memchr::memchr(b':', host.since(end.place()))?);
    let is_entry = user.since(end.place()).contains(&b'=');
    password(user.forward(1), host).filter(|_| is_entry)
}

/// Finds the password in a URL whose marks have codes: `postgres%3A%2F%2Fada%3Ax%40host`.
pub(crate) fn encoded(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const COLONS: &[&[u8]] = &[b"%3A", b"%3a"];
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"%-._~+!*".contains(&byte);
    let whole = end.skip(400, is_in).since(end.place());
    let host = end.forward(memmem::find(whole, b"%40")?);
    let text = host.since(end.place());
    let colon = COLONS.iter().filter_map(|colon| memmem::find(text, colon)).min()?;
    let value = end.forward(colon).forward(3);
    password(value, host)
}

/// Finds the password of a user of Redis: `user ada on >x ~* +@all`.
pub(crate) fn redis(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const WORDS: &[&[u8]] = &[b"user ", b"USER", b"ACL", b"acl"];
    let before = context(start, 64);
    let is_user = WORDS.iter().any(|word| memmem::find(before, word).is_some());
    password(end, bare_end(end, |_| false)).filter(|_| is_user)
}

/// Finds the token before a fixed word such as `x-oauth-basic`: `https://x:x-oauth-basic@host`.
pub(crate) fn token(start: Cursor<'_>, _: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a token.
    const MIN_TOKEN: usize = 12;
    let before = without_placeholders(start.window_before(255));
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+=%!*".contains(byte);
    let length = before.iter().rev().take_while(|byte| is_in(byte)).count();
    let value = start.back(length);
    let text = start.since(value.place());
    let is_token = text.len() >= MIN_TOKEN && text.iter().any(u8::is_ascii_digit);
    (is_token && !is_template(text)).then(|| value.place()..start.place())
}
