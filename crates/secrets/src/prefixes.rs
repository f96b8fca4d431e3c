//! Finds the next occurrence of any of a few hundred short texts.
//!
//! In: the texts `ghp_` and `sk-`, the bytes `a=sk-1`. Out: position 2, the number of `sk-`.
//!
//! An automaton over all texts would have a table larger than the caches near the CPU, and each
//! step would wait for the one before. Here three bytes at each position are looked up in a bitmap
//! that fits in the nearest cache. The positions of a word are looked up together. At one position in
//! thirty, the fourth byte is looked up too, and few of these are compared with texts.

use std::cmp::Reverse;

/// Number of bits in the bitmap, as a power of two.
const FILTER_BITS: u32 = 17;
/// Number of 64-bit words in the bitmap.
const FILTER_WORDS: usize = 1 << (FILTER_BITS - 6);
/// Number of slots, as a power of two.
const SLOT_BITS: u32 = 13;
/// Number of positions that are looked up together: their three bytes are within eight.
const N_PLACES: usize = 6;

/// Table of texts by their first three bytes.
#[derive(Clone, Debug)]
pub(crate) struct Prefixes {
    filter: Box<[u64; FILTER_WORDS]>,
    slots: Vec<Slot>,
    /// The texts, sorted by their slots, longest first.
    entries: Vec<Entry>,
}

/// The texts whose first three bytes have one hash.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The index of the first text.
    start: u16,
    n_texts: u16,
    /// A bit for each fourth byte of a text, by its lowest five bits; all bits if a text has no fourth byte.
    fourth: u32,
}

/// A text.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Entry {
    text: Box<[u8]>,
    number: usize,
    /// The first eight bytes of the text as a number, and a mask of the bits that count.
    word: u64,
    mask: u64,
}

impl Entry {
    fn new(text: &[u8], number: usize) -> Self {
        let (mut word, mut mask) = ([0; 8], [0; 8]);
        for ((to, bits), from) in word.iter_mut().zip(&mut mask).zip(text) {
            (*to, *bits) = (*from, u8::MAX);
        }
        let [word, mask] = [word, mask].map(u64::from_le_bytes);
        Self { text: text.into(), number, word, mask }
    }

    /// Returns whether bytes start with the text. `word` is their first eight bytes, padded with
    /// zeros.
    #[inline]
    fn starts(&self, rest: &[u8], word: u64) -> bool {
        (word ^ self.word) & self.mask == 0
            && (self.mask != u64::MAX && rest.len() >= 8 || rest.starts_with(&self.text))
    }
}

