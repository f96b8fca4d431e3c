//! Finds passwords and keys in sentences that name them elsewhere than right before them.
//!
//! In: `user mona / x`, `the webhook secret is new, it's x`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder},
    command_line::{password, value_of},
    cursor::Cursor,
    piped::is_password,
    span::{Quote, is_quote, past_blanks, string_or_word},
    value::{Form, Kind, is_scrambled, is_strong, is_uuid},
    worded::{is_coined, is_invented, is_phrase, is_word_and_digits, is_word_list},
};

/// Finds the password after a user and a slash: `user mona / x`. `start..end` is the slash between blanks.
pub(crate) fn slashed(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const USERS: &[&[u8]] = &[
        b"user",
        b"username",
        b"login",
        b"admin",
        b"email",
        b"creds",
        b"credentials",
        b"as",
        b"with",
        b"created",
        b"zugang",
        b"zugangsdaten",
        b"anmeldedaten",
        b"access",
    ];
    /// Limit for the words between `creds` and a colon.
    const MAX_WORDS: usize = 5;
    /// Words after `user` that are no names.
    const OTHERS: &[&[u8]] = &[
        b"settings",
        b"guide",
        b"manual",
        b"profile",
        b"interface",
        b"input",
        b"story",
        b"stories",
        b"data",
        b"id",
        b"name",
        b"role",
        b"roles",
        b"group",
        b"groups",
        b"page",
        b"agent",
        b"panel",
        b"experience",
        b"type",
        b"types",
        b"and",
        b"or",
        b"screen",
        b"form",
        b"flow",
        b"section",
    ];
    let (value, value_end) = string_or_word(past_blanks(end, 2))?;
    let found = password(value, value_end)?;
    let before = context(start, 120);
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(byte);
    let is_mark = |byte: &u8| is_quote(*byte) || *byte == b'\\';
    let n_closing = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let text = before.get(..before.len().saturating_sub(n_closing))?;
    let n_user = text.iter().rev().take_while(|byte| is_in(byte)).count();
    let (text, user) = text.split_at_checked(text.len().saturating_sub(n_user))?;
    let n_opening = text.iter().rev().take_while(|byte| is_mark(byte)).count();
    let text = text.get(..text.len().saturating_sub(n_opening))?.trim_ascii_end();
    let signed = text.strip_suffix(b":").or_else(|| text.strip_suffix(b"="));
    // `creds for db1: ada / x`
    let n_words = if signed.is_some() { MAX_WORDS } else { 1 };
    let mut words = signed.unwrap_or(text).rsplit(|byte| !byte.is_ascii_alphabetic()).take(n_words);
    let is_user = words.any(|word| USERS.iter().any(|user| word.eq_ignore_ascii_case(user)));
    let value = value_end.since(value.place());
    let is_clear = is_strong(value) || is_word_list(value, 0) || is_invented(value);
    let is_name = user.first().is_some_and(u8::is_ascii_alphabetic)
        && !OTHERS.iter().any(|other| user.eq_ignore_ascii_case(other));
    let is_admin =
        is_clear && [&b"admin"[..], b"root"].iter().any(|name| user.eq_ignore_ascii_case(name));
    ((is_user || is_admin)
        && is_name
        && (is_clear || is_word_and_digits(value) || is_coined(value)))
    .then_some(found)
}

/// Finds the password after the name of a user and a mark: `avnadmin : x`, `doadmin / x`.
pub(crate) fn of_user(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const JOINTS: &[&[u8]] = &[b" : ", b": ", b":", b" / ", b"/", b" | ", b", ", b" - ", b" "];
    let closed = past_closers(end).0;
    let (value, value_end) =
        string_or_word(past_blanks(JOINTS.iter().find_map(|joint| closed.past(joint))?, 2))?;
    let text = value_end.since(value.place());
    let is_clear = is_strong(text) || is_word_list(text, 0) || is_invented(text);
    let is_clear = is_clear || is_scrambled(text);
    password(value, value_end).filter(|_| is_clear && !text.contains(&b'@'))
}

/// Finds the quoted words that open something: `unlock the vault with "x"`.
pub(crate) fn unlocked(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const WITH: &[u8] = b" with ";
    let n = memmem::find(until_placeholder(end.window(48)), WITH)?;
    let (quote, value) = Quote::open(end.forward(n).forward(WITH.len()))?;
    let value_end = quote.close(value)?;
    let text = value_end.since(value.place());
    value_of(Kind::Passphrase, Form::Quoted, value, value_end).filter(|_| is_phrase(text, 3))
}

/// Finds the key after `signed with`, if the sentence is about requests: `webhooks are signed with x`.
pub(crate) fn signed(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const SENDERS: &[&[u8]] =
        &[b"webhook", b"payload", b"request", b"event", b"jwt", b"token", b"cookie"];
    const OTHERS: &[&[u8]] = &[b"commit", b"tag ", b"gpg", b"fingerprint", b"public"];
    let (value, value_end) = string_or_word(past_blanks(end, 2))?;
    let text = value_end.since(value.place());
    let is_key = text.len() >= 20 && is_strong(text) && !text.contains(&b'/');
    let found = password(value, value_end).filter(|_| is_key)?;
    let before = context(start, 120).to_ascii_lowercase();
    let has = |words: &[&[u8]]| words.iter().any(|word| memmem::find(&before, word).is_some());
    (has(SENDERS) && !has(OTHERS)).then_some(found)
}

/// Finds the value of something that the sentence names before: `the webhook secret is new, it's x`.
pub(crate) fn referred(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Words that say that the value is no secret.
    const OTHERS: &[&[u8]] = &[
        b"commit",
        b"digest",
        b"hash",
        b"checksum",
        b"sha256",
        b"sha1",
        b"revision",
        b"build",
        b"public",
        b"fingerprint",
        b" id ",
    ];
    const NAMES: &[&[u8]] =
        &[b"secret", b"api key", b"apikey", b"api_key", b"token", b"private key", b"license key"];
    let (value, value_end) =
        string_or_word(past_blanks(end.skip(2, |byte| byte == b':' || byte == b' '), 2))?;
    let text = value_end.since(value.place());
    let is_clear = is_strong(text) || is_word_list(text, 0) || is_invented(text);
    if !is_clear && !is_coined(text) || is_uuid(text) || text.contains(&b'/') {
        return None;
    }
    let before = context(start, 160).to_ascii_lowercase();
    let has = |words: &[&[u8]]| words.iter().any(|word| memmem::find(&before, word).is_some());
    let is_key = text.len() >= 20 && has(NAMES) && !has(OTHERS);
    let is_word = is_password(&before) && has(&[b"password", b"passphrase", b"passcode", b"pwd"]);
    password(value, value_end).filter(|_| is_key || is_word && !has(OTHERS))
}
