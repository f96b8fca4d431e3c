//! Decodes base64, the form of images and of some secrets in strings.
//!
//! In: `aGk=`. Out: `hi`.

/// Returns the six bits of a letter of base64, in both alphabets: `+` is `-`, and `/` is `_`. Returns `None` for other
/// bytes.
///
/// ```
/// assert_eq!([b'B', b'+', b'-', b'='].map(jsonl::base64_bits), [Some(1), Some(62), Some(62), None]);
/// ```
#[inline]
pub fn base64_bits(letter: u8) -> Option<u8> {
    VALUES.get(usize::from(letter)).copied().filter(|value| *value < OTHER)
}

/// Decodes base64, in both alphabets, up to its padding or to the first other byte, and appends the bytes to `out`.
///
/// ```
/// let mut decoded = Vec::new();
/// jsonl::decode_base64(b"aGkh_-8=", &mut decoded);
/// assert_eq!(decoded, b"hi!\xff\xef");
/// ```
pub fn decode_base64(text: &[u8], out: &mut Vec<u8>) {
    for letters in text.chunks(4) {
        let mut values = [OTHER; 4];
        for (value, letter) in values.iter_mut().zip(letters) {
            *value = VALUES.get(usize::from(*letter)).copied().unwrap_or(OTHER);
        }
        let n_letters = values.iter().take_while(|value| **value < OTHER).count();
        // The bits of a byte that is no letter are 0.
        let bits = values.iter().fold(0, |bits, value| bits << 6 | u32::from(value % OTHER));
        let [_, whole @ ..] = bits.to_be_bytes();
        // Four letters are three bytes, and each missing letter is one byte less.
        out.extend_from_slice(whole.get(..n_letters.saturating_sub(1)).unwrap_or_default());
        if n_letters < values.len() {
            break;
        }
    }
}

/// The value of a byte that is no letter.
const OTHER: u8 = 64;

/// The value of each byte as a letter of base64.
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "the compiler evaluates it"))]
const VALUES: [u8; 256] = {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [OTHER; 256];
    let mut value = 0;
    while value < 64 {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        decode_base64(text.as_bytes(), &mut out);
        out
    }

    #[test]
    fn base64_is_decoded_up_to_its_end() {
        for (text, expected) in [
            ("", ""),
            ("a", ""),
            ("aA==", "h"),
            ("aGk=", "hi"),
            ("aGk", "hi"),
            ("aGk/", "hi?"),
            ("aGk_", "hi?"),
            ("aGkhaGk=aGkh", "hi!hi"),
            ("aGkha Gk", "hi!"),
            ("aGkhaG\"k", "hi!h"),
        ] {
            assert_eq!(decoded(text), expected.as_bytes(), "{text}");
        }
        assert_eq!(decoded("+-/_"), [0xfb, 0xef, 0xff]);
    }
}
