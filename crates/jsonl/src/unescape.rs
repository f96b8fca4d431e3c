//! Unescapes a JSON string character by character.
//!
//! In: `a\u00e9\ud800`. Out: `a`, `é`, and `None` for half a surrogate pair.

/// Iterator over the characters of a JSON string's body; `None` stands for half a surrogate pair.
#[derive(Clone, Debug)]
pub struct Unescape<'l> {
    rest: &'l str,
}

impl<'l> Unescape<'l> {
    /// Creates an iterator over a body: the characters between the quotes of a valid JSON string.
    pub fn new(body: &'l str) -> Self {
        Self { rest: body }
    }

    fn code_unit(&self) -> Option<u32> {
        let digits = self.rest.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Returns the characters that have not been read, as written.
    pub fn rest(&self) -> &'l str {
        self.rest
    }

    fn skip(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
    }
}

impl Iterator for Unescape<'_> {
    type Item = Option<char>;

    fn next(&mut self) -> Option<Option<char>> {
        let first = self.rest.chars().next()?;
        if first != '\\' {
            self.skip(first.len_utf8());
            return Some(Some(first));
        }
        if let Some(unit) = self.code_unit() {
            self.skip(6);
            if !(0xd800..0xdc00).contains(&unit) {
                return Some(char::from_u32(unit));
            }
            let low = self.code_unit().filter(|low| (0xdc00..0xe000).contains(low));
            let pair = low
                .and_then(|low| char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
            if pair.is_some() {
                self.skip(6);
            }
            return Some(pair);
        }
        let escaped = self.rest.as_bytes().get(1).copied();
        self.skip(2);
        Some(Some(match escaped {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte) => char::from(byte),
            None => '\\',
        }))
    }
}
