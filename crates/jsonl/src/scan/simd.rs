//! Computes the bitmaps of a block with vector instructions, and keeps bytes that are known to be
//! UTF-8. The only module of this crate with unsafe code.
//!
//! The unsafe operations are: calling a function that is compiled for instructions of this CPU,
//! loading a vector from a reference, and returning the bytes of a [`Buffer`] as text after they
//! were checked.

use crate::scan::{bitmap::Quotes, nesting::Nesting};

/// Length in bytes from which a buffer grows by a quarter instead of doubling.
const LARGE: usize = 1024 * 1024;

/// A reused buffer, and whether its bytes are UTF-8.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Number of bytes that were read.
    n_read: usize,
    /// Number of bytes in whole lines; at the end of the input, all bytes.
    len: usize,
    /// Whether those bytes are not UTF-8.
    is_other: bool,
}

impl Buffer {
    /// Removes all bytes.
    pub(crate) fn clear(&mut self) {
        (self.n_read, self.len, self.is_other) = (0, 0, false);
    }

    /// Replaces the bytes.
    pub(crate) fn replace(&mut self, bytes: Vec<u8>) {
        self.clear();
        self.bytes = bytes;
        self.n_read = self.bytes.len();
        self.count(self.n_read);
    }

    /// Removes the valid bytes, keeps the start of a line that was read, and reads about `size`
    /// bytes, or more if a line is longer. Returns whether the input ended.
    pub(crate) fn advance<E>(
        &mut self,
        size: usize,
        read: &mut impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<bool, E> {
        let (rest, n_rest) = (self.len..self.n_read, self.n_read - self.len);
        (self.n_read, self.len, self.is_other) = (n_rest, 0, false);
        self.bytes.copy_within(rest, 0);
        let mut wanted = size;
        let mut n_searched = 0;
        loop {
            let before = self.n_read;
            if before >= wanted {
                let fresh = self.bytes.get(n_searched..before).unwrap_or_default();
                if let Some(at) = memchr::memrchr(b'\n', fresh) {
                    self.count(n_searched + at + 1);
                    return Ok(false);
                }
                n_searched = before;
                wanted = before + size;
            }
            let room = self.bytes.len();
            if before == 0 && room < wanted {
                // Fresh pages are zeroed by the system: no byte of them is touched before it is read.
                self.bytes = vec![0; wanted];
            } else if room < wanted {
                // The buffer must not be much larger than a long line. It grows in place.
                let more = if room < LARGE { room } else { room / 4 };
                let larger = wanted.max(room + more);
                self.bytes.reserve_exact(larger - room);
                self.bytes.resize(larger, 0);
            }
            let free = self.bytes.get_mut(before..wanted).unwrap_or_default();
            let n = read(free)?.min(free.len());
            self.n_read = before + n;
            if n == 0 {
                self.count(before);
                return Ok(true);
            }
        }
    }

    /// Reads at most `size` bytes behind the ones that were read, with room for `room` bytes in all.
    /// Returns whether the input ended.
    pub(crate) fn extend<E>(
        &mut self,
        size: usize,
        room: usize,
        read: &mut impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<bool, E> {
        let before = self.n_read;
        if self.bytes.len() < room.max(before + 1) {
            // Fresh pages are zeroed by the system: no byte of them is touched before it is read.
            let mut larger = vec![0; room.max(before + size.max(before))];
            if let (Some(start), Some(read)) = (larger.get_mut(..before), self.bytes.get(..before))
            {
                start.copy_from_slice(read);
            }
            self.bytes = larger;
        }
        let end = self.bytes.len().min(before + size);
        let free = self.bytes.get_mut(before..end).unwrap_or_default();
        let n = read(free)?.min(free.len());
        self.n_read = before + n;
        let fresh = free.get(..n).unwrap_or_default();
        let newline = memchr::memrchr(b'\n', fresh);
        match newline {
            _ if n == 0 => self.count(before),
            Some(at) => self.count(before + at + 1),
            None => {}
        }
        Ok(n == 0)
    }

    /// Removes and returns the memory.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.clear();
        std::mem::take(&mut self.bytes)
    }

    /// Returns the number of bytes that the buffer has room for.
    pub(crate) fn room(&self) -> usize {
        self.bytes.len()
    }

    /// Extends the valid bytes to `end`.
    fn count(&mut self, end: usize) {
        // If the text before a newline and the text after it are UTF-8, the whole is.
        let fresh = self.bytes.get(self.len..end).unwrap_or_default();
        self.is_other |= crate::utf8::from_utf8(fresh).is_none();
        self.len = end;
    }

    /// Shortens the valid bytes to `len`, and keeps the others for the next [`Buffer::advance`].
    pub(crate) fn put_back(&mut self, len: usize) {
        let next = self.bytes().get(len);
        self.is_other |= next.is_some_and(|byte| byte & 0xc0 == 0x80);
        self.len = self.len.min(len);
    }

    /// Shortens the valid bytes to `len`. If `len` is within a character, they are not UTF-8.
    pub(crate) fn truncate(&mut self, len: usize) {
        let next = self.bytes().get(len);
        self.is_other |= next.is_some_and(|byte| byte & 0xc0 == 0x80);
        self.bytes.truncate(len);
        self.n_read = self.n_read.min(len);
        self.len = self.len.min(len);
    }

    /// Returns the valid bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Returns the bytes as text; `None` if they are not UTF-8.
    #[expect(unsafe_code, reason = "to look at all bytes again costs as much as to scan them")]
    pub(crate) fn text(&self) -> Option<&str> {
        // SAFETY: `count` has checked each of these bytes, in pieces that are text by themselves.
        // No checked byte changes: `advance` first sets the number of checked bytes to 0, and
        // `extend` passes only the bytes behind them to the reader.
        // `truncate` and `put_back` only remove bytes from the end. Text cut before a byte that
        // does not continue a character (`0b10......`) is text. If it is cut before a byte that
        // does, they set `is_other`. Only `clear` and `advance` reset it, together with the number
        // of checked bytes.
        (!self.is_other).then(|| unsafe { std::str::from_utf8_unchecked(self.bytes()) })
    }
}

/// The vector instructions to use.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Kernel {
    /// The widest vectors of this CPU.
    #[default]
    Best,
    /// The vectors that every CPU of the target has.
    Baseline,
}

