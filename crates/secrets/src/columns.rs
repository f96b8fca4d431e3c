//! Finds secrets in the columns of tables, below the header that names them.
//!
//! In: `| id | secret |`, and `| 1 | x |` below it; `User,Password`, and `ada,x` in the next line; `["user","password"]`,
//! and `["ada","x"]` behind it. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{past_closers, until_placeholder},
    clear::is_clear_cell,
    command_line::password,
    cursor::Cursor,
    margin::past_line,
    name::Name,
    placeholder::PLACEHOLDER,
    span::{Quote, is_blank, is_quote, past_blanks, past_break, past_tab},
    tag::past_markup,
    value::Kind,
};

/// Limit for the rows of a table that are searched.
const MAX_ROWS: usize = 32;

/// Limit for the rows of a table without a secret, after which the others are not searched. Without it, a text of headers
/// took six seconds a megabyte.
const MAX_MISSES: usize = 4;

/// Limit in bytes for a row.
const MAX_ROW: usize = 512;

/// Limit in bytes for the name of a column.
const MAX_HEADER: usize = 32;

/// The marks between the cells of a box.
const BARS: &[&str] = &["|", "│", "┃", "║"];

/// The start and the end of the text of a cell.
type Cell<'b> = (Cursor<'b>, Cursor<'b>);

/// The mark between two cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Separator {
    /// `|`, also as a box has it.
    Bar,
    Comma,
    Semicolon,
    Tab,
    /// At least two blanks.
    Blanks,
}

