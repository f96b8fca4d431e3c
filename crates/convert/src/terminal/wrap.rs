//! Wraps lines between words.
//!
//! In: `one two three` and 8 columns. Out: `one two` and `three`. A longer word, such as a path, stays
//! whole, so that it can be copied; the terminal breaks it.

use unicode_width::UnicodeWidthChar;

/// Returns the parts of a line that fit into `columns`, without the blanks between them. Blanks at the
/// start of the line stay.
pub(crate) fn wrap(line: &str, columns: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        let Some(end) = end_of_first(line, columns) else { return Some(line) };
        let (first, others) = line.split_at(end);
        rest = Some(others.trim_start()).filter(|others| !others.is_empty());
        Some(first.trim_end())
    })
}

/// Returns where the first part of a line ends; `None` if the line is not wrapped.
fn end_of_first(line: &str, columns: usize) -> Option<usize> {
    // A character is at most as wide as its bytes are many.
    if line.len() <= columns {
        return None;
    }
    let (mut width, mut last_word, mut has_word) = (0, None, false);
    for (at, char) in line.char_indices() {
        if char.is_whitespace() && has_word {
            last_word = Some(at);
        }
        has_word |= !char.is_whitespace();
        width += char.width().unwrap_or(1);
        if width > columns && last_word.is_some() {
            return last_word;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        let wrapped = |line, columns| wrap(line, columns).collect::<Vec<_>>();
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("one two", 7), ["one two"]);
        assert_eq!(wrapped("one  two ", 3), ["one", "two"]);
        assert_eq!(wrapped("  - one two", 7), ["  - one", "two"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(
            wrapped("/a/path/that/is/long and more", 8),
            ["/a/path/that/is/long", "and more"]
        );
        // Each of these characters takes two columns.
        assert_eq!(wrapped("漢字 漢字 漢字", 9), ["漢字 漢字", "漢字"]);
        assert_eq!(wrapped("     ", 3), ["     "]);
    }

    #[test]
    fn no_word_is_lost() {
        let text = "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh";
        for columns in 1..50 {
            assert_eq!(wrap(text, columns).collect::<Vec<_>>().join(" "), text, "{columns}");
        }
    }
}
