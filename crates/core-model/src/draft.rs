//! Open lines of a writer, and the source line that they are made from.
//!
//! In: the source line `{"text":"Hi"}`, copied as `{"content":"Hi"}`. Out: the written line, and
//! the note that its bytes 11 to 15 are bytes 8 to 12 of the source.

use jsonl::Line;

use crate::id::{self, LineDigest};

/// The id of an open line.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LineId(pub(crate) u32);

/// The bit of an id that tells a packed line from an open one.
const PACKED: u32 = 1 << 31;

impl LineId {
    /// Returns a small number, unique among the open and the emitted lines.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Creates the id of a packed line, unless there are 2<sup>31</sup> of them.
    pub(crate) fn packed(number: u32) -> Option<Self> {
        (number < PACKED).then_some(Self(number | PACKED))
    }

    /// Returns the number of a packed line; `None` for an open one.
    pub(crate) fn packed_number(self) -> Option<u32> {
        (self.0 & PACKED != 0).then_some(self.0 & !PACKED)
    }
}

/// A range of the source line that was copied into a written line. The struct is small, because a
/// long line may have one for each eighty bytes. Ranges beyond the first 4 GiB of a written line
/// are not noted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Copied {
    /// Its offset in the source line.
    pub from: u32,
    /// Its length in the source line.
    pub len: u32,
    /// Its offset in the written line.
    pub at: u32,
    /// Its length in the written line.
    pub written: u32,
    /// How the source spells it, from the bytes of the written line.
    pub spelling: Spelling,
}

/// How a source spells a value of which a written line has a copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spelling {
    /// With the same bytes.
    Same,
    /// In the style of the source's format.
    Respelt,
    /// In this style and on several lines, whose last one has so many spaces before it.
    Indented(u16),
}

impl Copied {
    fn new(from: usize, len: usize, at: usize, written: usize, spelling: Spelling) -> Option<Self> {
        let [from, len, at, written] =
            [from, len, at, written].map(|number| u32::try_from(number).ok());
        Some(Self { from: from?, len: len?, at: at?, written: written?, spelling })
    }
}

/// Length in bytes from which a line grows by the needed size instead of doubling.
pub(crate) const LARGE: usize = 16 * 1024 * 1024;

/// Length in bytes below which a repeated value is not noted.
pub(crate) const LONG: usize = 32;

/// Limit in bytes on the buffers of lines that are kept for reuse. A thousand lines of 20 KiB that waited for each other
/// leave no 20 MiB behind.
const MAX_ROOM: usize = 1024 * 1024;

/// The open lines, and lines for reuse.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    lines: Vec<Draft>,
    free: Vec<LineId>,
    /// The bytes of the buffers of free lines.
    room: usize,
}

impl Drafts {
    /// Opens a line.
    pub(crate) fn open(&mut self) -> LineId {
        let Some(id) = self.free.pop() else {
            let id = LineId(self.lines.len() as u32);
            self.lines.push(Draft::default());
            return id;
        };
        self.room = self.room.saturating_sub(self.line(id).room());
        id
    }

    /// Returns the number of open lines.
    pub(crate) fn n_open(&self) -> usize {
        self.lines.len() - self.free.len()
    }

    /// Returns a line to the pool.
    pub(crate) fn release(&mut self, id: LineId) {
        let room = self.room.saturating_add(self.line(id).room());
        let is_kept = room <= MAX_ROOM;
        if is_kept {
            self.room = room;
        }
        let draft = self.line_mut(id);
        if !is_kept {
            (draft.bytes, draft.copied) = (Vec::new(), Vec::new());
        }
        draft.bytes.clear();
        (draft.is_derived, draft.is_touched, draft.n_repeated) = (false, false, 0);
        draft.part = DocumentPart::Record;
        (draft.mark, draft.owner, draft.shown) = (None, None, None);
        draft.copied.clear();
        self.free.push(id);
    }

    /// Returns an open line.
    #[inline]
    pub(crate) fn line(&self, id: LineId) -> &Draft {
        self.lines.get(id.index()).expect(OPENED)
    }

    /// Returns an open line for writing.
    #[inline]
    pub(crate) fn line_mut(&mut self, id: LineId) -> &mut Draft {
        self.lines.get_mut(id.index()).expect(OPENED)
    }
}

/// The reason why every id has a line.
const OPENED: &str = "ids are made by opening a line, and lines are never taken away";

#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) bytes: Vec<u8>,
    pub(crate) copied: Vec<Copied>,
    /// The offset in the current source line of the first value that the line shows in a spelling of its own.
    pub(crate) shown: Option<u32>,
    pub(crate) is_derived: bool,
    /// The number of values that the line repeats without a note.
    pub(crate) n_repeated: u32,
    /// The number of the source record during which the line was opened.
    pub(crate) source: u64,
    /// Whether the line shows the current source line.
    pub(crate) is_touched: bool,
    /// The part of a document that the line becomes.
    pub(crate) part: DocumentPart,
    /// The line that this draft becomes a part of; `None` for a line.
    pub(crate) owner: Option<LineId>,
    /// The place of the carry; `None` for a last member.
    pub(crate) mark: Option<CarryMark>,
    /// The first bytes, if they are packed.
    pub(crate) start: Option<Box<PackedStart>>,
}

