//! Finds passwords and tokens by their shape, in the line of the word `password` or `token` and in the line below.
//!
//! In: `rotate the token: old x, new y`, `Use x for the admin password`. Out: `x` and `y`. The text between the word and the
//! value is not read, so that only values count whose shape no other thing has ([`clear`](crate::clear)).

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder},
    class::WORD,
    clear::{is_clear_either, is_clear_password, is_clear_token},
    columns,
    command_line::password,
    cursor::Cursor,
    margin::past_line,
    name::{Name, Word},
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, bare_end, ends_line, is_blank, is_quote, past_blanks, string_or_word},
    value::Kind,
    worded::is_coined,
};

/// Limit in bytes for the text after a word.
const MAX_AFTER: usize = 100;

/// Limit in bytes for the text before a word.
const MAX_BEFORE: usize = 64;

/// Function that returns whether a value can only be a credential.
type IsClear = fn(&[u8]) -> bool;

/// Finds the values near the name of a credential. `start..end` is a word of the name.
pub(crate) fn find(word: Word, start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    // Most names are in sentences and code without such a value: that is checked first.
    let name_end = end.skip(MAX_BEFORE, |byte| WORD.has(byte) || byte == b'-');
    let line = line(name_end);
    let below = || {
        let line_end = name_end.forward(line.len());
        line.len() < MAX_AFTER
            && matches!(line_end.next(), Some(b'\n' | b'\r' | b'\\'))
            && (line.ends_with(b":")
                || line.ends_with(b"?")
                || has_mix(line_end.window(MAX_BEFORE)))
    };
    let is_near = has_mix(line) || below() || has_value_before(start);
    if !is_near && !columns::may_be_cell(name_end) && name_end.next() != Some(b'<') {
        return Vec::new();
    }
    let Some(name) = Name::around(start, end) else { return Vec::new() };
    let Some(kind) = name.kind(word).or_else(|| name.plural(word)) else { return Vec::new() };
    let mut found = columns::below(&name, kind);
    found.extend(columns::below_tag(&name, kind));
    let is_clear: IsClear = match kind {
        _ if word == Word::Credential => is_clear_either,
        Kind::Password | Kind::Passwords | Kind::Passphrase => is_clear_password,
        Kind::Secret | Kind::Token | Kind::TokenOrUuid | Kind::Secrets | Kind::Tokens => {
            is_clear_token
        }
        // `pass` and `key` are also other things, so that only the next word counts.
        Kind::Pass | Kind::Padded => {
            let is_clear = if kind == Kind::Pass { is_clear_password } else { is_clear_token };
            found.extend(next(&name, is_clear));
            return found;
        }
        _ => return found,
    };
    // The name is a part of a path or of base64, of a placeholder, or a word such as `two-pass`.
    let text = name.end.since(name.start.place());
    let is_part = name.start.previous().is_some_and(|byte| b"/+=".contains(&byte))
        || name.start.before().ends_with(PLACEHOLDER)
        || text.ends_with(b"-pass")
        || text.len() > 24 && Makeup::of(text).is_random();
    if !is_part {
        found.extend(around(name.start, name.end, is_clear));
    }
    found
}

/// Returns the value directly after a name and its sign: `key: x`, `pwd: x`.
fn next(name: &Name<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    let closed = past_closers(name.end).0;
    let sign = past_blanks(closed, 4);
    let after = sign.past(b":").or_else(|| sign.past(b"="));
    let is_noun = || name.end.since(name.start.place()).eq_ignore_ascii_case(b"pwd");
    let after =
        after.or_else(|| Some(sign).filter(|_| is_noun() && sign.place() > closed.place()))?;
    let (value, value_end) = string_or_word(past_blanks(after, 4))?;
    let is_fit =
        !name.start.before().ends_with(PLACEHOLDER) && is_clear(value_end.since(value.place()));
    if is_fit { password(value, value_end) } else { None }
}

