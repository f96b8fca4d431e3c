//! Reads a session into memory, for a command that needs all of it at once.
//!
//! In: a file of 3 lines. Out: its bytes, decompressed; or an error if it has more lines than [`MAX_RECORDS`].

use std::io::{self, Read};

use sessions::Input;
use storage::Limits;

/// Limit on the records of a session that is kept in memory, or of which a few bytes for each record are kept: 12.7 kB may
/// expand to 400 MB of newlines.
pub(crate) const MAX_RECORDS: usize = 1_000_000;

/// The bytes that are read at a time.
const CHUNK: u64 = 1024 * 1024;

/// Returns the bytes of a session, decompressed.
///
/// # Errors
///
/// Returns an error if it cannot be read, or has too many lines.
pub(crate) fn read_whole(input: &Input) -> io::Result<Vec<u8>> {
    let mut reader = input.open(Limits::default())?;
    let (mut source, mut n_lines) = (Vec::new(), 0_usize);
    loop {
        let start = source.len();
        if reader.by_ref().take(CHUNK).read_to_end(&mut source)? == 0 {
            return Ok(source);
        }
        n_lines += memchr::memchr_iter(b'\n', source.get(start..).unwrap_or_default()).count();
        if n_lines > MAX_RECORDS {
            return Err(too_many("lines"));
        }
    }
}

/// Returns the error for a session with more lines or records than fit into memory.
pub(crate) fn too_many(units: &str) -> io::Error {
    let message = format!("it has more than {MAX_RECORDS} {units}; this command takes no more");
    io::Error::other(message)
}
