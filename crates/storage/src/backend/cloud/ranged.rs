//! Reads an object like a file, in blocks; the next block is requested ahead.
//!
//! In: an object of 10 MiB. Out: a `Read` and `Seek` that requests the ranges 0..4 MiB, 4..8 MiB,
//! 8..10 MiB. If the object changes in between, reading fails.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    sync::Arc,
};

use futures_util::TryStreamExt;
use object_store::{ObjectStoreExt, path::Path as Key};
use tempfile::SpooledTempFile;

use super::{
    bucket::{Bucket, stat_of},
    failure::failure,
    runtime::Begun,
};
use crate::{
    backend::{Stat, is_changed},
    limits::MAX_IN_MEMORY,
};

/// An object up to this size is read at once and kept in memory.
const MAX_WHOLE: u64 = 4 * 1024 * 1024;

/// The size of a block of a larger object.
const BLOCK: u64 = 4 * 1024 * 1024;

/// A reader of one version of an object.
#[derive(Debug)]
pub struct Reader {
    stat: Stat,
    position: u64,
    content: Content,
    is_changed: bool,
}

enum Content {
    Blocks(Blocks),
    /// Some web servers know no ranges: their objects are read in one piece.
    Spooled(SpooledTempFile),
}

struct Blocks {
    bucket: Arc<Bucket>,
    key: Key,
    block: Block,
    /// The range of the next block, and its request.
    next: Option<(Range<u64>, Begun<object_store::Result<Vec<u8>>>)>,
}

/// A block and its offset.
#[derive(Default)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Blocks(blocks) => write!(formatter, "{}", blocks.key),
            Content::Spooled(_) => write!(formatter, "spooled"),
        }
    }
}

impl Reader {
    /// Opens an object, which must still have this metadata, and reads its first block.
    pub(super) fn new(bucket: &Arc<Bucket>, key: Key, stat: Stat) -> io::Result<Self> {
        let blocks = Blocks { bucket: bucket.clone(), key, block: Block::default(), next: None };
        let content = Content::Blocks(blocks);
        let mut reader = Self { stat, position: 0, content, is_changed: false };
        reader.fill()?;
        Ok(reader)
    }

    /// Reads an object of the web.
    pub(super) fn of_web(bucket: &Arc<Bucket>, key: Key) -> io::Result<Self> {
        let store = bucket.store.clone();
        let mut spooled = SpooledTempFile::new(MAX_IN_MEMORY);
        let reading = async move {
            let result = store.get(&key).await.map_err(|error| failure(&error))?;
            let stat = stat_of(&result.meta);
            let mut stream = result.into_stream();
            while let Some(bytes) = stream.try_next().await.map_err(|error| failure(&error))? {
                spooled.write_all(&bytes)?;
            }
            io::Result::Ok((stat, spooled))
        };
        let (stat, mut spooled) = bucket.runtime.wait(reading)??;
        spooled.rewind()?;
        Ok(Self { stat, position: 0, content: Content::Spooled(spooled), is_changed: false })
    }

    /// Returns the metadata of the opened version.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Returns whether the object was seen to change since.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Loads the block of the current position.
    fn fill(&mut self) -> io::Result<()> {
        let Content::Blocks(blocks) = &mut self.content else { return Ok(()) };
        let filled = blocks.fill(self.position, &self.stat);
        self.is_changed |= filled.as_ref().is_err_and(is_changed);
        filled
    }
}

impl Blocks {
    fn fill(&mut self, position: u64, stat: &Stat) -> io::Result<()> {
        if position >= stat.length || self.block.range().contains(&position) {
            return Ok(());
        }
        let wanted = range_of(position, stat.length);
        let begun = match self.next.take() {
            Some((range, begun)) if range == wanted => begun,
            _ => self.begin(wanted.clone(), stat),
        };
        let follows = wanted.start == self.block.range().end && wanted.start > 0;
        let bytes = begun.wait()?.map_err(|error| failure(&error)).inspect_err(|error| {
            if is_changed(error) {
                self.bucket.forget(&self.key);
            }
        })?;
        if bytes.len() as u64 != wanted.end - wanted.start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.block = Block { start: wanted.start, bytes };
        if follows && wanted.end < stat.length {
            let after = range_of(wanted.end, stat.length);
            self.next = Some((after.clone(), self.begin(after, stat)));
        }
        Ok(())
    }

    fn begin(&self, range: Range<u64>, stat: &Stat) -> Begun<object_store::Result<Vec<u8>>> {
        self.bucket.begin(&self.key, stat.etag.clone(), range)
    }
}

impl Block {
    fn range(&self) -> Range<u64> {
        self.start..self.start + self.bytes.len() as u64
    }
}

/// Returns the block of a position.
fn range_of(position: u64, length: u64) -> Range<u64> {
    if length <= MAX_WHOLE {
        return 0..length;
    }
    let start = position / BLOCK * BLOCK;
    start..length.min(start + BLOCK)
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let n = match &mut self.content {
            Content::Spooled(file) => file.read(buffer)?,
            Content::Blocks(Blocks { block, .. }) => {
                let at = usize::try_from(self.position.saturating_sub(block.start));
                let left = at.ok().and_then(|at| block.bytes.get(at..)).unwrap_or_default();
                let left = if self.position < self.stat.length { left } else { &[] };
                let n = left.len().min(buffer.len());
                buffer[..n].copy_from_slice(&left[..n]);
                n
            }
        };
        self.position += n as u64;
        Ok(n)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.stat.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        if let Content::Spooled(file) = &mut self.content {
            file.seek(SeekFrom::Start(self.position))?;
        }
        Ok(self.position)
    }
}