/// The first bytes of a line, in [`PackedLines`](crate::PackedLines).
#[derive(Debug, Default)]
pub(crate) struct PackedStart {
    pub(crate) numbers: Vec<u32>,
    pub(crate) length: usize,
}

/// The place of the carry in a written line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CarryMark {
    /// The offset in the line.
    pub at: usize,
    /// The bytes before the member with the carry.
    pub before: &'static str,
    /// The bytes after it.
    pub after: &'static str,
}

/// The part of a document that a written line becomes, in a format whose files are documents.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DocumentPart {
    /// An object whose members come before the records.
    Head,
    /// A record.
    #[default]
    Record,
    /// An object whose members come behind the records.
    Tail,
}

impl Draft {
    /// Returns the number of its bytes so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() + self.n_packed()
    }

    /// Returns the number of its first bytes that are packed.
    #[inline]
    pub(crate) fn n_packed(&self) -> usize {
        self.start.as_ref().map_or(0, |start| start.length)
    }

    /// Returns the bytes of its buffers.
    fn room(&self) -> usize {
        let copied = self.copied.capacity().saturating_mul(size_of::<Copied>());
        self.bytes.capacity().saturating_add(copied)
    }

    /// Notes that `part` of the source line was written at the offset `at`.
    pub(crate) fn note(&mut self, source: &Source, part: &str, at: usize, spelling: Spelling) {
        let written = self.len() - at;
        let from = source.find(part);
        let copied = from.and_then(|from| Copied::new(from, part.len(), at, written, spelling));
        self.copied.extend(copied);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) address: usize,
    pub(crate) offset: u64,
    pub(crate) number: u64,
    /// The number of source records so far.
    pub(crate) count: u64,
    pub(crate) length: usize,
    /// Whether values may go over several lines.
    pub(crate) is_in_document: bool,
    /// The digest of a line, computed for the first id, and the offset of the line.
    digest: Option<(usize, LineDigest)>,
}

impl Source {
    /// Starts a source line.
    pub(crate) fn start(&mut self, line: &Line<'_>) {
        self.address = line.bytes().as_ptr() as usize;
        self.length = line.bytes().len();
        self.offset = line.offset();
        self.is_in_document = line.is_in_document();
        self.count = self.count.wrapping_add(1);
        self.digest = None;
    }

    /// Ends the source line. Later text is no part of it.
    pub(crate) fn end(&mut self) {
        self.digest = None;
    }

    /// Returns the digest of a line's value. It is cached, because each block of a long response
    /// needs it.
    pub(crate) fn digest(&mut self, value: &str, is_of_ends: bool) -> LineDigest {
        let address = value.as_ptr() as usize;
        match self.digest {
            Some((known, digest)) if known == address => digest,
            _ => {
                let digest = match is_of_ends {
                    true => id::digest_of_ends(value.as_bytes()),
                    false => id::digest(value.as_bytes()),
                };
                self.digest.insert((address, digest)).1
            }
        }
    }

    /// Returns the note that a slice of the source line was copied to the offset `at` unchanged.
    pub(crate) fn copied(&self, slice: &str, at: usize) -> Option<Copied> {
        Copied::new(self.find(slice)?, slice.len(), at, slice.len(), Spelling::Same)
    }

    /// Returns the offset of a slice in the source line; `None` if it is not a part of it.
    pub(crate) fn find(&self, slice: &str) -> Option<usize> {
        let from = (slice.as_ptr() as usize).checked_sub(self.address)?;
        (from + slice.len() <= self.length && !slice.is_empty()).then_some(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_leaves_no_memory() {
        let mut drafts = Drafts::default();
        for (length, is_kept) in [(MAX_ROOM, true), (MAX_ROOM + 1, false)] {
            let id = drafts.open();
            drafts.line_mut(id).bytes = Vec::with_capacity(length);
            drafts.release(id);
            assert_eq!(drafts.line(id).bytes.capacity() > 0, is_kept, "{length}");
        }
    }

    #[test]
    fn many_lines_leave_little_memory() {
        let mut drafts = Drafts::default();
        for _ in 0..2 {
            let ids: Vec<LineId> = (0..1000).map(|_| drafts.open()).collect();
            for id in &ids {
                drafts.line_mut(*id).bytes = Vec::with_capacity(20 * 1024);
            }
            ids.iter().for_each(|id| drafts.release(*id));
            let kept: usize = drafts.lines.iter().map(Draft::room).sum();
            assert!(kept <= MAX_ROOM && kept > MAX_ROOM / 2, "{kept}");
            assert_eq!(drafts.room, kept);
        }
    }
}
