//! Text from a log on its way to a person: what could command a terminal is shown, not obeyed.

use std::fmt::Write;

/// Returns `text` with control, direction and line-separating characters spelled out.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_harmful(char) {
            _ = write!(shown, "\\u{{{:x}}}", u32::from(char));
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Returns whether a terminal may obey a character, or print what follows it in another direction.
pub(crate) fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}')
        || matches!(char, '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// Returns `text` as [`shown`] does, but with its lines as they are; tabs are spaces.
pub(crate) fn shown_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let lines: Vec<String> = lines.map(|line| shown(&line.replace('\t', "    "))).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_reach_a_terminal() {
        let text = "a\u{1b}[31mred\u{7f}\u{85}\u{202e}\n é🎉";
        assert_eq!(shown(text), "a\\u{1b}[31mred\\u{7f}\\u{85}\\u{202e}\\u{a} é🎉");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(shown_lines("a\r\n\tb\rc\n"), "a\n    b\\u{d}c\n");
    }
}
