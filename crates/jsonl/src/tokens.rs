//! Splits valid JSON into tokens, and containers into their values, without an index.
//!
//! In: `[ 1 , "é" ]`. Out: `[` at 0, `1` at 2, `,` at 4, `"é"` at 6, `]` at 11.

/// The tokens of valid JSON, each with its offset. Strings have their quotes.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    /// Creates an iterator over the tokens from an offset on.
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let start = self.at + bytes.get(self.at..)?.iter().take_while(|it| is_blank(it)).count();
        self.at = match bytes.get(start)? {
            b'"' => end_of_string(bytes, start),
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let rest = bytes.get(start..).unwrap_or_default();
                start + rest.iter().take_while(|it| is_part(it)).count()
            }
            _ => start + 1,
        };
        Some((start, self.text.get(start..self.at)?))
    }
}

/// The values of a container, each with its offset; of an object, also the keys.
pub(crate) struct Children<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
}

impl<'t> Children<'t> {
    /// Reads the children from an offset on, behind the opening bracket.
    pub(crate) fn from(text: &'t str, at: usize) -> Self {
        Self { text, tokens: Tokens::new(text, at) }
    }
}

impl<'t> Iterator for Children<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let (start, first) = self.tokens.find(|(_, token)| !matches!(*token, "," | ":"))?;
        let mut depth = match first {
            "]" | "}" => return None,
            "[" | "{" => 1_usize,
            value => return Some((start, value)),
        };
        for (at, token) in &mut self.tokens {
            match token {
                "[" | "{" => depth += 1,
                "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some((start, self.text.get(start..=at)?));
            }
        }
        None
    }
}

/// Returns the end of the string that starts at an offset, behind its closing quote.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}
