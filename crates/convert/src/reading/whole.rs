//! Makes a session readable from any offset, and refuses one with too many lines.
//!
//! In: a compressed file of 3 lines. Out: the file, decompressed; or an error if it has more lines than [`MAX_RECORDS`].

use std::io::{self, Read, Seek, Write};

use storage::Opened;
use tempfile::SpooledTempFile;

/// Limit on the records of a session of which a few bytes for each record are kept: 12.7 kB may expand to 400 MB of
/// newlines.
pub(crate) const MAX_RECORDS: usize = 1_000_000;

/// The bytes that are read or written at a time, and limit on the bytes of a temporary file in memory.
pub(crate) const CHUNK: usize = 256 * 1024;

/// Counts the lines of an input, and expands a compressed one into a temporary file, which can be read from any offset.
///
/// # Errors
///
/// Returns an error if the input cannot be read, or has too many lines.
pub(crate) fn seekable(mut opened: Opened) -> io::Result<Opened> {
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

/// Checks that a session did not change while it was read several times. Added lines are no change.
///
/// # Errors
///
/// Returns an error if it changed, or cannot be read.
pub(crate) fn check_unchanged(source: &mut Opened) -> io::Result<()> {
    let Some(snapshot) = source.snapshot() else { return Ok(()) };
    if snapshot.is_unchanged()? || snapshot.is_prefix()? {
        return Ok(());
    }
    Err(io::Error::other("it changed while it was read; try again"))
}

/// Returns the error for a session with more lines or records than fit into memory.
pub(crate) fn too_many(units: &str) -> io::Error {
    let message = format!("it has more than {MAX_RECORDS} {units}; this command takes no more");
    io::Error::other(message)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};

    use sessions::Input;
    use storage::Limits;

    use super::*;

    #[test]
    fn a_session_that_changed_is_an_error_and_one_that_grew_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        let opened = || {
            fs::write(&path, "{\"a\":1}\n").expect("written");
            seekable(Input::file(path.clone()).open(Limits::default()).expect("opened"))
        };
        let mut source = opened().expect("read");
        assert!(check_unchanged(&mut source).is_ok());
        let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.write_all(b"{\"b\":2}\n").expect("written");
        assert!(check_unchanged(&mut source).is_ok());
        let mut source = opened().expect("read");
        fs::write(&path, "{\"a\":23}\n").expect("written");
        assert!(check_unchanged(&mut source).is_err());
    }
}
