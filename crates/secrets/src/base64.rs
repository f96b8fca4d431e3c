//! Finds the base64 form of a text, and users with their passwords in base64.
//!
//! `ghp_` at the start of three bytes is `Z2hwX` in base64; one byte later it is `dwX` after two
//! letters that depend on the byte before. So each prefix of a token has three spellings, and the
//! automaton looks for all of them.

use jsonl::{base64_bits, decode_base64};

use crate::{
    class::BASE64,
    placeholder::{is_example, is_template, is_weak},
    value::is_strong,
};

/// Returns the number of letters of a group that contain bits of its first `shift` bytes.
pub(crate) fn n_before(shift: usize) -> usize {
    [0, 2, 3].get(shift).copied().unwrap_or_default()
}

/// Returns the letters that a text always has in base64 after `shift` other bytes, 0 to 2. Letters
/// that also contain bits of the other bytes are left out.
pub(crate) fn spelling(text: &str, shift: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = std::iter::repeat_n(0, shift).chain(text.bytes()).collect();
    let letters = bytes.chunks(3).flat_map(|group| {
        let byte = |n: usize| group.get(n).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        // The last letter of an incomplete group contains bits of the next bytes.
        let n_whole = [0, 1, 2, 4].get(group.len()).copied().unwrap_or_default();
        [18_u32, 12, 6, 0].into_iter().take(n_whole).map(move |shift| bits >> shift & 0x3f)
    });
    let letters = letters.filter_map(|digit| ALPHABET.get(usize::try_from(digit).ok()?));
    letters.skip(n_before(shift)).map(|letter| char::from(*letter)).collect()
}

/// Returns whether base64 decodes to a user and a password, as in `Authorization: Basic`.
pub(crate) fn user_and_password(text: &[u8]) -> bool {
    if text.len() < 8 || text.len() > 1024 || !text.iter().all(|byte| BASE64.has(*byte)) {
        return false;
    }
    let mut decoded = Vec::new();
    decode_base64(text, &mut decoded);
    let is_text = std::str::from_utf8(&decoded).is_ok_and(|text| !text.contains(char::is_control));
    let mut parts = decoded.splitn(2, |byte| *byte == b':');
    let (Some(_), Some(password)) = (parts.next(), parts.next()) else { return false };
    // The letters of `B4s1l-7*` stand alone, which are no weak words.
    let has_word = || password.split(|byte| !byte.is_ascii_alphabetic()).any(|word| word.len() > 1);
    let is_weak = is_weak(password) && (has_word() || !is_strong(password) && !is_mixed(password));
    is_text && password.len() >= 4 && !is_weak && !is_template(password) && !is_example(text)
}

/// Returns whether a password has letters among digits: `m34d0w_170`.
fn is_mixed(password: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| password.iter().filter(|byte| is(byte)).count();
    password.len() >= 8 && count(u8::is_ascii_alphabetic) > 2 && count(u8::is_ascii_digit) > 2
}

/// Returns whether a byte is a letter of base64, in either alphabet.
pub(crate) fn is_letter(byte: u8) -> bool {
    base64_bits(byte).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_spelled_in_three_ways() {
        for (shift, letters) in ["Z2hwX", "docF", "naHBf"].into_iter().enumerate() {
            assert_eq!(spelling("ghp_", shift), letters);
        }
    }

    #[test]
    fn users_and_passwords_are_known() {
        let mut decoded = Vec::new();
        decode_base64(b"YWRhOnRaOCFrcTAyTG0=", &mut decoded);
        assert_eq!(decoded, b"ada:tZ8!kq02Lm");
        assert!(user_and_password(b"YWRhOnRaOCFrcTAyTG0="));
        // "user:password", and no text at all.
        assert!(!user_and_password(b"dXNlcjpwYXNzd29yZA==") && !user_and_password(b"0123456789ab"));
    }
}
