//! Finds the ends of strings with memchr alone. It runs on any CPU, computes the errors for all
//! backends, and is the reference in their tests.

use memchr::memchr2;

use crate::{ErrorKind, scan::grammar::Strings};

/// Finder of the ends of strings, byte by byte, and of errors in them.
pub(crate) struct Portable {
    has_controls: bool,
    has_surrogate: bool,
}

impl Portable {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let has_controls = bytes.iter().fold(false, |any, byte| any | (*byte < 0x20));
        Self { has_controls, has_surrogate: false }
    }

    /// Returns the length of the escape at `at` without its backslash.
    fn escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, ErrorKind> {
        match bytes.get(at).ok_or(ErrorKind::UnexpectedEnd)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(1),
            b'u' => {
                let digits = bytes.get(at + 1..at + 5).ok_or(ErrorKind::UnexpectedEnd)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(ErrorKind::InvalidEscape);
                }
                self.has_surrogate |= is_surrogate(digits);
                Ok(5)
            }
            _ => Err(ErrorKind::InvalidEscape),
        }
    }
}

impl Strings for Portable {
    #[inline]
    fn end_of(&mut self, bytes: &[u8], start: usize) -> Result<usize, (usize, ErrorKind)> {
        let mut at = start + 1;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(found) = memchr2(b'"', b'\\', rest) else {
                return Err((bytes.len(), ErrorKind::UnexpectedEnd));
            };
            at += found + 1;
            if rest.get(found) == Some(&b'"') {
                break;
            }
            at += self.escape(bytes, at).map_err(|kind| (at, kind))?;
        }
        if self.has_controls {
            let body = bytes.get(start..at).unwrap_or_default();
            if let Some((n, byte)) = body.iter().enumerate().find(|(_, byte)| **byte < 0x20) {
                return Err((start + n, ErrorKind::ControlCharacter(*byte)));
            }
        }
        Ok(at)
    }

    fn has_surrogate(&self) -> bool {
        self.has_surrogate
    }
}

/// Returns whether hexadecimal digits are the number of a surrogate.
pub(crate) fn is_surrogate(digits: &[u8]) -> bool {
    matches!(digits, [b'd' | b'D', b'8'..=b'f', ..])
}
