//! Finds values that an attribute beside them marks as secret, as Terraform and the tools of clouds write them.
//!
//! In: `"type": "random_password", … "result": "x"`, `type = "SecureString"`, `value = "x"`, `~ password = "a" -> "x"`.
//! Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder, without_placeholders},
    command_line::password,
    cursor::Cursor,
    piped::{is_named, is_password},
    span::{self, Quote, past_blanks, string_or_word},
    value::{Form, Kind, is_strong},
};

/// Limit in bytes for a tag.
const MAX_TAG: usize = 300;

/// Finds the results of random passwords after a type and before it. Both are returned, so that a second run finds no other
/// one.
pub(crate) fn results(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes after the type that are searched for the result.
    const MAX_RESOURCE: usize = 1500;
    let text = until_placeholder(end.window(MAX_RESOURCE));
    let found = memmem::find_iter(text, b"result").take(4);
    let after = found.map(|n| end.forward(n)).find_map(|name| assigned(name, b"result"));
    result_before(start, end).into_iter().chain(after).collect()
}

/// Finds the result of a random password before the attribute `special`, which follows it.
pub(crate) fn result_before(start: Cursor<'_>, _: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes before the attribute that are searched for the result.
    const MAX_BEFORE: usize = 240;
    let before = without_placeholders(start.window_before(MAX_BEFORE));
    let name = start.back(before.len()).forward(memmem::rfind(before, b"result")?);
    assigned(name, b"result").filter(|found| found.end < start.place())
}

/// Finds the value beside `type = "SecureString"`.
pub(crate) fn secure(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes around the type that are searched for the value.
    const MAX_AROUND: usize = 200;
    let text = until_placeholder(end.window(MAX_AROUND)).split(|byte| *byte == b'}').next()?;
    let after = memmem::find(text, b"alue").map(|n| end.forward(n));
    let found = after.and_then(|name| assigned(name, b"alue").or_else(|| option(name)));
    found.or_else(|| {
        let before = without_placeholders(start.window_before(MAX_AROUND));
        let text = before.rsplit(|byte| *byte == b'{').next()?;
        let name = start.back(text.len()).forward(memmem::rfind(text, b"alue")?);
        let found = assigned(name, b"alue").or_else(|| option(name))?;
        (found.end < start.place()).then_some(found)
    })
}

/// Finds the value of a field for a password, after its type or before it: `<input type="password" value="x">`.
pub(crate) fn field(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let before = without_placeholders(start.window_before(MAX_TAG));
    let tag = before
        .rsplit(|byte| *byte == b'<')
        .next()
        .filter(|tag| tag.starts_with(b"input ") && tag.ends_with(b"typ"))?;
    let earlier = || {
        let name = start.back(tag.len()).forward(memmem::rfind(tag, b"value")?);
        assigned(name, b"value").filter(|found| found.end < start.place())
    };
    value(start, end).or_else(earlier)
}

/// Finds the first value in the rest of a tag, or in the next one: `<add key="https://x.dev" value="x" />`.
pub(crate) fn value(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let text = until_placeholder(end.window(MAX_TAG)).split(|byte| *byte == b'>').next()?;
    assigned(end.forward(memmem::find(text, b" value=")?).forward(1), b"value")
}

/// Finds the value in a block for a secret: `resource "azurerm_key_vault_secret" "db" {`, `value = "x"`.
pub(crate) fn block(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes of a block that are searched for the value.
    const MAX_BLOCK: usize = 600;
    let slash = end.skip(63, |byte| byte == b'\\');
    let (quote, label) = Quote::open(past_blanks(past_closers(slash.back(1)).0, 4))?;
    let label_end = quote.close(label).filter(|end| end.since(label.place()).len() < 80)?;
    let body = past_blanks(past_closers(label_end).0, 4).past(b"{")?;
    let text = until_placeholder(body.window(MAX_BLOCK)).split(|byte| *byte == b'}').next()?;
    let found = memmem::find_iter(text, b"value").take(4);
    found.map(|n| body.forward(n)).find_map(|name| assigned(name, b"value"))
}

/// Finds the new value of an attribute with the name of a secret: `~ password = "a" -> "x"`.
pub(crate) fn changed(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Ends of names of other things than secrets.
    const OTHERS: &[&[u8]] =
        &[b"_name", b"_id", b"_arn", b"_ttl", b"_url", b"_path", b"_type", b"_version", b"_hash"];
    let (quote, value) = Quote::open(end.back(1))?;
    let value_end = quote.close(value)?;
    let line = context(start, 200);
    let name = line.split(|byte| *byte == b'=').next().filter(|name| name.len() < line.len())?;
    let name = name.trim_ascii_end();
    let text = value_end.since(value.place());
    let is_other = OTHERS.iter().any(|other| name.ends_with(other));
    let is_secret = is_password(name) || is_named(name) && is_strong(text);
    let found = Kind::Password.secret_in(text, Form::Quoted);
    found.filter(|_| is_secret && !is_other).map(|_| value.place()..value_end.place())
}

/// Returns the range of the string that a name has, if it is a secret.
fn assigned(name: Cursor<'_>, text: &[u8]) -> Option<Range<usize>> {
    let (quote, value) = span::assigned(name.past(text)?)?;
    password(value, quote.close(value)?)
}

/// Returns the range of the value of an option: `--value x`.
fn option(name: Cursor<'_>) -> Option<Range<usize>> {
    let is_option = name.window_before(3) == b"--v" || name.window_before(2) == b"-V";
    let blank = name.past(b"alue")?;
    let at = past_blanks(blank.past(b"=").unwrap_or(blank), 8);
    let (value, value_end) = string_or_word(at).filter(|_| is_option)?;
    password(value, value_end)
}
