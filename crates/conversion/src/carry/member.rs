//! The last member of a written line, which holds its carry.
//!
//! In: the line `{"a":1}` and the carry `..{"t":"x\n"}`. Out:
//! `{"a":1,"_carried":"..{^t^:^x<DEL>n^}"}`. `"` and `\` are exchanged with `^` and DEL, so that
//! they need no escapes.
//!
//! In some formats the member is in an inner object, because the client keeps members there that it
//! does not know: see `Format::carry_places` of core-model.

use std::borrow::Cow;

use core_model::{CarryMark, Format, Formats};
use jsonl::{Style, Text, TextBuf, Value};

use super::{WrittenText, number::guard_of};

/// The name of the member that holds a carry, `_carried`; equal to [`core_model::CARRY_MEMBER`].
pub const MEMBER: &str = core_model::CARRY_MEMBER;

/// The carry of a record, with exchanged quotes and backslashes restored, and escapes kept: for
/// programs that search carries.
#[derive(Clone, Debug)]
pub struct ExchangedCarry {
    /// The offset of the carry in its record.
    pub offset: usize,
    /// The carry.
    pub bytes: Vec<u8>,
}

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

/// Appends the start of the member at a mark in a line. Returns the rest of the line, which
/// [`end_marked_member`] appends.
pub(crate) fn start_marked_member(line: &mut Vec<u8>, mark: CarryMark, style: Style) -> Vec<u8> {
    let rest = line.split_off(mark.at.min(line.len()));
    for part in [mark.before, "\"", MEMBER, "\"", style.colon(), "\""] {
        line.extend_from_slice(part.as_bytes());
    }
    rest
}

/// Appends the end of the member at a mark.
pub(crate) fn end_marked_member(line: &mut Vec<u8>, mark: CarryMark, rest: &[u8]) {
    for part in [b"\"", mark.after.as_bytes(), rest] {
        line.extend_from_slice(part);
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
    let mut rest = jsonl::with_vectors(|| push_plain(line, whole, ascii_only));
    while rest.len() >= BLOCK {
        rest = push_escaped(line, rest, BLOCK, ascii_only);
        rest = jsonl::with_vectors(|| push_plain(line, rest, ascii_only));
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

/// Appends the blocks at the front of a carry of which no byte needs an escape, and returns the rest.
#[inline(always)]
fn push_plain<'t>(line: &mut Vec<u8>, carry: &'t [u8], ascii_only: bool) -> &'t [u8] {
    let mut rest = carry;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        let (exchanged, is_plain) = exchange_block(block, ascii_only);
        if !is_plain {
            break;
        }
        line.extend_from_slice(&exchanged);
        rest = after;
    }
    rest
}

