//! Detects, reads and writes gzip and zstd.
//!
//! In: a file that starts with `1f 8b` or `28 b5 2f fd`, whatever its name. Out: a [`Decoder`] of
//! its content.

mod members;

use std::{
    ffi::OsStr,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use core_model::FrameWriter;
use flate2::bufread::MultiGzDecoder;

use self::members::Members;

/// Limit on the window of a zstd file, as the base 2 logarithm of its bytes.
const MAX_WINDOW_LOG: u32 = 27;

/// A compression format.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Compression {
    /// gzip (RFC 1952)
    Gz,
    /// zstd (RFC 8878)
    Zst,
}

impl Compression {
    /// The file name endings of compressed files.
    pub const ENDINGS: [&str; 3] = ["gz", "zst", "zstd"];

    /// Returns the compression of a file with this start; `None` if it is not compressed.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 0x08, ..] => Some(Compression::Gz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zst),
            // A skippable frame before the first frame of data.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zst),
            _ => None,
        }
    }

    /// Returns a name without an ending of [`Self::ENDINGS`].
    pub fn bare(name: &Path) -> &Path {
        let ending = name.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_packed = Self::ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
        name.file_stem().filter(|_| is_packed).map_or(name, Path::new)
    }

    /// Returns a path without an ending of [`Self::ENDINGS`].
    pub fn bare_path(path: &Path) -> PathBuf {
        path.with_file_name(Self::bare(Path::new(path.file_name().unwrap_or_default())))
    }

    /// Returns whether a name has an ending of [`Self::ENDINGS`].
    pub fn is_in_name(path: &Path) -> bool {
        let name = Path::new(path.file_name().unwrap_or_default());
        Self::bare(name) != name
    }

    /// Returns the file name ending.
    pub fn ending(self) -> &'static str {
        match self {
            Compression::Gz => "gz",
            Compression::Zst => "zst",
        }
    }
}

/// A reader of the content of a compressed file.
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
    /// Returns an error if the decompressor cannot be created.
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

    /// Returns the inner reader.
    pub fn get_ref(&self) -> &R {
        match self {
            Decoder::Gz(decoder) => decoder.get_ref().get_ref(),
            Decoder::Zst(decoder) => decoder.get_ref().get_ref(),
        }
    }

    /// Returns the inner reader. Reading from it corrupts decoding.
    pub fn get_mut(&mut self) -> &mut R {
        match self {
            Decoder::Gz(decoder) => decoder.get_mut().get_mut(),
            Decoder::Zst(decoder) => decoder.get_mut().get_mut(),
        }
    }

    /// Returns the inner reader.
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

/// A writer of a plain or compressed file.
pub enum Encoder<W: Write> {
    /// Writes bytes unchanged.
    Plain(W),
    /// Writes gzip members, each of a mebibyte of content.
    Gz(Members<W>),
    /// Writes one zstd frame.
    Zst(FrameWriter<W>),
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder.
    ///
    /// # Errors
    ///
    /// Returns an error if the compressor cannot be created.
    pub fn new(compression: Option<Compression>, writer: W) -> io::Result<Self> {
        Ok(match compression {
            None => Encoder::Plain(writer),
            Some(Compression::Gz) => Encoder::Gz(Members::new(writer)),
            Some(Compression::Zst) => Encoder::Zst(FrameWriter::new(writer)?),
        })
    }

    /// Ends the file and returns the writer.
    ///
    /// # Errors
    ///
    /// Returns an error if the writer does.
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
            // A file that was appended to has several members or frames.
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
