//! The last member of a written line, which holds its carry.
//!
//! In: the line `{"a":1}` and the carry `..{"t":"x\n"}`. Out:
//! `{"a":1,"_carried":"..{^t^:^x<DEL>n^}"}`. `"` and `\` are exchanged with `^` and DEL, so that
//! they need no escapes.

use jsonl::{Style, Value};

use super::number::guard_of;

/// The name of the member.
pub const MEMBER: &str = "_carried";

/// Exchanges `"` with `^` and `\` with DEL. Applied twice, it restores the byte.
///
/// It has no branch, so that compilers vectorize it.
fn exchange(byte: u8) -> u8 {
    let quote = u8::from(byte == b'"') | u8::from(byte == b'^');
    let backslash = u8::from(byte == b'\\') | u8::from(byte == 0x7f);
    byte ^ (quote * (b'"' ^ b'^')) ^ (backslash * (b'\\' ^ 0x7f))
}

/// Appends the start of the member to a line whose last byte is `}`.
pub(crate) fn start_member(line: &mut Vec<u8>, style: Style) {
    line.pop();
    let is_first = line.last() == Some(&b'{');
    let (comma, colon) = (style.comma(), style.colon());
    for part in [if is_first { "" } else { comma }, "\"", MEMBER, "\"", colon, "\""] {
        line.extend_from_slice(part.as_bytes());
    }
}

/// Appends the end of the member.
pub(crate) fn end_member(line: &mut Vec<u8>) {
    line.extend_from_slice(b"\"}");
}

/// Appends a part of a carry to its line, and returns how many of its bytes. If the part ends
/// within a character, the first bytes of this character are not appended.
///
/// In Python's style the string is ASCII; DEL is not escaped.
pub(crate) fn push_carried(line: &mut Vec<u8>, part: &[u8], style: Style) -> usize {
    let ascii_only = style == Style::Python;
    line.reserve(part.len() + part.len() / 16);
    let whole = part.get(..end_of_characters(part)).unwrap_or_default();
    let mut rest = whole;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        let (exchanged, is_plain) = exchange_block(block, ascii_only);
        if is_plain {
            line.extend_from_slice(&exchanged);
            rest = after;
        } else {
            rest = push_escaped(line, rest, BLOCK, ascii_only);
        }
    }
    while !rest.is_empty() {
        rest = push_escaped(line, rest, 1, ascii_only);
    }
    whole.len()
}

/// Returns the end of the last whole character of a text that may be cut within one.
fn end_of_characters(text: &[u8]) -> usize {
    let n_following = text.iter().rev().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let first = text.len().checked_sub(n_following + 1);
    let n_expected = match first.and_then(|first| text.get(first)) {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => return text.len(),
    };
    if n_following + 1 < n_expected { text.len() - n_following - 1 } else { text.len() }
}

/// The size of a block in bytes: compilers turn it into a few vector instructions.
const BLOCK: usize = 32;

/// Returns the exchanged bytes, and whether none of them needs an escape.
fn exchange_block(block: &[u8; BLOCK], ascii_only: bool) -> ([u8; BLOCK], bool) {
    let mut exchanged = [0; BLOCK];
    let mut needs_escape = 0;
    let above = if ascii_only { 0x80 } else { 0 };
    for (to, byte) in exchanged.iter_mut().zip(block) {
        *to = exchange(*byte);
        needs_escape |= u8::from(*to == b'"') | u8::from(*to == b'\\');
        needs_escape |= u8::from(*byte < 0x20) | (byte & above);
    }
    (exchanged, needs_escape == 0)
}

/// Appends at least `n` bytes from the front of a carry, in whole characters, and returns the rest.
fn push_escaped<'t>(line: &mut Vec<u8>, carry: &'t [u8], n: usize, ascii_only: bool) -> &'t [u8] {
    let mut rest = carry;
    while carry.len() - rest.len() < n {
        let Some((byte, after)) = rest.split_first() else { break };
        match exchange(*byte) {
            byte @ (b'"' | b'\\') => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\t' => line.extend_from_slice(b"\\t"),
            byte if byte < 0x20 => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte if byte < 0x80 || !ascii_only => line.push(byte),
            _ => {
                rest = push_ascii(line, rest);
                continue;
            }
        }
        rest = after;
    }
    rest
}

/// Appends the first character as escapes and returns the rest.
fn push_ascii<'t>(line: &mut Vec<u8>, text: &'t [u8]) -> &'t [u8] {
    let length = match text.first() {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        _ => 2,
    };
    let (char, rest) = text.split_at(length.min(text.len()));
    for unit in String::from_utf8_lossy(char).encode_utf16() {
        line.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
    }
    rest
}

