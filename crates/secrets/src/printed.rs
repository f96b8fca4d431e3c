//! Finds secrets that a command prints in the line after it.
//!
//! In: `$ terraform output -raw admin_password`, and `x` in the next line. Out: the range of `x`.

use std::ops::Range;

use jsonl::decode_base64;
use memchr::memmem;

use crate::{
    around::{context, until_placeholder},
    class::BASE64,
    command_line::password,
    cursor::Cursor,
    margin::past_line,
    piped::{echoed, is_named, is_password},
    span::{Quote, bare_end, ends_line, past_break, past_colors},
    value::{is_scrambled, is_strong, is_uuid},
    worded::is_invented,
};

/// Limit in bytes for the parts of a command before and after its prefix.
const MAX_COMMAND: usize = 200;

/// Finds the output of a command that prints only secrets: `heroku auth:token`.
pub(crate) fn always(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (_, value, value_end) = line(end)?;
    let text = value_end.since(value.place());
    let is_token = is_uuid(text) || is_strong(text) || is_invented(text) || is_scrambled(text);
    let found = password(value, value_end).filter(|_| is_token);
    found.or_else(|| is_uuid(text).then(|| value.place()..value_end.place()))
}

/// Finds the output of a command with the name of a secret: `pulumi config get dbPassword`.
pub(crate) fn named(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (rest, value, value_end) = line(end)?;
    let before = context(start, MAX_COMMAND);
    let is_secret = is_named(rest) || is_named(before);
    let text = value_end.since(value.place());
    let is_long = text.len() >= 8 && !text.contains(&b'/');
    let is_fit = || is_strong(text) || is_long && (is_password(rest) || is_password(before));
    password(value, value_end).filter(|_| is_secret && is_fit())
}

/// Finds the output of `base64 -d`, and its input: `echo x | base64 -d`.
pub(crate) fn decoded(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let written = || {
        let before = context(start, MAX_COMMAND);
        let line = start.back(before.len());
        let pipe = memchr::memrchr(b'|', before).map(|n| line.forward(n))?;
        let (value, value_end) = echoed(line, pipe)?;
        let text = value_end.since(value.place());
        let is_base64 = text.len() >= 12 && text.iter().all(|byte| BASE64.has(*byte));
        let mut decoded = Vec::new();
        decode_base64(text, &mut decoded);
        let decoded = decoded.trim_ascii_end();
        let is_text = decoded.iter().all(u8::is_ascii_graphic);
        let is_secret = is_base64 && is_text && (is_strong(decoded) || is_invented(decoded));
        is_secret.then(|| value.place()..value_end.place())
    };
    let printed = named(start, end).or_else(|| {
        let (_, value, value_end) = line(end)?;
        let text = value_end.since(value.place());
        password(value, value_end).filter(|_| is_strong(text) || is_invented(text))
    });
    written().into_iter().chain(printed).collect()
}

/// Finds the result that an interpreter prints for an expression with the name of a secret: `>>> settings.SECRET_KEY`, and
/// `'x'` in the next line.
pub(crate) fn evaluated(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (rest, value, value_end) = line(end)?;
    let line = context(start, MAX_COMMAND).len();
    let expression = end.forward(rest.len()).since(start.place().saturating_sub(line));
    result_of(expression, value, value_end)
}

/// Finds the result after an arrow at the start of a line: `=> "x"`, below an expression with the name of a secret.
pub(crate) fn result(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let slash = start.back(usize::from(start.next() == Some(b'n')));
    // `##[debug]=> `
    let is_line = matches!(start.next(), Some(b'\n' | b']')) || slash.next() == Some(b'\\');
    let (quote, value) = Quote::open(end).filter(|_| is_line)?;
    let value_end = quote.close(value)?;
    let margin = context(start, MAX_COMMAND).len();
    let above = start.back(if start.next() == Some(b']') { margin } else { 0 });
    let above = above.back(usize::from(above.place() < start.place()));
    let above = above.back(usize::from(matches!(above.next(), Some(b'n'))));
    let line = without_slashes(context(above, MAX_COMMAND));
    result_of(line, value, value_end)
}

