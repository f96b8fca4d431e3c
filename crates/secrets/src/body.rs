//! Finds the base64 lines of a key whose first line is missing, and of files in base64.
//!
//! In: `MIIEpAIBAAKC…`, or the lines after `cat id_rsa`. Out: the range of all lines.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::context, class::BASE64, cursor::Cursor, margin::past_line, pieces::past_seam,
    placeholder::PLACEHOLDER, randomness::Makeup, span::Quote,
};

/// Limit of the lines of a key.
const MAX_LINES: usize = 256;

/// Limit in bytes for a line.
const MAX_LINE: usize = 8192;

/// Finds the lines of a key or of a file that starts with the prefix.
pub(crate) fn lines(start: Cursor<'_>, _: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum number of letters of the first line.
    const MIN_LINE: usize = 40;
    let is_start = start.previous().is_none_or(|byte| {
        !BASE64.has(byte)
            || byte == b'='
            || matches!(start.window_before(2), [b'\\', b'n' | b'r' | b't'])
    });
    let end = all(start).filter(|_| is_start)?;
    let first = BASE64.run(start.rest(), MAX_LINE);
    (first >= MIN_LINE).then(|| start.place()..end.place())
}

/// Finds the lines that a command prints of a file with a key: `tail -n +3 id_rsa`.
pub(crate) fn printed(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const COMMANDS: &[&[u8]] = &[b"cat ", b"tail ", b"head ", b"sed ", b"less ", b"awk ", b"grep "];
    /// Minimum number of letters of a line.
    const MIN_LINE: usize = 48;
    let before = context(start, 120);
    let is_printed = COMMANDS.iter().any(|name| memmem::find(before, name).is_some());
    let name = end.skip(24, |byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'"');
    let is_public = name.since(end.place()).starts_with(b".pub");
    let line = past_line(name).filter(|_| is_printed && !is_public)?;
    let length = BASE64.run(line.rest(), MAX_LINE);
    let is_key = length >= MIN_LINE && Makeup::of(line.window(length)).is_random();
    let last = all(line).filter(|_| is_key)?;
    Some(line.place()..last.place())
}

/// Returns the end of the lines of base64 from a position on. A line that is shorter than the others is the last one.
fn all(start: Cursor<'_>) -> Option<Cursor<'_>> {
    let width = BASE64.run(start.rest(), MAX_LINE);
    let mut end = start.forward(width);
    for _ in 0..MAX_LINES {
        let Some((line, _)) = past_seam(end) else { break };
        let length = BASE64.run(line.rest(), MAX_LINE);
        let after = line.forward(length);
        let is_over = after.next().is_none_or(|byte| {
            !byte.is_ascii_alphanumeric()
                && !matches!(byte, b'-' | b'_' | b'.' | b':')
                && (byte != b' ' || length == width)
        });
        let is_line = length == width || length > 15 && length < width;
        // The last line of a key may have few letters.
        let is_last = length > 0
            && length < width
            && (after.previous() == Some(b'=')
                || after.next().is_none()
                || Quote::open(after).is_some());
        if !is_over || !(is_line || is_last) {
            break;
        }
        end = after;
        if length < width {
            break;
        }
    }
    let is_cut = end.rest().starts_with(PLACEHOLDER);
    (!is_cut).then_some(end)
}