/// Finds the token that a shell passes to a command, and the password of a command that opens something: `<<< x`.
pub(crate) fn here(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = string_or_word(end)?;
    const OPENERS: &[&[u8]] = &[b"keepass", b"crypt", b"zfs ", b"vault", b"passw", b"unlock"];
    let text = value_end.since(value.place());
    let command = context(end, 120);
    let is_opener = || OPENERS.iter().any(|word| memmem::find(command, word).is_some());
    let is_clear =
        is_clear_token(text) || (is_clear_password(text) || is_coined(text)) && is_opener();
    // `base64 -d <<< x`
    let is_encoded = || memmem::find(context(end, 40), b"base64").is_some();
    password(value, value_end).filter(|_| is_clear && !is_encoded())
}

/// Finds the values before and after a word.
pub(crate) fn around(start: Cursor<'_>, end: Cursor<'_>, is_clear: IsClear) -> Vec<Range<usize>> {
    let mut found: Vec<_> = before(start, is_clear).into_iter().collect();
    let line = line(end);
    let last = end.place().saturating_add(line.len());
    let is_in_word =
        |byte: u8| byte.is_ascii_graphic() && !is_quote(byte) && !b"\\=:,;)]}>|".contains(&byte);
    let mut at = end.skip(MAX_AFTER, is_in_word);
    // Each value has a digit.
    while let Some(n) =
        at.window(last.saturating_sub(at.place())).iter().position(u8::is_ascii_digit)
    {
        let (value, value_end) = word_around(at, at.forward(n));
        if value_end.place() <= last && is_clear(value_end.since(value.place())) && !is_other(value)
        {
            found.extend(password(value, value_end));
        }
        at = at
            .forward(n)
            .forward(1)
            .to(value_end.place().max(at.place().saturating_add(n).saturating_add(1)));
    }
    if found.is_empty() && line.len() < MAX_AFTER {
        found.extend(in_next_line(end.forward(line.len()), is_clear));
    }
    found
}

/// Returns a text without the blanks and the backslashes of an escaped line break at its end.
fn without_slashes(text: &[u8]) -> &[u8] {
    let is_end = |byte: &&u8| matches!(**byte, b'\\' | b' ');
    let n = text.iter().rev().take_while(is_end).count();
    text.get(..text.len().saturating_sub(n)).unwrap_or_default()
}

/// Returns whether a text has a word of at least 8 bytes with two letters and a digit, as all values are.
fn has_mix(text: &[u8]) -> bool {
    /// Minimum length of a value.
    const MIN_VALUE: usize = 8;
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || is_quote(*byte) || b"\\,(=".contains(byte);
    text.split(is_end).any(|word| {
        word.len() >= MIN_VALUE
            && word.iter().any(u8::is_ascii_digit)
            && word.iter().filter(|byte| byte.is_ascii_alphabetic()).count() > 1
    })
}

/// Returns whether a word with a digit is before the words that end at a position.
fn has_value_before(start: Cursor<'_>) -> bool {
    let before = start.window_before(MAX_BEFORE);
    let is_between = |byte: &u8| {
        byte.is_ascii_alphabetic() || b" |<-_.\"'`\\()]},:;".contains(byte) || *byte > 127
    };
    let n_between = before.iter().rev().take_while(|byte| is_between(byte)).count();
    let (rest, between) =
        before.split_at_checked(before.len().saturating_sub(n_between)).unwrap_or_default();
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || is_quote(*byte) || b"\\,:".contains(byte);
    // A value may end in letters.
    let n_tail = between.iter().take_while(|byte| !is_end(byte)).count();
    let n_word = rest.iter().rev().take_while(|byte| !is_end(byte)).count();
    between.contains(&b' ') && n_word.saturating_add(n_tail) >= 8
}