/// Whether there is a kernel for this target.
pub(crate) const IS_AVAILABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Fills a window of quotes.
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "compiled for instructions that not every CPU has")
)]
pub(crate) fn fill(quotes: &mut Quotes, line: &[u8], kernel: Kernel) {
    // SAFETY: these functions are safe except for the instructions that they are compiled for. The
    // CPU was just tested for AVX2, BMI1 and POPCNT; SSE2 and NEON belong to their targets.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        if kernel == Kernel::Best && x86_64::has_avx2() {
            x86_64::fill_by_avx2(quotes, line);
        } else {
            x86_64::fill_by_sse2(quotes, line);
        }
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        let (Kernel::Best | Kernel::Baseline) = kernel;
        aarch64::fill_by_neon(quotes, line);
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (quotes, line, kernel);
}

/// Returns the length of the start of a string's body that both styles spell alike; `None` on a CPU without AVX2.
pub(crate) fn n_same(body: &[u8], is_ascii: bool) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "compiled for AVX2")]
    // SAFETY: the function is safe except for its instructions, which the CPU was just tested for.
    return x86_64::has_avx2().then(|| unsafe { x86_64::n_same_by_avx2(body, is_ascii) });
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (body, is_ascii);
        None
    }
}

/// Reads blocks of a record as [`follow`](super::nesting::follow) does; `None` on a CPU without AVX2.
pub(crate) fn follow(bytes: &[u8], place: &mut Nesting) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "compiled for AVX2")]
    // SAFETY: the function is safe except for its instructions, which the CPU was just tested for.
    return x86_64::has_avx2().then(|| unsafe { x86_64::follow_by_avx2(bytes, place) });
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (bytes, place);
        None
    }
}

/// Runs `work` as code for the widest vectors of this CPU. Only the code that the compiler inlines into the closure
/// is compiled for them, so `work` is a loop over bytes without calls.
///
/// ```
/// let bytes = *b"a loop of a known length, or over blocks";
/// let n_blanks = jsonl::with_vectors(|| bytes.iter().filter(|byte| **byte == b' ').count());
/// assert_eq!(n_blanks, 8);
/// ```
#[inline]
pub fn with_vectors<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "compiled for AVX2")]
    if x86_64::has_avx2() {
        // SAFETY: the function is safe except for its instructions, which the CPU was just tested for.
        return unsafe { x86_64::run_by_avx2(work) };
    }
    work()
}

