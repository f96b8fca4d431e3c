//! An open input that can be read from its start as often as needed, within limits.
//!
//! In: a file, an object, or spooled standard input, compressed or not. Out: the decompressed
//! bytes.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use tempfile::SpooledTempFile;

use crate::{
    compress::{Compression, Decoder},
    folder::FILE_MODE,
    limits::{Excess, Limits, LineMeter},
    snapshot::Snapshot,
};

/// Default limit on the decompressed size of an input, as a multiple of its size; `FREE_EXPANSION`
/// is added.
const MAX_EXPANSION: u64 = 100;
const FREE_EXPANSION: u64 = 1024 * 1024 * 1024;

/// Default limit on a line of a compressed input, as a multiple of its size, and a minimum. No
/// session compresses better.
const MAX_LINE_EXPANSION: u64 = 20;
const MIN_MAX_LINE: u64 = 32 * 1024 * 1024;

/// Limit on a decompressed input that stays in memory, in bytes.
const MAX_KEPT: u64 = 8 * 1024 * 1024;

/// An input that can be read again from its start.
pub struct Opened {
    content: Content,
    /// The original input, if its content was replaced.
    origin: Option<Box<Opened>>,
    meter: LineMeter,
}

enum Content {
    Plain(Stored),
    Packed(Box<Packed>),
}

/// The stored bytes of an input: a file, or a copy of a stream that can be read only once.
pub enum Stored {
    /// A file, on the disk or in an object store.
    File(Box<Snapshot>),
    /// A copy of a pipe, or a temporary file.
    Spooled(SpooledTempFile),
}

/// A compressed input. A large one is decompressed again for each pass.
struct Packed {
    compression: Compression,
    decoder: Option<Decoder<Stored>>,
    whole: Option<Cursor<Vec<u8>>>,
    n_expanded: u64,
    max_expanded: u64,
}

impl Opened {
    /// Opens a [`Snapshot`] or a spooled file, and expands it if it starts like gzip or zstd.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, or if it is compressed and damaged.
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

    /// Opens a snapshot without decompression. A line may have at most `max_line` bytes.
    pub fn as_it_is(snapshot: Snapshot, max_line: Option<u64>) -> Self {
        let meter = LineMeter::new(max_line.unwrap_or(u64::MAX));
        Self { content: Content::Plain(snapshot.into()), origin: None, meter }
    }

    /// Replaces the content. The metadata and the check for changes stay with the original.
    pub fn read_as(self, file: SpooledTempFile) -> Self {
        let content = Content::Plain(Stored::Spooled(file));
        Self { content, origin: Some(Box::new(self)), meter: LineMeter::NONE }
    }

    /// Returns whether the input is compressed or its content was replaced.
    pub fn is_packed(&self) -> bool {
        matches!(self.content, Content::Packed(_)) || self.origin.is_some()
    }

    /// Returns the permissions.
    pub fn mode(&self) -> u32 {
        if let Some(origin) = &self.origin {
            return origin.mode();
        }
        match self.stored() {
            Some(Stored::File(file)) => file.mode(),
            _ => FILE_MODE,
        }
    }

    /// Returns the snapshot of the file; `None` for spooled input.
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

    /// Does not hash bytes as they are read, because no hash will be asked for.
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
        self.meter.pass(&buffer[..n])
    }
}

impl Seek for Opened {
    /// A large compressed input can only be rewound; its end is unknown before it was read.
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
            // Reported as larger than any limit for keeping it in memory.
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
