//! The compression of a sidecar: a zstd frame, with the feature `zstd`.
//!
//! Without the feature, sidecars are refused with an error. The crate then compiles without a C compiler,
//! also for WebAssembly.

use std::io::{self, Read, Write};

#[cfg(feature = "zstd")]
pub(super) use zstd::stream::write::Encoder;

/// The level of compression.
#[cfg(feature = "zstd")]
const LEVEL: i32 = 3;

/// Creates an encoder that adds a checksum.
///
/// # Errors
///
/// Returns an error if the compressor cannot be created.
#[cfg(feature = "zstd")]
pub(super) fn encoder<W: Write>(sink: W) -> io::Result<Encoder<'static, W>> {
    let mut encoder = Encoder::new(sink, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// Returns a reader of the content.
///
/// # Errors
///
/// Returns an error if the decompressor cannot be created.
#[cfg(feature = "zstd")]
pub(super) fn decoder(file: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut decoder = zstd::stream::read::Decoder::new(file)?;
    decoder.window_log_max(27)?;
    Ok(Box::new(decoder))
}

#[cfg(not(feature = "zstd"))]
pub(super) use self::without::{Encoder, decoder, encoder};

#[cfg(not(feature = "zstd"))]
mod without {
    use std::{convert::Infallible, marker::PhantomData};

    use super::{Read, Write, io};

    /// An encoder that cannot be created.
    pub(crate) struct Encoder<'e, W>(Infallible, PhantomData<(&'e (), W)>);

    impl<W> Encoder<'_, W> {
        pub(crate) fn finish(self) -> io::Result<W> {
            match self.0 {}
        }
    }

    impl<W> Write for Encoder<'_, W> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match self.0 {}
        }
    }

    pub(crate) fn encoder<W: Write>(_: W) -> io::Result<Encoder<'static, W>> {
        Err(unsupported())
    }

    pub(crate) fn decoder(_: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Err(unsupported())
    }

    fn unsupported() -> io::Error {
        let message = "a sidecar needs zstd; build the crate `conversion` with its feature `zstd`";
        io::Error::new(io::ErrorKind::Unsupported, message)
    }
}
