//! Finds secrets of Kubernetes: the values below `data:`, in base64, and below `stringData:`.
//!
//! In: `kind: Secret`, `data:`, `  password: dFo4IWtxMDJMbQ==`. Out: the range of the base64.

use std::ops::Range;

use jsonl::decode_base64;
use memchr::memmem;

use crate::{
    around::{past_closers, until_placeholder, without_placeholders},
    class::BASE64,
    cursor::Cursor,
    margin::past_line,
    placeholder::PLACEHOLDER,
    span::{Quote, bare_end, is_blank, past_blanks},
    value::{Form, Kind},
};

/// Bytes around `kind: Secret` that are searched for its data.
const MAX_MANIFEST: usize = 4096;

/// Limit for the entries of a manifest.
const MAX_ENTRIES: usize = 64;

/// Finds the values below `data` of a manifest. `start..end` is the `Secret` of its kind.
pub(crate) fn data(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_between = |byte: &u8| b" \t\"':\\".contains(byte);
    let before = start.window_before(32);
    let n_between = before.iter().rev().take_while(|byte| is_between(byte)).count();
    let name = before.get(..before.len().saturating_sub(n_between)).unwrap_or_default();
    if n_between == 0 || !name.ends_with(b"kind") || end.next().is_some_and(is_letter) {
        return Vec::new();
    }
    let (before, after) = (manifest_before(start), manifest_after(end));
    let first = start.back(without_placeholders(before).len());
    let last = end.forward(until_placeholder(after).len());
    // A manifest has its data once, so of many manifests in a row only the nearest data is read.
    let names = data_before(first, start).into_iter().chain(data_after(end, last));
    let mut found: Vec<Range<usize>> = names.flat_map(|name| entries(name, true)).collect();
    found.sort_unstable_by_key(|secret| secret.start);
    found
}

/// Number of other names `kind` in one manifest: its owners have kinds, too.
const MAX_KINDS: usize = 2;

/// Returns the text of a manifest before its kind.
fn manifest_before(start: Cursor<'_>) -> &[u8] {
    let text = start.window_before(MAX_MANIFEST);
    // The last one is the name of the kind itself.
    let other = memmem::rfind_iter(text, b"kind").nth(MAX_KINDS.saturating_add(1));
    other.and_then(|n| text.get(n..)).unwrap_or(text)
}

/// Returns the text of a manifest after its kind.
fn manifest_after(end: Cursor<'_>) -> &[u8] {
    let text = end.window(MAX_MANIFEST);
    let other = memmem::find_iter(text, b"kind").nth(MAX_KINDS);
    other.and_then(|n| text.get(..n)).unwrap_or(text)
}

/// Limit for the names `data` on each side of a kind.
const MAX_NAMES: usize = 4;

/// Returns the ends of the last names `data` in the manifest before a kind.
fn data_before<'b>(first: Cursor<'b>, start: Cursor<'b>) -> Vec<Cursor<'b>> {
    let text = start.since(first.place());
    let found = memmem::rfind_iter(text, b"data").map(|n| first.forward(n));
    let is_near = |name: &Cursor<'_>| memmem::find(start.since(name.place()), b"---").is_none();
    let near = found.filter(|name| is_name(*name)).take(MAX_NAMES).filter(is_near);
    near.map(|name| name.forward(4)).collect()
}

/// Returns the ends of the first names `data` in the manifest after a kind.
fn data_after<'b>(end: Cursor<'b>, last: Cursor<'b>) -> Vec<Cursor<'b>> {
    let text = last.since(end.place());
    // Of two manifests, the nearer one has the data.
    let length = memmem::find(text, b"---").unwrap_or(text.len());
    let found = memmem::find_iter(text.get(..length).unwrap_or(text), b"data");
    let names = found.map(|n| end.forward(n)).filter(|name| is_name(*name)).take(MAX_NAMES);
    names.map(|name| name.forward(4)).collect()
}

/// Returns whether `data` at a position is a whole name.
fn is_name(at: Cursor<'_>) -> bool {
    let is_within = at.previous().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_letter_of_escape = matches!(at.window_before(2), [b'\\', b'n']);
    !is_within || is_letter_of_escape
}

