//! Finds the secret part of the URL of a webhook, also with escaped slashes.
//!
//! In: `hooks.zapier.com/hooks/catch/3864779/x/`, `https:\/\/discord.com\/api\/webhooks\/12…\/x`. Out: the range of
//! `x`. The URL alone is enough to send messages or to start jobs.

use std::ops::Range;

use crate::{
    class::{BASE64_URL, LETTERS},
    cursor::Cursor,
    placeholder::{PLACEHOLDER, is_example, is_template},
    randomness::Makeup,
    value::is_uuid,
};

/// Limit for the parts of a path.
const MAX_PARTS: usize = 12;

/// Limit in bytes for a part of a path.
const MAX_PART: usize = 200;

/// Finds the URL of a webhook of Slack, from its host on.
pub(crate) fn slack(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    path(start, end).map(|found| start.place()..found.end)
}

/// Finds the random parts of the path after a host: `hook.eu1.make.com/x`.
pub(crate) fn path(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let port = end.past(b":").map(|port| port.skip(5, |byte| byte.is_ascii_digit()));
    let mut at = port.unwrap_or(end);
    // `teams://uuid@uuid/hex/uuid`
    let mut first = (end.previous() == Some(b'/')).then_some(end);
    for _ in 0..MAX_PARTS {
        let part = first.take().or_else(|| past_slash(at))?;
        let part_end = part_end(part);
        if is_key(part_end.since(part.place())) {
            let last = last_key(part_end);
            return (!is_cut(last)).then(|| part.place()..last.place());
        }
        at = part_end;
    }
    None
}

/// Finds the token after `webhooks/`, the number of a webhook, and a slash.
pub(crate) fn discord(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a token.
    const MIN_TOKEN: usize = 60;
    let is_scheme = end.previous() == Some(b'/');
    if is_scheme && !end.next().is_some_and(|byte| byte.is_ascii_digit()) {
        // `discord://token@id`
        let token_end = end.skip(MAX_PART, |byte| BASE64_URL.has(byte));
        let text = token_end.since(end.place());
        let is_token = text.len() >= MIN_TOKEN && is_key(text) && token_end.next() == Some(b'@');
        return is_token.then(|| end.place()..token_end.place());
    }
    let id = if is_scheme { end } else { past_slash(end)? };
    let id_end = id.skip(22, |byte| byte.is_ascii_digit());
    let token = past_slash(id_end).filter(|_| id_end.since(id.place()).len() >= 15)?;
    let token_end = part_end(token);
    let text = token_end.since(token.place());
    let is_token = text.len() >= MIN_TOKEN && is_key(text) && !is_cut(token_end);
    is_token.then(|| token.place()..token_end.place())
}

/// Finds the part after the number of an account: `hooks.zapier.com/hooks/catch/3864779/x/`.
pub(crate) fn zapier(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let mut at = end;
    for _ in 0..4 {
        let part = past_slash(at)?;
        at = part_end(part);
        let text = at.since(part.place());
        if text.len() < 4 || !text.iter().all(u8::is_ascii_digit) {
            continue;
        }
        let key = past_slash(at)?;
        let key_end = part_end(key);
        let text = key_end.since(key.place());
        let is_key = text.len() >= 5 && is_short_key(text) && !is_cut(key_end);
        return is_key.then(|| key.place()..key_end.place());
    }
    None
}

/// Finds the short key of a URL that deploys: `/deploy/srv-corc3e?key=x`.
pub(crate) fn render(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let id = end.skip(64, |byte| LETTERS.has(byte));
    let key = id.past(b"?key=").or_else(|| id.past(b"%3Fkey%3D"))?;
    let key_end = part_end(key);
    let text = key_end.since(key.place());
    let is_key = text.len() >= 8 && is_short_key(text) && !is_cut(key_end);
    is_key.then(|| key.place()..key_end.place())
}

/// Finds the key of Mattermost or Rocket.Chat after `/hooks/`: 24 or 26 letters, and maybe 48 more.
pub(crate) fn chat(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let key_end = end.skip(32, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let text = key_end.since(end.place());
    let is_over = key_end.next().is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'-');
    let is_key = matches!(text.len(), 24 | 26) && is_over && is_key(text);
    let last = last_key(key_end);
    (is_key && !is_cut(last)).then(|| end.place()..last.place())
}

/// Moves past a slash, plain, escaped, or as URLs encode it.
fn past_slash(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let slash = at.skip(63, |byte| byte == b'\\').past(b"/");
    slash.or_else(|| at.past(b"%2F")).or_else(|| at.past(b"%2f"))
}

/// Returns the end of a part of a path, without the full stop of a sentence.
fn part_end(at: Cursor<'_>) -> Cursor<'_> {
    let end = at.skip(MAX_PART, |byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte));
    end.back(usize::from(end.previous() == Some(b'.') && end.place() > at.place()))
}

/// Returns the end of the last of the random parts that follow each other.
fn last_key(mut end: Cursor<'_>) -> Cursor<'_> {
    for _ in 0..MAX_PARTS {
        let Some(part) = past_slash(end) else { break };
        let next = part_end(part);
        if !is_key(next.since(part.place())) {
            break;
        }
        end = next;
    }
    end
}

/// Returns whether a part of a path is random.
fn is_key(text: &[u8]) -> bool {
    /// Minimum length of a random part. Teams and channels of Slack have up to 13 letters.
    const MIN_KEY: usize = 16;
    let makeup = Makeup::of(text);
    let is_mixed = makeup.n_digits > 1 || makeup.n_upper > 3 && makeup.n_lower > 3;
    let is_random = makeup.is_random() && is_mixed && makeup.n_letters() > 3;
    text.len() >= MIN_KEY && (is_random || is_uuid(text)) && !is_example(text)
}

/// Returns whether a part of a path has a digit or is random, and is no example.
fn is_short_key(text: &[u8]) -> bool {
    let makeup = Makeup::of(text);
    (makeup.n_digits > 0 || makeup.is_random()) && makeup.n_letters() > 1 && !is_template(text)
}

/// Returns whether a placeholder follows: the rest of the path was redacted.
fn is_cut(at: Cursor<'_>) -> bool {
    at.rest().starts_with(PLACEHOLDER)
}
