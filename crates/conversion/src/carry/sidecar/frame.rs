//! The compression of a sidecar: a zstd frame, with the feature `zstd`.
//!
//! Without the feature, sidecars are refused with an error. The crate then compiles without a C compiler,
//! also for WebAssembly.

use std::io::{self, Read};

#[cfg(feature = "zstd")]
pub(super) use core_model::FrameWriter;

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
pub(super) use self::without::{FrameWriter, decoder};

#[cfg(not(feature = "zstd"))]
mod without {
    use std::{convert::Infallible, io::Write, marker::PhantomData};

    use super::{Read, io};

    /// A frame that cannot be started.
    pub(crate) struct FrameWriter<W>(Infallible, PhantomData<W>);

    impl<W> FrameWriter<W> {
        pub(crate) fn new(_: W) -> io::Result<Self> {
            Err(unsupported())
        }

        pub(crate) fn finish(self) -> io::Result<W> {
            match self.0 {}
        }
    }

    impl<W> Write for FrameWriter<W> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match self.0 {}
        }
    }

    pub(crate) fn decoder(_: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Err(unsupported())
    }

    fn unsupported() -> io::Error {
        let message = "a sidecar needs zstd; build the crate `conversion` with its feature `zstd`";
        io::Error::new(io::ErrorKind::Unsupported, message)
    }
}
