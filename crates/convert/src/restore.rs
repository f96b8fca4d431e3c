//! From lines with carries back to the lines that they were made of.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
};

use jsonl::{Line, Style, Value};

use crate::{
    carry::{Carry, Member, guard_of},
    sidecar::Sidecar,
};

/// How much may wait for a line that comes late before it is taken to be gone.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// What a line with or without a carry turns into.
#[derive(Debug)]
pub enum Item {
    /// A source line, byte for byte.
    Restored(Vec<u8>),
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

/// Turns lines of one format into the lines of another that they carry.
#[derive(Debug)]
pub struct Restorer {
    tag: char,
    style: Style,
    base: Vec<u8>,
    waiting: BTreeMap<(u64, u64), Waiting>,
    n_waiting: usize,
    next_seq: u64,
    last_offset: u64,
    /// Where the next source line must start; unknown after an edited line.
    expected: Option<u64>,
    ready: VecDeque<Item>,
    tally: Tally,
    sidecar: Option<Sidecar>,
}

#[derive(Debug)]
enum Waiting {
    Item { item: Item, end: Option<u64> },
    Parts(Parts),
}

/// A source line that several written lines carry between them.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Option<Vec<u8>>>,
    lines: Vec<(Vec<u8>, u64)>,
    skeleton: Vec<u8>,
    is_broken: bool,
}

impl Restorer {
    /// Creates a restorer of lines of the format `tag`, which spells JSON in `style`.
    pub fn new(tag: char, style: Style, sidecar: Option<Sidecar>) -> Self {
        Self {
            tag,
            style,
            base: Vec::new(),
            waiting: BTreeMap::new(),
            n_waiting: 0,
            next_seq: 0,
            last_offset: 0,
            expected: Some(0),
            ready: VecDeque::new(),
            tally: Tally::default(),
            sidecar,
        }
    }

    /// Returns what became of the lines so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the next item that is in its place.
    pub fn next_item(&mut self) -> Option<Item> {
        self.ready.pop_front()
    }

    /// Takes a line and its value, if it has one.
    pub fn push(&mut self, line: &Line<'_>, value: Option<Value<'_>>) {
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
        let mut own = Vec::new();
        let mut is_whole = is_intact;
        for record in &carry.records {
            let mut bytes = Vec::new();
            let visible = visible.as_bytes();
            let is_right = record.restore(&mut bytes, visible, &self.base, self.style);
            if !record.is_rider {
                is_whole &= is_right;
                own.push((record, bytes));
            } else if !is_right {
                self.tally.unreadable += 1;
            } else if record.n_parts == 1 {
                self.restored(record.offset, bytes);
            } else {
                self.part(record.offset, record.part, record.n_parts, bytes, None);
            }
        }
        let part = own.iter().find(|(record, _)| record.n_parts > 1).map(|(record, _)| *record);
        if let (Some(record), [_]) = (part, &own[..]) {
            // Part of a line: intact or not, it is judged with the others.
            let mut skeleton = Vec::new();
            record.skeleton(&mut skeleton, &self.base);
            let bytes = own.pop().map(|(_, bytes)| bytes).unwrap_or_default();
            let line = Some((written, offset, skeleton, is_whole));
            return self.part(record.offset, record.part, record.n_parts, bytes, line);
        }
        if is_whole {
            for (record, bytes) in own {
                self.restored(record.offset, bytes);
            }
            return;
        }
        self.tally.edited += 1;
        let skeletons = own
            .iter()
            .map(|(record, _)| {
                let mut skeleton = Vec::new();
                record.skeleton(&mut skeleton, &self.base);
                skeleton
            })
            .collect();
        let place = own.first().map_or(self.last_offset, |(record, _)| record.offset);
        let item = Item::Converted { line: written, offset, skeletons: Some(skeletons) };
        self.wait(place, Waiting::Item { item, end: None });
    }

    fn added(&mut self, line: &Line<'_>) {
        self.drain(true);
        self.tally.added += 1;
        let (line, offset) = (line.bytes().to_vec(), line.offset());
        self.ready.push_back(Item::Converted { line, offset, skeletons: None });
    }

    fn restored(&mut self, offset: u64, bytes: Vec<u8>) {
        self.n_waiting += bytes.len();
        let end = Some(offset + bytes.len() as u64);
        self.wait(offset, Waiting::Item { item: Item::Restored(bytes), end });
    }

