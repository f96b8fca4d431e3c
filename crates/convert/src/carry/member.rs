//! The member of a written line that holds its carry.

use jsonl::{Style, Value};

use super::number::guard_of;

/// The name of the member.
pub const MEMBER: &str = "_carried";

/// Exchanges `"` with `^` and `\` with DEL: doing it twice undoes it.
fn exchanged(byte: u8) -> u8 {
    match byte {
        b'"' => b'^',
        b'^' => b'"',
        b'\\' => 0x7f,
        0x7f => b'\\',
        _ => byte,
    }
}

/// Appends to a written line, whose last byte is `}`, the member with a carry.
///
/// In Python's style the string is ASCII, but for DEL being itself rather than an escape.
pub(crate) fn push_member(line: &mut Vec<u8>, carry: &[u8], style: Style) {
    line.pop();
    let is_first = line.last() == Some(&b'{');
    let (comma, colon) = (style.comma(), style.colon());
    for part in [if is_first { "" } else { comma }, "\"", MEMBER, "\"", colon, "\""] {
        line.extend_from_slice(part.as_bytes());
    }
    let ascii_only = style == Style::Python;
    line.reserve(carry.len() + carry.len() / 16);
    let mut rest = carry;
    while !rest.is_empty() {
        let plain = rest.iter().take_while(|byte| is_plain(**byte, ascii_only)).count();
        let (run, after) = rest.split_at(plain);
        line.extend_from_slice(run);
        let Some((byte, after_byte)) = after.split_first() else { break };
        match exchanged(*byte) {
            byte @ (b'"' | b'\\') => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\t' => line.extend_from_slice(b"\\t"),
            byte if byte < 0x20 => {
                line.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            }
            byte if byte < 0x80 => line.push(byte),
            _ => {
                rest = push_ascii(line, after);
                continue;
            }
        }
        rest = after_byte;
    }
    line.extend_from_slice(b"\"}");
}

fn is_plain(byte: u8, ascii_only: bool) -> bool {
    match byte {
        b'"' | b'^' | b'\\' | 0x7f => false,
        0..0x20 => false,
        0x80.. => !ascii_only,
        _ => true,
    }
}

/// Appends the character at the front as escapes and returns what follows it.
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

/// A line's carry as it stands in the line, and the rest of the line.
#[derive(Clone, Debug)]
pub struct Member<'l> {
    /// The line before the member.
    pub before: &'l str,
    /// The line after it.
    pub after: &'l str,
    /// The carry.
    pub carry: String,
}

impl<'l> Member<'l> {
    /// Finds the member in a line, wherever a program that rewrote the line has put it.
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
        let decoded = written.decode();
        let carry: Vec<u8> = decoded.bytes().map(exchanged).collect();
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
            push_member(&mut line, carry.as_bytes(), style);
            assert!(style == Style::Compact || line.is_ascii());
            let mut scanner = jsonl::Scanner::default();
            let value = scanner.scan_slice(&line, 0).expect("JSON");
            let member = Member::find(value).expect("the member");
            assert_eq!(member.carry, carry);
            assert_eq!(member.visible(), visible);
            assert_eq!(member.guard(), guard_of(&[visible.as_bytes()]));
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
