//! An input that is open: read from its start as often as needed, within limits.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use tempfile::SpooledTempFile;

use crate::{
    compress::{Compression, Decoder},
    folder::FILE_MODE,
    limits::{Excess, Limits, LineMeter},
    snapshot::Snapshot,
};

/// What a compressed input may hold, times its size, and so many bytes more, if nothing else is said.
const MAX_EXPANSION: u64 = 100;
const FREE_EXPANSION: u64 = 1024 * 1024 * 1024;

/// The longest line that a compressed input may hold, times its size, if nothing else is said, and
/// so many bytes at least: what compresses better is no session.
const MAX_LINE_EXPANSION: u64 = 20;
const MIN_MAX_LINE: u64 = 32 * 1024 * 1024;

/// What a compressed input holds is kept if it has at most so many bytes.
const MAX_KEPT: u64 = 8 * 1024 * 1024;

/// An input that can be read again from its start.
pub struct Opened {
    content: Content,
    /// The input in whose place the content is read.
    origin: Option<Box<Opened>>,
    meter: LineMeter,
}

enum Content {
    Plain(Stored),
    Packed(Box<Packed>),
}

/// The bytes of an input as they are stored: a file, or a copy of what can be read only once.
pub enum Stored {
    /// A file, on the disk or in an object store.
    File(Box<Snapshot>),
    /// A copy of a pipe, or what we wrote ourselves.
    Spooled(SpooledTempFile),
}

/// A compressed input: expanded anew each time that it is read, unless it is small.
struct Packed {
    compression: Compression,
    decoder: Option<Decoder<Stored>>,
    whole: Option<Cursor<Vec<u8>>>,
    n_expanded: u64,
    max_expanded: u64,
}

impl Opened {
    /// Opens a [`Snapshot`] or a spooled file. If its first bytes say that it is compressed, what is
    /// read is what it expands to.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, or is compressed and damaged.
    pub fn new(mut bytes: impl Read + Seek + Into<Stored>, limits: Limits) -> io::Result<Self> {
        let size = bytes.seek(SeekFrom::End(0))?;
        bytes.rewind()?;
        let mut head = Vec::new();
        bytes.by_ref().take(4).read_to_end(&mut head)?;
        bytes.rewind()?;
        let stored = bytes.into();
        let Some(compression) = Compression::of(&head) else {
            let meter = LineMeter::new(limits.line.unwrap_or(u64::MAX));
            return Ok(Self { content: Content::Plain(stored), origin: None, meter });
        };
        let max_expanded = size.saturating_mul(MAX_EXPANSION).saturating_add(FREE_EXPANSION);
        let max_expanded = limits.expanded.unwrap_or(max_expanded);
        let max_line = size.saturating_mul(MAX_LINE_EXPANSION).max(MIN_MAX_LINE);
        let max_line = limits.line.unwrap_or(max_line);
        let packed = Packed::new(compression, stored, max_expanded)?;
        let meter = LineMeter::new(max_line);
        Ok(Self { content: Content::Packed(Box::new(packed)), origin: None, meter })
    }

    /// Opens a file of which the bytes are read as they are, compressed or not; a line may have at
    /// most `max_line` bytes.
    pub fn as_it_is(snapshot: Snapshot, max_line: Option<u64>) -> Self {
        let meter = LineMeter::new(max_line.unwrap_or(u64::MAX));
        Self { content: Content::Plain(snapshot.into()), origin: None, meter }
    }

    /// Lets something else be read in its place; what it is, and whether it changes, stays asked of
    /// it.
    pub fn read_as(self, file: SpooledTempFile) -> Self {
        let content = Content::Plain(Stored::Spooled(file));
        Self { content, origin: Some(Box::new(self)), meter: LineMeter::NONE }
    }

    /// Returns whether what is read is not what is stored.
    pub fn is_packed(&self) -> bool {
        matches!(self.content, Content::Packed(_)) || self.origin.is_some()
    }

