//! Encodes numbers, hashes and bytes in a carry.
//!
//! In: the number 27, a 64-bit guard, the bytes `a`. Out: `r` (base 36), 11 characters, `YQ` (base
//! 64).

use std::hash::Hasher;

use twox_hash::XxHash3_64;

const BASE_64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters of a guard.
pub(super) const GUARD_LEN: usize = 11;
/// The characters of a check.
pub(super) const CHECK_LEN: usize = 6;

/// Returns the hash of a written line, given in one or more pieces: its guard, which tells whether the line
/// was edited since it was written.
pub fn guard_of(pieces: &[&[u8]]) -> u64 {
    /// Length in bytes up to which the hash of a copy takes less time than that of several pieces.
    const SHORT: usize = 64 * 1024;
    match pieces {
        [one] | [one, []] => XxHash3_64::oneshot(one),
        _ if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= SHORT => {
            XxHash3_64::oneshot(&pieces.concat())
        }
        _ => {
            let mut hasher = XxHash3_64::new();
            for piece in pieces {
                hasher.write(piece);
            }
            hasher.finish()
        }
    }
}

/// Appends a guard.
pub(crate) fn push_guard(out: &mut Vec<u8>, guard: u64) {
    push_bits(out, guard, GUARD_LEN);
}

/// Appends a check: the low 36 bits of the hash of restored bytes.
pub(super) fn push_check(out: &mut Vec<u8>, hash: u64) {
    push_bits(out, hash, CHECK_LEN);
}

fn push_bits(out: &mut Vec<u8>, bits: u64, n_digits: usize) {
    for digit in 0..n_digits {
        out.push(BASE_64[(bits >> (6 * digit) & 63) as usize]);
    }
}

/// Reads a guard from the front of `bytes`.
pub(crate) fn read_guard(bytes: &mut &[u8]) -> Option<u64> {
    let (digits, rest) = bytes.split_at_checked(GUARD_LEN)?;
    *bytes = rest;
    read_bits(digits)
}

/// Decodes the bits that [`push_guard`] or [`push_check`] wrote.
pub(super) fn read_bits(digits: &[u8]) -> Option<u64> {
    let mut bits = 0;
    for (n, digit) in digits.iter().enumerate() {
        bits |= u64::from(digit_of(*digit)?) << (6 * n);
    }
    Some(bits)
}

/// Returns the bits of a hash that a check keeps.
pub(super) fn check_bits(hash: u64) -> u64 {
    hash & ((1 << (6 * CHECK_LEN)) - 1)
}

fn digit_of(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
}

/// Appends bytes in base 64, without padding.
pub(super) fn push_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        push_bits(out, bits, chunk.len() + 1);
    }
}

/// Decodes base 64 of [`push_base64`] to `out`. Returns false if it is malformed.
pub(super) fn read_base64(out: &mut Vec<u8>, digits: &[u8]) -> bool {
    for chunk in digits.chunks(4) {
        let Some(bits) = read_bits(chunk) else { return false };
        let n_bytes = chunk.len() - 1;
        out.extend((0..n_bytes).map(|n| (bits >> (8 * n)) as u8));
    }
    true
}

/// The digits of base 36.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Appends a number in base 36.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    // Most numbers have at most three digits and need no loop.
    let digit = |number: u32| DIGITS[(number % 36) as usize];
    if number < 36 * 36 * 36 {
        let number = number as u32;
        let (first, second) = (number / (36 * 36), number / 36);
        return match number {
            0..36 => out.push(digit(number)),
            36..1296 => out.extend_from_slice(&[digit(second), digit(number)]),
            _ => out.extend_from_slice(&[digit(first), digit(second), digit(number)]),
        };
    }
    let mut digits = [0; 13];
    let mut at = digits.len();
    while number > 0 {
        at -= 1;
        digits[at] = digit((number % 36) as u32);
        number /= 36;
    }
    out.extend_from_slice(&digits[at..]);
}

/// The value of a byte that is no digit.
const NO_DIGIT: u8 = 36;

/// The value of each byte as a digit; [`NO_DIGIT`] for other bytes.
const DIGIT_VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < 36 {
        values[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// The number of digits that always fit into 64 bits.
const MAX_UNCHECKED: usize = 12;

/// Reads a number from the front of `bytes`.
#[inline]
pub(crate) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, end) = number_at(bytes, 0)?;
    *bytes = bytes.get(end..)?;
    Some(number)
}

/// Returns the number at an offset, and the offset of its end.
#[inline(always)]
pub(super) fn number_at(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let digits = bytes.get(start..)?;
    let (mut number, mut n_digits) = (0, 0);
    for byte in digits {
        let digit = DIGIT_VALUES[usize::from(*byte)];
        if digit == NO_DIGIT {
            break;
        }
        if n_digits == MAX_UNCHECKED {
            return long_number_at(bytes, start);
        }
        number = number * 36 + u64::from(digit);
        n_digits += 1;
    }
    (n_digits > 0).then_some((number, start + n_digits))
}

/// Returns a number of any length, as [`number_at`] does.
#[cold]
fn long_number_at(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let (mut number, mut end) = (0_u64, start);
    while let Some(digit) = bytes.get(end).map(|byte| DIGIT_VALUES[usize::from(*byte)])
        && digit != NO_DIGIT
    {
        number = number.checked_mul(36)?.checked_add(u64::from(digit))?;
        end += 1;
    }
    Some((number, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_come_back() {
        let around = |n: u64| [n - 1, n, n + 1];
        let powers = (1..13).flat_map(|n| around(36_u64.pow(n)));
        for number in powers.chain([0, 12345, u64::MAX - 1, u64::MAX]) {
            let mut text = Vec::new();
            push_number(&mut text, number);
            let mut rest = &text[..];
            assert_eq!(read_number(&mut rest), Some(number));
            assert!(rest.is_empty());
            let mut guard = Vec::new();
            push_guard(&mut guard, number);
            assert_eq!(read_bits(&guard), Some(number));
        }
        for other in ["zzzzzzzzzzzzz", "zzzzzzzzzzzzzz", "", ":", "A"] {
            assert_eq!(read_number(&mut other.as_bytes()), None, "{other}");
        }
        assert_eq!(read_number(&mut &b"00000000000000000001z,"[..]), Some(71));
        for n in 0..10 {
            let bytes: Vec<u8> = (0..n).map(|byte| 200 ^ byte).collect();
            let (mut text, mut back) = (Vec::new(), Vec::new());
            push_base64(&mut text, &bytes);
            assert!(read_base64(&mut back, &text));
            assert_eq!(back, bytes);
        }
    }
}
