//! Counts the lines of a session, and makes a compressed one readable by place.
//!
//! In: a compressed file of 3 lines. Out: the file, decompressed; or an error if it has more lines than [`MAX_RECORDS`].

use std::io::{self, Read, Seek, Write};

use storage::Opened;
use tempfile::SpooledTempFile;

/// Limit on the records of a session of which a few bytes for each record are kept: 12.7 kB may expand to 400 MB of
/// newlines.
pub(crate) const MAX_RECORDS: usize = 1_000_000;

/// The bytes that are read at a time, and limit on the bytes of a temporary file in memory.
const CHUNK: usize = 256 * 1024;

/// Counts the lines of an input, and replaces a compressed one by a temporary file, which can be read by place.
///
/// # Errors
///
/// Returns an error if the input cannot be read, or has too many lines.
pub(crate) fn countable(mut opened: Opened) -> io::Result<Opened> {
    opened.skip_hash();
    let mut expanded = opened.is_packed().then(|| SpooledTempFile::new(CHUNK));
    let (mut chunk, mut n_lines) = (vec![0; CHUNK], 0_usize);
    loop {
        let n_read = match opened.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let read = chunk.get(..n_read).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        n_lines += memchr::memchr_iter(b'\n', read).count();
        if n_lines > MAX_RECORDS {
            return Err(too_many("lines"));
        }
        if let Some(file) = &mut expanded {
            file.write_all(read)?;
        }
    }
    let mut opened = match expanded {
        Some(file) => opened.read_as(file),
        None => opened,
    };
    opened.rewind()?;
    Ok(opened)
}

/// Returns the error for a session with more lines or records than fit into memory.
pub(crate) fn too_many(units: &str) -> io::Error {
    let message = format!("it has more than {MAX_RECORDS} {units}; this command takes no more");
    io::Error::other(message)
}
