//! Finds keys by the text around them: PuTTY keys, unseal keys of a vault, keys of clouds.
//!
//! In: `Unseal Key 1: q3x..`. Out: the range of `q3x..`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder},
    class::{ARMOR, BASE64, CAPITALS, LETTERS},
    cursor::Cursor,
    edge::is_edge,
    margin::past_line,
    pieces::{past_joint, past_seam},
    placeholder::{PLACEHOLDER, is_example},
    randomness::Makeup,
    span::{Quote, bare_end, is_blank, past_blanks, string_or_word},
    value::{Form, Kind, is_strong},
};

/// Minimum number of letters of a key.
const MIN_LETTERS: usize = 40;

/// Finds the lines after `Private-Lines: 8`. The lines may have numbers, quotes or borders, or all be in one line.
pub(crate) fn putty(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const MAX_LINES: usize = 256;
    const MAX_LINE: usize = 128;
    let digits = end.skip(3, |byte| byte.is_ascii_digit());
    let n_lines: usize = std::str::from_utf8(digits.since(end.place())).ok()?.parse().ok()?;
    let start = next_line(digits)?;
    let mut line_end = start.skip(MAX_LINE, |byte| BASE64.has(byte));
    let is_key = line_end.since(start.place()).len() >= MIN_LETTERS;
    for _ in 1..n_lines.min(MAX_LINES) {
        let Some(next) = next_line(line_end) else { break };
        let next_end = next.skip(MAX_LINE, |byte| BASE64.has(byte));
        if next_end.place() == next.place() || next_end.next() == Some(b'-') {
            break;
        }
        line_end = next_end;
    }
    (is_key && !is_cut(line_end)).then(|| start.place()..line_end.place())
}

/// Returns the start of the next line of a key.
fn next_line(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let blank = at.skip(8, is_blank);
    // The signs of a diff and of a quotation are letters of base64 or no marks of a seam.
    past_seam(at)
        .map(|(line, _)| line)
        .or_else(|| past_joint(at, true))
        .or_else(|| (blank.place() > at.place()).then_some(blank))
}

/// Finds a key in the form of RFC 4716: `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----`.
pub(crate) fn ssh2(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const LAST: &[u8] = b"---- END SSH2 ENCRYPTED PRIVATE KEY ----";
    const MAX_KEY: usize = 16 * 1024;
    let text = until_placeholder(end.window(MAX_KEY));
    let last = match memmem::find(text, LAST) {
        Some(at) => end.forward(at).forward(LAST.len()),
        // The last line is missing in a torn key.
        None => end.forward(ARMOR.run(text, MAX_KEY)),
    };
    let n_letters = last.since(end.place()).iter().filter(|byte| LETTERS.has(**byte)).count();
    (n_letters >= MIN_LETTERS).then(|| start.place()..last.place())
}

/// Returns whether a placeholder follows: the rest of a longer key was redacted.
fn is_cut(at: Cursor<'_>) -> bool {
    at.rest().starts_with(PLACEHOLDER)
}

/// Finds the key after `Unseal Key 1:`, and the keys of the list after `unseal_keys_b64:`.
pub(crate) fn unseal(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit for the keys of a list.
    const MAX_KEYS: usize = 16;
    let mut found: Vec<Range<usize>> = first_unseal(end).into_iter().collect();
    while let Some(last) = found.last()
        && let Some(next) = next_unseal(end.to(last.end)).filter(|_| found.len() < MAX_KEYS)
    {
        found.push(next);
    }
    found
}

/// Returns the next key of a list, after the end of one.
fn next_unseal(end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit for the marks between two keys.
    const MAX_MARKS: usize = 64;
    let mut at = end;
    for _ in 0..MAX_MARKS {
        let mark = at.skip(1, |byte| b"\"', \t-\\".contains(&byte));
        let next = past_line(at).unwrap_or(mark);
        if next.place() == at.place() {
            break;
        }
        at = next;
    }
    let run = at.skip(128, |byte| BASE64.has(byte));
    let key = run.since(at.place());
    let is_key = (44..=88).contains(&key.len()) && !is_cut(run) && Makeup::of(key).is_random();
    (is_key && at.place() > end.place()).then(|| at.place()..run.place())
}

fn first_unseal(end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after the name that are searched for the key.
    const MAX_BETWEEN: usize = 48;
    let mut at = end;
    let n_between = until_placeholder(end.window(MAX_BETWEEN)).len();
    while at.place() < end.place().saturating_add(n_between) {
        // The letter of an escaped line break is not part of the key.
        at = past_line(at).unwrap_or(at);
        let run = at.skip(128, |byte| BASE64.has(byte));
        let key = run.since(at.place());
        let is_whole = (44..=88).contains(&key.len()) && !is_cut(run);
        if is_whole && Makeup::of(key).is_random() {
            return Some(at.place()..run.place());
        }
        at = run.forward(usize::from(run.place() == at.place()));
        at.next()?;
    }
    None
}

