//! Finds the ends of strings with bitmaps: one bit for each byte of a block of 64, for quotes and
//! for backslashes.
//!
//! ```text
//! line       {"a":"b\"c"}
//! quotes     .x.x.x..x.x.
//! escaped    ........x...
//! positions  1, 3, 5, 10: the quotes that start and end strings
//! ```
//!
//! Before you change this: the walk reads every byte outside of strings itself, so it needs only
//! the unescaped quotes, in order. There is no bitmap of string contents and no table of structural
//! characters. A backslash outside of a string makes the positions wrong. That does not matter: the
//! walk rejects that byte before it asks for another quote.

use crate::{
    ErrorKind,
    scan::{grammar::Strings, portable::is_surrogate, simd},
};

/// Number of bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// Number of positions in a window, which fits in the nearest cache.
const WINDOW: usize = 1024;

/// End mark of the positions. It is stored twice, because a string reads two.
const NONE: u32 = u32::MAX;

/// The masks of a block: one bit for each byte, the first byte lowest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Masks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
}

/// The unescaped quotes of a line, one window at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotes {
    positions: Vec<u32>,
    /// Index of the next position.
    next: usize,
    /// Index of the next block to read.
    block: usize,
    /// Whether the next block's first byte is escaped: 0 or 1.
    carry: u64,
    kernel: simd::Kernel,
    seen: Seen,
}

/// Flags for the bytes read so far, inside strings or not.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Whether an escaped surrogate was read.
    surrogate_escape: bool,
    /// Whether a backslash without a valid escape was read.
    invalid_escape: bool,
    /// Whether a control character was read.
    control: bool,
}

impl Quotes {
    /// Resets the window for a line.
    pub(crate) fn start(&mut self, length: usize, kernel: simd::Kernel) {
        let capacity = length.min(WINDOW) + BLOCK + 2;
        if self.positions.len() < capacity {
            self.positions.resize(capacity, NONE);
        }
        self.end_at(0);
        self.next = 0;
        self.block = 0;
        self.carry = 0;
        self.kernel = kernel;
        self.seen = Seen::default();
    }

    /// Returns whether all bytes so far are valid in strings.
    ///
    /// Lines that were written by hand can have control characters between values. The portable
    /// scanner reads those.
    pub(crate) fn is_clean(&self) -> bool {
        !self.seen.invalid_escape && !self.seen.control
    }

    /// Notes whether a control character was seen.
    #[inline(always)]
    pub(crate) fn note_control(&mut self, any: bool) {
        self.seen.control |= any;
    }

    /// Reads blocks until the window is full or the line ends.
    ///
    /// This is the only loop over all bytes. It is inlined into every kernel, where `masks` and
    /// `simple_escapes` are a few instructions.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        line: &[u8],
        mut masks: impl FnMut(&[u8; BLOCK]) -> Masks,
        simple_escapes: impl Fn(&[u8; BLOCK]) -> u64,
    ) {
        let (blocks, rest) = line.as_chunks::<BLOCK>();
        let mut last = [b' '; BLOCK];
        if let Some(part) = last.get_mut(..rest.len()) {
            part.copy_from_slice(rest);
        }
        let n_blocks = blocks.len() + usize::from(!rest.is_empty());
        let mut n = 0;
        let mut block_idx = self.block;
        let mut carry = self.carry;
        while block_idx < n_blocks {
            // A block has at most 64 quotes. Two more places are for the end marks.
            let rest = self.positions.get_mut(n..).and_then(<[u32]>::first_chunk_mut);
            let Some(places): Option<&mut [u32; BLOCK + 2]> = rest else { break };
            let block = blocks.get(block_idx).unwrap_or(&last);
            let Masks { mut quotes, backslashes } = masks(block);
            if backslashes | carry != 0 {
                let escaped = escaped(backslashes, &mut carry);
                quotes &= !escaped;
                let others = escaped & !simple_escapes(block);
                if others != 0 {
                    check_escapes(line, block_idx * BLOCK, others, &mut self.seen);
                }
            }
            n += put(quotes, (block_idx * BLOCK) as u32, places);
            block_idx += 1;
        }
        self.block = block_idx;
        self.carry = carry;
        self.next = 0;
        self.end_at(n);
    }

    fn end_at(&mut self, n: usize) {
        if let Some(after) = self.positions.get_mut(n..n + 2) {
            after.fill(NONE);
        }
    }

    /// Returns the next quote, after the window was used up or for its last pair.
    #[cold]
    #[inline(never)]
    fn next_slowly(&mut self, line: &[u8]) -> Option<u32> {
        loop {
            let position = self.positions.get(self.next).copied().unwrap_or(NONE);
            if position != NONE {
                self.next += 1;
                return Some(position);
            }
            if self.block * BLOCK >= line.len() {
                return None;
            }
            simd::fill(self, line, self.kernel);
        }
    }
}

/// Returns the bits of escaped bytes, and whether the next block starts with an escaped byte.
///
/// A backslash that is itself escaped escapes nothing. The subtraction finds, for each run of
/// backslashes, the byte after it, and whether the run began at an odd or an even bit: so no loop
/// over runs is needed (J. Keiser, simdjson).
#[inline(always)]
pub(crate) fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let starts = backslashes & !*carry;
    let after = (((starts << 1) | ODD).wrapping_sub(starts)) ^ ODD;
    let escaped = after ^ (backslashes | *carry);
    *carry = (after & backslashes) >> 63;
    escaped
}

/// Checks `\u` escapes, and backslashes that start no escape.
#[inline(never)]
fn check_escapes(line: &[u8], base: usize, mut bits: u64, seen: &mut Seen) {
    while bits != 0 {
        let at = base + bits.trailing_zeros() as usize;
        bits &= bits - 1;
        match line.get(at..at + 5) {
            Some([b'u', digits @ ..]) if digits.iter().all(u8::is_ascii_hexdigit) => {
                seen.surrogate_escape |= is_surrogate(digits);
            }
            _ => seen.invalid_escape = true,
        }
    }
}

/// Writes the positions of set bits into `places` and returns their number.
///
/// Always writes in steps of four, because most blocks have at most four.
#[inline(always)]
fn put(mut bits: u64, base: u32, places: &mut [u32; BLOCK + 2]) -> usize {
    if bits == 0 {
        return 0;
    }
    let n = bits.count_ones() as usize;
    let (fours, _) = places.as_chunks_mut::<4>();
    for four in fours {
        for place in four {
            *place = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
    n
}

impl Strings for Quotes {
    #[inline(always)]
    fn end_of(&mut self, bytes: &[u8], start: usize) -> Result<usize, (usize, ErrorKind)> {
        // The opening quote is the next position, and the closing quote follows it.
        let closing = match self.positions.get(self.next + 1) {
            Some(&closing) if closing != NONE => {
                debug_assert_eq!(self.positions.get(self.next), Some(&(start as u32)));
                self.next += 2;
                closing
            }
            _ => {
                let opening = self.next_slowly(bytes);
                debug_assert_eq!(opening, Some(start as u32));
                self.next_slowly(bytes).ok_or((bytes.len(), ErrorKind::UnexpectedEnd))?
            }
        };
        Ok(closing as usize + 1)
    }

    fn has_surrogate(&self) -> bool {
        self.seen.surrogate_escape
    }
}
