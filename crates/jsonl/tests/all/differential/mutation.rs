//! Mutates lines, and compares all backends and `RawValue` on them.

use jsonl::{Backend, Scanner};
use serde_json::value::RawValue;

/// Texts that are inserted into mutated lines more often than by chance.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"\\\\",
    b"\\\"",
    b"\\u",
    b"\\ud83c",
    b"\\uDe00",
    b"\\u00e9",
    b"\\n",
    b"\\x",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"0",
    b"-",
    b"-0",
    b"1e5",
    b".",
    b"E+",
    b"12345678901234567890",
    b"true",
    b"false",
    b"null",
    b"tru",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\x00",
    b"\x1f",
    b"\x7f",
    b"\xc3\xa9",
    b"\xf0\x9f\x8e\x89",
    b"\xed\xa0\x80",
    b"\xff",
    b"\xe2\x80",
    b"{}",
    b"[]",
    b"\"\"",
    b"\"a\":1,",
    b",\"b\":[1,{}]",
];

/// A generator of pseudo-random numbers (xorshift), the same in every run.
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }
}

/// Changes a line in one to four places.
pub(crate) fn mutate(line: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(line.len() + 1);
        let piece = PIECES[random.below(PIECES.len())];
        match random.below(8) {
            0 => drop(line.splice(at..at, piece.iter().copied())),
            1 => {
                let end = (at + piece.len()).min(line.len());
                drop(line.splice(at..end, piece.iter().copied()));
            }
            2 if at < line.len() => drop(line.remove(at)),
            3 if at < line.len() => line[at] ^= 1 << random.below(8),
            4 => {
                drop(line.splice(
                    at..at,
                    std::iter::repeat_n(piece, random.below(70)).flatten().copied(),
                ))
            }
            5 => {
                // Moves strings and escapes to every position of a block.
                let spaces = vec![b' '; random.below(70)];
                drop(line.splice(..0, spaces));
            }
            6 if random.below(4) == 0 => line.truncate(at),
            7 => {
                // Changes the content of a string and keeps the line valid, because most other
                // changes make errors.
                let quote = line.iter().skip(at).position(|byte| *byte == b'"');
                let at = quote.map_or(0, |n| at + n + 1);
                drop(line.splice(at..at, piece.iter().copied()));
            }
            _ => {}
        }
    }
}

/// The scanners to compare.
pub(crate) struct Judges {
    best: Scanner,
    baseline: Scanner,
    portable: Scanner,
}

impl Default for Judges {
    fn default() -> Self {
        Self {
            best: Scanner::default(),
            baseline: Scanner::with_backend(Backend::Baseline),
            portable: Scanner::with_backend(Backend::Portable),
        }
    }
}

impl Judges {
    /// Returns whether the bytes are JSON.
    ///
    /// # Panics
    ///
    /// Panics if the scanners differ.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> bool {
        let is_json = serde_json::from_slice::<&RawValue>(bytes).is_ok();
        let portable = self.portable.scan_slice(bytes, 7);
        let show = || String::from_utf8_lossy(bytes);
        assert_eq!(portable.is_ok(), is_json, "portable and RawValue: {portable:?} {}", show());
        for found in [self.best.scan_slice(bytes, 7), self.baseline.scan_slice(bytes, 7)] {
            assert_eq!(found.is_ok(), is_json, "vectors and portable: {found:?} {}", show());
            match (&portable, &found) {
                (Ok(one), Ok(other)) => assert!(one.is_same_index(other), "spans: {}", show()),
                (one, other) => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{}", show()),
            }
        }
        is_json
    }
}
