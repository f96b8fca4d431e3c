//! A table of responses by the hashes of their ids, in at most 64 bytes for each.
//!
//! An entry has 56 bytes. The entries are in blocks that never move, and a table of their numbers
//! finds them; it is at least half full, so a number takes at most 8 bytes.

use core_model::{ByHash, Tokens};

/// The time of a response whose time is unknown.
pub(super) const NO_TIME: u32 = u32::MAX;

/// The number of entries in a block.
const BLOCK: usize = 1024;

/// A response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<C = Counts> {
    pub(super) key: u64,
    /// The cost in US dollars that the log states; no number if it states none.
    pub(super) cost: f64,
    pub(super) tokens: C,
    /// The time of the first record, in seconds since 1970.
    pub(super) time: u32,
    pub(super) session: u32,
    pub(super) label: u32,
    /// Whether the tokens are the sum or a share of the tokens of a run.
    pub(super) is_estimated: bool,
}

/// The tokens of a response.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Counts {
    output: u64,
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    pub(super) cache_hour: u64,
}

impl Counts {
    pub(super) fn new(tokens: Tokens, cache_hour: u64) -> Self {
        let Tokens { input, output, cache_read, cache_creation } = tokens;
        Self { output, input, cache_creation, cache_read, cache_hour }
    }

    pub(super) fn tokens(&self) -> Tokens {
        let Self { output, input, cache_creation, cache_read, .. } = *self;
        Tokens { input, output, cache_read, cache_creation }
    }

    pub(super) fn total(&self) -> u64 {
        self.tokens().total()
    }

    /// Returns the counts in 20 bytes; `None` if one is too large.
    fn small(&self) -> Option<[u32; 5]> {
        let all = [self.output, self.input, self.cache_creation, self.cache_read, self.cache_hour];
        let mut small = [0; 5];
        for (small, count) in small.iter_mut().zip(all) {
            *small = u32::try_from(count).ok().filter(|count| *count != u32::MAX)?;
        }
        Some(small)
    }
}

/// The counts of an entry in `large`.
const LARGE: [u32; 5] = [u32::MAX; 5];

/// Responses by the hashes of their ids.
#[derive(Debug, Default)]
pub(super) struct Table {
    blocks: Vec<Vec<Entry<[u32; 5]>>>,
    n_entries: usize,
    /// The numbers of the entries plus 1 at the places of their hashes; 0 for none.
    slots: Vec<u32>,
    /// Counts that do not fit in 32 bits, by the hashes of the ids.
    large: ByHash<Counts>,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.n_entries
    }

    /// Adds a response, or merges it with what is known of it: the earliest time, and the larger
    /// counts with their cost and label. Counts of a response win over a share of the counts of a run.
    /// `is_before` says whether the first entry has the session and the label.
    pub(super) fn merge(&mut self, new: Entry, is_before: impl Fn(&Entry, &Entry) -> bool) {
        let Some(number) = self.find(new.key) else {
            self.insert(new);
            return;
        };
        let Some(old) = self.get(number) else { return };
        let weight = |entry: &Entry| (!entry.is_estimated, entry.tokens, !entry.cost.is_nan());
        let (more, less) = if weight(&new) > weight(&old) { (&new, &old) } else { (&old, &new) };
        let owner = if is_before(&new, &old) { &new } else { &old };
        let merged = Entry {
            key: old.key,
            cost: if more.cost.is_nan() { less.cost } else { more.cost },
            tokens: more.tokens,
            time: old.time.min(new.time),
            session: owner.session,
            label: owner.label,
            is_estimated: more.is_estimated,
        };
        self.set(number, merged);
    }

    /// Changes a response, if the table has it.
    pub(super) fn change(&mut self, key: u64, change: impl FnOnce(&mut Entry)) {
        let Some(number) = self.find(key) else { return };
        let Some(mut entry) = self.get(number) else { return };
        change(&mut entry);
        self.set(number, entry);
    }

    /// Returns the responses.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.blocks.iter().flatten().map(|entry| self.unpacked(entry))
    }

    /// Calls `each` with the responses, and frees their memory on the way.
    pub(super) fn drain(self, mut each: impl FnMut(Entry)) {
        let Self { blocks, slots, large, .. } = self;
        drop(slots);
        for block in blocks {
            for entry in &block {
                each(unpacked(entry, &large));
            }
        }
    }

    fn get(&self, number: usize) -> Option<Entry> {
        let entry = self.blocks.get(number / BLOCK)?.get(number % BLOCK)?;
        Some(self.unpacked(entry))
    }

    fn unpacked(&self, entry: &Entry<[u32; 5]>) -> Entry {
        unpacked(entry, &self.large)
    }

    fn set(&mut self, number: usize, entry: Entry) {
        let packed = self.packed(&entry);
        let block = self.blocks.get_mut(number / BLOCK);
        if let Some(slot) = block.and_then(|block| block.get_mut(number % BLOCK)) {
            *slot = packed;
        }
    }

    fn packed(&mut self, entry: &Entry) -> Entry<[u32; 5]> {
        let Entry { key, cost, tokens, time, session, label, is_estimated } = *entry;
        let tokens = match tokens.small() {
            Some(small) => {
                if !self.large.is_empty() {
                    self.large.remove(&key);
                }
                small
            }
            None => {
                self.large.insert(key, tokens);
                LARGE
            }
        };
        Entry { key, cost, tokens, time, session, label, is_estimated }
    }

    /// Returns the number of an entry.
    fn find(&self, key: u64) -> Option<usize> {
        let mut place = self.place(key)?;
        loop {
            let number = (*self.slots.get(place)? as usize).checked_sub(1)?;
            let entry = self.blocks.get(number / BLOCK)?.get(number % BLOCK)?;
            if entry.key == key {
                return Some(number);
            }
            place = (place + 1) % self.slots.len();
        }
    }

    fn insert(&mut self, entry: Entry) {
        // A number plus 1 has 32 bits.
        if self.n_entries >= u32::MAX as usize - 1 {
            return;
        }
        if self.slots.len() * 7 <= (self.n_entries + 1) * 8 {
            self.grow();
        }
        let packed = self.packed(&entry);
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(packed),
            // A small session does not need a whole block.
            None => self.blocks.push(vec![packed]),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(packed);
                self.blocks.push(block);
            }
        }
        self.n_entries += 1;
        self.link(entry.key, self.n_entries as u32);
    }

    fn link(&mut self, key: u64, number: u32) {
        let Some(mut place) = self.place(key) else { return };
        let n_slots = self.slots.len();
        while let Some(slot) = self.slots.get_mut(place) {
            if *slot == 0 {
                *slot = number;
                return;
            }
            place = (place + 1) % n_slots;
        }
    }

    /// Makes the slots half as many again.
    fn grow(&mut self) {
        let n_slots = (self.slots.len() / 2 * 3).max(16);
        self.slots = Vec::new();
        self.slots = vec![0; n_slots];
        let keys: Vec<usize> = (0..self.blocks.len()).collect();
        let mut number = 0;
        for block_idx in keys {
            let n_entries = self.blocks.get(block_idx).map_or(0, Vec::len);
            for entry_idx in 0..n_entries {
                let block = self.blocks.get(block_idx);
                let Some(entry) = block.and_then(|block| block.get(entry_idx)) else { continue };
                number += 1;
                self.link(entry.key, number);
            }
        }
    }

    fn place(&self, key: u64) -> Option<usize> {
        let n_slots = self.slots.len() as u64;
        key.checked_rem(n_slots).map(|place| place as usize)
    }
}