/// A line and its carry.
#[derive(Clone, Debug)]
pub struct Member<'l> {
    /// The line before the member.
    pub before: &'l str,
    /// The line after the member.
    pub after: &'l str,
    /// The carry.
    pub carry: String,
}

impl<'l> Member<'l> {
    /// Returns whether a line has the member.
    pub fn is_in(line: Value<'l>) -> bool {
        line.members().any(|(key, _)| key.body() == MEMBER)
    }

    /// Returns whether a line that is not JSON had the member before it was cut or damaged.
    pub(crate) fn was_in(line: &[u8]) -> bool {
        memchr::memmem::find(line, b"\"_carried\":").is_some()
    }

    /// Returns the offset of the carry in its line, and the carry's bytes with exchanged quotes and
    /// backslashes restored, and escapes kept.
    pub fn exchanged(line: Value<'l>) -> Option<(usize, Vec<u8>)> {
        let (_, value) = line.members().filter(|(key, _)| key.body() == MEMBER).last()?;
        let body = value.text()?.body();
        let start = place(line.raw().as_str(), body)?;
        Some((start, body.bytes().map(exchange).collect()))
    }

    /// Finds the member in a line, at any position: another program may have moved it.
    pub fn find(line: Value<'l>) -> Option<Self> {
        let (key, value) = line.members().filter(|(key, _)| key.body() == MEMBER).last()?;
        let written = value.text()?;
        let whole = line.raw().as_str();
        let key_start = place(whole, key.as_str())?;
        let value_end = place(whole, written.as_str())? + written.as_str().len();
        let before = whole.get(..key_start)?.trim_end();
        let mut after = whole.get(value_end..)?;
        let before = match before.strip_suffix(',') {
            Some(before) => before,
            None => {
                after = after.trim_start();
                after = after.strip_prefix(',').unwrap_or(after);
                before
            }
        };
        let mut carry = written.decode().into_owned().into_bytes();
        carry.iter_mut().for_each(|byte| *byte = exchange(*byte));
        Some(Self { before, after, carry: String::from_utf8(carry).ok()? })
    }

    /// Returns the hash of the line without the member.
    pub fn guard(&self) -> u64 {
        guard_of(&[self.before.as_bytes(), self.after.as_bytes()])
    }

    /// Returns the line without the member.
    pub fn visible(&self) -> String {
        [self.before, self.after].concat()
    }
}

fn place(whole: &str, part: &str) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carry_comes_back_from_its_line() {
        let carry = "1a\"quoted\" \\back ^ \u{7f} é🎉 \n\r\t\u{0}\u{1f}\u{2028}";
        for (style, visible) in
            [(Style::Compact, "{\"a\":1}"), (Style::Python, "{\"a\": 1}"), (Style::Compact, "{}")]
        {
            let mut line = visible.as_bytes().to_vec();
            let (head, records) = carry.split_at(carry.floor_char_boundary(7));
            start_member(&mut line, style);
            for part in [head, records] {
                assert_eq!(push_carried(&mut line, part.as_bytes(), style), part.len());
            }
            end_member(&mut line);
            assert!(style == Style::Compact || line.is_ascii());
            let mut scanner = jsonl::Scanner::default();
            let value = scanner.scan_slice(&line, 0).expect("JSON");
            let member = Member::find(value).expect("the member");
            assert_eq!(member.carry, carry);
            let (start, exchanged) = Member::exchanged(value).expect("the member");
            assert!(exchanged.starts_with(b"1a\"quoted\" \\back "));
            assert_eq!(line.get(start..start + 3), Some(&b"1a^"[..]));
            assert_eq!(member.visible(), visible);
            assert_eq!(member.guard(), guard_of(&[visible.as_bytes()]));
        }
    }

    #[test]
    fn what_is_cut_within_a_character_ends_before_it() {
        for text in ["aé", "é", "a€", "a🎉", "🎉🎉", "abc", ""] {
            for end in 0..=text.len() {
                let expected = text.floor_char_boundary(end);
                assert_eq!(end_of_characters(&text.as_bytes()[..end]), expected, "{text} {end}");
            }
        }
    }

    #[test]
    fn a_member_that_was_moved_is_still_found() {
        for line in [r#"{"_carried":"1a","b":2}"#, r#"{ "_carried" : "1a" , "b":2}"#] {
            let mut scanner = jsonl::Scanner::default();
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
            let member = Member::find(value).expect("the member");
            assert_eq!(member.carry, "1a");
            assert!(jsonl::validate(member.visible().as_bytes()).is_ok(), "{}", member.visible());
        }
    }
}