/// Returns the exchanged bytes, and whether none of them needs an escape. Each byte is [`exchange`]d with masks that
/// say also whether it needs an escape.
#[inline(always)]
fn exchange_block(block: &[u8; BLOCK], ascii_only: bool) -> ([u8; BLOCK], bool) {
    let mask = |is_set: bool| if is_set { 0xff } else { 0 };
    let mut exchanged = [0; BLOCK];
    let mut needs_escape = 0;
    let above = if ascii_only { 0x80 } else { 0 };
    for (to, byte) in exchanged.iter_mut().zip(block) {
        let (caret, delete) = (mask(*byte == b'^'), mask(*byte == 0x7f));
        let quote = mask(*byte == b'"') | caret;
        let backslash = mask(*byte == b'\\') | delete;
        *to = byte ^ (quote & (b'"' ^ b'^')) ^ (backslash & (b'\\' ^ 0x7f));
        needs_escape |= caret | delete | mask(*byte < 0x20) | (byte & above);
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
    pub carry: Cow<'l, str>,
}

/// Limit in bytes for a carry that is read into a buffer for the next one. A longer one is in memory once.
const MAX_BUFFERED: usize = 64 * 1024;

impl<'l> Member<'l> {
    /// Returns whether a record of a format has the member.
    pub fn is_in(record: Value<'l>, format: &Format) -> bool {
        record.members().any(|(key, _)| key.body() == MEMBER)
            || format.carry_places.iter().any(|place| Found::at(record, place).is_some())
    }

    /// Returns whether a line that is not JSON had the member before it was cut or damaged.
    pub fn was_in(line: &[u8]) -> bool {
        memchr::memmem::find(line, b"\"_carried\":").is_some()
    }

    /// Returns whether text that is no record has a carry: in a record that was broken into lines, or in a string.
    pub fn was_in_text(text: &[u8]) -> bool {
        let is_filling =
            |byte: &u8| matches!(byte, b'"' | b'\\' | b':') || byte.is_ascii_whitespace();
        memchr::memmem::find_iter(text, MEMBER.as_bytes()).any(|at| {
            let mut rest = text.iter().skip(at + MEMBER.len()).skip_while(|byte| is_filling(byte));
            rest.next() == Some(&b'2') && rest.next() == Some(&b'F')
        })
    }

    /// Returns the carry of a record, which is of one of the formats.
    pub fn exchanged(record: Value<'l>, formats: Formats) -> Option<ExchangedCarry> {
        let body = Found::any(record, formats)?.value.text()?.body();
        let start = place(record.raw().as_str(), body)?;
        Some(ExchangedCarry { offset: start, bytes: body.bytes().map(exchange).collect() })
    }

    /// Finds the carry in text that is no record, such as a line of a document of several lines.
    /// Returns the same as [`Member::exchanged`].
    pub fn exchanged_in(text: &[u8]) -> Option<ExchangedCarry> {
        const KEY: &[u8] = b"\"_carried\"";
        let blanks = |from: usize| {
            let rest = text.get(from..).unwrap_or_default();
            from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
        };
        // Within a string, the quote of the key has a backslash before it.
        let key = memchr::memmem::find_iter(text, KEY)
            .find(|at| at.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\\'))?;
        let colon = blanks(key + KEY.len());
        let quote = blanks(colon + 1);
        if (text.get(colon), text.get(quote)) != (Some(&b':'), Some(&b'"')) {
            return None;
        }
        let (start, mut is_escaped) = (quote + 1, false);
        let body = text.get(start..)?.iter().take_while(|byte| {
            let is_end = **byte == b'"' && !is_escaped;
            is_escaped = **byte == b'\\' && !is_escaped;
            !is_end
        });
        Some(ExchangedCarry { offset: start, bytes: body.map(|byte| exchange(*byte)).collect() })
    }

    /// Finds the member in a record of a format, at any position: another program may have moved it.
    pub fn find(record: Value<'l>, format: &Format) -> Option<Self> {
        Self::of(record, Found::among(record, format.carry_places)?, None)
    }

    /// Finds the member as [`Member::find`] does, and reads its carry into a buffer unless it is long.
    pub(crate) fn find_into(
        record: Value<'l>,
        format: &Format,
        buf: &'l mut TextBuf,
    ) -> Option<Self> {
        Self::of(record, Found::among(record, format.carry_places)?, Some(buf))
    }

    /// Finds the member in a record of one of the formats.
    pub fn find_any(record: Value<'l>, formats: Formats) -> Option<Self> {
        Self::of(record, Found::any(record, formats)?, None)
    }

    fn of(record: Value<'l>, found: Found<'l>, buf: Option<&'l mut TextBuf>) -> Option<Self> {
        let written = found.value.text()?;
        let whole = record.raw().as_str();
        let (key, value) = found.removed;
        let key_start = place(whole, key.as_str())?;
        let value_end = place(whole, value.raw().as_str())? + value.raw().as_str().len();
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
        let exchange_all = |carry: &mut [u8]| {
            jsonl::with_vectors(|| carry.iter_mut().for_each(|byte| *byte = exchange(*byte)));
        };
        let carry = match buf.filter(|_| written.body().len() <= MAX_BUFFERED) {
            Some(buf) => {
                buf.clear();
                buf.push_text(written);
                exchange_all(buf.bytes_mut());
                Cow::Borrowed(buf.as_str())
            }
            None => {
                let mut carry = written.decode().into_owned().into_bytes();
                exchange_all(&mut carry);
                Cow::Owned(String::from_utf8(carry).ok()?)
            }
        };
        Some(Self { before, after, carry })
    }

    /// Returns the hash of the line without the member. If it is not the guard in the carry, the line was
    /// edited since it was written.
    pub fn guard(&self) -> u64 {
        guard_of(&[self.before.as_bytes(), self.after.as_bytes()])
    }

    /// Returns the line without the member, as the slices around it.
    pub(crate) fn written_text(&self) -> WrittenText<'_> {
        WrittenText::new(self.before.as_bytes(), self.after.as_bytes())
    }

    /// Returns the line without the member.
    pub fn visible(&self) -> String {
        [self.before, self.after].concat()
    }
}

/// The member with the carry, in a record.
#[derive(Clone, Copy)]
struct Found<'l> {
    /// The carry as a value.
    value: Value<'l>,
    /// The member that the record does not have without its carry: the outermost object that holds
    /// nothing else.
    removed: (Text<'l>, Value<'l>),
}

impl<'l> Found<'l> {
    /// Finds the member in the objects at some places of a record, or in the record.
    fn among(record: Value<'l>, places: &[&str]) -> Option<Self> {
        places.iter().find_map(|place| Self::at(record, place)).or_else(|| Self::at(record, ""))
    }

    fn any(record: Value<'l>, formats: Formats) -> Option<Self> {
        let mut places = formats.iter().flat_map(|format| format.carry_places);
        places.find_map(|place| Self::at(record, place)).or_else(|| Self::at(record, ""))
    }

