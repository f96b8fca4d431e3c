//! Prints tables with columns as wide as their cells, also for wide and combining characters.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Prints rows in columns. The first column, and those for which `is_left` returns true, are
/// aligned to the left, others to the right. A row of one cell, in a table of more columns, is a heading:
/// no column gets its width.
///
/// Cells must be [escaped](crate::terminal::escape::escape_for_terminal) by the caller. If
/// `columns` is given, rows are cut to that width.
///
/// # Errors
///
/// Returns an error if the writer does.
pub(crate) fn print(
    rows: &[Vec<String>],
    is_left: &dyn Fn(usize) -> bool,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = Vec::new();
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in rows.iter().filter(|row| row.len() > 1 || n_columns == 1) {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    for row in rows {
        let mut line = String::new();
        for (column_idx, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            line.push_str(if column_idx > 0 { "  " } else { "" });
            match column_idx == 0 || is_left(column_idx) {
                true => line.extend([cell, padding.as_str()]),
                false => line.extend([padding.as_str(), cell]),
            }
        }
        let line = line.trim_end();
        match columns {
            Some(columns) => writeln!(out, "{}", cut(line, columns))?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// Returns a text cut to a number of columns, with a sign that there is more.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let start = text.get(..n_bytes_below(text.chars(), columns)).unwrap_or_default();
    format!("{}…", start.trim_end())
}

/// Returns the end of a text in a number of columns, with a sign that there is more before it. The end of a
/// path has the name of the file.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let n_bytes = n_bytes_below(text.chars().rev(), columns);
    format!("…{}", text.get(text.len() - n_bytes..).unwrap_or_default())
}

/// Returns the bytes of the first characters that take less than a number of columns.
fn n_bytes_below(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut width = 0;
    let is_within = |char: &char| {
        width += char.width().unwrap_or(0);
        width < columns
    };
    chars.take_while(is_within).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_straight_for_wide_letters() {
        let rows =
            [["a", "1", "x"], ["漢字", "10", "y"]].map(|row| row.map(str::to_owned).to_vec());
        let mut out = Vec::new();
        print(&rows, &|column_idx| column_idx == 2, None, &mut out).expect("a vector takes all");
        assert_eq!(String::from_utf8_lossy(&out), "a      1  x\n漢字  10  y\n");
        let mut out = Vec::new();
        let rows: Vec<Vec<String>> = [&["a", "1"][..], &["a heading"], &["b", "20"]]
            .map(|row| row.iter().map(|it| (*it).to_owned()).collect())
            .to_vec();
        print(&rows, &|_| false, None, &mut out).expect("a vector takes all");
        assert_eq!(String::from_utf8_lossy(&out), "a   1\na heading\nb  20\n");
        assert_eq!(
            ["漢字漢", "漢字", "abcdef", "ab de"].map(|text| cut(text, 4)),
            ["漢…", "漢字", "abc…", "ab…"]
        );
        assert_eq!(
            ["漢字漢", "漢字", "/ab/cdef", "é"].map(|text| cut_start(text, 4)),
            ["…漢", "漢字", "…def", "é"]
        );
    }
}
