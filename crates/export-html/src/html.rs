//! Escapes text. No other module of this crate creates HTML from text.
//!
//! In: `<b>\u{1b}[31m` of a session. Out: `&lt;b&gt;`, without the terminal color.

use std::fmt::{self, Write};

/// HTML that is safe to write: markup is a literal of this crate, and all other text is escaped.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Html(String);

impl Html {
    /// Creates HTML from a literal.
    pub(crate) fn of(markup: &'static str) -> Self {
        Self(markup.to_owned())
    }

    /// Appends a literal.
    pub(crate) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends text, for use between tags or inside the double quotes of an attribute.
    ///
    /// Characters that HTML forbids, or that change the direction of text, become visible: controls
    /// as their pictures, others as their codes. Colors of a terminal are removed.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some(at) = rest.find(is_special) {
            let (plain, special) = rest.split_at(at);
            self.0.push_str(plain);
            rest = self.special(special);
        }
        self.0.push_str(rest);
        self
    }

    /// Appends the display form of a value.
    pub(crate) fn show(&mut self, value: impl fmt::Display) -> &mut Self {
        // Writing to a string does not fail.
        _ = write!(Escaping(self), "{value}");
        self
    }

    /// Appends HTML.
    pub(crate) fn append(&mut self, html: &Html) -> &mut Self {
        self.0.push_str(&html.0);
        self
    }

    /// Returns the HTML so far, and empties the buffer.
    pub(crate) fn take(&mut self) -> Html {
        std::mem::take(self)
    }

    /// Frees the room for more HTML.
    pub(crate) fn shrunk(mut self) -> Html {
        self.0.shrink_to_fit();
        self
    }

    /// Returns the HTML.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends the special character at the start of `text`, and returns the text after it.
    fn special<'t>(&mut self, text: &'t str) -> &'t str {
        let mut chars = text.chars();
        match chars.next() {
            Some('&') => self.0.push_str("&amp;"),
            Some('<') => self.0.push_str("&lt;"),
            Some('>') => self.0.push_str("&gt;"),
            Some('"') => self.0.push_str("&quot;"),
            Some('\'') => self.0.push_str("&#39;"),
            Some('\u{1b}') if after_color(text).is_some() => {
                return after_color(text).unwrap_or_default();
            }
            Some('\r') if chars.as_str().starts_with('\n') => {}
            Some('\u{7f}') => self.0.push('\u{2421}'),
            Some(char @ ..' ') => self.0.extend(char::from_u32(0x2400 + u32::from(char))),
            Some(char) => _ = write!(self.0, "\\u{{{:x}}}", u32::from(char)),
            None => {}
        }
        chars.as_str()
    }
}

/// Returns the characters of a text as [`Html::text`] displays them: the bytes that each takes, and the
/// UTF-16 units that are displayed.
pub(crate) fn displayed(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.chars();
        let char = chars.next()?;
        let n_units = match char {
            '\u{1b}' if after_color(rest).is_some() => 0,
            '\r' if chars.as_str().starts_with('\n') => 0,
            ..' ' | '&' | '<' | '>' | '"' | '\'' | '\u{7f}' => 1,
            _ if is_special(char) => format!("\\u{{{:x}}}", u32::from(char)).len(),
            _ => char.len_utf16(),
        };
        let after = match char {
            '\u{1b}' => after_color(rest).unwrap_or(chars.as_str()),
            _ => chars.as_str(),
        };
        let n_bytes = rest.len() - after.len();
        rest = after;
        Some((n_bytes, n_units))
    })
}

/// Writer that escapes formatted text.
struct Escaping<'h>(&'h mut Html);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.text(text);
        Ok(())
    }
}

fn is_special(char: char) -> bool {
    match char {
        '&' | '<' | '>' | '"' | '\'' | '\u{7f}' => true,
        '\n' | '\t' => false,
        ..' ' => true,
        ' '..='~' => false,
        '\u{80}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Noncharacters, which HTML parsers report.
        '\u{fdd0}'..='\u{fdef}' => true,
        _ => u32::from(char) & 0xfffe == 0xfffe,
    }
}

/// Returns the text after a terminal color such as `ESC [ 1 ; 31 m`.
fn after_color(text: &str) -> Option<&str> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    numbers.trim_start_matches(|char: char| char.is_ascii_digit() || char == ';').strip_prefix('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.0
    }

    #[test]
    fn markup_in_text_is_text() {
        let attack = "</script><script>alert('1')</script> & \" onload=\"x";
        let safe = "&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; \
                    &quot; onload=&quot;x";
        assert_eq!(escaped(attack), safe);
        let mut html = Html::default();
        html.show(format_args!("{}<{}", 1, "b"));
        assert_eq!(html.as_str(), "1&lt;b");
    }

    #[test]
    fn what_could_command_is_shown() {
        assert_eq!(escaped("a\0b\u{7f}\u{85}\u{202e}c\u{2028}"), "a␀b␡\\u{85}\\u{202e}c\\u{2028}");
        assert_eq!(escaped("\u{fffe}\u{1ffff}\u{fdd0}"), "\\u{fffe}\\u{1ffff}\\u{fdd0}");
        assert_eq!(escaped("\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}"), "red ␛[2J␛");
        assert_eq!(escaped("one\r\ntwo\rthree\n\tfour"), "one\ntwo␍three\n\tfour");
        assert_eq!(escaped("é🎉 שלום\u{200f} 漢字"), "é🎉 שלום\u{200f} 漢字");
    }
}