fn unpacked(entry: &Entry<[u32; 5]>, large: &ByHash<Counts>) -> Entry {
    let Entry { key, cost, tokens, time, session, label, is_estimated } = *entry;
    let tokens = match tokens {
        LARGE => large.get(&key).copied().unwrap_or_default(),
        [output, input, cache_creation, cache_read, cache_hour] => Counts {
            output: output.into(),
            input: input.into(),
            cache_creation: cache_creation.into(),
            cache_read: cache_read.into(),
            cache_hour: cache_hour.into(),
        },
    };
    Entry { key, cost, tokens, time, session, label, is_estimated }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: u64, output: u64, session: u32, time: u32) -> Entry {
        let tokens = Counts { output, ..Counts::default() };
        Entry { key, cost: f64::NAN, tokens, time, session, label: session, is_estimated: false }
    }

    #[test]
    fn an_entry_takes_at_most_64_bytes() {
        assert_eq!(size_of::<Entry<[u32; 5]>>(), 56);
        let mut table = Table::default();
        let hashed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for n in 0..100_000_u64 {
            table.merge(entry(hashed(n), n, 0, 0), |_, _| false);
            if n > 2 * BLOCK as u64 {
                let n_bytes = table.slots.capacity() * 4
                    + table.blocks.iter().map(|block| block.capacity() * 56 + 24).sum::<usize>();
                // The last block is being filled.
                assert!(n_bytes <= 64 * (n as usize + 1) + BLOCK * 56, "{n}: {n_bytes}");
            }
        }
        assert_eq!(table.len(), 100_000);
        for n in (0..100_000).step_by(997) {
            let found = table.find(hashed(n)).and_then(|number| table.get(number));
            assert_eq!(found.map(|entry| entry.tokens.output), Some(n));
        }
        assert!(table.find(hashed(100_000)).is_none());
    }

    #[test]
    fn the_larger_counts_win_and_the_first_session() {
        let entries = [
            entry(7, 5, 2, 30),
            entry(7, 9, 1, 20),
            entry(7, 1, 3, 10),
            Entry { is_estimated: true, ..entry(7, 100, 4, 40) },
        ];
        for rotation in 0..entries.len() {
            let mut table = Table::default();
            for n in 0..entries.len() {
                let entry = entries[(n + rotation) % entries.len()];
                table.merge(entry, |new, old| new.session < old.session);
            }
            let merged: Vec<Entry> = table.entries().collect();
            assert_eq!(merged.len(), 1);
            let merged = merged[0];
            assert_eq!((merged.tokens.output, merged.session, merged.time), (9, 1, 10));
        }
    }

    #[test]
    fn large_counts_are_exact() {
        let mut table = Table::default();
        let large = [u64::from(u32::MAX), u64::MAX, 3];
        for (key, output) in (0..).zip(large) {
            table.merge(entry(key, output, 0, 0), |_, _| false);
        }
        let found: Vec<u64> = table.entries().map(|entry| entry.tokens.output).collect();
        assert_eq!(found, large);
        table.change(1, |entry| entry.tokens = Counts::default());
        assert_eq!(table.entries().nth(1).map(|entry| entry.tokens.total()), Some(0));
        assert_eq!(table.large.len(), 1);
    }
}