/// Finds the result of a decryption in the lines after it: `Secret.decrypt("..")`, `Result: x`.
pub(crate) fn decrypted(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const SIGNS: &[&[u8]] = &[b"Result: ", b"=> ", b"result: ", b"===> "];
    /// Bytes of the call.
    const MAX_CALL: usize = 600;
    let text = until_placeholder(end.window(MAX_CALL));
    let mut signs = memchr::memchr2_iter(b'\n', b'\\', text);
    let start = signs.find_map(|n| past_line(end.forward(n)))?;
    let start = SIGNS.iter().find_map(|sign| start.past(sign)).unwrap_or(start);
    let value = Quote::open(start).map_or(start, |(_, value)| value);
    let value_end = bare_end(value, |_| false);
    password(value, value_end).filter(|_| ends_line(value_end))
}

/// Returns the range of the value of an expression, if the last name of the expression is that of a secret.
fn result_of(expression: &[u8], value: Cursor<'_>, value_end: Cursor<'_>) -> Option<Range<usize>> {
    /// Parts of expressions and ends of names whose values are no secrets.
    const OTHERS: &[&[u8]] = &[
        b"digest", b"sha", b"md5", b"hash", b"len(", b"type(", b"public", b"print(", b"keys",
        b"_id", b"_name", b"_url", b"_type", b"_at", b"count", b"split", b"tokens", b"version",
    ];
    let text = value_end.since(value.place());
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let n_closing = expression.iter().rev().take_while(|byte| !is_in(byte)).count();
    let name = expression.get(..expression.len().saturating_sub(n_closing))?;
    let n_name = name.iter().rev().take_while(|byte| is_in(byte)).count();
    let name = name.get(name.len().saturating_sub(n_name)..)?;
    let lower = name.to_ascii_lowercase();
    let is_other = n_closing > 8
        || OTHERS.iter().any(|other| memmem::find(&lower, other).is_some())
        || OTHERS.iter().any(|other| memmem::find(expression, other).is_some());
    let is_fit = is_strong(text) || is_password(name) && text.len() >= 8 && !text.contains(&b'/');
    password(value, value_end).filter(|_| is_named(name) && !is_other && is_fit)
}

/// Returns a text without the backslashes at its end.
fn without_slashes(text: &[u8]) -> &[u8] {
    let n = text.iter().rev().take_while(|byte| **byte == b'\\').count();
    text.get(..text.len().saturating_sub(n)).unwrap_or_default()
}

/// Returns the rest of a command, and the start and the end of the only word in the line after it.
fn line(end: Cursor<'_>) -> Option<(&[u8], Cursor<'_>, Cursor<'_>)> {
    /// Commands that read the output instead of the terminal.
    const READERS: &[&[u8]] = &[b"login", b"pbcopy", b"xclip", b"wc ", b"sum", b"tee "];
    let text = until_placeholder(end.window(MAX_COMMAND));
    let mut signs = memchr::memchr2_iter(b'\n', b'\\', text);
    let n_line = signs.find(|n| past_break(end.forward(*n)).is_some())?;
    let rest = text.get(..n_line)?;
    let is_read = READERS.iter().any(|reader| memmem::find(rest, reader).is_some());
    // `2>/dev/null` hides the errors only, and `p->key` is a member.
    let mut arrows = memchr::memchr_iter(b'>', rest);
    let is_stored =
        arrows.any(|n| n == 0 || !matches!(rest.get(n.saturating_sub(1)), Some(b'2' | b'-')));
    let start = past_line(end.forward(n_line)).filter(|_| !is_read && !is_stored)?;
    let start = past_result(past_colors(start));
    let value = Quote::open(start).map_or(start, |(_, value)| value);
    let value_end = bare_end(value, |_| false);
    ends_line(value_end).then_some((rest, value, value_end))
}

/// Moves past the mark that an interpreter or a debugger writes before a result: `=> `, `Out[3]: `, `$1 ==> `,
/// `$1 = 0x5581 `.
fn past_result(at: Cursor<'_>) -> Cursor<'_> {
    // LLDB prints the type first.
    let at = at.past(b"(const char *) ").or_else(|| at.past(b"(char *) ")).unwrap_or(at);
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let numbered = at.past(b"Out[").map(|at| at.skip(6, is_digit)).and_then(|at| at.past(b"]: "));
    let variable = || {
        let sign = at.past(b"$").map(|at| at.skip(4, is_digit))?;
        let value = sign.past(b" ==> ").or_else(|| sign.past(b" = "))?;
        let address = value.past(b"0x").map(|at| at.skip(16, |byte| byte.is_ascii_hexdigit()));
        Some(address.and_then(|at| at.past(b" ")).unwrap_or(value))
    };
    numbered.or_else(variable).or_else(|| at.past(b"=> ")).unwrap_or(at)
}
