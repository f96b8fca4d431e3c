//! Writing a carry: the difference of a source line from the line that says it.

use std::ops::Range;

use core_model::Copied;
use jsonl::{Line, Value};
use twox_hash::XxHash3_64;

use super::{
    Base, Contents, Ending,
    number::{push_base64, push_check, push_guard, push_number},
};

/// A copied slice shorter than this is cheaper as it is than as a reference.
const SHORTEST_COPY: usize = 8;

/// Writes records.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    base: Base,
    /// What the first carry says of the files of the source; empty for a single one.
    contents: Vec<u8>,
    tag: char,
}

/// Which part of a source line a record holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) part: usize,
    pub(super) n_parts: usize,
}

impl Packer {
    /// Creates a packer for sources of the format `tag` with a base.
    pub(crate) fn new(tag: char, base: Base) -> Self {
        Self { base, contents: Vec::new(), tag }
    }

    /// Lets the first carry say which files the source is.
    pub(crate) fn set_contents(&mut self, contents: &Contents) {
        self.contents.clear();
        contents.push(&mut self.contents);
    }

    /// Appends what every carry starts with, and the base if it is the first of a conversion.
    pub(crate) fn push_head(&self, out: &mut Vec<u8>, guard: u64, is_first: bool) {
        out.push(b'1');
        out.extend_from_slice(self.tag.encode_utf8(&mut [0; 4]).as_bytes());
        push_guard(out, guard);
        if is_first {
            out.push(b'H');
            push_number(out, self.base.bytes().len() as u64);
            out.push(b':');
            out.extend_from_slice(self.base.bytes());
            if !self.contents.is_empty() {
                out.push(b'T');
                push_number(out, self.contents.len() as u64);
                out.push(b':');
                out.extend_from_slice(&self.contents);
            }
        }
    }

    /// Appends the record of a source line that a written line says: `value` is what was read of
    /// it, and `copied` are the parts of it that stand there.
    pub(crate) fn push_own(
        &self,
        out: &mut Vec<u8>,
        line: &Line<'_>,
        value: Value<'_>,
        copied: &mut [Copied],
    ) {
        let (content, ending) = Ending::split(line.bytes());
        push_record(out, line.offset(), None, b'@', ending, line.bytes());
        // Nearly always the value is all of the line, and known to be text.
        let value = value.raw().as_str();
        let is_whole = (value.as_ptr(), value.len()) == (content.as_ptr(), content.len());
        let text = if is_whole { Some(value) } else { text_of(content) };
        self.push_difference(out, content, text, 0, copied);
    }

    /// Appends the record of part `part.0` of `part.1` of a source line: the bytes in `range`.
    pub(crate) fn push_part(
        &self,
        out: &mut Vec<u8>,
        line: &Line<'_>,
        range: Range<usize>,
        part: (usize, usize),
        copied: &mut [Copied],
    ) {
        let (part, n_parts) = part;
        let start = range.start;
        let bytes = line.bytes().get(range).unwrap_or_default();
        let (content, ending) = match part + 1 == n_parts {
            true => Ending::split(bytes),
            false => (bytes, Ending::None),
        };
        push_record(out, line.offset(), Some(Part { part, n_parts }), b'@', ending, bytes);
        self.push_difference(out, content, text_of(content), start, copied);
    }

    /// Appends the record of a source line, or of a part of one, that no written line says.
    pub(super) fn push_rider(
        &self,
        out: &mut Vec<u8>,
        offset: u64,
        part: Option<Part>,
        bytes: &[u8],
    ) {
        let is_last = part.is_none_or(|part| part.part + 1 == part.n_parts);
        let (content, ending) = if is_last { Ending::split(bytes) } else { (bytes, Ending::None) };
        push_record(out, offset, part, b'&', ending, bytes);
        self.push_difference(out, content, text_of(content), 0, &mut []);
    }

    /// Appends `content`, which is `text` if it is text at all, and starts at `start` of its line,
    /// in pieces.
    fn push_difference(
        &self,
        out: &mut Vec<u8>,
        content: &[u8],
        text: Option<&str>,
        start: usize,
        copied: &mut [Copied],
    ) {
        let push = |out: &mut Vec<u8>, at: usize, end: usize| match text {
            Some(text) if text.is_char_boundary(at) && text.is_char_boundary(end) => {
                self.push_text(out, &text[at..end]);
            }
            _ => self.push_bytes(out, &content[at..end]),
        };
        copied.sort_unstable_by_key(|copy| copy.from);
        let mut at = 0;
        for copy in copied.iter() {
            let [from, len, stands_at, written] =
                [copy.from, copy.len, copy.at, copy.written].map(|number| number as usize);
            let Some(from) = from.checked_sub(start).filter(|_| len >= SHORTEST_COPY) else {
                continue;
            };
            let end = from + len;
            if from < at || end > content.len() {
                continue;
            }
            push(out, at, from);
            push_range(out, stands_at, written, if copy.is_respelt { b'R' } else { b'V' });
            at = end;
        }
        push(out, at, content.len());
    }

