//! Compressed files: known by their first bytes, read and written as they pass.

use std::{
    ffi::OsStr,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use flate2::{bufread::MultiGzDecoder, write::GzEncoder};

/// The base 2 logarithm of the largest window that a file may ask us to keep, in bytes.
const MAX_WINDOW_LOG: u32 = 27;

/// The level at which zstd is written, its own default.
const ZST_LEVEL: i32 = 3;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Compression {
    /// gzip (RFC 1952)
    Gz,
    /// zstd (RFC 8878)
    Zst,
}

impl Compression {
    /// The endings that tell of compression.
    pub const ENDINGS: [&str; 3] = ["gz", "zst", "zstd"];

    /// Returns how a file that starts so is compressed, if it is.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 0x08, ..] => Some(Compression::Gz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zst),
            // A frame that zstd skips, before the first that it reads.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zst),
            _ => None,
        }
    }

    /// Returns a name without the ending that tells of compression, if it has one.
    pub fn bare(name: &Path) -> &Path {
        let ending = name.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_packed = Self::ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
        name.file_stem().filter(|_| is_packed).map_or(name, Path::new)
    }

    /// Returns a path without the ending that tells of compression, if it has one.
    pub fn bare_path(path: &Path) -> PathBuf {
        path.with_file_name(Self::bare(Path::new(path.file_name().unwrap_or_default())))
    }

    /// Returns whether a name has an ending that tells of compression.
    pub fn is_told_by(path: &Path) -> bool {
        let name = Path::new(path.file_name().unwrap_or_default());
        Self::bare(name) != name
    }

    /// Returns the ending of the names of such files.
    pub fn ending(self) -> &'static str {
        match self {
            Compression::Gz => "gz",
            Compression::Zst => "zst",
        }
    }
}

/// Reads what a compressed file holds: all of its frames or members.
pub enum Decoder<R: Read> {
    /// All members of a gzip file.
    Gz(Box<MultiGzDecoder<BufReader<R>>>),
    /// All frames of a zstd file.
    Zst(zstd::stream::read::Decoder<'static, BufReader<R>>),
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder.
    ///
    /// # Errors
    ///
    /// If it cannot be set up.
    pub fn new(compression: Compression, reader: R) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gz => Decoder::Gz(Box::new(MultiGzDecoder::new(BufReader::new(reader)))),
            Compression::Zst => {
                let mut decoder = zstd::stream::read::Decoder::new(reader)?;
                decoder.window_log_max(MAX_WINDOW_LOG)?;
                Decoder::Zst(decoder)
            }
        })
    }

    /// Returns what it reads from.
    pub fn get_ref(&self) -> &R {
        match self {
            Decoder::Gz(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zst(decoder) => decoder.get_ref().get_ref(),
        }
    }

    /// Returns what it reads from; to read from that loses its place.
    pub fn get_mut(&mut self) -> &mut R {
        match self {
            Decoder::Gz(decoder) => decoder.get_mut().get_mut(),
            Decoder::Zst(decoder) => decoder.get_mut().get_mut(),
        }
    }

    /// Returns what it reads from.
    pub fn into_inner(self) -> R {
        match self {
            Decoder::Gz(decoder) => decoder.into_inner().into_inner(),
            Decoder::Zst(decoder) => decoder.finish().into_inner(),
        }
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gz(decoder) => decoder.read(buffer),
            Decoder::Zst(decoder) => decoder.read(buffer),
        }
    }
}

/// Writes a file as it is, or compressed.
pub enum Encoder<W: Write> {
    /// Bytes as they are.
    Plain(W),
    /// One gzip member.
    Gz(GzEncoder<W>),
    /// One zstd frame.
    Zst(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder.
    ///
    /// # Errors
    ///
    /// If it cannot be set up.
    pub fn new(compression: Option<Compression>, writer: W) -> io::Result<Self> {
        Ok(match compression {
            None => Encoder::Plain(writer),
            // No name and no time: equal inputs are equal files.
            Some(Compression::Gz) => {
                Encoder::Gz(GzEncoder::new(writer, flate2::Compression::default()))
            }
            Some(Compression::Zst) => {
                let mut encoder = zstd::stream::write::Encoder::new(writer, ZST_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zst(encoder)
            }
        })
    }

    /// Writes what is left and returns the writer.
    ///
    /// # Errors
    ///
    /// The writer's own.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Encoder::Plain(writer) => Ok(writer),
            Encoder::Gz(encoder) => encoder.finish(),
            Encoder::Zst(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gz(encoder) => encoder.write(bytes),
            Encoder::Zst(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gz(encoder) => encoder.flush(),
            Encoder::Zst(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_known() {
        let text = b"{\"type\":\"user\"}\n".repeat(1000);
        for compression in [Compression::Gz, Compression::Zst] {
            let mut file = Vec::new();
            // Files that were appended to have several members or frames.
            for half in text.chunks(text.len() / 2) {
                let mut encoder = Encoder::new(Some(compression), Vec::new()).expect("set up");
                encoder.write_all(half).expect("written");
                file.extend(encoder.finish().expect("written"));
            }
            assert_eq!(Compression::of(&file), Some(compression));
            let mut read = Vec::new();
            let mut decoder = Decoder::new(compression, &file[..]).expect("set up");
            decoder.read_to_end(&mut read).expect("read");
            assert!(read == text, "{compression:?}");
            for cut in [file.len() - 1, file.len() / 4, 3] {
                let mut decoder = Decoder::new(compression, &file[..cut]).expect("set up");
                assert!(decoder.read_to_end(&mut Vec::new()).is_err(), "{compression:?} {cut}");
            }
        }
    }
}