impl Separator {
    /// Moves past a separator at a position.
    fn past(self, at: Cursor<'_>) -> Option<Cursor<'_>> {
        match self {
            Self::Bar => BARS.iter().find_map(|bar| at.past(bar.as_bytes())).or_else(|| {
                let letter = at.skip(63, |byte| byte == b'\\');
                letter.past(b"u2502").filter(|_| letter.place() > at.place())
            }),
            Self::Comma => at.past(b","),
            Self::Semicolon => at.past(b";"),
            Self::Tab => past_tab(at),
            Self::Blanks => Some(at.skip(MAX_ROW, is_blank))
                .filter(|after| after.place() > at.place().saturating_add(1)),
        }
    }

    /// Moves back before a separator that ends at a position.
    fn before(self, at: Cursor<'_>) -> Option<Cursor<'_>> {
        let before = at.window_before(8);
        let n_slashes = |before: Cursor<'_>| {
            before.window_before(63).iter().rev().take_while(|byte| **byte == b'\\').count()
        };
        let length = match self {
            Self::Bar if before.ends_with(b"\\u2502") => n_slashes(at.back(5)).saturating_add(5),
            Self::Bar => BARS.iter().find(|bar| before.ends_with(bar.as_bytes()))?.len(),
            Self::Comma if before.ends_with(b",") => 1,
            Self::Semicolon if before.ends_with(b";") => 1,
            Self::Tab if before.ends_with(b"\t") => 1,
            Self::Tab if before.ends_with(b"\\t") => n_slashes(at.back(1)).saturating_add(1),
            Self::Blanks => {
                let n = at
                    .window_before(MAX_ROW)
                    .iter()
                    .rev()
                    .take_while(|byte| is_blank(**byte))
                    .count();
                return (n > 1).then(|| at.back(n));
            }
            _ => return None,
        };
        Some(at.back(length))
    }

    /// Returns the blanks that may be around a cell.
    fn is_padding(self, byte: u8) -> bool {
        match self {
            Self::Tab => byte == b' ',
            Self::Blanks => false,
            _ => is_blank(byte),
        }
    }
}

/// Finds the values below a header.
pub(crate) fn below(name: &Name<'_>, kind: Kind) -> Vec<Range<usize>> {
    const SEPARATORS: &[Separator] = &[
        Separator::Tab,
        Separator::Bar,
        Separator::Comma,
        Separator::Semicolon,
        Separator::Blanks,
    ];
    let has_digit = name.end.since(name.start.place()).iter().any(u8::is_ascii_digit);
    if has_digit || !may_be_cell(name.end) {
        return Vec::new();
    }
    let cell_end = past_mark(name.end);
    let is_string_end = || {
        let is_quote = name.end.next().is_some_and(|byte| byte == b'"' || byte == b'\\');
        is_quote && string_end(name).is_some_and(|end| end.place() == name.end.place())
    };
    let found = SEPARATORS.iter().find_map(|separator| {
        let end = cell_end.skip(80, |byte| separator.is_padding(byte));
        let start = start_of_cell(name, *separator);
        let next = separator.past(end).map(|next| next.skip(80, |byte| separator.is_padding(byte)));
        // A sentence and code have blanks after their commas.
        let is_fit = |next: &Cursor<'_>| {
            let is_tight = *separator != Separator::Comma || next.previous() == Some(b',');
            let is_name = |byte: u8| {
                byte.is_ascii_alphabetic()
                    || is_quote(byte)
                    || b"\\*_".contains(&byte)
                    || byte > 127
            };
            next.next().is_some_and(is_name)
                && past_break(*next).is_none()
                && (is_tight || list_end(end).is_some())
        };
        let is_first = next.filter(is_fit).is_some();
        let last = separator.past(end).filter(|_| *separator == Separator::Bar).unwrap_or(end);
        let is_last = end.next() == Some(b']') || past_break(last.skip(80, is_blank)).is_some();
        let is_after = separator.before(start).is_some();
        (is_first || is_after && (is_last || is_string_end())).then_some((*separator, end, start))
    });
    let found = found.and_then(|(separator, end, start)| {
        Some((separator, end, n_cells_before(start, separator)?))
    });
    let Some((separator, end, n_before)) = found.or_else(|| in_objects(name)) else {
        return Vec::new();
    };
    let header = name.end.since(name.start.place());
    let secret = |(value, value_end): (Cursor<'_>, Cursor<'_>)| {
        let text = value_end.since(value.place());
        let is_clear = text != header && is_clear_cell(kind, text);
        if is_clear { password(value, value_end) } else { None }
    };
    // `|Default password|x|`
    let beside = separator.past(end).and_then(|next| cell(next, separator, 0)).and_then(secret);
    let (mut found, mut n_misses) = (Vec::from_iter(beside), 0_usize);
    let mut each = |row| {
        let cell_at = |n: usize| cell(row, separator, n);
        // The rows of a data frame have their number before them.
        let is_other = |cell: &Cell<'_>| separator == Separator::Blanks && secret(*cell).is_none();
        let numbered = || cell_at(n_before.saturating_add(1)).filter(|cell| !is_other(cell));
        let cell = cell_at(n_before);
        let cell = cell.filter(|cell| !is_other(cell)).or_else(numbered).or(cell);
        // The header of another table.
        let is_header = cell.is_some_and(|(value, end)| end.since(value.place()) == header);
        let secret = cell.and_then(secret);
        n_misses = n_misses.saturating_add(usize::from(secret.is_none()));
        found.extend(secret);
        n_misses < MAX_MISSES && !is_header
    };
    match string_end(name) {
        Some(end) => each_string(end, &mut each),
        None => each_row(separator, end, &mut each),
    }
    if found.is_empty() && list_end(end).is_some() {
        let mut n_misses = 0_usize;
        each_row_before(name.start, &mut |row| {
            let secret = cell(row, separator, n_before).and_then(secret);
            n_misses = n_misses.saturating_add(usize::from(secret.is_none()));
            found.extend(secret);
            n_misses < MAX_MISSES
        });
    }
    found
}

