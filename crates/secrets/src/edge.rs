//! Where a word can start: `token` in `my-token`, not in `mytoken`; but in `\ntoken` of JSON within JSON.

use crate::class::WORD;

/// Returns whether a word can start after some bytes.
///
/// A letter may belong to an escape instead of a word: the `n` of `\n` in JSON within JSON, `%3D`
/// in a URL, or `ESC [ 3 1 m` for a terminal color and `ESC [ K` after it, also as a program writes it: `\033[31m`.
pub(crate) fn is_edge(before: &[u8]) -> bool {
    match before {
        [] => true,
        [.., last] if !WORD.has(*last) => true,
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', a, b, c, d] if is_no_letter(&[*a, *b, *c, *d]) => true,
        [start @ .., b'm' | b'K'] => {
            let start = without_parameters(start);
            let openings: [&[u8]; 5] = [b"\x1b[", b"u001b[", b"x1b[", b"\\033[", b"\\e["];
            openings.iter().any(|opening| start.ends_with(opening))
        }
        _ => false,
    }
}

/// Returns the bytes before the numbers of a terminal color.
fn without_parameters(mut bytes: &[u8]) -> &[u8] {
    /// Limit in bytes for the numbers of a terminal color.
    const MAX_COLOR: usize = 24;
    for _ in 0..MAX_COLOR {
        let [rest @ .., b'0'..=b'9' | b';'] = bytes else { break };
        bytes = rest;
    }
    bytes
}

/// Returns whether the four digits of an escape encode a character that is in no word.
fn is_no_letter(digits: &[u8; 4]) -> bool {
    let unit = std::str::from_utf8(digits).ok();
    let unit = unit.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    unit.is_some_and(|unit| u8::try_from(unit).map_or(true, |byte| !WORD.has(byte)))
}