/// Returns the rest of the line after a position, at most up to a redacted secret. The format of `printf` may end in a
/// line break.
fn line(end: Cursor<'_>) -> &[u8] {
    let window = end.window(MAX_AFTER);
    let has_bracket = memchr::memchr(b'[', window).is_some();
    let window = if has_bracket { until_placeholder(window) } else { window };
    let plain = memchr::memchr2(b'\n', b'\r', window).unwrap_or(window.len());
    let window = window.get(..plain).unwrap_or_default();
    // Another member of an object has a name of its own.
    let mut colons = memchr::memchr_iter(b':', window)
        .filter(|n| n.checked_sub(1).and_then(|n| window.get(n)) == Some(&b'"'));
    let own = window.iter().take_while(|byte| b"\\\": ".contains(byte)).count();
    let member = colons.find(|n| *n > own).unwrap_or(window.len());
    let window = window.get(..member).unwrap_or_default();
    let is_end = |n: &usize| {
        let before = window.get(..*n).unwrap_or_default();
        let n_slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        let format = before.get(..before.len().saturating_sub(n_slashes)).unwrap_or_default();
        window.get(n.saturating_add(1)) == Some(&b'n') && !format.ends_with(b"%s")
    };
    let escaped = memchr::memchr_iter(b'\\', window).find(is_end).unwrap_or(window.len());
    window.get(..escaped).unwrap_or_default()
}

/// Returns the start and the end of the word around a digit, without the marks around it.
fn word_around<'b>(first: Cursor<'b>, digit: Cursor<'b>) -> (Cursor<'b>, Cursor<'b>) {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || is_quote(*byte) || *byte == b'\\';
    let before = digit.since(first.place());
    let start = digit.back(before.iter().rev().take_while(|byte| !is_end(byte)).count());
    let quote = start.previous().filter(|byte| is_quote(*byte));
    // The letter of an escaped line break.
    let is_escape = start.previous() == Some(b'\\') && matches!(start.next(), Some(b'n' | b't'));
    let start = start.forward(usize::from(is_escape));
    if quote.is_some() {
        return (start, start.skip(MAX_AFTER, |byte| !is_end(&byte)));
    }
    let start = start.skip(MAX_AFTER, |byte| b"([{<>,;:=|*)]}".contains(&byte));
    // `ada:x`
    let user = start.skip(32, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let joint = user.skip(1, |byte| byte == b':');
    let is_name = user.since(start.place()).iter().any(u8::is_ascii_lowercase);
    let is_user = is_name
        && joint.place() > user.place()
        && joint.next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let start = if is_user { joint } else { start };
    (start, bare_end(start, |_| false))
}

/// Returns the value that is alone in the next line but one at most: `Token created. It is shown once:`, and `x` below it.
fn in_next_line(line_end: Cursor<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    /// The starts of an answer.
    const LABELS: &[&[u8]] = &[b"A: ", b"New value: ", b"Value: ", b"value: "];
    if line_end.rest().starts_with(PLACEHOLDER) {
        return None;
    }
    let line = past_line(line_end)?;
    let line = past_line(line).unwrap_or(line);
    let value = line.skip(16, |byte| is_blank(byte) || is_quote(byte) || b"=>*-".contains(&byte));
    // `What is the password?`, and `Admin: x` in the next line.
    let question = without_slashes(line_end.window_before(12));
    let is_asked = [&b"?"[..], b":", b" is"].iter().any(|end| question.ends_with(end));
    let name = value.skip(16, |byte| byte.is_ascii_alphabetic());
    let name = name.past(b": ").filter(|_| question.ends_with(b"?"));
    let answer = LABELS.iter().find_map(|label| value.past(label)).or(name);
    let value = answer.unwrap_or(value);
    // Most lines have several words.
    let value_end =
        value.skip(MAX_AFTER, |byte| byte.is_ascii_graphic() && !is_quote(byte) && byte != b'\\');
    // A client may close the tag of an output: `x</bash-stdout>`.
    let n_tag = memmem::find(value_end.since(value.place()), b"</");
    let value_end = n_tag.map_or(value_end, |n| value.forward(n));
    let text = value_end.since(value.place());
    // The items of a list of code have commas after them.
    let is_item = matches!(text.last(), Some(b',' | b';'));
    let may_be_clear = text.iter().any(|byte| byte.is_ascii_digit() || *byte == b'-');
    if text.len() < 8 || is_item || !may_be_clear {
        return None;
    }
    let closed = past_closers(value_end).0;
    let is_alone = ends_line(closed) || Quote::open(value_end).is_some();
    let is_fit = is_alone && (is_clear(text) || (is_asked || answer.is_some()) && is_coined(text));
    if is_fit { password(value, value_end) } else { None }
}

