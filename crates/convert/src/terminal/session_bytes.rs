//! Writes the bytes of a session to standard output, where a terminal must not obey them.
//!
//! A file or a pipe gets the bytes as they are. On a terminal, characters that control it or change the direction
//! of text are escaped as JSON does, and bytes that are not UTF-8 as `\x9b`:
//!
//! ```text
//! in   {"text":"a<U+202E>b<U+009B>31m"}<ESC>[2J<CR><LF>
//! out  {"text":"a\u202eb\u009b31m"}\u001b[2J\u000d<LF>
//! ```

use std::io::{self, IsTerminal, Write};

use archive::is_harmful;

use super::stdout::{StandardOutput, stdout};

/// Returns standard output for the bytes of a session.
pub(crate) fn session_stdout() -> SessionBytes<StandardOutput> {
    SessionBytes::new(stdout(), io::stdout().is_terminal())
}

/// A sink for the bytes of a session, which may be a terminal.
pub(crate) struct SessionBytes<W: Write> {
    out: W,
    is_terminal: bool,
    /// The first bytes of a character whose end was not written yet.
    begun: Vec<u8>,
}

impl<W: Write> SessionBytes<W> {
    fn new(out: W, is_terminal: bool) -> Self {
        Self { out, is_terminal, begun: Vec::new() }
    }

    fn write_escaped(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut escaped = std::mem::take(&mut self.begun);
        escaped.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut escaped);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            push_escaped(chunk.valid(), &mut escaped);
            // The last bytes may begin a character.
            match chunks.peek().is_none() && is_begun(chunk.invalid()) {
                true => self.begun = chunk.invalid().to_vec(),
                false => push_invalid(chunk.invalid(), &mut escaped),
            }
        }
        self.out.write_all(&escaped)
    }
}

impl<W: Write> Write for SessionBytes<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_terminal {
            true => self.write_escaped(bytes).map(|()| bytes.len()),
            false => self.out.write(bytes),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.is_terminal {
            true => self.write_escaped(bytes),
            false => self.out.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut escaped = Vec::new();
        push_invalid(&std::mem::take(&mut self.begun), &mut escaped);
        self.out.write_all(&escaped)?;
        self.out.flush()
    }
}

/// Returns whether bytes are the first ones of a character.
fn is_begun(bytes: &[u8]) -> bool {
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none();
    std::str::from_utf8(bytes).is_err_and(is_cut)
}

fn push_escaped(text: &str, escaped: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    for char in text.chars() {
        match is_harmful(char) && !matches!(char, '\n' | '\t') {
            true => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    escaped.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
            false => escaped.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes()),
        }
    }
}

fn push_invalid(bytes: &[u8], escaped: &mut Vec<u8>) {
    for byte in bytes {
        escaped.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: &[u8] = b"{\"a\":\"\xe2\x80\xaeb\xc2\x9b\xc3\xa9\x7f\"}\x1b[2J\t\xff\xf0\x9f\x98\r\n\xf0\x9f\x98\x80";

    fn written(is_terminal: bool, pieces: [&[u8]; 2]) -> Vec<u8> {
        let mut sink = SessionBytes::new(Vec::new(), is_terminal);
        for piece in pieces {
            sink.write_all(piece).expect("a vector takes all");
        }
        sink.flush().expect("a vector takes all");
        sink.out
    }

    #[test]
    fn a_terminal_gets_no_character_that_it_obeys() {
        let expected =
            "{\"a\":\"\\u202eb\\u009bé\\u007f\"}\\u001b[2J\t\\xff\\xf0\\x9f\\x98\\u000d\n😀";
        for cut in 0..BYTES.len() {
            let pieces = [&BYTES[..cut], &BYTES[cut..]];
            assert_eq!(String::from_utf8(written(true, pieces)).expect("text"), expected, "{cut}");
            assert_eq!(written(false, pieces), BYTES);
        }
        assert_eq!(written(true, [b"\xe2", b"\x80"]), b"\\xe2\\x80");
    }
}