/// Returns a bit for each backslash and, if `is_ascii`, for each byte that is not printable ASCII.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "compiled for SSE2")]
pub(crate) fn others_of(part: &[u8; 16], is_ascii: bool) -> u16 {
    // SAFETY: SSE2 belongs to the target.
    unsafe { x86_64::others_by_sse2(part, is_ascii) }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use crate::scan::{
        bitmap::{BLOCK, Masks, Quotes},
        nesting::{Nesting, Structure, follow_blocks},
        same::{Spelling, count},
    };

    pub(super) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn run_by_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn fill_by_avx2(quotes: &mut Quotes, line: &[u8]) {
        let mut least = _mm256_set1_epi8(0x7f);
        quotes.fill(
            line,
            |block| {
                let [low, high] = halves(block);
                least = _mm256_min_epu8(least, _mm256_min_epu8(low, high));
                let mask = |byte: u8| {
                    let byte = _mm256_set1_epi8(byte as i8);
                    join(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
                };
                Masks { quotes: mask(b'"'), backslashes: mask(b'\\') }
            },
            |block| {
                let [low, high] = halves(block);
                join(may_be_escaped(low), may_be_escaped(high))
            },
        );
        let controls = _mm256_cmpeq_epi8(_mm256_min_epu8(least, _mm256_set1_epi8(0x1f)), least);
        quotes.note_control(_mm256_movemask_epi8(controls) != 0);
    }

    /// Loads a block as two vectors.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "built of integers, a vector takes six instructions, not one")]
    fn halves(block: &[u8; BLOCK]) -> [__m256i; 2] {
        let (halves, _) = block.as_chunks::<32>();
        // SAFETY: the load reads the 32 bytes behind the reference, at any address.
        let load = |half: &[u8; 32]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        [0, 1].map(|n| halves.get(n).map_or(_mm256_setzero_si256(), load))
    }

    /// Returns one bit for each byte of two comparison results.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn join(low: __m256i, high: __m256i) -> u64 {
        let bits = |half| u64::from(_mm256_movemask_epi8(half) as u32);
        bits(low) | bits(high) << 32
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn n_same_by_avx2(body: &[u8], is_ascii: bool) -> usize {
        let [backslash, space, delete] = [b'\\', b' ', 0x7f].map(|it| _mm256_set1_epi8(it as i8));
        count(
            body,
            |block| {
                let [low, high] = halves(block);
                let [foreign_low, foreign_high] = [low, high].map(|bytes| {
                    // Bytes beyond ASCII are negative.
                    let is_less = _mm256_cmpgt_epi8(space, bytes);
                    _mm256_or_si256(is_less, _mm256_cmpeq_epi8(bytes, delete))
                });
                let is_backslash = |bytes| _mm256_cmpeq_epi8(bytes, backslash);
                Spelling {
                    backslashes: join(is_backslash(low), is_backslash(high)),
                    foreign: if is_ascii { join(foreign_low, foreign_high) } else { 0 },
                }
            },
            |block| {
                let slash = _mm256_set1_epi8(b'/' as i8);
                let [low, high] = halves(block).map(|bytes| {
                    let is_slash = _mm256_cmpeq_epi8(bytes, slash);
                    _mm256_andnot_si256(is_slash, may_be_escaped(bytes))
                });
                join(low, high)
            },
        )
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn follow_by_avx2(bytes: &[u8], place: &mut Nesting) -> usize {
        follow_blocks(bytes, place, |block| {
            let [low, high] = halves(block);
            let mask = |[low, high]: [__m256i; 2], byte: u8| {
                let byte = _mm256_set1_epi8(byte as i8);
                join(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
            };
            // `[` and `{` differ in one bit, and so do `]` and `}`.
            let braces = [low, high].map(|it| _mm256_or_si256(it, _mm256_set1_epi8(0x20)));
            Structure {
                quotes: mask([low, high], b'"'),
                backslashes: mask([low, high], b'\\'),
                newlines: mask([low, high], b'\n'),
                opens: mask(braces, b'{'),
                closes: mask(braces, b'}'),
            }
        })
    }

    /// Maps bytes that may follow a backslash to 0xff.
    ///
    /// Each of `"\/bfnrt` has a high half of 2, 5, 6 or 7: one bit each. A table, indexed by the
    /// low half, has the bits of the matching high halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn may_be_escaped(bytes: __m256i) -> __m256i {
        #[rustfmt::skip]
        let by_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0,
        ));
        #[rustfmt::skip]
        let by_low = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 0, 1 | 4 | 8, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1,
        ));
        let half = _mm256_set1_epi8(0x0f);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        let fits = _mm256_and_si256(
            _mm256_shuffle_epi8(by_high, high),
            // A byte beyond ASCII has its top bit set, which makes this a zero.
            _mm256_shuffle_epi8(by_low, bytes),
        );
        _mm256_cmpgt_epi8(fits, _mm256_setzero_si256())
    }

    /// Fills a window of quotes with SSE2, which every CPU of this target has.
    #[target_feature(enable = "sse2")]
    pub(super) fn fill_by_sse2(quotes: &mut Quotes, line: &[u8]) {
        let mut least = _mm_set1_epi8(0x7f);
        quotes.fill(
            line,
            |block| {
                let parts = quarters(block);
                for part in parts {
                    least = _mm_min_epu8(least, part);
                }
                Masks { quotes: mask(parts, b'"'), backslashes: mask(parts, b'\\') }
            },
            |block| {
                let parts = quarters(block);
                b"\"\\/bfnrt".iter().fold(0, |all, byte| all | mask(parts, *byte))
            },
        );
        let controls = _mm_cmpeq_epi8(_mm_min_epu8(least, _mm_set1_epi8(0x1f)), least);
        quotes.note_control(_mm_movemask_epi8(controls) != 0);
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn others_by_sse2(part: &[u8; 16], is_ascii: bool) -> u16 {
        let (words, _) = part.as_chunks::<8>();
        let word = |n: usize| words.get(n).map_or(0, |word| i64::from_le_bytes(*word));
        let bytes = _mm_set_epi64x(word(1), word(0));
        let backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        if !is_ascii {
            return _mm_movemask_epi8(backslashes) as u16;
        }
        // Bytes beyond ASCII are negative.
        let controls = _mm_cmplt_epi8(bytes, _mm_set1_epi8(b' ' as i8));
        let deletes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(backslashes, controls), deletes)) as u16
    }

    /// Loads a block as four vectors.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn quarters(block: &[u8; BLOCK]) -> [__m128i; 4] {
        let (words, _) = block.as_chunks::<8>();
        let word = |n: usize| words.get(n).map_or(0, |word| i64::from_le_bytes(*word));
        [0, 2, 4, 6].map(|n| _mm_set_epi64x(word(n + 1), word(n)))
    }

    /// Returns one bit for each byte of a block that equals `byte`.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn mask(parts: [__m128i; 4], byte: u8) -> u64 {
        let byte = _mm_set1_epi8(byte as i8);
        let bits =
            parts.map(|part| u64::from(_mm_movemask_epi8(_mm_cmpeq_epi8(part, byte)) as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use std::arch::aarch64::*;

    use crate::scan::bitmap::{BLOCK, Masks, Quotes};

    /// Fills a window of quotes with NEON, which every CPU of this target has.
    #[target_feature(enable = "neon")]
    pub(super) fn fill_by_neon(quotes: &mut Quotes, line: &[u8]) {
        let mut least = vdupq_n_u8(0x7f);
        quotes.fill(
            line,
            |block| {
                let parts = quarters(block);
                for part in parts {
                    least = vminq_u8(least, part);
                }
                Masks { quotes: mask(parts, b'"'), backslashes: mask(parts, b'\\') }
            },
            |block| {
                let parts = quarters(block);
                b"\"\\/bfnrt".iter().fold(0, |all, byte| all | mask(parts, *byte))
            },
        );
        quotes.note_control(vminvq_u8(least) < 0x20);
    }

    /// Loads a block as four vectors.
    #[inline]
    #[target_feature(enable = "neon")]
    fn quarters(block: &[u8; BLOCK]) -> [uint8x16_t; 4] {
        let (words, _) = block.as_chunks::<8>();
        let word = |n: usize| vcreate_u8(words.get(n).map_or(0, |word| u64::from_le_bytes(*word)));
        [0, 2, 4, 6].map(|n| vcombine_u8(word(n), word(n + 1)))
    }

    /// Returns one bit for each byte of a block that equals `byte`.
    #[inline]
    #[target_feature(enable = "neon")]
    fn mask(parts: [uint8x16_t; 4], byte: u8) -> u64 {
        // NEON has no instruction for this: each byte keeps one bit, and neighbors are added three
        // times.
        let weights = vcreate_u8(0x8040_2010_0804_0201);
        let weights = vcombine_u8(weights, weights);
        let byte = vdupq_n_u8(byte);
        let [a, b, c, d] = parts.map(|part| vandq_u8(vceqq_u8(part, byte), weights));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}