/// Moves past the quote and the marks after a name.
fn past_mark(end: Cursor<'_>) -> Cursor<'_> {
    let mark = end.skip(63, |byte| byte == b'\\');
    let end = if mark.next().is_some_and(is_quote) { mark.forward(1) } else { end };
    end.skip(2, |byte| byte == b'*')
}

/// Returns whether the text after a name may be the end of a cell. Most names are in no table.
pub(crate) fn may_be_cell(end: Cursor<'_>) -> bool {
    let cell_end = past_mark(end);
    // A word of a sentence has one blank after it.
    let next = cell_end.skip(80, |byte| byte == b' ');
    let n_blanks = next.since(cell_end.place()).len();
    n_blanks > 1 || next.next().is_some_and(|byte| b"|,;\t\r\n\\]}".contains(&byte) || byte == 0xe2)
}

/// Returns the start of the cell around a name, with its quote, and the blanks before it.
fn start_of_cell<'b>(name: &Name<'b>, separator: Separator) -> Cursor<'b> {
    let before = name.start.window_before(MAX_HEADER);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
    let is_word = |byte: &u8| is_word(byte) && !(separator == Separator::Blanks && *byte == b' ');
    past_marks_before(name.start.back(n_in_word(before, is_word)), separator)
}

/// Returns the number of bytes of a word at the end of a text, without the letter of an escape before it.
fn n_in_word(before: &[u8], is_word: impl Fn(&u8) -> bool) -> usize {
    let n = before.iter().rev().take_while(|byte| is_word(byte)).count();
    let (head, word) = before.split_at_checked(before.len().saturating_sub(n)).unwrap_or_default();
    let is_escape = head.ends_with(b"\\") && matches!(word, [b'n' | b'r' | b't', ..]);
    n.saturating_sub(usize::from(is_escape))
}

/// Moves back past the quote, the code mark and the blanks before a cell.
fn past_marks_before(at: Cursor<'_>, separator: Separator) -> Cursor<'_> {
    let is_mark = |byte: &u8| is_quote(*byte) || b"\\*".contains(byte);
    let n_marks = at.window_before(16).iter().rev().take_while(|byte| is_mark(byte)).count();
    let start = at.back(n_marks);
    start.back(
        start
            .window_before(80)
            .iter()
            .rev()
            .take_while(|byte| separator.is_padding(**byte))
            .count(),
    )
}

/// Returns the number of cells before a cell in a header, if all of them are short names.
fn n_cells_before(start: Cursor<'_>, separator: Separator) -> Option<usize> {
    const MAX_CELLS: usize = 32;
    let (mut at, mut n) = (start, 0_usize);
    for _ in 0..MAX_CELLS {
        let Some(end) = separator.before(at) else { return is_first(at).then_some(n) };
        let is_mark =
            |byte: &u8| is_quote(*byte) || b"\\*".contains(byte) || separator.is_padding(*byte);
        let name =
            end.back(end.window_before(80).iter().rev().take_while(|byte| is_mark(byte)).count());
        let is_word = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || b"_-.#()/".contains(byte)
                || *byte == b' ' && separator != Separator::Blanks
        };
        let n_word = n_in_word(name.window_before(MAX_HEADER), is_word);
        // The bar at the start of a line, or after some words: `The logins: | user | password |`.
        let is_said = separator == Separator::Bar && name.previous() == Some(b':');
        if n_word == 0 && separator == Separator::Blanks {
            return is_first(name).then_some(n).filter(|n| *n > 0);
        }
        if n_word == 0 {
            let is_first = separator == Separator::Bar && is_first(name) || is_said;
            return is_first.then_some(n.saturating_add(1));
        }
        if n_word >= MAX_HEADER {
            return None;
        }
        n = n.saturating_add(1);
        at = past_marks_before(name.back(n_word), separator);
    }
    None
}

