//! Finds the end of a value: its closing quote, also in JSON within JSON, or the end of a bare
//! word.
//!
//! In: `\"a b\" c` from `a` on. Out: the end of `b`.

use crate::{around::past_closers, cursor::Cursor, value::MAX_VALUE};

/// A quote that opens a string, and the number of backslashes before it: none in plain text, one in
/// JSON within a string, three in JSON within JSON within a string.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Quote {
    byte: u8,
    n_slashes: usize,
    is_triple: bool,
}

impl Quote {
    /// Reads an opening quote, and returns the position after it.
    pub(crate) fn open(at: Cursor<'_>) -> Option<(Self, Cursor<'_>)> {
        /// Limit of the backslashes: a string within 6 levels of JSON.
        const MAX_SLASHES: usize = 63;
        let quote = at.skip(MAX_SLASHES, |byte| byte == b'\\');
        let n_slashes = quote.since(at.place()).len();
        let byte = quote.next().filter(|byte| is_quote(*byte))?;
        let after = quote.forward(1);
        let quote = Self { byte, n_slashes, is_triple: false };
        Some(match quote.past_two(after) {
            Some(after) => (Self { is_triple: true, ..quote }, after),
            None => (quote, after),
        })
    }

    /// Moves past two more of the same quotes.
    fn past_two(self, at: Cursor<'_>) -> Option<Cursor<'_>> {
        self.past_one(at).and_then(|at| self.past_one(at))
    }

    fn past_one(self, at: Cursor<'_>) -> Option<Cursor<'_>> {
        let quote = at.skip(self.n_slashes, |byte| byte == b'\\');
        let is_same = quote.since(at.place()).len() == self.n_slashes;
        (is_same && quote.next() == Some(self.byte)).then(|| quote.forward(1))
    }

    /// Returns the end of the string that starts at a position: before its closing quote and the
    /// backslashes of the quote.
    pub(crate) fn close(self, start: Cursor<'_>) -> Option<Cursor<'_>> {
        let mut at = start;
        let end = start.place().saturating_add(MAX_VALUE);
        // Escaped backslashes before a quote come in groups of `step`. A closing quote has groups
        // and the backslashes of the opening quote; a quote inside the string has more.
        let step = self.n_slashes.saturating_add(1).saturating_mul(2);
        loop {
            let found = memchr::memchr(self.byte, at.window(end.saturating_sub(at.place())))?;
            let quote = at.forward(found);
            let before = quote.since(start.place());
            let n_slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            if n_slashes < self.n_slashes {
                return None;
            }
            let is_closed = n_slashes.checked_rem(step) == Some(self.n_slashes);
            if is_closed && (!self.is_triple || self.past_two(quote.forward(1)).is_some()) {
                return Some(quote.back(self.n_slashes));
            }
            at = quote.forward(1);
        }
    }
}

/// Returns whether a byte opens and closes strings.
pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns the position after a line break. The line break may be escaped, as in JSON within JSON, in a URL or in XML,
/// or follow the backslash with which a shell continues a line.
pub(crate) fn past_break(at: Cursor<'_>) -> Option<Cursor<'_>> {
    /// Limit of the backslashes: 6 levels of JSON.
    const MAX_SLASHES: usize = 63;
    match at.next()? {
        b'\r' | b'\n' => return Some(at.skip(2, |byte| byte == b'\r' || byte == b'\n')),
        b'%' | b'&' => return past_code(at),
        b'\\' => {}
        _ => return None,
    }
    let letter = at.skip(MAX_SLASHES, |byte| byte == b'\\');
    match (letter.since(at.place()), letter.next()) {
        ([_, ..], Some(b'n')) => Some(letter.forward(1)),
        ([_, ..], Some(b'r')) => past_break(letter.forward(1)).or(Some(letter.forward(1))),
        ([_, ..], Some(b'\r' | b'\n')) => past_break(letter),
        ([_, ..], Some(b'u')) => past_code(letter),
        _ => None,
    }
}

/// Moves past the code of a line break in a URL, in XML, or in JSON after its backslash: `%0A`, `&#10;`, `u000a`.
fn past_code(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const RETURNS: &[&[u8]] = &[b"%0D", b"%0d", b"&#13;", b"&#xD;", b"&#xd;"];
    const BREAKS: &[&[u8]] = &[b"%0A", b"%0a", b"&#10;", b"&#xA;", b"&#xa;", b"u000a", b"u000A"];
    let at = RETURNS.iter().find_map(|text| at.past(text)).unwrap_or(at);
    BREAKS.iter().find_map(|text| at.past(text))
}

/// Moves past at most `max` blanks, and past tabs escaped by JSON within JSON.
pub(crate) fn past_blanks(at: Cursor<'_>, max: usize) -> Cursor<'_> {
    let mut at = at.skip(max, is_blank);
    while at.next() == Some(b'\\')
        && let Some(after) = past_tab(at)
    {
        at = after.skip(max, is_blank);
    }
    at
}

/// Moves past a tab, plain or escaped by JSON within JSON.
pub(crate) fn past_tab(at: Cursor<'_>) -> Option<Cursor<'_>> {
    at.past(b"\t").or_else(|| {
        let letter = at.skip(63, |byte| byte == b'\\');
        (letter.place() > at.place()).then(|| letter.past(b"t")).flatten()
    })
}

/// Returns the quote and the start of the string that is assigned to a name, whose end is at a position: in
/// `value": "x"` after `value`, the start of `x`.
pub(crate) fn assigned(name_end: Cursor<'_>) -> Option<(Quote, Cursor<'_>)> {
    let sign = past_blanks(past_closers(name_end).0, 40);
    let at = sign.past(b":").or_else(|| sign.past(b"="))?;
    Quote::open(past_blanks(at, 8))
}

/// Returns the start and the end of the string at a position, without its quotes, or of the bare word there.
pub(crate) fn string_or_word(at: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    match Quote::open(at) {
        Some((quote, start)) => Some((start, quote.close(start)?)),
        None => Some((at, bare_end(at, |_| false))),
    }
}

/// Moves past blanks and the escapes with which a terminal sets colors or clears a line, also as JSON or a program writes
/// them: `ESC [ 3 1 m`, `\\u001b[0m`, `\\x1b[K`.
pub(crate) fn past_colors(at: Cursor<'_>) -> Cursor<'_> {
    /// Limit of the escapes in a row.
    const MAX_COLORS: usize = 4;
    // Most names have none.
    if !matches!(at.next(), Some(0x1b | b'\\' | b' ' | b'\t')) {
        return at;
    }
    let mut at = at;
    for _ in 0..MAX_COLORS {
        let Some(after) = past_color(at.skip(2, is_blank)) else { break };
        at = after;
    }
    at
}

fn past_color(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const STARTS: &[&[u8]] = &[b"u001b[", b"u001B[", b"x1b[", b"x1B[", b"033[", b"e["];
    let start = match at.next()? {
        0x1b => at.past(b"\x1b[")?,
        b'\\' => {
            let letter = at.skip(63, |byte| byte == b'\\');
            STARTS.iter().find_map(|text| letter.past(text))?
        }
        _ => return None,
    };
    let letter = start.skip(24, |byte| byte.is_ascii_digit() || byte == b';');
    matches!(letter.next(), Some(b'm' | b'K')).then(|| letter.forward(1))
}

/// Returns whether a byte is a space or a tab.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns the end of a value without quotes.
///
/// Passwords contain all kinds of marks. A mark ends the value only if the text after it shows
/// that: `a=b&c=d` has two values, `a=b&c` has one.
pub(crate) fn bare_end<'b>(start: Cursor<'b>, ends: fn(u8) -> bool) -> Cursor<'b> {
    /// Limit of the signs in a value. A text with more is a list of pairs, and each of its names
    /// would read the whole list.
    const MAX_SIGNS: usize = 6;
    let mut at = start;
    let mut n_signs = 0_usize;
    let end = start.place().saturating_add(MAX_VALUE);
    while let Some(byte) = at.next().filter(|_| at.place() < end) {
        let after = at.forward(1);
        let is_end = match byte {
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() || is_quote(byte) => true,
            byte if ends(byte) => true,
            b'\\' => {
                let is_escape =
                    matches!(after.next(), Some(b'/' | b'!' | b'$' | b'&' | b'@' | b'#'));
                at = if is_escape { after } else { at };
                !is_escape
            }
            // A private key follows.
            b'-' => at.rest().starts_with(b"-----BEGIN "),
            b'&' => after.next() == Some(byte) || is_pair(after),
            b';' | b',' => after.next() == Some(byte) || is_over(after) || is_pair(after),
            b'|' => after.next().is_none_or(|byte| is_blank(byte) || byte == b'|'),
            // A script without blanks goes on after the end of a block.
            b'}' if matches!(after.next(), Some(b';' | b')')) => true,
            // `<![CDATA[x]]>`
            b']' if after.rest().starts_with(b"]>") => true,
            b')' | b']' | b'}' => is_over(after.skip(8, |byte| b")]},;".contains(&byte))),
            b'>' => is_over(after),
            b'<' => after.next().is_none_or(|byte| byte == b'/' || byte.is_ascii_alphabetic()),
            _ => false,
        };
        if is_end {
            break;
        }
        n_signs = n_signs.saturating_add(usize::from(matches!(byte, b'=' | b':')));
        if n_signs > MAX_SIGNS {
            return start;
        }
        at = at.forward(1);
    }
    match at.since(start.place()) {
        // The value is at the end of a sentence.
        // Three dots show that the rest is left out.
        [_, .., b'.', b'.'] => at,
        [_, .., b'.' | b':'] if at.next().is_none_or(|byte| byte.is_ascii_whitespace()) => {
            at.back(1)
        }
        // The sentence is at the end of a string.
        [_, .., b'.'] if Quote::open(at).is_some() || past_break(at).is_some() => at.back(1),
        _ => at,
    }
}

/// Returns whether a line ends at a position. A search before decoding sees the quote of JSON there, and a client may
/// close the tag of an output: `</bash-stdout>`.
pub(crate) fn ends_line(at: Cursor<'_>) -> bool {
    at.next().is_none()
        || Quote::open(at).is_some()
        || past_break(at).is_some()
        || at.rest().starts_with(b"</")
}

/// Returns whether a value ends at a position.
fn is_over(at: Cursor<'_>) -> bool {
    at.next().is_none_or(|byte| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || is_quote(byte)
            || b"\\.<".contains(&byte)
    })
}

/// Returns whether a name and `=` or `:` follow: the next of some pairs.
fn is_pair(at: Cursor<'_>) -> bool {
    let name = at.skip(8, is_blank);
    let end = name.skip(40, |byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte));
    // `lftp -u ada,x sftp://host` has one value.
    let is_url = end.rest().starts_with(b"://");
    end.place() > name.place() && matches!(end.next(), Some(b'=' | b':')) && !is_url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_their_own_quote() {
        for (text, body) in [
            (r#""a b" c"#, Some("a b")),
            (r#""a\"b\\" c"#, Some(r#"a\"b\\"#)),
            (r#"\"a'b\" c"#, Some("a'b")),
            (r#"\"a\\\"b\" c"#, Some(r#"a\\\"b"#)),
            (r#"\\\"ab\\\" c"#, Some("ab")),
            (r#"\"ab" c"#, None),
            ("'ab", None),
            (r#""""ab""" c"#, Some("ab")),
        ] {
            let found = Quote::open(Cursor::new(text.as_bytes()));
            let (quote, start) = found.expect("a quote");
            let end = quote.close(start).map(|end| end.since(start.place()));
            assert_eq!(end, body.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn bare_values_end_where_another_begins() {
        for (text, value) in [
            ("aB3$x&y z", "aB3$x&y"),
            ("aB3&user=x", "aB3"),
            ("aB3; Database=x", "aB3"),
            ("aB3;x9", "aB3;x9"),
            ("aB3, user: x}", "aB3"),
            ("aB3} ", "aB3"),
            ("aB3)\"", "aB3"),
            ("a)B3", "a)B3"),
            ("aB3};return", "aB3"),
            ("aB3. Then", "aB3"),
            ("aB3\\nNEXT", "aB3"),
            ("aB3 && x", "aB3"),
            ("aB3|grep x", "aB3|grep"),
        ] {
            let start = Cursor::new(text.as_bytes());
            let end = bare_end(start, |_| false);
            assert_eq!(end.before(), value.as_bytes(), "{text}");
        }
    }
}
