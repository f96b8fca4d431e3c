//! Finds hashes of passwords by their own shape, as `crypt`, LDAP and web frameworks write them.
//!
//! In: `ada:$2y$10$N9qo8uLO…`, `{SSHA}DQt5lq5H…`, `pbkdf2_sha256$600000$KWKb…$J18R…`. Out: the range
//! of the hash with its salt. Who has a hash can try passwords without being seen.

use std::ops::Range;

use crate::{
    class::{BASE64, LETTERS},
    cursor::Cursor,
    placeholder::{PLACEHOLDER, is_example},
};

/// Limit for the fields of a hash.
const MAX_FIELDS: usize = 7;

/// Limit in bytes for a field.
const MAX_FIELD: usize = 256;

/// Finds a hash of fields with `$` between them. `start` is its first byte.
pub(crate) fn find(start: Cursor<'_>, _: Cursor<'_>) -> Option<Range<usize>> {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"./+=,-_:".contains(&byte);
    let mut fields: Vec<Cursor<'_>> = Vec::new();
    let mut at = start;
    for n in 0..MAX_FIELDS {
        // A compose file doubles each `$`.
        let field = at.skip(2, |byte| byte == b'$');
        if field.place() == at.place() && n > 0 {
            break;
        }
        fields.push(field);
        at = field.skip(MAX_FIELD, is_in);
    }
    let (id, last) = (fields.first()?, fields.last()?);
    let id = id.skip(MAX_FIELD, is_in).since(id.place());
    let length = length_of(id)?;
    let n_fields = fields.len();
    let end = match length {
        Length::Is(n) => last.forward(n),
        Length::From(_) => {
            // In a file of users, other columns follow.
            let has_colon = id.contains(&b':') || id.starts_with(b"SCRAM");
            let end = last.skip(MAX_FIELD, |byte| is_in(byte) && (has_colon || byte != b':'));
            end.back(usize::from(matches!(end.previous(), Some(b'.' | b',' | b':'))))
        }
    };
    let hash = end.since(last.place());
    let is_long = match length {
        Length::Is(n) | Length::From(n) => hash.len() >= n,
    };
    let is_whole = hash.iter().all(|byte| is_in(*byte))
        && end.next().is_none_or(|byte| !LETTERS.has(byte) && byte != b'/');
    let min_fields = if matches!(id, b"P" | b"H") { 2 } else { 3 };
    let is_hash = is_whole && is_long && n_fields >= min_fields && is_secret(hash);
    (is_hash && !end.rest().starts_with(PLACEHOLDER)).then(|| start.place()..end.place())
}

/// The length of the last field.
#[derive(Clone, Copy, Debug)]
enum Length {
    Is(usize),
    From(usize),
}

/// Returns the length of the hash of an algorithm.
fn length_of(id: &[u8]) -> Option<Length> {
    Some(match id {
        b"2a" | b"2b" | b"2x" | b"2y" => Length::Is(53),
        b"1" | b"apr1" => Length::Is(22),
        b"5" => Length::Is(43),
        b"6" => Length::Is(86),
        b"P" | b"H" => Length::Is(31),
        b"y" | b"gy" | b"7" => Length::From(43),
        _ => Length::From(20),
    })
}

/// Finds a hash of LDAP: the name of the algorithm in braces, and base64.
pub(crate) fn ldap(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let base64 = end.skip(8, |byte| byte.is_ascii_alphanumeric() || byte == b'-').past(b"}")?;
    let end = base64.skip(MAX_FIELD, |byte| BASE64.has(byte));
    let hash = end.since(base64.place());
    let is_hash = hash.len() >= 24 && is_secret(hash) && !end.rest().starts_with(PLACEHOLDER);
    is_hash.then(|| start.place()..end.place())
}

/// Returns whether a hash is no example: it has letters and digits.
fn is_secret(hash: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| hash.iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !is_example(hash)
}