/// Finds the secret key that follows its id: `AKIA…,x`, `AKIA… and secret x`.
pub(crate) fn aws(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after the id that are searched for the key.
    const MAX_BETWEEN: usize = 80;
    const N_LETTERS: usize = 40;
    let id = end.skip(17, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let length = id.since(end.place()).len();
    // Google has ids of 24 or 61 letters.
    let is_google = start.next() == Some(b'G');
    let id = if is_google { end.skip(64, |byte| CAPITALS.has(byte)) } else { id };
    if !is_google && length != 16 || !is_edge(start.before()) {
        return None;
    }
    let last = id.place().saturating_add(until_placeholder(id.window(MAX_BETWEEN)).len());
    let mut at = id;
    while at.place() < last {
        at = past_line(at).unwrap_or(at);
        let run = at.skip(128, |byte| BASE64.has(byte));
        let key = run.since(at.place());
        let is_hash = key.iter().all(u8::is_ascii_hexdigit);
        if key.len() == N_LETTERS
            && !is_hash
            && !is_cut(run)
            && Makeup::of(key).is_random()
            && !is_example(key)
        {
            return Some(at.place()..run.place());
        }
        at = run.forward(usize::from(run.place() == at.place()));
        at.next()?;
    }
    None
}

/// Finds the 64 bytes in base64 before and after `key1`, with other columns or members between them. In
/// `"value": "x", "keyName": "key1"}, {"value": "y"`, both are keys.
pub(crate) fn account(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes after the name that are searched for the key.
    const MAX_BETWEEN: usize = 120;
    const N_LETTERS: usize = 88;
    let text = until_placeholder(end.window(MAX_BETWEEN.saturating_add(N_LETTERS)));
    // The name may follow the key: `"value": "x", "keyName": "key1"`.
    let earlier = || {
        let before = context(start, MAX_BETWEEN);
        let padding = memmem::rfind(before, b"==").filter(|_| before.ends_with(b"\""))?;
        Some(start.back(before.len()).forward(padding).forward(2))
    };
    let later = memmem::find(text, b"==").map(|padding| end.forward(padding).forward(2));
    let key = |key_end: Cursor<'_>| {
        let value = key_end.back(N_LETTERS);
        let key = key_end.since(value.place());
        let is_apart = value.place() >= end.place() || key_end.place() <= start.place();
        // A search before decoding sees the letter of a tab.
        let is_after_tab =
            value.previous() == Some(b't') && value.back(1).previous() == Some(b'\\');
        let is_key = key.len() == N_LETTERS
            && key.iter().all(|byte| BASE64.has(*byte))
            && (is_after_tab
                || !value
                    .previous()
                    .is_some_and(|byte| BASE64.has(byte) && byte != b'=' || byte == b'-'))
            && Makeup::of(key).is_random();
        (is_key && is_apart).then(|| value.place()..key_end.place())
    };
    if !is_edge(start.before()) {
        return Vec::new();
    }
    [earlier(), later].into_iter().flatten().filter_map(key).collect()
}

/// Finds the 64 bytes in base64 after `fs.azure.account.key.` and the host of an account.
pub(crate) fn host(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let host = end.skip(120, |byte| byte.is_ascii_alphanumeric() || b".-_{}$".contains(&byte));
    let closed = past_closers(host).0;
    let tag =
        closed.past(b"</name>").map(|line| past_line(line).map_or(line, |at| past_blanks(at, 40)));
    let tagged = tag.and_then(|at| at.past(b"<value>"));
    let at =
        tagged.unwrap_or_else(|| closed.skip(8, |byte| is_blank(byte) || b",:=".contains(&byte)));
    let value = Quote::open(at).map_or(at, |(_, value)| value);
    let value_end = value.skip(90, |byte| BASE64.has(byte));
    let text = value_end.since(value.place());
    let is_key =
        matches!(text.len(), 86..=88) && Makeup::of(text).is_random() && !is_cut(value_end);
    (is_key && value.place() > host.place()).then(|| value.place()..value_end.place())
}

/// Finds the values of `literals` in a generator of secrets. They may have any names.
pub(crate) fn generator(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes of a generator that are searched.
    const MAX_GENERATOR: usize = 1000;
    let text = until_placeholder(end.window(MAX_GENERATOR));
    let Some(list) = memmem::find(text, b"literals:") else { return Vec::new() };
    let items = memmem::find_iter(text, b"- ").filter(|n| *n > list);
    items.filter_map(|n| crate::command_line::literal(end, end.forward(n).forward(2))).collect()
}