/// Returns whether a header starts at a position: a line, a string or a list.
fn is_first(at: Cursor<'_>) -> bool {
    let before = at.before();
    let is_start = matches!(before, [] | [.., b'\n' | b'\r' | b'[' | b'"' | b'\\' | b'>'])
        || before.ends_with("→".as_bytes());
    // A search before decoding sees the quote of JSON, or the letter of a line break.
    let is_mark = at.skip(80, is_blank).next().is_some_and(|byte| is_quote(byte) || byte == b'\\');
    is_start || is_mark || matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

/// Calls `each` with the starts of the rows below a header, until it returns false. The header has its last known cell
/// before a position.
fn each_row<'b>(
    separator: Separator,
    header: Cursor<'b>,
    each: &mut dyn FnMut(Cursor<'b>) -> bool,
) {
    let (mut at, mut n_rows, mut n_rules) = (line_end(header), 0_usize, 0_usize);
    let list = list_end(header);
    for _ in 0..MAX_ROWS {
        if list.is_some() {
            let row = next_list(if n_rows == 0 { list } else { list_end(at) });
            let Some(row) = row.filter(|row| each(*row)) else { break };
            (at, n_rows) = (row, 1);
            continue;
        }
        let Some(row) = past_line(at) else { break };
        let end = line_end(row);
        let text = end.since(row.place());
        let is_rule =
            text.len() > 2 && text.iter().all(|byte| b"+-|:= ".contains(byte) || *byte >= 0x80);
        n_rules = n_rules.saturating_add(usize::from(is_rule));
        // A rule follows the header of a table, and the last row.
        // The types of the columns may be in another row before the rule.
        let is_over = n_rules > 1 || separator == Separator::Bar && n_rules == 0 && n_rows > 1;
        if text.is_empty() || is_over {
            break;
        }
        at = end;
        if !is_rule {
            n_rows = n_rows.saturating_add(1);
            if !each(row) {
                break;
            }
        }
    }
}

/// Calls `each` with the strings after the string of a header, until it returns false.
fn each_string<'b>(header: Cursor<'b>, each: &mut dyn FnMut(Cursor<'b>) -> bool) {
    let mut at = header;
    for _ in 0..MAX_ROWS {
        let Some(row) = past_string(at).filter(|row| each(*row)) else { break };
        let Some(end) = end_of_string(row) else { break };
        at = end;
    }
}

/// Calls `each` with the rows before the list that has a name, until it returns false: `"rows": [["ada","x"]],
/// "columns": ["user","password"]`.
fn each_row_before<'b>(name: Cursor<'b>, each: &mut dyn FnMut(Cursor<'b>) -> bool) {
    /// Limit in bytes for the rows.
    const MAX_BEFORE: usize = 2048;
    let before = name.window_before(MAX_ROW);
    let Some(open) = memchr::memrchr(b'[', before) else { return };
    let list = name.back(before.len()).forward(open);
    let is_gap = |byte: &u8| {
        byte.is_ascii_alphabetic()
            || byte.is_ascii_whitespace()
            || is_quote(*byte)
            || b"\\_:,".contains(byte)
    };
    let n_gap = list.window_before(MAX_ROW).iter().rev().take_while(|byte| is_gap(byte)).count();
    let rows_end = list.back(n_gap);
    let text = rows_end.window_before(MAX_BEFORE);
    let Some(first) = memmem::rfind(text, b"[[").filter(|_| text.ends_with(b"]]")) else { return };
    let mut at = Some(rows_end.back(text.len()).forward(first).forward(1));
    for _ in 0..MAX_ROWS {
        let row = next_list(at).filter(|row| row.place() < rows_end.place());
        let Some(row) = row.filter(|row| each(*row)) else { break };
        at = list_end(row);
    }
}

/// Returns the place of a header in a list of objects, before the end of the list: `[{"name":"id"},{"name":"password"}]`.
fn in_objects<'b>(name: &Name<'b>) -> Option<(Separator, Cursor<'b>, usize)> {
    const KEYS: &[&[u8]] = &[b"name", b"field", b"label", b"title", b"header", b"key"];
    let is_mark = |byte: &u8| is_quote(*byte) || is_blank(*byte) || b"\\:".contains(byte);
    let before = name.start.window_before(MAX_ROW);
    let n_marks = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let key = before.get(..before.len().saturating_sub(n_marks)).filter(|_| n_marks > 2)?;
    let list = before.get(memchr::memrchr(b'[', before)?..)?;
    let is_key = KEYS.iter().any(|text| key.ends_with(text));
    let end = name.end.skip(MAX_ROW, |byte| !matches!(byte, b'[' | b']'));
    let n_objects = list.iter().filter(|byte| **byte == b'{').count();
    let n_before = n_objects.checked_sub(1).filter(|_| is_key && end.next() == Some(b']'))?;
    Some((Separator::Comma, end, n_before))
}

