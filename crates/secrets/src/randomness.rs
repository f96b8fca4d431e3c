//! Distinguishes random strings from words, by pairs of letters and by digits among letters.
//!
//! `connection_timeout` has no pair of letters that is rare in English or in code. Most pairs in
//! `xKq9zLw2` are rare. The table has the 323 pairs that make up 98.5 % of all pairs in the words
//! of source code and prose.

/// For each letter, the letters that often follow it. Bit 0 is `a`.
const COMMON: [u32; 26] = [
    0x17e_bd6e, // a
    0x116_4913, // b
    0x11e_5d95, // c
    0x116_4959, // d
    0x1ff_f9ff, // e
    0x11a_5931, // f
    0x016_79d1, // g
    0x11a_5111, // h
    0x2ae_f87f, // i
    0x014_4011, // j
    0x014_2111, // k
    0x13c_e93b, // l
    0x14d_91b,  // m
    0x13e_fd7d, // n
    0x0fe_ff6f, // o
    0x11e_c999, // p
    0x010_0000, // q
    0x17e_fd7f, // r
    0x15e_fd95, // s
    0x1fe_f9ff, // t
    0x00e_b97f, // u
    0x000_4111, // v
    0x006_6191, // w
    0x008_8115, // x
    0x04c_f910, // y
    0x000_0111, // z
];

/// The counts of the characters of a string.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Makeup {
    pub(crate) n_lower: usize,
    pub(crate) n_upper: usize,
    pub(crate) n_digits: usize,
    /// The number of bytes `_`, `-`, and `.`.
    pub(crate) n_joints: usize,
    /// The number of other ASCII punctuation bytes.
    pub(crate) n_marks: usize,
    /// The number of non-ASCII bytes.
    pub(crate) n_others: usize,
    /// The number of compared pairs of letters.
    n_pairs: usize,
    /// The number of rare pairs.
    n_rare: usize,
}

impl Makeup {
    /// Counts the characters in the first 128 bytes of a string.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut makeup = Self::default();
        let mut before = b' ';
        for byte in text.iter().copied().take(128) {
            makeup.push(before, byte);
            before = byte;
        }
        makeup
    }

    fn push(&mut self, before: u8, byte: u8) {
        let count = match byte {
            b'a'..=b'z' => &mut self.n_lower,
            b'A'..=b'Z' => &mut self.n_upper,
            b'0'..=b'9' => &mut self.n_digits,
            b'_' | b'-' | b'.' => &mut self.n_joints,
            128.. => &mut self.n_others,
            _ => &mut self.n_marks,
        };
        *count = count.saturating_add(1);
        let is_letter = byte.is_ascii_alphabetic();
        if before.is_ascii_alphabetic() && is_letter {
            // A capital within a name starts a word: `apiKey`.
            let starts_word = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
            self.push_pair(!starts_word && !is_common(before, byte), 1);
        } else if before.is_ascii_alphanumeric() && byte.is_ascii_alphanumeric() {
            // Words have digits at the end, not before letters.
            self.push_pair(before.is_ascii_digit() && is_letter, 2);
        }
    }

    fn push_pair(&mut self, is_rare: bool, weight: usize) {
        self.n_pairs = self.n_pairs.saturating_add(1);
        self.n_rare = self.n_rare.saturating_add(if is_rare { weight } else { 0 });
    }

    /// Returns the number of letters.
    pub(crate) fn n_letters(&self) -> usize {
        self.n_lower.saturating_add(self.n_upper)
    }

    /// Returns whether the string is random rather than made of words.
    pub(crate) fn is_random(&self) -> bool {
        self.n_pairs >= 4 && self.n_rare.saturating_mul(4) >= self.n_pairs
    }
}

fn is_common(first: u8, second: u8) -> bool {
    let number = |letter: u8| letter.to_ascii_lowercase().wrapping_sub(b'a');
    let row = COMMON.get(usize::from(number(first))).copied().unwrap_or_default();
    row.checked_shr(u32::from(number(second))).unwrap_or_default() & 1 == 1
}

/// Returns whether a string has many capitals within words, like `kJxQaPzRtY`.
pub(crate) fn has_many_humps(text: &[u8]) -> bool {
    let is_hump = |pair: &&[u8]| matches!(pair, [first, second] if first.is_ascii_lowercase() && second.is_ascii_uppercase());
    let n_humps = text.windows(2).take(128).filter(is_hump).count();
    n_humps >= 3 && n_humps.saturating_mul(4) >= text.len().min(128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_strings_are_told_from_words() {
        for text in ["xKq9zLw2", "kqjzwpvbtx", "9f8e7d6c5b4a", "aB3dE5gH7jK9", "QZkTwvXbPmLd"] {
            assert!(Makeup::of(text.as_bytes()).is_random(), "{text}");
        }
        for text in
            ["connection_timeout", "apiKeySource", "ANTHROPIC_API_KEY", "my-token-2", "password123"]
        {
            assert!(!Makeup::of(text.as_bytes()).is_random(), "{text}");
        }
    }
}
