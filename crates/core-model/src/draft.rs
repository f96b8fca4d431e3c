//! A line that is being written, and the source line that it is written from.

use jsonl::Line;

use crate::id::{self, LineDigest};

/// A line that a writer is writing.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LineId(pub(crate) u32);

impl LineId {
    /// Returns a small number, unique among the lines that are not yet taken.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of the source line that stands in a written line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Copied {
    /// Where it starts in the source line.
    pub from: usize,
    /// Its length in the source line.
    pub len: usize,
    /// Where it starts in the written line.
    pub at: usize,
    /// Its length in the written line.
    pub written: usize,
    /// Whether the written line spells it in another style.
    pub is_respelt: bool,
}

/// For slices longer than this a line grows by what it needs rather than to the double.
pub(crate) const LARGE: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) bytes: Vec<u8>,
    pub(crate) copied: Vec<Copied>,
    pub(crate) is_derived: bool,
    /// Whether the current source line stands in it.
    pub(crate) is_touched: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) address: usize,
    pub(crate) offset: u64,
    pub(crate) number: u64,
    pub(crate) length: usize,
    /// The digest of a line, once somebody asked for an id, and where the line is.
    digest: Option<(usize, LineDigest)>,
}

impl Source {
    /// Starts a source line.
    pub(crate) fn start(&mut self, line: &Line<'_>) {
        self.address = line.bytes().as_ptr() as usize;
        self.length = line.bytes().len();
        self.offset = line.offset();
        self.digest = None;
    }

    /// Forgets the line: what comes next is no part of it.
    pub(crate) fn end(&mut self) {
        self.digest = None;
    }

    /// Returns the digest of a line's value: each block of a long response asks for it.
    pub(crate) fn digest(&mut self, value: &str) -> LineDigest {
        let address = value.as_ptr() as usize;
        match self.digest {
            Some((known, digest)) if known == address => digest,
            _ => self.digest.insert((address, id::digest(value.as_bytes()))).1,
        }
    }

    /// Returns where a slice starts in the source line, if it is a part of it.
    pub(crate) fn find(&self, slice: &str) -> Option<usize> {
        let from = (slice.as_ptr() as usize).checked_sub(self.address)?;
        (from + slice.len() <= self.length && !slice.is_empty()).then_some(from)
    }
}
