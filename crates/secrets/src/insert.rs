//! Finds secrets in the rows that SQL inserts, by the names of their columns.
//!
//! In: `INSERT INTO users (email, password) VALUES ('ada@x.io', 'x')`. Out: the range of `x`.

use std::ops::Range;

use crate::{
    around::{past_closers, until_placeholder},
    command_line::value_of,
    cursor::Cursor,
    margin::past_line,
    span::{Quote, is_blank, is_quote, past_blanks},
    value::{Form, Kind},
};

/// Finds the values of the columns with the name of a secret. `start` is the word `VALUES`.
pub(crate) fn rows(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit in bytes for the rows.
    const MAX_ROWS: usize = 4096;
    // In small letters, the prefix starts with the mark that closes the columns.
    let start = start.forward(usize::from(start.next() == Some(b')')));
    let Some(columns) = columns(start) else { return Vec::new() };
    let kinds: Vec<Option<Kind>> = columns.split(|byte| *byte == b',').map(kind).collect();
    if kinds.iter().all(Option::is_none) {
        return Vec::new();
    }
    let last = end.place().saturating_add(MAX_ROWS);
    // With `VALUES (?, ?)`, the values are arguments of the call.
    let arguments = arguments(end);
    let first = usize::from(arguments.is_some());
    let (mut at, mut depth, mut column) = (arguments.unwrap_or(end), first, 0_usize);
    let mut found = Vec::new();
    while let Some(byte) = at.next().filter(|_| at.place() < last) {
        if depth > 0
            && let Some((quote, value)) = Quote::open(at)
        {
            let Some(value_end) = quote.close(value) else { break };
            let kind = kinds.get(column).copied().flatten();
            found.extend(kind.and_then(|kind| secret(kind, value, value_end)));
            at = value_end.skip(63, |byte| byte == b'\\').forward(1);
            continue;
        }
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' | b']' if depth < 2 && arguments.is_some() => break,
            b')' if depth < 2 => (depth, column) = (0, 0),
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => column = column.saturating_add(1),
            b',' => {}
            _ if depth > 0 || is_blank(byte) => {}
            // The next row may be in the next line.
            _ => match past_line(at) {
                Some(line) => {
                    at = line;
                    continue;
                }
                None => break,
            },
        }
        at = at.forward(1);
    }
    found
}

/// Returns the position of the first argument after a statement whose values are all placeholders: `VALUES (?, ?)", (`.
fn arguments(end: Cursor<'_>) -> Option<Cursor<'_>> {
    let row = past_blanks(end, 8).past(b"(")?;
    let cells = row.skip(200, |byte| byte != b')' && !is_quote(byte));
    let is_cell = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_()".contains(byte);
        matches!(cell.split_first(), Some((b'?' | b'%' | b'$' | b':' | b'@', rest)) if rest.iter().all(is_in))
    };
    let is_row = cells.since(row.place()).split(|byte| *byte == b',').all(is_cell);
    let closed = cells.past(b")").filter(|_| is_row)?;
    let quote = closed.past(b";").unwrap_or(closed);
    let comma = past_blanks(past_closers(quote).0, 8).past(b",")?;
    let next = past_blanks(comma, 40);
    let next = past_line(next).map_or(next, |line| past_blanks(line, 60));
    next.past(b"(").or_else(|| next.past(b"["))
}

/// Returns the names of the columns before `VALUES`.
fn columns(start: Cursor<'_>) -> Option<&[u8]> {
    /// Limit in bytes for the names.
    const MAX_COLUMNS: usize = 600;
    let near = before_break(start.window_before(80));
    if !near.ends_with(b")") {
        return None;
    }
    let list = before_break(start.window_before(MAX_COLUMNS)).strip_suffix(b")")?;
    list.get(memchr::memrchr(b'(', list)?.saturating_add(1)..)
}

/// Returns a text without the blanks and the line break at its end, also where JSON escapes it.
fn before_break(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let Some(escape) = text.strip_suffix(b"n") else { return text };
    let n_slashes = escape.iter().rev().take_while(|byte| **byte == b'\\').count();
    match n_slashes {
        0 => text,
        n => escape.get(..escape.len().saturating_sub(n)).unwrap_or_default().trim_ascii_end(),
    }
}

/// Returns the kind of value of a column, if it may be a secret.
fn kind(column: &[u8]) -> Option<Kind> {
    const PASSWORDS: &[&[u8]] =
        &[b"password", b"passwd", b"pass", b"pwd", b"passphrase", b"password_plain", b"secret"];
    const TOKENS: &[&[u8]] = &[b"token", b"api_key", b"apikey", b"access_key", b"private_key"];
    // The name of a redacted secret is no column.
    let name = until_placeholder(column).to_ascii_lowercase();
    if name.len() < column.len() {
        return None;
    }
    let is_mark = |byte: &u8| !byte.is_ascii_alphanumeric();
    let n_closing = name.iter().rev().take_while(|byte| is_mark(byte)).count();
    let name = name.get(..name.len().saturating_sub(n_closing))?;
    let ends = |words: &[&[u8]]| words.iter().any(|word| name.ends_with(word));
    match () {
        () if ends(PASSWORDS) => Some(Kind::Password),
        () if ends(TOKENS) => Some(Kind::Token),
        () => None,
    }
}

fn secret(kind: Kind, value: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let form = if kind == Kind::Password { Form::Tight } else { Form::Quoted };
    value_of(kind, form, value, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_the_name_of_their_column() {
        for (text, secrets) in [
            ("(id, name, password) VALUES (1, 'ada', 'x7Kq2mVb')", &["x7Kq2mVb"][..]),
            (
                "(`pass`, `n`)\nVALUES\n('x7Kq2mVb', 1),\n('y7Kq2mVb', 2);",
                &["x7Kq2mVb", "y7Kq2mVb"],
            ),
            (r#"(\"secret\")\nVALUES (crypt('x7Kq2mVb', f(\"a\")))"#, &["x7Kq2mVb"]),
            ("(email, name) VALUES ('x7Kq2mVb', 'y7Kq2mVb')", &[]),
            ("(password) VALUES (%s) RETURNING 'x7Kq2mVb'", &[]),
            ("(token) VALUES ('page12')", &[]),
        ] {
            let place = text.find("VALUES").expect("the word");
            let start = Cursor::new(text.as_bytes()).to(place);
            let found = rows(start, start.forward(6));
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, secrets, "{text}");
        }
    }
}