/// Returns the end of a line, plain or escaped, or the redacted secret in it; of a longer line, a position in it.
fn line_end(at: Cursor<'_>) -> Cursor<'_> {
    let mut end = at;
    loop {
        let n_left = MAX_ROW.saturating_sub(end.since(at.place()).len());
        end = end.skip(n_left, |byte| !matches!(byte, b'\n' | b'\r' | b'\\' | b'['));
        let is_end = end.next().is_none()
            || past_break(end).is_some()
            || end.rest().starts_with(PLACEHOLDER);
        if is_end || end.since(at.place()).len() >= MAX_ROW {
            return end;
        }
        end = end.forward(1);
    }
}

/// Returns the end of the list in brackets that a position is in.
fn list_end(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let is_in = |byte: u8| !matches!(byte, b'[' | b']' | b'{' | b'}' | b'\\' | b'\n' | b'\r');
    let mut end = at;
    loop {
        let n_left = MAX_ROW.saturating_sub(end.since(at.place()).len());
        end = end.skip(n_left, is_in);
        if end.next() != Some(b'\\') || past_break(end).is_some() || n_left == 0 {
            return end.past(b"]");
        }
        end = end.skip(63, |byte| byte == b'\\').forward(1);
    }
}

/// Returns the position after the bracket that opens the next list.
fn next_list(at: Option<Cursor<'_>>) -> Option<Cursor<'_>> {
    const MAX_GAP: usize = 60;
    let is_gap = |byte: u8| {
        byte.is_ascii_alphabetic()
            || byte.is_ascii_whitespace()
            || is_quote(byte)
            || b"\\_:,=-}".contains(&byte)
    };
    let open = at?.skip(MAX_GAP, is_gap).past(b"[")?;
    let open = open.skip(MAX_GAP, |byte| byte.is_ascii_whitespace());
    Some(open.past(b"[").unwrap_or(open))
}

/// Returns the end of the string around a position, before the backslashes of its quote.
fn end_of_string(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let quote = at.skip(MAX_ROW, |byte| !matches!(byte, b'"' | b'\n' | b'\r'));
    let n_slashes = quote.window_before(63).iter().rev().take_while(|byte| **byte == b'\\').count();
    let end = quote.back(n_slashes);
    // A line ends before the string does.
    let is_line =
        quote.next() == Some(b'"') && line_end(at.until(end.place())).place() == end.place();
    is_line.then_some(end)
}

/// Returns the end of the string that has a header, unless each cell has quotes of its own.
fn string_end<'b>(name: &Name<'b>) -> Option<Cursor<'b>> {
    let is_whole = name.start.previous().is_some_and(is_quote);
    end_of_string(name.end).filter(|end| !is_whole && past_string(*end).is_some())
}

