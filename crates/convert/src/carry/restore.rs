//! From lines with carries back to the lines that they were made of.

use jsonl::{Line, Style, Value};

use crate::carry::{
    Carry, Member, Record, guard_of,
    rooms::Rooms,
    sidecar::Sidecar,
    waiting::{PartLine, PartOf},
};

/// What a line with or without a carry turns into.
#[derive(Debug)]
pub(crate) enum Item {
    /// A source line, byte for byte.
    Restored {
        /// Its bytes, with the terminator.
        bytes: Vec<u8>,
        /// Whether it is a piece of a damaged line, and the one before it is restored too.
        is_continued: bool,
    },
    /// A line that must be converted: new since the conversion, or edited.
    Converted {
        /// The line without its carry, with its terminator.
        line: Vec<u8>,
        /// Where it starts in the file that it was read from.
        offset: u64,
        /// If it was edited: what its carry knows of its source lines, with gaps.
        skeletons: Option<Vec<Vec<u8>>>,
    },
}

/// What became of the lines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Source lines that were restored.
    pub restored: u64,
    /// Lines that were edited since the conversion.
    pub edited: u64,
    /// Lines that were added since the conversion.
    pub added: u64,
    /// Places where source lines are missing because the lines that carried them are.
    pub gaps: u64,
    /// Riders whose base is gone, or that were tampered with.
    pub unreadable: u64,
}

impl Tally {
    /// Adds what became of the lines of another file.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.restored += other.restored;
        self.edited += other.edited;
        self.added += other.added;
        self.gaps += other.gaps;
        self.unreadable += other.unreadable;
    }
}

/// Turns lines of one format into the lines of another that they carry.
#[derive(Debug)]
pub(crate) struct Restorer {
    tag: char,
    style: Style,
    base: Vec<u8>,
    rooms: Rooms,
    tally: Tally,
    sidecar: Option<Sidecar>,
}

impl Restorer {
    /// Creates a restorer of lines of the format `tag`, which spells JSON in `style`.
    pub(crate) fn new(tag: char, style: Style, sidecar: Option<Sidecar>) -> Self {
        let (base, rooms, tally) = (Vec::new(), Rooms::default(), Tally::default());
        Self { tag, style, base, rooms, tally, sidecar }
    }

    /// Returns what became of the lines so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the next item that is in its place, and the number of its file in the source.
    pub(crate) fn next_item(&mut self) -> Option<(usize, Item)> {
        self.rooms.next_item()
    }

    /// Takes a line and its value, if it has one.
    pub(crate) fn push(&mut self, line: &Line<'_>, value: Option<Value<'_>>) {
        let content = line.content();
        let from_sidecar = self.sidecar.as_mut().map(|sidecar| sidecar.take(guard_of(&[content])));
        let member = match from_sidecar {
            Some(carry) => carry.map(|carry| {
                let before = std::str::from_utf8(content).unwrap_or_default();
                Member { before, after: "", carry }
            }),
            None => value.and_then(Member::find),
        };
        let Some(member) = member else { return self.added(line) };
        let terminator = &line.bytes()[line.bytes().len() - usize::from(line.is_terminated())..];
        let written = [member.before.as_bytes(), member.after.as_bytes(), terminator].concat();
        let carry = match Carry::parse(&member.carry) {
            Some(carry) if carry.tag == self.tag => carry,
            _ => return self.added(line),
        };
        if let Some(base) = carry.base {
            self.base = base.as_bytes().to_vec();
        }
        let is_intact = member.guard() == carry.guard;
        if let Some(contents) = &carry.contents {
            self.rooms.open(contents);
        }
        self.take(&carry, is_intact, &member.visible(), written, line.offset());
    }

    fn take(
        &mut self,
        carry: &Carry<'_>,
        is_intact: bool,
        visible: &str,
        written: Vec<u8>,
        offset: u64,
    ) {
        self.take_riders(carry);
        let mut is_whole = is_intact;
        let mut own = Vec::new();
        for record in carry.records.iter().filter(|record| !record.is_rider) {
            let mut bytes = Vec::new();
            is_whole &= record.restore(&mut bytes, visible.as_bytes(), &self.base, self.style);
            own.push((record, bytes));
        }
        if own.iter().any(|(record, _)| record.n_parts > 1) {
            return self.take_parts(own, is_whole, written, offset);
        }
        if is_whole {
            for (record, bytes) in own {
                self.rooms.restored(record.offset, bytes, &mut self.tally);
            }
            return;
        }
        self.tally.edited += 1;
        let place = own.first().map(|(record, _)| record.offset);
        let skeletons = Some(own.iter().map(|(record, _)| self.skeleton(record)).collect());
        let item = Item::Converted { line: written, offset, skeletons };
        self.rooms.edited(place, item, &mut self.tally);
    }

    /// Takes a line that says parts of source lines, and perhaps others whole: intact or not, it is
    /// judged with the lines that say the other parts.
    fn take_parts(
        &mut self,
        own: Vec<(&Record<'_>, Vec<u8>)>,
        is_whole: bool,
        line: Vec<u8>,
        offset: u64,
    ) {
        // An edited line is converted once; one that is intact, with any of its source lines.
        let mut is_placed = false;
        for (record, bytes) in own {
            if record.n_parts > 1 {
                let skeleton = self.skeleton(record);
                let line = (is_whole || !is_placed).then(|| line.clone());
                let line = line.map(|line| PartLine { line, offset, skeleton });
                is_placed = true;
                self.rooms.part(part_of(record), bytes, line, is_whole, &mut self.tally);
            } else if is_whole {
                self.rooms.restored(record.offset, bytes, &mut self.tally);
            }
        }
    }

    /// Takes the source lines that only ride on a line: an edit of it does not hurt them.
    fn take_riders(&mut self, carry: &Carry<'_>) {
        for record in carry.records.iter().filter(|record| record.is_rider) {
            let mut bytes = Vec::new();
            if !record.restore(&mut bytes, b"", &self.base, self.style) {
                self.tally.unreadable += 1;
            } else if record.n_parts == 1 {
                self.rooms.restored(record.offset, bytes, &mut self.tally);
            } else {
                self.rooms.part(part_of(record), bytes, None, true, &mut self.tally);
            }
        }
    }

    fn skeleton(&self, record: &Record<'_>) -> Vec<u8> {
        let mut skeleton = Vec::new();
        record.skeleton(&mut skeleton, &self.base);
        skeleton
    }

    fn added(&mut self, line: &Line<'_>) {
        self.tally.added += 1;
        let (line, offset) = (line.bytes().to_vec(), line.offset());
        let item = Item::Converted { line, offset, skeletons: None };
        self.rooms.added(item, &mut self.tally);
    }

    /// Hands out everything that waits.
    pub(crate) fn finish(&mut self) {
        let rest = self.sidecar.as_mut().map(Sidecar::take_rest).unwrap_or_default();
        for carry in rest {
            // The line is gone; what rode on it is not.
            if let Some(carry) = Carry::parse(&carry).filter(|carry| carry.tag == self.tag) {
                if let Some(base) = carry.base {
                    self.base = base.as_bytes().to_vec();
                }
                if let Some(contents) = &carry.contents {
                    self.rooms.open(contents);
                }
                self.take_riders(&carry);
            }
        }
        self.rooms.drain(&mut self.tally);
    }
}

fn part_of(record: &Record<'_>) -> PartOf {
    PartOf { offset: record.offset, part: record.part, n_parts: record.n_parts }
}
