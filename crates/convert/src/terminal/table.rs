//! Tables for people: columns as wide as what is in them, however many columns a letter takes.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Prints rows in columns, the first column and those named to the left, the others to the right.
///
/// Cells are printed as they are: what comes from a log has to be [`shown`](crate::terminal::escape::escape_for_terminal)
/// before. A row is cut to `columns`, if that is how many there are.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn print(
    rows: &[Vec<String>],
    is_left: &dyn Fn(usize) -> bool,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    for row in rows {
        let mut line = String::new();
        for (column_idx, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.width());
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

/// Returns the start of a text that takes so many columns, with a sign that there is more.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 0;
    let is_within = |char: &char| {
        width += char.width().unwrap_or(0);
        width < columns
    };
    let start: String = text.chars().take_while(is_within).collect();
    format!("{}…", start.trim_end())
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
        assert_eq!(
            ["漢字漢", "漢字", "abcdef", "ab de"].map(|text| cut(text, 4)),
            ["漢…", "漢字", "abc…", "ab…"]
        );
    }
}
