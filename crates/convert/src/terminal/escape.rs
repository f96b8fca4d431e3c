//! Escapes text from logs, so that it cannot control the terminal.
//!
//! In: `a<ESC>[31m`. Out: `a\u{1b}[31m`.

use std::{
    fmt::{self, Write},
    io,
};

use archive::is_harmful;

/// Returns `text` with control, direction, line-separating and invisible characters escaped.
pub(crate) fn escape_for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|char| push_escaped(&mut shown, char));
    shown
}

fn push_escaped(shown: &mut String, char: char) {
    if is_harmful(char) {
        _ = write!(shown, "\\u{{{:x}}}", u32::from(char));
    } else {
        shown.push(char);
    }
}

/// Writes a text as [`escape_lines`] returns it.
///
/// # Errors
///
/// Returns an error if the sink does.
pub(crate) fn write_escaped(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    ShownLines::new(out).write_piece(text)
}

/// Writes text as [`escape_lines`] returns it, piece by piece, so that a long text is not copied.
pub(crate) struct ShownLines<'o> {
    out: &'o mut dyn io::Write,
    /// Whether the last character was a carriage return, which is dropped before a newline.
    has_return: bool,
    /// The first error of the sink.
    pub(crate) error: Option<io::Error>,
}

impl<'o> ShownLines<'o> {
    /// Creates a writer to a sink.
    pub(crate) fn new(out: &'o mut dyn io::Write) -> Self {
        Self { out, has_return: false, error: None }
    }

    fn write_piece(&mut self, text: &str) -> io::Result<()> {
        let mut start = 0;
        for (at, char) in text.char_indices() {
            let is_plain = char != '\t' && (char == '\n' || !is_harmful(char));
            if is_plain && !self.has_return {
                continue;
            }
            self.out.write_all(text.get(start..at).unwrap_or_default().as_bytes())?;
            start = at;
            if std::mem::take(&mut self.has_return) && char != '\n' {
                self.out.write_all(b"\\u{d}")?;
            }
            if is_plain {
                continue;
            }
            start += char.len_utf8();
            match char {
                '\r' => self.has_return = true,
                '\t' => self.out.write_all(b"    ")?,
                _ => write!(self.out, "\\u{{{:x}}}", u32::from(char))?,
            }
        }
        self.out.write_all(text.get(start..).unwrap_or_default().as_bytes())
    }
}

impl fmt::Write for ShownLines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_piece(text).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

/// Returns `text` as [`escape_for_terminal`] does, but keeps newlines and turns tabs into spaces.
pub(crate) fn escape_lines(text: &str) -> String {
    let mut shown = String::new();
    push_escaped_lines(&mut shown, text);
    shown
}

/// Appends a text as [`escape_lines`] returns it, so that a long one is copied once.
pub(crate) fn push_escaped_lines(shown: &mut String, text: &str) {
    shown.reserve(text.len());
    for (line_idx, line) in text.split('\n').enumerate() {
        if line_idx > 0 {
            shown.push('\n');
        }
        for char in line.strip_suffix('\r').unwrap_or(line).chars() {
            match char {
                '\t' => shown.push_str("    "),
                char => push_escaped(shown, char),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_reach_a_terminal() {
        let text = "a\u{1b}[31mred\u{7f}\u{85}\u{202e}\n é🎉";
        assert_eq!(escape_for_terminal(text), "a\\u{1b}[31mred\\u{7f}\\u{85}\\u{202e}\\u{a} é🎉");
        // A tag spells words that nobody sees. The joiners of words and emoji stay.
        let text = "a\u{200b}b\u{feff}\u{e0041}\u{2060}\u{206a}می\u{200c}خواهم👩\u{200d}🔬";
        let expected =
            "a\\u{200b}b\\u{feff}\\u{e0041}\\u{2060}\\u{206a}می\u{200c}خواهم👩\u{200d}🔬";
        assert_eq!(escape_for_terminal(text), expected);
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(escape_lines("a\r\n\tb\rc\n"), "a\n    b\\u{d}c\n");
        for text in ["", "a\r\n\tb\rc\n", "\r\r\n\u{1b}é\t\t\u{202e}x", "\n\n", "a\r"] {
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let mut out = Vec::new();
                let mut lines = ShownLines::new(&mut out);
                let (one, other) = text.split_at(cut);
                write!(lines, "{one}{other}").expect("a vector takes all");
                assert_eq!(String::from_utf8(out).expect("text"), escape_lines(text), "{text:?}");
            }
        }
    }
}
