//! Lines that are said later than they stand in the source.

use std::collections::BTreeMap;

use core_model::Late;
use jsonl::Line;

/// How far behind the place where it stands a line may be said, in bytes: half of what a way back
/// waits for.
const MAX_DISTANCE: u64 = 8 * 1024 * 1024;

/// The lines that are said later than they stand, and those of them that wait.
#[derive(Debug, Default)]
pub(crate) struct DeferredRecords {
    /// The late lines in the order of the file.
    places: Vec<LatePlace>,
    /// How many of them were read.
    n_read: usize,
    waiting: BTreeMap<(u64, u32), Latecomer>,
    /// The offset of the first line that waits.
    first: u64,
}

/// Where a late line belongs.
#[derive(Clone, Copy, Debug)]
struct LatePlace {
    /// Where the line starts.
    offset: u64,
    /// Where the line starts after which it is said.
    after: u64,
    /// Its place among all late lines.
    number: u32,
}

/// A line that waits.
#[derive(Debug)]
pub(crate) struct Latecomer {
    /// The line with its terminator.
    pub(crate) bytes: Vec<u8>,
    /// Where it starts in the source.
    pub(crate) offset: u64,
    /// Its number in the source, from 1.
    pub(crate) number: u64,
}

impl DeferredRecords {
    /// Creates the list of the lines that a plan has late.
    pub(crate) fn new(late: &[Late]) -> Self {
        let place =
            |(number, &Late { offset, after }): (u32, &Late)| LatePlace { offset, after, number };
        let mut places: Vec<LatePlace> = (0..).zip(late).map(place).collect();
        places.sort_unstable_by_key(|place| place.offset);
        Self { places, ..Self::default() }
    }

    /// Keeps a line if it is said later; returns whether it is.
    pub(crate) fn keep(&mut self, line: &Line<'_>, number: u64) -> bool {
        let rest = self.places.get(self.n_read..).unwrap_or_default();
        let n_passed = rest.iter().take_while(|place| place.offset < line.offset()).count();
        self.n_read += n_passed;
        let Some(place) = rest.get(n_passed).filter(|place| place.offset == line.offset()) else {
            return false;
        };
        let bytes = line.bytes();
        if bytes.len() as u64 > MAX_DISTANCE {
            return false;
        }
        if self.waiting.is_empty() {
            self.first = line.offset();
        }
        let latecomer = Latecomer { bytes: bytes.to_vec(), offset: line.offset(), number };
        self.waiting.insert((place.after, place.number), latecomer);
        true
    }

    /// Returns the lines that can wait no longer if this line comes first.
    pub(crate) fn before(&mut self, line: &Line<'_>) -> Vec<Latecomer> {
        let end = line.offset() + line.bytes().len() as u64;
        if self.waiting.is_empty() || end - self.first <= MAX_DISTANCE {
            return Vec::new();
        }
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    /// Returns the lines that are said after this one.
    pub(crate) fn after(&mut self, line: &Line<'_>) -> Vec<Latecomer> {
        let mut after = Vec::new();
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 <= line.offset()
        {
            after.push(entry.remove());
        }
        after
    }
}