/// Finds the keys of a list of names and keys: `keys:`, and `  APIx7: x` in each line after it.
pub(crate) fn list(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit for the keys of a list.
    const MAX_KEYS: usize = 16;
    const OTHERS: &[&[u8]] = &[
        b"public_",
        b"public-",
        b"public",
        b"ssh_",
        b"ssh-",
        b"authorized_",
        b"known_",
        b"trusted-public-",
    ];
    let before = start.window_before(16).to_ascii_lowercase();
    let mut found = Vec::new();
    if OTHERS.iter().any(|other| before.ends_with(other))
        || before.last().is_some_and(u8::is_ascii_alphanumeric)
    {
        return found;
    }
    let mut at = end;
    for _ in 0..MAX_KEYS {
        let line = past_line(at).unwrap_or(at);
        let indent = past_blanks(line.skip(1, |byte| byte == b','), 16);
        let indent = past_line(indent).map_or(indent, |line| past_blanks(line, 16));
        let name = Quote::open(indent).map_or(indent, |(_, name)| name);
        let name_end = name.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        let sign = past_blanks(past_closers(name_end).0, 4);
        let Some(sign) = sign.past(b":").or_else(|| sign.past(b"=")) else { break };
        let value = past_blanks(sign, 4);
        let value = Quote::open(value).map_or(value, |(_, value)| value);
        let value_end = bare_end(value, |_| false);
        let text = value_end.since(value.place());
        let is_key = text.len() >= MIN_LIST_KEY && is_strong(text) && !is_cut(value_end);
        let is_named = name_end.place() > name.place() && indent.place() > line.place();
        if !is_named {
            break;
        }
        let secret = Kind::Secret.secret_in(text, Form::Quoted).filter(|_| is_key);
        found.extend(secret.map(|_| value.place()..value_end.place()));
        at = past_closers(value_end).0;
    }
    found
}

/// Minimum length of a key in a list.
const MIN_LIST_KEY: usize = 24;

/// Finds the passwords after the algorithms of a user of SNMP: `createUser ada SHA x AES y`.
pub(crate) fn snmp(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    const ALGORITHMS: &[&[u8]] = &[
        b"SHA ",
        b"SHA-256 ",
        b"SHA-512 ",
        b"MD5 ",
        b"AES ",
        b"DES ",
        b"sha ",
        b"md5 ",
        b"128 ",
        b"256 ",
        b"des ",
    ];
    let mut found = Vec::new();
    let mut at = end;
    for _ in 0..12 {
        let word = past_blanks(at, 8);
        if let Some(value) = ALGORITHMS.iter().find_map(|name| word.past(name)) {
            let Some((value, value_end)) = string_or_word(value) else { break };
            found.extend(crate::command_line::password(value, value_end));
            at = past_closers(value_end).0;
            continue;
        }
        let next = word.skip(64, |byte| byte.is_ascii_graphic() && byte != b'\\');
        if next.place() == word.place() {
            break;
        }
        at = next;
    }
    found
}

/// Finds the value after the name of a bypass: `x-vercel-protection-bypass: x`, `"protectionBypass":{"x":`.
pub(crate) fn bypass(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let closed = past_closers(end).0;
    let at = closed.skip(8, |byte| is_blank(byte) || b":=,{".contains(&byte));
    let at = past_line(at).map_or(at, |line| past_blanks(line, 40));
    let value = Quote::open(at).map_or(at, |(_, value)| value);
    let value_end = value.skip(128, |byte| LETTERS.has(byte));
    let text = value_end.since(value.place());
    let is_key =
        text.len() >= 20 && Makeup::of(text).is_random() && !is_cut(value_end) && !is_example(text);
    (is_key && value.place() > end.place()).then(|| value.place()..value_end.place())
}

/// Finds the 16 or 32 bytes in base64 after `-encrypt` or `encrypt =`.
pub(crate) fn gossip(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let sign = past_blanks(past_closers(end).0, 4);
    let at = past_blanks(sign.skip(1, |byte| byte == b'=' || byte == b':'), 4);
    let value = Quote::open(at).map_or(at, |(_, value)| value);
    let value_end = value.skip(64, |byte| BASE64.has(byte));
    let text = value_end.since(value.place());
    let is_key =
        matches!(text.len(), 24 | 44) && text.ends_with(b"=") && Makeup::of(text).is_random();
    (is_key && value.place() > end.place()).then(|| value.place()..value_end.place())
}
