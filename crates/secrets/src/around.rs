//! Finds the text around a place: the line before it, and the marks that close a name.
//!
//! In: `"a": [REDACTED:password] token = x`, and the place of `x`. Out: ` token = `.

use memchr::memmem;

use crate::{
    class::WORD,
    cursor::Cursor,
    placeholder::{LONGEST, PLACEHOLDER},
};

/// Returns at most `max` bytes before a position in its line, back to the last redacted secret. So
/// a second run finds no more than the first.
pub(crate) fn context(place: Cursor<'_>, max: usize) -> &[u8] {
    // A placeholder may begin before the window.
    let wide = without_placeholders(place.window_before(max.saturating_add(LONGEST)));
    let before = wide.get(wide.len().saturating_sub(max)..).unwrap_or_default();
    last_line(before)
}

/// Returns at most `max` bytes before a position in its command, back to the last redacted secret. A backslash at the end
/// of a line continues the command in the next line.
pub(crate) fn command(place: Cursor<'_>, max: usize) -> &[u8] {
    /// Limit for the lines of a command.
    const MAX_LINES: usize = 8;
    let wide = without_placeholders(place.window_before(max.saturating_add(LONGEST)));
    let before = wide.get(wide.len().saturating_sub(max)..).unwrap_or_default();
    let mut length = last_line(before).len();
    for _ in 0..MAX_LINES {
        let head = before.get(..before.len().saturating_sub(length)).unwrap_or_default();
        let Some(line) = continued(head) else { break };
        length = before.len().saturating_sub(line.len()).saturating_add(last_line(line).len());
    }
    before.get(before.len().saturating_sub(length)..).unwrap_or_default()
}

/// Returns a text without the backslash and the line break at its end, if the backslash continues the line.
fn continued(text: &[u8]) -> Option<&[u8]> {
    if let Some(line) = text.strip_suffix(b"\n") {
        return line.strip_suffix(b"\\");
    }
    let line = text.strip_suffix(b"n")?;
    let n_slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    // In JSON, the backslash has two bytes where the line break has one before its letter.
    let is_continued = n_slashes > 0 && n_slashes.is_multiple_of(3);
    line.get(..line.len().saturating_sub(n_slashes)).filter(|_| is_continued)
}

/// Returns the bytes after the last line break, plain or escaped.
pub(crate) fn last_line(before: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at.saturating_add(1));
    let line = before.get(start..).unwrap_or_default();
    let is_break = |at: &usize| line.get(at.saturating_add(1)) == Some(&b'n');
    let escape = memchr::memrchr_iter(b'\\', line).find(is_break);
    line.get(escape.map_or(0, |at| at.saturating_add(2))..).unwrap_or_default()
}

/// Returns the bytes after the last placeholder of a redacted secret.
pub(crate) fn without_placeholders(before: &[u8]) -> &[u8] {
    let Some(start) = memmem::rfind(before, PLACEHOLDER) else { return before };
    let rest = before.get(start.saturating_add(PLACEHOLDER.len())..).unwrap_or_default();
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name = rest.iter().take_while(|byte| is_in(byte)).count();
    let rest = rest.get(name..).and_then(|rest| rest.strip_prefix(b"]")).unwrap_or(rest);
    // The rest of a word whose start was redacted is not a word.
    let word = rest.iter().take_while(|byte| WORD.has(**byte)).count();
    rest.get(word..).unwrap_or_default()
}

/// Returns the bytes before the first placeholder of a redacted secret.
pub(crate) fn until_placeholder(after: &[u8]) -> &[u8] {
    memmem::find(after, PLACEHOLDER).and_then(|end| after.get(..end)).unwrap_or(after)
}

/// Returns the position after the closing marks of a name, `"`, `']`, `**`, and whether the name
/// was in quotes.
pub(crate) fn past_closers(mut at: Cursor<'_>) -> (Cursor<'_>, bool) {
    /// The most closing marks are in `**"name"]):`.
    const MAX_CLOSERS: usize = 4;
    let mut has_quote = false;
    for _ in 0..MAX_CLOSERS {
        let slashes = at.skip(63, |byte| byte == b'\\');
        at = match slashes.next() {
            Some(b'"' | b'\'' | b'`') => {
                has_quote = true;
                slashes.forward(1)
            }
            Some(b']' | b')') if has_quote => at.forward(1),
            Some(b'*') if at.place() == slashes.place() => at.forward(1),
            _ => break,
        };
    }
    (at, has_quote)
}