/// Moves past the end of a string and the start of the next one, which has the next line of a table: `"user,password",
/// "lines": ["`.
fn past_string(end: Cursor<'_>) -> Option<Cursor<'_>> {
    let closed = end.skip(63, |byte| byte == b'\\').past(b"\"")?;
    let next = closed.past(b",")?.skip(60, |byte| byte.is_ascii_whitespace());
    let (quote, row) = Quote::open(next)?;
    // The name of a member.
    match past_blanks(past_closers(quote.close(row)?).0, 4).past(b":") {
        Some(value) => {
            let string = Quote::open(past_blanks(value, 4));
            Some(string.or_else(|| Quote::open(next_list(Some(closed))?))?.1)
        }
        None => Some(row),
    }
}

/// Finds the values below the name of a column in HTML: `<th>Password</th>`, and `<td>x</td>` in the next rows.
pub(crate) fn below_tag(name: &Name<'_>, kind: Kind) -> Vec<Range<usize>> {
    /// Limit in bytes for the rows.
    const MAX_TABLE: usize = 4096;
    let closed = name.end.skip(2, is_blank);
    if !closed.rest().starts_with(b"</t") || !name.start.window_before(MAX_HEADER).contains(&b'>') {
        return Vec::new();
    }
    let before = name.start.window_before(MAX_ROW);
    let header = memmem::rfind(before, b"<tr").and_then(|n| before.get(n..)).unwrap_or(before);
    let n_cells = cells(header).count();
    let text = until_placeholder(closed.window(MAX_TABLE));
    let table = memmem::find(text, b"</table").and_then(|n| text.get(..n)).unwrap_or(text);
    let rows = memmem::find_iter(table, b"<tr").take(MAX_ROWS);
    let found = rows.filter_map(|n| {
        let row = closed.forward(n);
        let line = table.get(n..)?;
        let length = memmem::find(line, b"</tr").unwrap_or(line.len().min(MAX_ROW));
        let tag = row.forward(cells(line.get(..length)?).nth(n_cells.checked_sub(1)?)?);
        let start = past_markup(tag.skip(80, |byte| byte != b'>').past(b">")?);
        let end = start.skip(MAX_ROW, |byte| !matches!(byte, b'<' | b'\n' | b'\\'));
        let is_clear = is_clear_cell(kind, end.since(start.place()));
        if is_clear { password(start, end) } else { None }
    });
    found.collect()
}

/// Returns the places of the tags of cells in a row of HTML.
fn cells(row: &[u8]) -> impl Iterator<Item = usize> {
    let is_cell = |n: &usize| {
        let tag = row.get(*n..).unwrap_or_default();
        matches!(tag, [b'<', b't', b'd' | b'h', b'>' | b' ', ..])
    };
    memmem::find_iter(row, b"<t").filter(is_cell)
}

/// Returns whether a byte may start a separator, a line break or the end of a string.
fn may_end_cell(byte: u8) -> bool {
    matches!(
        byte,
        b'|' | b','
            | b';'
            | b'\t'
            | b' '
            | b'\n'
            | b'\r'
            | b'%'
            | b'&'
            | b'\\'
            | b']'
            | b'"'
            | 0xe2
    )
}

/// Returns the start and the end of the text of a cell.
fn cell(
    row: Cursor<'_>,
    separator: Separator,
    n_before: usize,
) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let mut at = row;
    for n in 0..=n_before {
        let start = at.skip(80, |byte| separator.is_padding(byte));
        let (value, value_end, end) = match Quote::open(start) {
            Some((quote, value)) => {
                let value_end = quote.close(value)?;
                (value, value_end, past_closers(value_end).0)
            }
            None => {
                let mut end = start;
                loop {
                    let n_left = MAX_ROW.saturating_sub(end.since(start.place()).len());
                    end = end.skip(n_left, |byte| !may_end_cell(byte));
                    let is_end = separator.past(end).is_some()
                        || past_break(end).is_some()
                        || matches!(end.next(), None | Some(b']' | b'"' | b'\\'));
                    if is_end || end.since(start.place()).len() >= MAX_ROW {
                        break;
                    }
                    end = end.forward(1);
                }
                let n_blanks = end
                    .since(start.place())
                    .iter()
                    .rev()
                    .take_while(|byte| is_blank(**byte))
                    .count();
                (start, end.back(n_blanks), end)
            }
        };
        if n == n_before {
            return (value_end.place() > value.place()).then_some((value, value_end));
        }
        at = separator.past(end.skip(80, |byte| separator.is_padding(byte)))?;
    }
    None
}