    /// Returns its permissions.
    pub fn mode(&self) -> u32 {
        if let Some(origin) = &self.origin {
            return origin.mode();
        }
        match self.stored() {
            Some(Stored::File(file)) => file.mode(),
            _ => FILE_MODE,
        }
    }

    /// Returns the file as it was opened, if it is one.
    pub fn snapshot(&mut self) -> Option<&mut Snapshot> {
        if let Some(origin) = &mut self.origin {
            return origin.snapshot();
        }
        let stored = match &mut self.content {
            Content::Plain(stored) => Some(stored),
            Content::Packed(packed) => packed.decoder.as_mut().map(Decoder::get_mut),
        };
        match stored {
            Some(Stored::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Leaves the bytes of a file unhashed when they are read: nobody will ask what they were.
    pub fn skip_hash(&mut self) {
        _ = self.snapshot().map(Snapshot::skip_hash);
    }

    fn stored(&self) -> Option<&Stored> {
        match &self.content {
            Content::Plain(stored) => Some(stored),
            Content::Packed(packed) => packed.decoder.as_ref().map(Decoder::get_ref),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.content {
            Content::Plain(stored) => stored.read(buffer)?,
            Content::Packed(packed) => packed.read(buffer)?,
        };
        self.meter.measure(&buffer[..n])?;
        Ok(n)
    }
}

impl Seek for Opened {
    /// A large compressed input can be rewound; where its end is, nobody knows before it is read.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.meter.restart();
        match &mut self.content {
            Content::Plain(stored) => stored.seek(to),
            Content::Packed(packed) => packed.seek(to),
        }
    }
}

impl Packed {
    fn new(compression: Compression, stored: Stored, max_expanded: u64) -> io::Result<Self> {
        let decoder = Some(Decoder::new(compression, stored)?);
        let mut packed = Self { compression, decoder, whole: None, n_expanded: 0, max_expanded };
        let mut bytes = Vec::new();
        (&mut packed).take(MAX_KEPT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= MAX_KEPT {
            packed.whole = Some(Cursor::new(bytes));
        } else {
            packed.rewind_decoder()?;
        }
        Ok(packed)
    }

    fn rewind_decoder(&mut self) -> io::Result<()> {
        if let Some(decoder) = self.decoder.take() {
            let mut stored = decoder.into_inner();
            stored.rewind()?;
            self.decoder = Some(Decoder::new(self.compression, stored)?);
            self.n_expanded = 0;
        }
        Ok(())
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(whole) = &mut self.whole {
            return whole.read(buffer);
        }
        let Some(decoder) = &mut self.decoder else { return Ok(0) };
        let n = decoder.read(buffer)?;
        self.n_expanded += n as u64;
        if self.n_expanded > self.max_expanded {
            return Err(io::Error::other(Excess::Expanded(self.max_expanded)));
        }
        Ok(n)
    }
}

impl Seek for Packed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match (&mut self.whole, to) {
            (Some(whole), to) => whole.seek(to),
            (None, SeekFrom::Start(to)) => {
                self.rewind_decoder()?;
                io::copy(&mut self.by_ref().take(to), &mut io::sink())
            }
            // Larger than what anybody keeps.
            (None, SeekFrom::End(_)) => Ok(u64::MAX),
            (None, _) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl From<Snapshot> for Stored {
    fn from(snapshot: Snapshot) -> Self {
        Stored::File(Box::new(snapshot))
    }
}

impl From<SpooledTempFile> for Stored {
    fn from(file: SpooledTempFile) -> Self {
        Stored::Spooled(file)
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stored::File(file) => file.read(buffer),
            Stored::Spooled(file) => file.read(buffer),
        }
    }
}

impl Seek for Stored {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Stored::File(file) => file.seek(to),
            Stored::Spooled(file) => file.seek(to),
        }
    }
}