/// Returns the value before a word: `Use x as the admin password`.
fn before(start: Cursor<'_>, is_clear: IsClear) -> Option<Range<usize>> {
    if !start.window_before(MAX_BEFORE).iter().any(u8::is_ascii_digit) {
        return None;
    }
    let line = start.window_before(MAX_BEFORE);
    let is_between = |byte: &u8| {
        byte.is_ascii_alphabetic() || is_blank(*byte) || b"|<-(".contains(byte) || *byte > 127
    };
    let n_words = line.iter().rev().take_while(|byte| is_between(byte)).count();
    let words = line.get(line.len().saturating_sub(n_words)..)?;
    let n_words = n_words.saturating_sub(words.iter().position(|byte| is_blank(*byte))?);
    let is_mark = |byte: &u8| is_quote(*byte) || b"\\)]},:;".contains(byte);
    let rest = line.get(..line.len().saturating_sub(n_words))?;
    let n_marks = rest.iter().rev().take_while(|byte| is_mark(byte)).count();
    let rest = rest.get(..rest.len().saturating_sub(n_marks))?;
    let is_in = |byte: &u8| byte.is_ascii_graphic() && !is_quote(*byte) && *byte != b'\\';
    let n_value = rest.iter().rev().take_while(|byte| is_in(byte)).count();
    let end = start.back(n_words).back(n_marks);
    let value = end.back(n_value);
    let is_fit =
        (n_words > 1 || n_marks > 1) && is_clear(end.since(value.place())) && !is_other(value);
    is_fit.then_some(value.place()..end.place())
}

/// Returns whether a value has a name of its own, which is none of a credential: `id=x`, `"sha": "x"`.
fn is_other(value: Cursor<'_>) -> bool {
    /// Names of values that something else names.
    const NAMES: &[&[u8]] =
        &[b"value", b"default", b"val", b"v", b"data", b"content", b"old", b"new"];
    /// Names of things that are as random as a credential.
    const OTHERS: &[&[u8]] = &[
        b"id",
        b"ids",
        b"uuid",
        b"hash",
        b"sha",
        b"commit",
        b"digest",
        b"checksum",
        b"fingerprint",
        b"trace",
        b"span",
        b"request",
        b"version",
        b"etag",
        b"nonce",
        b"path",
        b"file",
        b"url",
        b"uri",
        b"ref",
        b"branch",
        b"image",
        b"arn",
        b"signature",
        b"integrity",
        b"error",
        b"code",
    ];
    let before = value.window_before(40);
    let is_mark = |byte: &u8| is_quote(*byte) || matches!(byte, b'\\' | b' ');
    let n_marks = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let before = before.get(..before.len().saturating_sub(n_marks)).unwrap_or_default();
    let (name, has_colon) = match before {
        [name @ .., b'='] => (name, false),
        [name @ .., b':'] => (name, true),
        _ => return false,
    };
    let name = name.trim_ascii_end();
    let name = name
        .rsplit(|byte| !byte.is_ascii_alphabetic())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // `for ada: x`
    let marks = value.window_before(n_marks);
    let is_said = has_colon && marks.iter().all(|byte| *byte == b' ') && !before.ends_with(b"::");
    let is_said = is_said && !OTHERS.contains(&&*name);
    !is_said && !NAMES.contains(&&*name)
}
