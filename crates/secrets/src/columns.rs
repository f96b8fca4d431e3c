//! Finds secrets in the columns of tables, below the header that names them.
//!
//! In: `| id | secret |`, and `| 1 | x |` below it; `User,Password`, and `ada,x` in the next line. Out: the range of `x`.

use std::ops::Range;

use crate::{
    around::{last_line, past_closers, until_placeholder},
    command_line::password,
    cursor::Cursor,
    randomness::Makeup,
    span::{is_blank, past_break},
    value::{is_scrambled, is_strong},
    worded::{are_words_and_number, is_invented},
};

/// Limit for the rows of a table that are searched.
const MAX_ROWS: usize = 32;

/// Limit in bytes for a row.
const MAX_ROW: usize = 512;

/// Finds the values below a header. `end` is a place in its cell.
pub(crate) fn below(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let name = end.skip(24, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let cell_end = past_closers(name).0.skip(80, is_blank);
    let line = || line_before(end);
    let is_last = || cell_end.next().is_none() || past_break(cell_end).is_some();
    let separator = match cell_end.next() {
        Some(byte @ (b'|' | b',')) => byte,
        _ if is_last() && line().contains(&b'|') => b'|',
        _ if is_last() && line().contains(&b',') => b',',
        _ => return Vec::new(),
    };
    let line = line();
    // A sentence has blanks after its commas.
    let is_sentence = separator == b',' && line.windows(2).any(|pair| pair == b", ");
    if is_sentence {
        return Vec::new();
    }
    let n_before = line.iter().filter(|byte| **byte == separator).count();
    let header = name.since(start.place()).get(1..).unwrap_or_default().trim_ascii();
    let mut breaks = cell_end.skip(MAX_ROW, |byte| byte != b'\n' && byte != b'\\');
    let (mut found, mut n_rules) = (Vec::new(), 0_usize);
    for _ in 0..MAX_ROWS {
        let Some(row) = past_break(breaks) else { break };
        let row_end = row.skip(MAX_ROW, |byte| byte != b'\n' && byte != b'\\');
        let text = until_placeholder(row_end.since(row.place()));
        breaks = row_end;
        let is_rule = text.iter().all(|byte| b"+-|: ".contains(byte));
        n_rules = n_rules.saturating_add(usize::from(is_rule));
        // A rule follows the header of a table, and the last row.
        let is_over = n_rules > 1 || separator == b'|' && n_rules == 0;
        if text.is_empty() || is_over || !is_rule && !text.contains(&separator) {
            break;
        }
        let Some((start, value)) = cell(row, text, separator, n_before).filter(|_| !is_rule) else {
            continue;
        };
        // Another header.
        if value == header {
            break;
        }
        let is_password = header.to_ascii_lowercase().starts_with(b"pass");
        found.extend(secret(start, value, is_password));
    }
    found
}

/// Returns the text before a position in its line, with redacted secrets, which count as cells in a second run too.
fn line_before(at: Cursor<'_>) -> &[u8] {
    let line = last_line(at.window_before(MAX_ROW));
    // A search before decoding sees the quote of JSON.
    line.rsplit(|byte| *byte == b'"').next().unwrap_or_default()
}

/// Returns the position and the text of a cell.
fn cell<'b>(
    row: Cursor<'b>,
    text: &'b [u8],
    separator: u8,
    n_before: usize,
) -> Option<(Cursor<'b>, &'b [u8])> {
    let mut cells = text.split(|byte| *byte == separator);
    let mut offset = 0_usize;
    for _ in 0..n_before {
        offset = offset.saturating_add(cells.next()?.len()).saturating_add(1);
    }
    let cell = cells.next()?;
    let blanks = cell.iter().take_while(|byte| is_blank(**byte)).count();
    let (start, value) = (row.forward(offset).forward(blanks), cell.trim_ascii());
    // Markdown has code between backticks.
    Some(match value {
        [b'`', inner @ .., b'`'] => (start.forward(1), inner),
        _ => (start, value),
    })
}

/// Returns the range of the secret in a cell.
fn secret(start: Cursor<'_>, value: &[u8], is_password: bool) -> Option<Range<usize>> {
    let makeup = Makeup::of(value);
    let is_mixed = makeup.n_lower > 1 && makeup.n_upper > 0 && makeup.n_digits > 1;
    let is_plain = is_mixed && value.iter().all(u8::is_ascii_alphanumeric);
    let is_clear = is_strong(value)
        || is_invented(value)
        || is_scrambled(value)
        || is_password && (is_plain || are_words_and_number(value));
    let is_clear = is_clear && value.len() >= 8;
    if is_clear { password(start, start.forward(value.len())) } else { None }
}
