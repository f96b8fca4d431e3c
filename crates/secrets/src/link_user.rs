//! Finds passwords and tokens of URLs whose user part other rules do not read.
//!
//! In: `ldap://cn=ada,dc=corp:x@host`, `https://x:x-oauth-basic@host`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, without_placeholders},
    class::{PASSWORD, USER},
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

/// Finds the password whose marks have no codes, as a URL should have them: `postgres://ada:P@ss#1@db:5432/shop`. It ends
/// at the last `@` before the host.
pub(crate) fn unescaped(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Schemes of databases and queues. In a URL of the web, a path follows the host, and may have a `@`.
    const STORES: &[&[u8]] = &[
        b"postgres",
        b"mysql",
        b"mariadb",
        b"mongodb",
        b"redis",
        b"amqp",
        b"mssql",
        b"sqlserver",
        b"oracle",
        b"clickhouse",
        b"cockroach",
        b"nats",
        b"psycopg",
        b"pymysql",
        b"asyncpg",
        b"valkey",
    ];
    /// Bytes of a scheme.
    const MAX_SCHEME: usize = 24;
    let is_in = |byte: u8| byte.is_ascii_graphic() && !is_quote(byte) && !b"<>\\{}".contains(&byte);
    let value = end.skip(64, |byte| USER.has(byte)).past(b":")?;
    let whole = value.skip(255, is_in).since(value.place());
    let scheme = start.window_before(MAX_SCHEME);
    let is_store = STORES.iter().any(|store| memmem::find(scheme, store).is_some());
    if is_port(whole) {
        return None;
    }
    let mut last = None;
    for n in memchr::memchr_iter(b'@', whole) {
        let Some(is_clear) = host(value.forward(n).forward(1)) else { continue };
        last = Some(value.forward(n));
        if is_clear || !is_store {
            break;
        }
    }
    let at = last?;
    let text = at.since(value.place());
    let is_plain = text.iter().all(|byte| PASSWORD.has(*byte));
    let is_path = !is_store && text.contains(&b'/');
    password(value, at).filter(|_| !is_plain && !is_path)
}

/// Returns whether a host ends where a host can end; if it does, whether it has a port or a domain.
fn host(at: Cursor<'_>) -> Option<bool> {
    let end = at.skip(255, |byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let name = end.since(at.place());
    let port =
        end.past(b":").is_some_and(|port| port.next().is_some_and(|byte| byte.is_ascii_digit()));
    let is_over = end.next().is_none_or(|byte| {
        byte.is_ascii_whitespace() || is_quote(byte) || b"/?,;)]}\\<>&".contains(&byte)
    });
    let is_domain = name.contains(&b'.') || name == b"localhost";
    (!name.is_empty() && (is_over || port)).then_some(is_domain || port)
}

/// Returns whether the text after a host and a colon starts with a port: `1433;databaseName=x`.
pub(crate) fn is_port(text: &[u8]) -> bool {
    let n_digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    n_digits > 0 && text.get(n_digits).is_none_or(|byte| b"/?,;#".contains(byte))
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
