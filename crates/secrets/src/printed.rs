//! Finds secrets that a command prints in the line after it.
//!
//! In: `$ terraform output -raw admin_password`, and `x` in the next line. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, until_placeholder},
    base64::decode,
    class::BASE64,
    command_line::password,
    cursor::Cursor,
    piped::{echoed, is_named, is_password},
    span::{Quote, bare_end, past_break, past_colors},
    value::{is_invented, is_strong, is_uuid},
};

/// Limit in bytes for the parts of a command before and after its prefix.
const MAX_COMMAND: usize = 200;

/// Finds the output of a command that prints only secrets: `heroku auth:token`.
pub(crate) fn always(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (_, value, value_end) = line(end)?;
    let text = value_end.since(value.place());
    let is_token = is_uuid(text) || is_strong(text) || is_invented(text);
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
        decode(text, &mut decoded);
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

/// Returns the rest of a command, and the start and the end of the only word in the line after it.
fn line(end: Cursor<'_>) -> Option<(&[u8], Cursor<'_>, Cursor<'_>)> {
    /// Commands that read the output instead of the terminal.
    const READERS: &[&[u8]] = &[b"login", b"pbcopy", b"xclip", b"wc ", b"sum", b"tee "];
    let text = until_placeholder(end.window(MAX_COMMAND));
    let mut signs = memchr::memchr2_iter(b'\n', b'\\', text);
    let n_line = signs.find(|n| past_break(end.forward(*n)).is_some())?;
    let rest = text.get(..n_line)?;
    let is_read = READERS.iter().any(|reader| memmem::find(rest, reader).is_some());
    // `2>/dev/null` hides the errors only.
    let mut arrows = memchr::memchr_iter(b'>', rest);
    let is_stored = arrows.any(|n| n == 0 || rest.get(n.saturating_sub(1)) != Some(&b'2'));
    let start = past_break(end.forward(n_line)).filter(|_| !is_read && !is_stored)?;
    let start = past_colors(start);
    let value = Quote::open(start).map_or(start, |(_, value)| value);
    let value_end = bare_end(value, |_| false);
    // A search before decoding sees the quote of JSON.
    let is_alone = value_end.next().is_none()
        || Quote::open(value_end).is_some()
        || past_break(value_end).is_some();
    is_alone.then_some((rest, value, value_end))
}
