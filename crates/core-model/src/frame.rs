//! Writes zstd frames, with compressors that are used again.
//!
//! A compressor takes hundreds of kilobytes of memory. If each file has a new one, the system clears the pages of it for
//! each file: half a millisecond, as long as the conversion of 200 KB.

use std::{
    fmt,
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use zstd::stream::{
    raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer, WriteBuf},
    zio,
};

/// The fastest level of zstd. Its window and its table are larger here, so that records far apart share their words.
///
/// 46 MB of carries, of the 17 largest real sessions, with zstd 1.5.4 on one core:
///
/// ```text
/// level 3                               6,495,320 bytes   361 MB/s
/// level 1                               7,589,784 bytes   490 MB/s
/// level 1, WINDOW_LOG 21, HASH_LOG 16   6,717,098 bytes   504 MB/s
/// ```
const LEVEL: i32 = 1;

/// The window: 2 MiB.
const WINDOW_LOG: u32 = 21;

/// The table of places in the window: 256 KiB, which stays in the second cache.
const HASH_LOG: u32 = 16;

/// Limit on the compressors that wait to be used again: one or two for each thread.
const MAX_IDLE: usize = 64;

static IDLE: Mutex<Vec<Encoder<'static>>> = Mutex::new(Vec::new());

/// A sink that writes its bytes as one zstd frame with a checksum.
///
/// ```
/// use std::io::Write;
///
/// let mut frame = core_model::FrameWriter::new(Vec::new())?;
/// frame.write_all(b"carry 2\n")?;
/// let written = frame.finish()?;
/// assert_eq!(written[..4], [0x28, 0xb5, 0x2f, 0xfd]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FrameWriter<W: Write>(zio::Writer<W, Compressor>);

impl<W: Write> fmt::Debug for FrameWriter<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FrameWriter").finish_non_exhaustive()
    }
}

impl<W: Write> FrameWriter<W> {
    /// Starts a frame.
    ///
    /// # Errors
    ///
    /// Returns an error if the compressor cannot be created.
    pub fn new(sink: W) -> io::Result<Self> {
        Ok(Self(zio::Writer::new(sink, Compressor::take()?)))
    }

    /// Ends the frame and returns the sink.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn finish(mut self) -> io::Result<W> {
        self.0.finish()?;
        Ok(self.0.into_inner().0)
    }
}

impl<W: Write> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A compressor. When it is dropped, it waits for the next frame. `None` only while it is dropped.
struct Compressor(Option<Encoder<'static>>);

impl Compressor {
    fn take() -> io::Result<Self> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if idle.is_some() {
            return Ok(Self(idle));
        }
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        encoder.set_parameter(CParameter::HashLog(HASH_LOG))?;
        Ok(Self(Some(encoder)))
    }

    fn encoder(&mut self) -> io::Result<&mut Encoder<'static>> {
        self.0.as_mut().ok_or_else(|| io::Error::other("the compressor was dropped"))
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // A frame that was not ended is forgotten; its settings stay.
        if let Some(mut encoder) = self.0.take()
            && encoder.reinit().is_ok()
        {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_IDLE {
                idle.push(encoder);
            }
        }
    }
}

impl Operation for Compressor {
    fn run<C: WriteBuf + ?Sized>(
        &mut self,
        input: &mut InBuffer<'_>,
        output: &mut OutBuffer<'_, C>,
    ) -> io::Result<usize> {
        self.encoder()?.run(input, output)
    }

    fn flush<C: WriteBuf + ?Sized>(&mut self, output: &mut OutBuffer<'_, C>) -> io::Result<usize> {
        self.encoder()?.flush(output)
    }

    fn reinit(&mut self) -> io::Result<()> {
        self.encoder()?.reinit()
    }

    fn finish<C: WriteBuf + ?Sized>(
        &mut self,
        output: &mut OutBuffer<'_, C>,
        is_frame_over: bool,
    ) -> io::Result<usize> {
        self.encoder()?.finish(output, is_frame_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8]) -> Vec<u8> {
        let mut frame = FrameWriter::new(Vec::new()).expect("a compressor");
        frame.write_all(bytes).expect("in memory");
        frame.finish().expect("in memory")
    }

    #[test]
    fn a_used_compressor_writes_what_a_new_one_does() {
        let long = b"{\"type\":\"user\"}\n".repeat(100_000);
        let first = [frame(b"short"), frame(&long), frame(b"")];
        // A frame that is not ended leaves nothing behind.
        let mut lost = FrameWriter::new(Vec::new()).expect("a compressor");
        lost.write_all(&long).expect("in memory");
        drop(lost);
        let second = [frame(b"short"), frame(&long), frame(b"")];
        assert_eq!(first, second);
        for (frame, bytes) in second.iter().zip([b"short", &long[..], b""]) {
            assert_eq!(zstd::decode_all(&frame[..]).expect("a frame"), bytes);
            // Magic number, then a descriptor whose third bit is the flag of the checksum.
            assert_eq!(frame[4] & 4, 4);
        }
    }

    #[test]
    fn compressors_are_used_again() {
        frame(b"one");
        let n_idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert!((1..=MAX_IDLE).contains(&n_idle()));
    }
}
