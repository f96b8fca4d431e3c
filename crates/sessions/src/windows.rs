//! Reads whole lines in large windows, for searches that look at bytes before lines.

use std::{
    cell::Cell,
    io::{self, Read},
};

/// The size of a window in bytes, small enough to stay in the CPU cache.
const WINDOW: usize = 256 * 1024;

/// Limit on a buffer that is kept for reuse, in bytes.
const MAX_SPARE: usize = 8 * 1024 * 1024;

thread_local! {
    /// The buffer of the last input: fresh pages cost as much as reading.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Calls `each` with whole lines and the offset of the first, until it returns false. Only the last
/// window may end without a newline.
///
/// # Errors
///
/// Returns an error if the reader or `each` does.
pub(crate) fn for_each_window(
    reader: &mut dyn Read,
    each: &mut dyn FnMut(&[u8], u64) -> io::Result<bool>,
) -> io::Result<()> {
    let mut buffer = SPARE.take();
    let result = each_window(reader, &mut buffer, each);
    if buffer.len() <= MAX_SPARE {
        SPARE.set(buffer);
    }
    result
}

fn each_window(
    reader: &mut dyn Read,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(&[u8], u64) -> io::Result<bool>,
) -> io::Result<()> {
    // The bytes of an incomplete line.
    let mut n_kept = 0;
    let mut offset = 0;
    loop {
        if buffer.len() < n_kept + WINDOW {
            buffer.resize(n_kept + WINDOW, 0);
        }
        let n_read = read_window(reader, buffer.get_mut(n_kept..).unwrap_or_default())?;
        let bytes = buffer.get(..n_kept + n_read).unwrap_or_default();
        if n_read == 0 {
            return if bytes.is_empty() { Ok(()) } else { each(bytes, offset).map(|_| ()) };
        }
        let fresh = bytes.get(n_kept..).unwrap_or_default();
        n_kept = bytes.len();
        let Some(newline) = memchr::memrchr(b'\n', fresh) else { continue };
        let end = n_kept - fresh.len() + newline + 1;
        if !each(bytes.get(..end).unwrap_or_default(), offset)? {
            return Ok(());
        }
        buffer.copy_within(end..n_kept, 0);
        n_kept -= end;
        offset += end as u64;
    }
}

/// Fills a window, and returns the number of bytes. It is full except at the end.
fn read_window(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let window = buffer.get_mut(..WINDOW).unwrap_or_default();
    let mut n_read = 0;
    while n_read < window.len() {
        match reader.read(window.get_mut(n_read..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_joined_are_the_input() {
        let long = "x".repeat(3 * WINDOW) + "\n" + &"short\n".repeat(400_000) + "last";
        for input in ["", "\n", "a", "a\nb", &long] {
            let mut joined = Vec::new();
            for_each_window(&mut input.as_bytes(), &mut |bytes, offset| {
                assert_eq!(offset, joined.len() as u64);
                assert!(joined.is_empty() || joined.ends_with(b"\n"));
                joined.extend_from_slice(bytes);
                Ok(true)
            })
            .expect("a slice can be read");
            assert!(joined == input.as_bytes());
        }
    }

    #[test]
    fn enough_is_enough() {
        let input = "short\n".repeat(400_000);
        let mut n_windows = 0;
        for_each_window(&mut input.as_bytes(), &mut |_, _| {
            n_windows += 1;
            Ok(false)
        })
        .expect("a slice can be read");
        assert_eq!(n_windows, 1);
    }
}