/// Finds the values below `stringData`.
pub(crate) fn string_data(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    entries(end, false)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the secrets among the entries after a name.
fn entries(name: Cursor<'_>, are_encoded: bool) -> Vec<Range<usize>> {
    let sign = past_blanks(past_closers(name).0, 8);
    let Some(start) = sign.past(b":") else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = past_blanks(start, 8);
    let is_flow = at.next() == Some(b'{');
    if !is_flow && past_line(at).is_none() {
        // A value without entries, in a template.
        let value = if are_encoded { None } else { value_at(at, false) };
        return value.and_then(|value| value.secret).into_iter().collect();
    }
    at = if is_flow { at.forward(1) } else { at };
    for _ in 0..MAX_ENTRIES {
        let mut line = at;
        while let Some(after) = past_line(line) {
            line = past_blanks(after, 64);
        }
        let is_new = is_flow || line.previous().is_some_and(is_blank);
        if line.next() == Some(b'#') {
            at = line.skip(256, |byte| byte != b'\n' && byte != b'\\');
            continue;
        }
        let name = Quote::open(line).map_or(line, |(_, name)| name);
        let name_end = name.skip(128, |byte| is_letter(byte) || byte == b'-' || byte == b'.');
        let sign = past_blanks(past_closers(name_end).0, 8).past(b":");
        let (Some(sign), true) = (sign.filter(|_| name_end.place() > name.place()), is_new) else {
            break;
        };
        let Some(value) = value_at(past_blanks(sign, 8), are_encoded) else { break };
        if !is_public(name_end.since(name.place())) {
            found.extend(value.secret);
        }
        at = past_blanks(past_closers(value.end).0, 8);
        at = at.past(b",").map_or(at, |at| past_blanks(at, 8));
    }
    found
}

/// Returns whether an entry is an address or a user name.
fn is_public(name: &[u8]) -> bool {
    const NAMES: &[&[u8]] = &[b"user", b"host", b"url", b"port", b"mail", b"region", b"endpoint"];
    let lower = name.to_ascii_lowercase();
    NAMES.iter().any(|name| memmem::find(&lower, name).is_some())
}

/// The value of an entry.
struct Value<'b> {
    end: Cursor<'b>,
    secret: Option<Range<usize>>,
}

fn value_at(at: Cursor<'_>, is_encoded: bool) -> Option<Value<'_>> {
    let (start, end) = match Quote::open(at) {
        Some((quote, start)) => (start, quote.close(start)?),
        None if is_encoded => (at, at.skip(MAX_MANIFEST, |byte| BASE64.has(byte))),
        None => (at, bare_end(at, |_| false)),
    };
    let value = end.since(start.place());
    let is_cut = end.rest().starts_with(PLACEHOLDER);
    let is_secret = !is_cut && if is_encoded { is_encoded_secret(value) } else { is_plain(value) };
    Some(Value { end, secret: is_secret.then(|| start.place()..end.place()) })
}

fn is_plain(value: &[u8]) -> bool {
    Kind::Password.secret_in(value, Form::Loose).is_some()
}

fn is_encoded_secret(value: &[u8]) -> bool {
    if value.len() < 8 || !value.iter().all(|byte| BASE64.has(*byte)) {
        return false;
    }
    let mut decoded = Vec::new();
    decode_base64(value, &mut decoded);
    let decoded = decoded.trim_ascii_end();
    // Bytes that are not text are a key.
    let is_key = std::str::from_utf8(decoded).is_err() && decoded.len() >= 16;
    is_key || Kind::Password.secret_in(decoded, Form::Quoted).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_manifests_only_the_nearest_data_is_read() {
        let text = "kind: Secret\ndata:\n".repeat(1000);
        let place = text.len() / 38 * 19 + "kind: ".len();
        let start = Cursor::new(text.as_bytes()).to(place);
        let end = start.forward("Secret".len());
        assert!(text[place..].starts_with("Secret"));
        assert!(manifest_before(start).len() < 64 && manifest_after(end).len() < 64);
        let last = end.forward(MAX_MANIFEST);
        assert_eq!(data_after(end, last).len(), MAX_NAMES);
        assert_eq!(data_before(Cursor::new(text.as_bytes()), start).len(), MAX_NAMES);
    }
}