impl Prefixes {
    /// Creates a table of texts of at least two bytes. `follows` returns whether a byte may follow
    /// a text of two bytes.
    pub(crate) fn new<'t>(
        texts: impl Iterator<Item = &'t str>,
        follows: impl Fn(usize, u8) -> bool,
    ) -> Self {
        let mut prefixes = Self {
            filter: Box::new([0; FILTER_WORDS]),
            slots: vec![Slot::default(); 1 << SLOT_BITS],
            entries: Vec::new(),
        };
        let mut lists = vec![Vec::new(); 1 << SLOT_BITS];
        for (n, text) in texts.enumerate() {
            match text.as_bytes() {
                [a, b, c, ..] => prefixes.add(text, n, [*a, *b, *c], &mut lists),
                [a, b] => (0..=u8::MAX)
                    .filter(|c| follows(n, *c))
                    .for_each(|c| prefixes.add(text, n, [*a, *b, c], &mut lists)),
                _ => {}
            }
        }
        for (slot, mut list) in prefixes.slots.iter_mut().zip(lists) {
            list.sort_by_key(|entry: &Entry| (Reverse(entry.text.len()), entry.number));
            list.dedup();
            let length = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
            (slot.start, slot.n_texts) = (length(prefixes.entries.len()), length(list.len()));
            let fourth =
                |entry: &Entry| entry.text.get(3).map_or(u32::MAX, |byte| bit_of_fourth(*byte));
            slot.fourth = list.iter().map(fourth).fold(0, |bits, bit| bits | bit);
            prefixes.entries.append(&mut list);
        }
        prefixes
    }

    fn add(&mut self, text: &str, n: usize, [a, b, c]: [u8; 3], lists: &mut [Vec<Entry>]) {
        let hash = hash(u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 0]));
        if let Some(word) = self.filter.get_mut(word_of(hash)) {
            *word |= bit_of(hash);
        }
        if let Some(list) = lists.get_mut(slot_of(hash)) {
            list.push(Entry::new(text.as_bytes(), n));
        }
    }

    /// Returns the position of the next text from `from` on, and its number. Of several texts, the
    /// longest counts.
    pub(crate) fn next(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let mut at = from;
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let mut hits = self.hits(u64::from_le_bytes(*chunk));
            while hits != 0 {
                let n = usize::try_from(hits.trailing_zeros()).unwrap_or_default();
                let place = at.saturating_add(n);
                if let Some(found) = self.at(bytes, place) {
                    return Some((place, found));
                }
                hits &= hits.wrapping_sub(1);
            }
            at = at.saturating_add(N_PLACES);
        }
        (at..bytes.len()).find_map(|place| Some((place, self.at(bytes, place)?)))
    }

    /// Returns a bit for each of the first positions of eight bytes at which a text may start.
    #[inline]
    fn hits(&self, word: u64) -> u32 {
        let mut hits = 0;
        // One shift for each of the `N_PLACES` positions.
        for (n, shift) in [0, 8, 16, 24, 32, 40].into_iter().enumerate() {
            let hash = hash(word >> shift);
            let word = self.filter.get(word_of(hash)).copied().unwrap_or_default();
            hits |= u32::from(word & bit_of(hash) != 0) << n;
        }
        hits
    }

    /// Returns the number of the longest text at a position.
    #[inline]
    fn at(&self, bytes: &[u8], place: usize) -> Option<usize> {
        let rest = bytes.get(place..)?;
        let word = match rest.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => Entry::new(rest, 0).word,
        };
        if rest.len() < 3 {
            return None;
        }
        let slot = self.slots.get(slot_of(hash(word)))?;
        let [_, _, _, fourth, ..] = word.to_le_bytes();
        if slot.fourth & bit_of_fourth(fourth) == 0 {
            return None;
        }
        let start = usize::from(slot.start);
        let entries = self.entries.get(start..start.saturating_add(usize::from(slot.n_texts)))?;
        entries.iter().find(|entry| entry.starts(rest, word)).map(|entry| entry.number)
    }
}

/// Returns a hash of the lowest three bytes of a word.
#[inline]
fn hash(word: u64) -> u32 {
    let [a, b, c, ..] = word.to_le_bytes();
    u32::from_le_bytes([0, a, b, c]).wrapping_mul(0x9e37_79b1)
}

#[inline]
fn word_of(hash: u32) -> usize {
    usize::try_from(hash >> (38 - FILTER_BITS)).unwrap_or_default() % FILTER_WORDS
}

#[inline]
fn bit_of(hash: u32) -> u64 {
    1 << (hash >> (32 - FILTER_BITS) & 63)
}

#[inline]
fn bit_of_fourth(byte: u8) -> u32 {
    1 << (byte & 31)
}

#[inline]
fn slot_of(hash: u32) -> usize {
    usize::try_from(hash >> (32 - SLOT_BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_at_the_first_place_is_found() {
        let texts = ["pass", "password", "key", "MT", "-----BEGIN"];
        let prefixes = Prefixes::new(texts.into_iter(), |_, byte| byte.is_ascii_alphanumeric());
        let mut bytes = b"a password, a pass, MTx, MT-, keyboard, pas ---- k".to_vec();
        for n in 0..20 {
            let mut found = Vec::new();
            let mut at = 0;
            while let Some((place, text)) = prefixes.next(&bytes, at) {
                found.push((place - n, texts[text]));
                at = place + 1;
            }
            assert_eq!(found, [(2, "password"), (14, "pass"), (20, "MT"), (30, "key")], "{n}");
            bytes.insert(0, b'-');
        }
        assert_eq!(prefixes.next(b"key", 0), Some((0, 2)));
        assert_eq!(prefixes.next(b"MT", 0), None);
    }
}