    fn push_bytes(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.push_text(out, text);
        }
        let mut digits = Vec::new();
        push_base64(&mut digits, bytes);
        push_number(out, digits.len() as u64);
        out.push(b'X');
        out.append(&mut digits);
    }

    fn push_text(&self, out: &mut Vec<u8>, text: &str) {
        let mut at = 0;
        while let Some((start, from, length)) = self.base.find(text, at) {
            push_literal(out, text.get(at..start).unwrap_or_default());
            push_range(out, from, length, b'B');
            at = start + length;
        }
        push_literal(out, text.get(at..).unwrap_or_default());
    }
}

fn text_of(content: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(content).ok()
}

/// Appends what stands before a record's pieces.
fn push_record(
    out: &mut Vec<u8>,
    offset: u64,
    part: Option<Part>,
    kind: u8,
    ending: Ending,
    restored: &[u8],
) {
    push_number(out, offset);
    if let Some(part) = part {
        out.push(b',');
        push_number(out, part.part as u64);
        out.push(b',');
        push_number(out, part.n_parts as u64);
    }
    out.push(kind);
    out.push(match ending {
        Ending::Lf => b'n',
        Ending::CrLf => b'r',
        Ending::None => b'e',
    });
    push_check(out, XxHash3_64::oneshot(restored));
}

fn push_range(out: &mut Vec<u8>, start: usize, length: usize, kind: u8) {
    push_number(out, start as u64);
    out.push(b',');
    push_number(out, length as u64);
    out.push(kind);
}

fn push_literal(pieces: &mut Vec<u8>, text: &str) {
    if !text.is_empty() {
        push_number(pieces, text.len() as u64);
        pieces.push(b'L');
        pieces.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use jsonl::{Scanner, Style};

    use super::{
        super::{Carry, Riders},
        *,
    };

    #[test]
    fn records_restore_their_lines() {
        let visible = br#"{"text":"Hello, world, how are you?","x":"\u00e9t\u00e9 2026"}"#;
        let line = "{\"uuid\":\"1\",\"t\":\"Hello, world, how are you?\",\"x\":\"été 2026\"}\r\n";
        let at = line.find("\"Hello").expect("there");
        let respelt = line.find("\"été").expect("there");
        let [at, respelt] = [at, respelt].map(|at| at as u32);
        let mut copied = [
            Copied { from: respelt, len: 12, at: 41, written: 20, is_respelt: true },
            Copied { from: at, len: 28, at: 8, written: 28, is_respelt: false },
        ];
        let mut packer = Packer::new('a', Base::new(b"{\"uuid\":\"1\",\"t\":\"\"}"));
        let mut text = Vec::new();
        packer.push_head(&mut text, 7, true);
        let (line_, mut scanner) = (Line::new(line.as_bytes(), 1234), Scanner::default());
        let value = scanner.scan(&line_).expect("valid");
        packer.push_own(&mut text, &line_, value, &mut copied);
        let mut riders = Riders::new(Some(12));
        riders.add(&mut packer, 2000, b"not \xff UTF-8");
        riders.add(&mut packer, 3000, "ééééééééé\r\n".as_bytes());
        riders.take(&mut text, usize::MAX);
        assert!(riders.is_empty());

        let text = String::from_utf8(text).expect("text");
        let carry = Carry::parse(&text).expect("a carry");
        assert_eq!((carry.tag, carry.guard), ('a', 7));
        let base = carry.base.expect("the first").as_bytes();
        let mut lines = Vec::new();
        let mut restored = Vec::new();
        for record in &carry.records {
            assert!(record.restore(&mut restored, visible, base, Style::Compact), "{record:?}");
            if record.part + 1 == record.n_parts {
                lines.push((record.offset, std::mem::take(&mut restored)));
            }
        }
        let expected = [
            (1234, line.as_bytes().to_vec()),
            (2000, b"not \xff UTF-8".to_vec()),
            (3000, "ééééééééé\r\n".as_bytes().to_vec()),
        ];
        assert_eq!(lines, expected);

        let mut skeleton = Vec::new();
        carry.records[0].skeleton(&mut skeleton, base);
        assert_eq!(skeleton, br#"{"uuid":"1","t":null,"x":null}"#);
        assert!(!carry.records[0].restore(&mut restored, b"{}", base, Style::Compact));
    }
}