    /// Finds the member in the object at a place: `parts[].metadata` is the object `metadata` of the
    /// last item of `parts` whose `metadata` has the member.
    fn at(record: Value<'l>, place: &str) -> Option<Self> {
        if let Some((array, rest)) = place.split_once("[]") {
            let mut array = array.split('.').filter(|key| !key.is_empty());
            let array = array.try_fold(record, |object, key| object.get(key))?;
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            // The places of a row have few arrays, so that the recursion is not deep.
            return array.items().filter_map(|item| Self::at(item, rest)).last();
        }
        let (mut object, mut removed) = (record, None);
        for key in place.split('.').filter(|key| !key.is_empty()).chain([MEMBER]) {
            let member = last_member(object, key)?;
            let is_alone = object.members().nth(1).is_none();
            removed = removed.filter(|_| is_alone).or(Some(member));
            object = member.1;
        }
        Some(Self { value: object, removed: removed? })
    }
}

fn last_member<'l>(object: Value<'l>, key: &str) -> Option<(Text<'l>, Value<'l>)> {
    object.members().filter(|(name, _)| name.body() == key).last()
}

fn place(whole: &str, part: &str) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Formats = Formats::new(&[]);

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
            let member = Member::find_any(value, NONE).expect("the member");
            assert_eq!(member.carry, carry);
            let (found, mut buf) = (Found::any(value, NONE).expect("it"), TextBuf::default());
            let buffered = Member::of(value, found, Some(&mut buf)).expect("the member");
            assert_eq!(buffered.carry, carry);
            let ExchangedCarry { offset: start, bytes: exchanged } =
                Member::exchanged(value, NONE).expect("the member");
            assert!(exchanged.starts_with(b"1a\"quoted\" \\back "));
            assert_eq!(line.get(start..start + 3), Some(&b"1a^"[..]));
            assert_eq!(member.visible(), visible);
            assert_eq!(member.guard(), guard_of(&[visible.as_bytes()]));
        }
    }

    #[test]
    fn a_block_is_exchanged_as_its_bytes() {
        for byte in u8::MIN..=u8::MAX {
            for place in 0..BLOCK {
                let mut block = [b'a'; BLOCK];
                block[place] = byte;
                let expected = block.map(exchange);
                for ascii_only in [false, true] {
                    let is_plain = byte >= 0x20
                        && !matches!(byte, b'^' | 0x7f)
                        && !(ascii_only && byte >= 0x80);
                    assert_eq!(exchange_block(&block, ascii_only), (expected, is_plain), "{byte}");
                }
            }
        }
    }

    #[test]
    fn the_carry_of_an_inner_object_is_found() {
        for (place, line, visible) in [
            ("a.b", r#"{"a":{"b":{"_carried":"1a"}},"c":2}"#, r#"{"c":2}"#),
            ("a.b", r#"{"a":{"b":{"_carried":"1a","d":1}},"c":2}"#, r#"{"a":{"b":{"d":1}},"c":2}"#),
            ("a.b", r#"{"a":{"e":1,"b":{"_carried":"1a"}},"c":2}"#, r#"{"a":{"e":1},"c":2}"#),
            ("a.b", r#"{"a":{"b":{}},"_carried":"1a"}"#, r#"{"a":{"b":{}}}"#),
            (
                "p[].m.c",
                r#"{"p":[1,{"m":{"c":{"_carried":"1a"}}},{"m":{"c":{}}}]}"#,
                r#"{"p":[1,{},{"m":{"c":{}}}]}"#,
            ),
        ] {
            let mut scanner = jsonl::Scanner::default();
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
            let found = Found::among(value, &["no", "no[].a", place]).expect(line);
            let mut buf = TextBuf::default();
            for buf in [None, Some(&mut buf)] {
                let member = Member::of(value, found, buf).expect(line);
                assert_eq!((&*member.carry, member.visible().as_str()), ("1a", visible));
            }
        }
    }

    #[test]
    fn a_carry_is_found_in_a_line_that_is_no_record() {
        for (line, start) in [
            (r#"{"_carried":"1^\n"},"#, 13),
            (r#"    "_carried" : "1^\n","#, 18),
            (r#""\"_carried\":\"no\"","_carried": "1^\n"#, 35),
        ] {
            assert_eq!(
                Member::exchanged_in(line.as_bytes()).map(|it| (it.offset, it.bytes)),
                Some((start, b"1\"\x7fn".to_vec())),
                "{line}"
            );
        }
        for line in [r#""_carried":7"#, r#""_carried""#, r#""_carried":"#, "x"] {
            assert!(Member::exchanged_in(line.as_bytes()).is_none(), "{line}");
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
            let member = Member::find_any(value, NONE).expect("the member");
            assert_eq!(member.carry, "1a");
            assert!(jsonl::validate(member.visible().as_bytes()).is_ok(), "{}", member.visible());
        }
    }
}
