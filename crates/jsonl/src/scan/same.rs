//! Finds the start of a string's body that both spellings have alike, 64 bytes at a time.
//!
//! In: `say \"hi\" \u00e9`. Out: 11, the bytes before `\u00e9`.

use super::simd;
#[cfg(target_arch = "x86_64")]
pub(crate) use super::simd::others_of;

/// The bytes of a vector.
const PART: usize = 16;

/// The bytes of a block.
const BLOCK: usize = 4 * PART;

/// Returns the length of the start that both styles spell alike: characters that neither escapes, and escapes
/// with only one spelling. `is_ascii` says whether a style has no other characters.
pub(crate) fn n_same(body: &[u8], is_ascii: bool) -> usize {
    if body.len() >= PART
        && let Some(n) = simd::n_same(body, is_ascii)
    {
        return n;
    }
    by_parts(body, is_ascii)
}

/// The masks of a block: one bit for each byte, the first byte lowest.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    pub(crate) backslashes: u64,
    /// Bytes that a style has no place for, escaped or not.
    pub(crate) foreign: u64,
}

/// Counts as [`n_same`] does. It is inlined into functions that are compiled for the instructions of a CPU, where
/// `spelling` and `simple` are a few instructions; `simple` gives the bytes whose escape has only one spelling.
///
/// ```text
/// body       say \"hi\" \u00e9
/// escaped    .....x...x..x....
/// simple     .....x...x.......
/// the first escaped byte that is not simple: 12, so 11 bytes are alike
/// ```
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn count(
    body: &[u8],
    spelling: impl Fn(&[u8; BLOCK]) -> Spelling,
    simple: impl Fn(&[u8; BLOCK]) -> u64,
) -> usize {
    let (blocks, rest) = body.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    if let Some(part) = last.get_mut(..rest.len()) {
        part.copy_from_slice(rest);
    }
    let last = (!rest.is_empty()).then_some(&last);
    let mut carry = 0;
    for (block_idx, block) in blocks.iter().chain(last).enumerate() {
        let Spelling { backslashes, foreign } = spelling(block);
        let mut escapes = 0;
        if backslashes | carry != 0 {
            escapes = super::bitmap::escaped(backslashes, &mut carry) & !simple(block);
        }
        let others = foreign | escapes;
        if others != 0 {
            let first = others.trailing_zeros();
            // An escape starts with its backslash.
            let is_escape = escapes >> first & 1;
            return block_idx * BLOCK + first as usize - is_escape as usize;
        }
    }
    body.len() - carry as usize
}

/// Counts as [`n_same`] does, with the vectors that every CPU has.
fn by_parts(body: &[u8], is_ascii: bool) -> usize {
    let mut at = 0;
    while let Some(block) = body.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        let (parts, _) = block.as_chunks::<PART>();
        let mut others = 0;
        for (part_idx, part) in parts.iter().enumerate() {
            others |= u64::from(others_of(part, is_ascii)) << (part_idx * PART);
        }
        match after_escapes(body, at, others, BLOCK) {
            Ok(end) => at = end,
            Err(other) => return other,
        }
    }
    while let Some(part) = body.get(at..).and_then(<[u8]>::first_chunk::<PART>) {
        match after_escapes(body, at, u64::from(others_of(part, is_ascii)), PART) {
            Ok(end) => at = end,
            Err(other) => return other,
        }
    }
    loop {
        match body.get(at..).unwrap_or_default() {
            [b'\\', second, ..] if is_simple(*second) => at += 2,
            [b'\\', ..] | [] => return at,
            [byte, ..] if is_ascii && !(b' '..=b'~').contains(byte) => return at,
            _ => at += 1,
        }
    }
}

/// Passes the escapes of a block that starts at `at`. `others` has a bit for each byte that may not be spelled
/// alike. Returns the place after the block, or as an error the first place that is not spelled alike.
#[inline]
fn after_escapes(body: &[u8], at: usize, others: u64, length: usize) -> Result<usize, usize> {
    let mut others = others;
    while others != 0 {
        let n = others.trailing_zeros() as usize;
        match body.get(at + n..) {
            Some([b'\\', second, ..]) if is_simple(*second) => {}
            _ => return Err(at + n),
        }
        if n + 1 >= length {
            return Ok(at + n + 2);
        }
        others &= !(3 << n);
    }
    Ok(at + length)
}

/// Returns whether an escape with this second byte has only one spelling.
fn is_simple(second: u8) -> bool {
    matches!(second, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// Returns a bit for each backslash and, if `is_ascii`, for each byte that is not printable ASCII.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn others_of(part: &[u8; PART], is_ascii: bool) -> u16 {
    by_words(part, is_ascii)
}

/// Computes the bits of a part with words of eight bytes.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn by_words(part: &[u8; PART], is_ascii: bool) -> u16 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    /// Returns the top bit of each byte that is zero.
    fn zeros(word: u64) -> u64 {
        !(((word & !TOPS) + !TOPS) | word) & TOPS
    }
    let (words, _) = part.as_chunks::<8>();
    let bits = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        let mut others = zeros(word ^ (ONES * b'\\' as u64));
        if is_ascii {
            others |= zeros(word & (ONES * 0xe0)) | zeros(word ^ (ONES * 0x7f)) | word & TOPS;
        }
        // The top bits of eight bytes become the eight bits of the top byte.
        (others >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    words.iter().rev().fold(0, |all, word| all << 8 | bits(word) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at each byte.
    fn one_by_one(body: &[u8], is_ascii: bool) -> usize {
        let mut at = 0;
        while let Some(byte) = body.get(at) {
            match (byte, body.get(at + 1)) {
                (b'\\', Some(second)) if is_simple(*second) => at += 2,
                (b'\\', _) => return at,
                (byte, _) if is_ascii && !(b' '..=b'~').contains(byte) => return at,
                _ => at += 1,
            }
        }
        at
    }

    #[test]
    fn each_byte_at_each_place() {
        for byte in u8::MIN..=u8::MAX {
            for place in 0..PART {
                let mut part = [b'a'; PART];
                part[place] = byte;
                for is_ascii in [false, true] {
                    let is_other = byte == b'\\' || is_ascii && !(b' '..=b'~').contains(&byte);
                    let expected = u16::from(is_other) << place;
                    assert_eq!(others_of(&part, is_ascii), expected, "{byte} at {place}");
                    assert_eq!(by_words(&part, is_ascii), expected, "{byte} at {place}");
                }
            }
        }
    }

    #[test]
    fn escapes_at_each_place() {
        let pieces = ["a", "say", "\\n", "\\\"", "\\\\", "\\u00e9", "\\/", "é", "\u{7f}"];
        let mut state = 1_u64;
        for _ in 0..if cfg!(miri) { 60 } else { 20_000 } {
            let mut body = String::new();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Mostly pieces that are spelled alike, so that whole blocks are passed.
            let n_pieces = (state >> 40) % 150;
            for _ in 0..n_pieces {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let piece = (state >> 33) as usize % 400;
                body.push_str(pieces[if piece < pieces.len() { piece } else { piece % 5 }]);
            }
            for is_ascii in [false, true] {
                for body in [body.as_bytes(), &body.as_bytes()[..body.len() / 2]] {
                    let expected = one_by_one(body, is_ascii);
                    assert_eq!(n_same(body, is_ascii), expected, "{}", body.escape_ascii());
                    assert_eq!(by_parts(body, is_ascii), expected, "{}", body.escape_ascii());
                }
            }
        }
    }
}