    fn wait(&mut self, offset: u64, waiting: Waiting) {
        self.last_offset = offset;
        self.waiting.insert((offset, self.next_seq), waiting);
        self.next_seq += 1;
        self.drain(self.n_waiting > MAX_WAITING);
    }

    fn part(
        &mut self,
        offset: u64,
        part: u64,
        n_parts: u64,
        bytes: Vec<u8>,
        line: Option<(Vec<u8>, u64, Vec<u8>, bool)>,
    ) {
        // A number of parts that no conversion writes is somebody's mischief.
        const MAX_PARTS: u64 = 1 << 20;
        self.last_offset = offset;
        let place: Range<(u64, u64)> = (offset, 0)..(offset, u64::MAX);
        let is_known = self
            .waiting
            .range(place.clone())
            .any(|(_, waiting)| matches!(waiting, Waiting::Parts(_)));
        if !is_known {
            self.waiting.insert((offset, self.next_seq), Waiting::Parts(Parts::default()));
            self.next_seq += 1;
        }
        self.n_waiting += bytes.len();
        for (_, waiting) in self.waiting.range_mut(place) {
            let Waiting::Parts(parts) = waiting else { continue };
            parts.parts.resize(n_parts.min(MAX_PARTS) as usize, None);
            if let Some(slot) = parts.parts.get_mut(part as usize) {
                *slot = Some(bytes);
            }
            if let Some((line, offset, skeleton, is_whole)) = line {
                parts.lines.push((line, offset));
                parts.skeleton.extend_from_slice(&skeleton);
                parts.is_broken |= !is_whole;
            }
            break;
        }
        self.drain(self.n_waiting > MAX_WAITING);
    }

    /// Hands out what is in its place; if `all`, what waits for missing lines too.
    fn drain(&mut self, all: bool) {
        while let Some(entry) = self.waiting.first_entry() {
            let (offset, _) = *entry.key();
            let is_next = self.expected.is_none_or(|expected| offset <= expected);
            let is_complete = match entry.get() {
                Waiting::Item { .. } => true,
                Waiting::Parts(parts) => parts.parts.iter().all(Option::is_some),
            };
            if !(all || is_next && is_complete) {
                return;
            }
            self.tally.gaps += u64::from(!is_next);
            match entry.remove() {
                Waiting::Item { item, end } => {
                    if let Item::Restored(bytes) = &item {
                        self.n_waiting = self.n_waiting.saturating_sub(bytes.len());
                        self.tally.restored += 1;
                    }
                    self.expected = end;
                    self.ready.push_back(item);
                }
                Waiting::Parts(parts) => self.hand_out_parts(offset, parts, is_complete),
            }
        }
    }

    fn hand_out_parts(&mut self, offset: u64, parts: Parts, is_complete: bool) {
        let whole: Vec<u8> = parts.parts.iter().flatten().flatten().copied().collect();
        self.n_waiting = self.n_waiting.saturating_sub(whole.len());
        if is_complete && !parts.is_broken {
            self.tally.restored += 1;
            self.expected = Some(offset + whole.len() as u64);
            self.ready.push_back(Item::Restored(whole));
            return;
        }
        self.tally.edited += 1;
        self.tally.gaps += u64::from(parts.lines.is_empty());
        self.expected = None;
        for (n, (line, offset)) in parts.lines.into_iter().enumerate() {
            let skeletons = Some(if n == 0 { vec![parts.skeleton.clone()] } else { Vec::new() });
            self.ready.push_back(Item::Converted { line, offset, skeletons });
        }
    }

    /// Hands out everything that waits.
    pub fn finish(&mut self) {
        if let Some(sidecar) = &mut self.sidecar {
            for carry in sidecar.take_rest() {
                if let Some(carry) = Carry::parse(&carry).filter(|carry| carry.tag == self.tag) {
                    self.take_riders(&carry);
                }
            }
        }
        self.drain(true);
    }

    /// Takes the riders of a carry whose line is gone.
    fn take_riders(&mut self, carry: &Carry<'_>) {
        if let Some(base) = carry.base {
            self.base = base.as_bytes().to_vec();
        }
        for record in carry.records.iter().filter(|record| record.is_rider) {
            let mut bytes = Vec::new();
            if !record.restore(&mut bytes, b"", &self.base, self.style) {
                self.tally.unreadable += 1;
            } else if record.n_parts == 1 {
                self.restored(record.offset, bytes);
            } else {
                self.part(record.offset, record.part, record.n_parts, bytes, None);
            }
        }
    }
}
