//! Finds where records begin and end, by following braces, brackets and strings.
//!
//! In: `{"messages":[{"a":1}]}` and the path `messages`. Out: 13 bytes of glue, 7 of a record, and the
//! rest.

use crate::{
    line::Unit,
    scan::nesting::{self, BLOCK, Nesting},
};

/// Limit on the containers around records.
const MAX_FRAMES: usize = 8;

/// Limit on paths: one bit for each.
const MAX_PATHS: usize = 32;

/// A step of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    Key(&'static str),
    Item,
}

/// A container around records.
#[derive(Clone, Copy, Debug)]
struct Frame {
    is_array: bool,
    /// The paths that lead here, one bit for each.
    live: u32,
    /// Whether its objects are records.
    has_records: bool,
}

/// The place of the splitter in a document.
#[derive(Clone, Debug)]
pub(super) struct Splitter {
    paths: Vec<Vec<Step>>,
    longest_key: usize,
    depth: usize,
    /// The innermost containers that lead to records. There is one for each level if the splitter
    /// is not within another value.
    frames: Vec<Frame>,
    in_record: bool,
    in_string: bool,
    is_escaped: bool,
    /// The last string of a frame.
    key: Vec<u8>,
}

pub(super) fn steps_of(path: &'static str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let key = part.trim_end_matches("[]");
        if !key.is_empty() {
            steps.push(Step::Key(key));
        }
        let n_items = (part.len() - key.len()) / "[]".len();
        steps.extend((0..n_items).map(|_| Step::Item));
    }
    steps
}

impl Splitter {
    pub(super) fn new(paths: &[&'static str]) -> Self {
        let paths: Vec<Vec<Step>> =
            paths.iter().take(MAX_PATHS).map(|path| steps_of(path)).collect();
        let keys = paths.iter().flatten().map(|step| match step {
            Step::Key(key) => key.len(),
            Step::Item => 0,
        });
        Self {
            longest_key: keys.max().unwrap_or(0),
            paths,
            depth: 0,
            frames: Vec::new(),
            in_record: false,
            in_string: false,
            is_escaped: false,
            key: Vec::new(),
        }
    }

    /// Returns the innermost container, if it leads to records.
    fn frame(&self) -> Option<&Frame> {
        self.frames.last().filter(|_| self.frames.len() == self.depth)
    }

    /// Returns whether the splitter is between the records of an array.
    pub(super) fn is_among_records(&self) -> bool {
        !self.in_record && self.frame().is_some_and(|frame| frame.has_records)
    }

    /// Returns whether all containers are closed.
    pub(super) fn is_at_end(&self) -> bool {
        self.depth == 0
    }

    /// Returns whether a record has begun and not ended.
    pub(super) fn is_in_record(&self) -> bool {
        self.in_record
    }

    /// Appends the brackets that close the open containers, the innermost first.
    pub(super) fn push_ends(&self, out: &mut Vec<u8>) {
        let ends = self.frames.iter().rev();
        out.extend(ends.map(|frame| if frame.is_array { b']' } else { b'}' }));
    }

    fn open(&mut self, is_array: bool) {
        if !self.in_record && self.frames.len() == self.depth && self.depth < MAX_FRAMES {
            let mut live = 0;
            for (n, steps) in self.paths.iter().enumerate() {
                let leads = match self.frames.last() {
                    None => true,
                    Some(frame) if frame.live & 1 << n == 0 => false,
                    Some(frame) => match steps.get(self.depth - 1) {
                        Some(Step::Key(key)) => !frame.is_array && key.as_bytes() == self.key,
                        Some(Step::Item) => frame.is_array,
                        None => false,
                    },
                };
                live |= u32::from(leads) << n;
            }
            if live != 0 {
                let ends = |(n, steps): (usize, &Vec<Step>)| {
                    live & 1 << n != 0 && steps.len() == self.depth
                };
                let has_records = is_array && self.paths.iter().enumerate().any(ends);
                self.frames.push(Frame { is_array, live, has_records });
            }
        }
        self.depth = self.depth.saturating_add(1);
        self.key.clear();
    }

    /// Closes a container. Returns whether a record ends.
    fn close(&mut self) -> bool {
        if self.frames.len() == self.depth {
            self.frames.pop();
        }
        self.depth = self.depth.saturating_sub(1);
        let ends = self.in_record && self.depth == self.frames.len();
        self.in_record &= !ends;
        ends
    }

    /// Adds bytes to the last string of a frame. A key with an escape is none of a path.
    fn add_to_key(&mut self, bytes: &[u8]) {
        if !self.in_record && self.frames.len() == self.depth {
            let room = (self.longest_key + 1).saturating_sub(self.key.len());
            self.key.extend(bytes.iter().take(room));
        }
    }

    /// Reads whole blocks of a record. Returns the number of bytes.
    fn follow(&mut self, bytes: &[u8]) -> usize {
        let n_frames = self.frames.len();
        let depth = self.depth.saturating_sub(n_frames);
        let mut place = Nesting { depth, in_string: self.in_string, is_escaped: self.is_escaped };
        let n = nesting::follow(bytes, &mut place);
        self.depth = n_frames + place.depth;
        (self.in_string, self.is_escaped) = (place.in_string, place.is_escaped);
        self.in_record = place.depth > 0;
        n
    }

    /// Reads bytes up to the start or the end of a record. Returns their number, and whether they
    /// are glue or a record; `None` if all were read. `is_empty` means that the unit has no bytes
    /// yet: a record may start.
    pub(super) fn cut(&mut self, bytes: &[u8], mut is_empty: bool) -> Option<(usize, Unit)> {
        let mut at = 0;
        // Blocks up to here are not what vectors can follow.
        let mut slow_end = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_record && at >= slow_end {
                let n = self.follow(bytes.get(at..).unwrap_or_default());
                at += n;
                if !self.in_record {
                    return Some((at, Unit::Record));
                }
                slow_end = at + BLOCK;
                if n > 0 {
                    is_empty = false;
                    continue;
                }
            }
            if self.in_string {
                let rest = bytes.get(at..).unwrap_or_default();
                let n_plain = match self.is_escaped {
                    true => 1,
                    false => memchr::memchr3(b'"', b'\\', b'\n', rest).unwrap_or(rest.len()),
                };
                self.is_escaped = false;
                self.add_to_key(rest.get(..n_plain).unwrap_or_default());
                at += n_plain;
                is_empty = false;
                if n_plain == 0 {
                    self.is_escaped = byte == b'\\';
                    // No string goes over a newline: after damage, the next line is read afresh.
                    self.in_string = self.is_escaped;
                    self.add_to_key(b"\\".get(..usize::from(self.is_escaped)).unwrap_or_default());
                    at += 1;
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.is_escaped = false;
                    self.key.clear();
                }
                b'{' if self.is_among_records() => {
                    if !is_empty {
                        return Some((at, Unit::Glue));
                    }
                    self.in_record = true;
                    self.depth += 1;
                }
                b'{' | b'[' => self.open(byte == b'['),
                b'}' | b']' if self.close() => return Some((at + 1, Unit::Record)),
                _ => {}
            }
            at += 1;
            is_empty = false;
        }
        None
    }
}
