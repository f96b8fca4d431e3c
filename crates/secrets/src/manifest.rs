//! Finds secrets of Kubernetes: the values below `data:`, in base64, and below `stringData:`.
//!
//! In: `kind: Secret`, `data:`, `  password: dFo4IWtxMDJMbQ==`. Out: the range of the base64.

use std::ops::Range;

use crate::{
    around::{past_closers, until_placeholder, without_placeholders},
    base64::decode,
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
    let first = start.back(without_placeholders(start.window_before(MAX_MANIFEST)).len());
    let last = end.forward(until_placeholder(end.window(MAX_MANIFEST)).len());
    let text = last.since(first.place());
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text, b"data") {
        let name = first.forward(at);
        let is_within = name.previous().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_letter_of_escape = matches!(name.window_before(2), [b'\\', b'n']);
        // Of two manifests, the nearer one has the data.
        let between = if name.place() < start.place() {
            start.since(name.place())
        } else {
            name.since(end.place())
        };
        let is_other = memchr::memmem::find(between, b"---").is_some();
        if (!is_within || is_letter_of_escape) && !is_other {
            found.extend(entries(name.forward(4), true));
        }
    }
    found
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
    NAMES.iter().any(|name| memchr::memmem::find(&lower, name).is_some())
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
    decode(value, &mut decoded);
    let decoded = decoded.trim_ascii_end();
    // Bytes that are not text are a key.
    let is_key = std::str::from_utf8(decoded).is_err() && decoded.len() >= 16;
    is_key || Kind::Password.secret_in(decoded, Form::Quoted).is_some()
}
