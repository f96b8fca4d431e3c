//! Whole lines of a reader, many at a time: for work that looks at bytes before it looks at lines.

use std::io::{self, Read};

/// The bytes that are read at a time.
const WINDOW: u64 = 1024 * 1024;

/// Calls `each` with whole lines, many at a time, and the offset of the first, until it returns
/// false. Only what comes last may not end with a newline.
///
/// # Errors
///
/// The reader's own, and those of `each`.
pub(crate) fn for_each_window(
    reader: &mut dyn Read,
    each: &mut dyn FnMut(&[u8], u64) -> io::Result<bool>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut offset = 0;
    loop {
        let searched = bytes.len();
        let n_read = reader.take(WINDOW).read_to_end(&mut bytes)?;
        if n_read == 0 {
            return if bytes.is_empty() { Ok(()) } else { each(&bytes, offset).map(|_| ()) };
        }
        let fresh = bytes.get(searched..).unwrap_or_default();
        let Some(newline) = memchr::memrchr(b'\n', fresh) else { continue };
        let end = searched + newline + 1;
        if !each(bytes.get(..end).unwrap_or_default(), offset)? {
            return Ok(());
        }
        bytes.drain(..end);
        offset += end as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_joined_are_the_input() {
        let long = "x".repeat(3 * WINDOW as usize) + "\n" + &"short\n".repeat(400_000) + "last";
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
