//! Follows braces, brackets and strings within a record of a document, 64 bytes at a time.
//!
//! ```text
//! record     {"a":"]}\"{","b":[1]},
//! escaped    ........x.............
//! quotes     .x.x.x....x.x.x.......
//! strings    .xx..xxxxxx..xx.......  the opening quote and the body
//! opens      x................x....
//! closes     ...................xx.
//! ```
//!
//! The record ends where as many containers are closed as are open: at byte 20. A block that closes
//! fewer containers than are open needs no look at the single brackets. Two kinds of damage are left to
//! the caller, which looks at each byte: a newline in a string, and a backslash outside of one.

pub(crate) use super::bitmap::BLOCK;
#[cfg(target_arch = "x86_64")]
use super::bitmap::escaped;
use super::simd;

/// The place within a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Nesting {
    /// The number of open containers, the record included.
    pub(crate) depth: usize,
    pub(crate) in_string: bool,
    /// Whether the next byte is escaped.
    pub(crate) is_escaped: bool,
}

/// The masks of a block: one bit for each byte, the first byte lowest.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structure {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    pub(crate) newlines: u64,
    /// Opening brackets and braces, in strings or not.
    pub(crate) opens: u64,
    /// Closing brackets and braces, in strings or not.
    pub(crate) closes: u64,
}

/// Reads whole blocks of a record up to its end, to a damaged block, or to the last whole block.
/// Returns the number of bytes, and updates the place: its depth is 0 behind the end of the record.
/// A CPU without the instructions reads nothing.
pub(crate) fn follow(bytes: &[u8], place: &mut Nesting) -> usize {
    simd::follow(bytes, place).unwrap_or(0)
}

/// Reads blocks as [`follow`] does. It is inlined into functions that are compiled for the
/// instructions of a CPU, where `structure` is a few of them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn follow_blocks(
    bytes: &[u8],
    place: &mut Nesting,
    structure: impl Fn(&[u8; BLOCK]) -> Structure,
) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let mut depth = place.depth;
    let mut escapes = u64::from(place.is_escaped);
    // All bits are set if the block before ended in a string.
    let mut in_string = 0_u64.wrapping_sub(u64::from(place.in_string));
    let mut n = 0;
    for block in blocks {
        let Structure { mut quotes, backslashes, newlines, opens, closes } = structure(block);
        let mut next_escapes = escapes;
        if backslashes | escapes != 0 {
            quotes &= !escaped(backslashes, &mut next_escapes);
        }
        let strings = up_to_here(quotes) ^ in_string;
        if (newlines & strings) | (backslashes & !strings) != 0 {
            break;
        }
        let (opens, mut closes) = (opens & !strings, closes & !strings);
        let n_closes = closes.count_ones() as usize;
        if n_closes >= depth {
            // The first close that leaves no container open ends the record.
            let mut n_before = 0;
            while closes != 0 {
                let at = closes.trailing_zeros();
                n_before += 1;
                if depth + (opens & ((1 << at) - 1)).count_ones() as usize == n_before {
                    *place = Nesting { depth: 0, in_string: false, is_escaped: false };
                    return n + at as usize + 1;
                }
                closes &= closes - 1;
            }
        }
        depth = depth + opens.count_ones() as usize - n_closes;
        escapes = next_escapes;
        in_string = 0_u64.wrapping_sub(strings >> 63);
        n += BLOCK;
    }
    *place = Nesting { depth, in_string: in_string != 0, is_escaped: escapes != 0 };
    n
}

/// Returns for each bit whether an odd number of bits is set up to it.
///
/// In: the quotes `..x...x..`. Out: `..xxxx...`, the opening quote and the body.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn up_to_here(quotes: u64) -> u64 {
    let mut bits = quotes;
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether this CPU has the instructions.
    fn has_kernel() -> bool {
        simd::follow(b"", &mut Nesting { depth: 1, in_string: false, is_escaped: false }).is_some()
    }

    /// Looks at each byte, up to the end of the record; `None` for damage that is left to the caller.
    fn one_by_one(bytes: &[u8], place: &mut Nesting) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            if place.in_string {
                match byte {
                    b'\n' => return None,
                    _ if place.is_escaped => place.is_escaped = false,
                    b'\\' => place.is_escaped = true,
                    b'"' => place.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'\\' => return None,
                b'"' => place.in_string = true,
                b'{' | b'[' => place.depth += 1,
                b'}' | b']' => {
                    place.depth -= 1;
                    if place.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        Some(bytes.len())
    }

    #[test]
    fn records_end_where_their_bytes_say() {
        let pieces =
            ["{", "[", "}", "]", "\"", "\\\"", "\\\\", "\\n", "\n", "\\", "say é", ",", "x"];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut n_read = 0;
        for _ in 0..if cfg!(miri) { 50 } else { 30_000 } {
            let mut bytes = String::new();
            for _ in 0..random(200) {
                // Damage is rare, so that whole blocks are read.
                let piece = random(60);
                bytes.push_str(pieces[if piece < pieces.len() { piece } else { 10 + piece % 3 }]);
            }
            let bytes = bytes.as_bytes();
            let start =
                Nesting { depth: 1 + random(3), in_string: random(2) == 0, is_escaped: false };
            let start = Nesting { is_escaped: start.in_string && random(4) == 0, ..start };
            let mut place = start;
            let n = follow(bytes, &mut place);
            let mut expected = start;
            let end = one_by_one(&bytes[..n], &mut expected);
            let shown = bytes.escape_ascii();
            assert_eq!((Some(n), place), (end, expected), "{start:?} {shown}");
            let is_whole = place.depth == 0 || bytes.len() - n < BLOCK;
            // The damage may be behind the end of the record.
            expected.depth += BLOCK;
            let rest = one_by_one(&bytes[n..bytes.len().min(n + BLOCK)], &mut expected);
            assert!(is_whole || rest.is_none() || !has_kernel(), "{start:?} {shown}");
            n_read += n;
        }
        assert!(n_read > 1000 || !has_kernel(), "{n_read}");
    }
}
