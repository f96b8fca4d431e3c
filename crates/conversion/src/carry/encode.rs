//! Writes a carry: the difference between a source record and the written record that shows it.
//!
//! In: source `{"t":"Hello, world","n":1}`, written `{"text":"Hello, world"}`. Out: an entry of
//! three pieces: 5 literal bytes, 14 bytes of the written record from byte 8 on, 7 literal bytes.
//!
//! ```text
//! 0@nr:H0OFWC5L{"t":8,eV7L,"n":1}
//! ```
//!
//! `0@nr:` is offset 0, shown by this record, ending with a newline, 27 bytes in all; `H0OFWC`
//! is the check, a hash of the restored bytes.

use std::ops::Range;

use core_model::{Copied, Spelling};
use jsonl::{Line, Value};
use twox_hash::XxHash3_64;

use super::{
    Ending, Manifest, SplitLine, Template,
    decode::{TEMPLATE_FACTOR, TEMPLATE_SLACK},
    guard::RecordGuards,
    number::{push_base64, push_check, push_guard, push_number},
};

/// A shorter slice takes fewer bytes as a literal than as a reference.
const SHORTEST_COPY: usize = 8;

/// Encodes the carries of one conversion.
#[derive(Debug, Default)]
pub(crate) struct CarryEncoder {
    template: Template,
    /// The manifest; empty for a source of one file.
    manifest: Vec<u8>,
    /// The ids of sub-agents with files of their own; empty if there are none.
    agents: Vec<u8>,
    /// The ids of the sub-agents with derived files, as in the carry.
    derived: Vec<u8>,
    /// The session of a derived file, as in the carry.
    derived_from: Vec<u8>,
    /// The name of the source's format.
    format: &'static str,
    n_entries: u64,
    n_bytes: u64,
}

/// The part of a source record that an entry holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) part: usize,
    pub(super) n_parts: usize,
}

/// The start of an entry: offset, part, and the letter of its kind.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    part: Option<Part>,
    kind: u8,
}

/// Receives the text of entries.
pub(crate) trait EntryText {
    /// Returns the buffer that the next bytes are appended to.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Appends the bytes of a literal, which may be long.
    fn push_literal(&mut self, bytes: &[u8]);

    /// Returns the number of bytes.
    fn n_bytes(&self) -> usize;

    /// Removes the bytes behind the first `n_bytes`.
    fn cut(&mut self, n_bytes: usize);
}

impl EntryText for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn push_literal(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn n_bytes(&self) -> usize {
        self.len()
    }

    fn cut(&mut self, n_bytes: usize) {
        self.truncate(n_bytes);
    }
}

impl CarryEncoder {
    /// Creates an encoder for a source of a format, with a template.
    pub(crate) fn new(format: &'static str, template: Template) -> Self {
        Self { template, format, ..Self::default() }
    }

    /// Sets the manifest of a source of several files.
    pub(crate) fn set_manifest(&mut self, manifest: &Manifest) {
        self.manifest.clear();
        manifest.push(&mut self.manifest);
        self.agents.clear();
        Manifest::push_agents(&manifest.agents, &mut self.agents);
        self.set_derived(&manifest.derived);
        self.derived_from.clear();
        if let Some(from) = &manifest.derived_from {
            Manifest::push_derived_from(from, &mut self.derived_from);
        }
    }

    /// Sets the ids of the sub-agents with derived files.
    pub(crate) fn set_derived(&mut self, ids: &[String]) {
        self.derived.clear();
        Manifest::push_agents(ids, &mut self.derived);
    }

    /// Appends the head of a carry: guards, ordinal, and new member orders. The first carry of a
    /// conversion also gets the template and the manifest.
    pub(crate) fn push_head(
        &self,
        out: &mut Vec<u8>,
        guards: impl Into<RecordGuards>,
        ordinal: u64,
        orders: &[u8],
    ) {
        let RecordGuards { guard, whole } = guards.into();
        out.push(b'2');
        push_member(out, b'F', self.format.as_bytes());
        out.extend_from_slice(b"Gb:");
        push_guard(out, guard);
        let n_digits = ordinal.checked_ilog(36).unwrap_or(0) + 1;
        out.push(b'N');
        push_number(out, n_digits.into());
        out.push(b':');
        push_number(out, ordinal);
        if ordinal == 0 {
            let Self { template, manifest, agents, derived, derived_from, .. } = self;
            let template = template.bytes();
            for (key, value) in [
                (b'T', template),
                (b'M', manifest),
                (b'a', agents),
                (b'd', derived),
                (b's', derived_from),
            ] {
                if !value.is_empty() {
                    push_member(out, key, value);
                }
            }
        }
        if !orders.is_empty() {
            push_member(out, b'k', orders);
        }
        if let Some(whole) = whole {
            out.extend_from_slice(b"vb:");
            push_guard(out, whole);
        }
        out.push(b';');
    }

    /// Appends the end mark, after the last entry of the last carry. `guards` is the sum of the guards of all carries.
    pub(crate) fn push_end(&self, out: &mut Vec<u8>, n_carries: u64, guards: u64) {
        out.push(b'!');
        push_number(out, n_carries);
        out.push(b',');
        push_number(out, self.n_entries);
        out.push(b',');
        push_number(out, self.n_bytes);
        out.push(b',');
        push_number(out, guards);
    }

    /// Appends the entry of a source record that a written record shows. `value` is the record's
    /// value; `copied` are its slices in the written record.
    pub(crate) fn push_own(
        &mut self,
        out: &mut impl EntryText,
        line: &Line<'_>,
        value: Value<'_>,
        copied: &mut [Copied],
    ) {
        let SplitLine { content, ending } = Ending::split(line.bytes());
        let place = Place { offset: line.offset(), part: None, kind: own_kind(line) };
        self.push_place(out.buffer(), place, ending, line.bytes());
        // In nearly all records, the value is the whole line and known to be UTF-8.
        let value = value.raw().as_str();
        let is_whole = (value.as_ptr(), value.len()) == (content.as_ptr(), content.len());
        let text = if is_whole { Some(value) } else { text_of(content) };
        self.push_pieces(out, content, text, 0, copied);
    }

    /// Removes an entry from the totals, whose source record has this length and which the caller
    /// cut off.
    pub(crate) fn retract(&mut self, length: usize) {
        self.n_entries -= 1;
        self.n_bytes -= length as u64;
    }

    /// Appends the entry of part `part.0` of `part.1` of a source record: the bytes in `range`.
    pub(crate) fn push_part(
        &mut self,
        out: &mut Vec<u8>,
        line: &Line<'_>,
        range: Range<usize>,
        part: (usize, usize),
        copied: &mut [Copied],
    ) {
        let (part, n_parts) = part;
        let start = range.start;
        let bytes = line.bytes().get(range).unwrap_or_default();
        let SplitLine { content, ending } = match part + 1 == n_parts {
            true => Ending::split(bytes),
            false => SplitLine { content: bytes, ending: Ending::None },
        };
        let part = Some(Part { part, n_parts });
        let place = Place { offset: line.offset(), part, kind: own_kind(line) };
        self.push_place(out, place, ending, bytes);
        self.push_pieces(out, content, text_of(content), start, copied);
    }

    /// Appends the entry of a source record, or of a part of one, that no written record shows.
    pub(super) fn push_held(
        &mut self,
        out: &mut Vec<u8>,
        offset: u64,
        part: Option<Part>,
        bytes: &[u8],
        is_glue: bool,
    ) {
        let is_last = part.is_none_or(|part| part.part + 1 == part.n_parts);
        let whole = SplitLine { content: bytes, ending: Ending::None };
        let SplitLine { content, ending } = if is_last { Ending::split(bytes) } else { whole };
        let kind = if is_glue { b'=' } else { b'&' };
        self.push_place(out, Place { offset, part, kind }, ending, bytes);
        self.push_pieces(out, content, text_of(content), 0, &mut []);
    }

    /// Appends the carry that the source's own sidecar has for the source record at an offset.
    pub(crate) fn push_sidecar(&mut self, out: &mut Vec<u8>, offset: u64, carry: &str) {
        self.push_sidecar_part(out, offset, None, carry.as_bytes());
    }

    /// Appends such a carry, or a part of it.
    pub(super) fn push_sidecar_part(
        &mut self,
        out: &mut Vec<u8>,
        offset: u64,
        part: Option<Part>,
        carry: &[u8],
    ) {
        self.push_place(out, Place { offset, part, kind: b'^' }, Ending::None, carry);
        self.push_pieces(out, carry, text_of(carry), 0, &mut []);
    }

    /// Appends the start of an entry, up to its pieces.
    fn push_place(&mut self, out: &mut Vec<u8>, place: Place, ending: Ending, restored: &[u8]) {
        self.n_entries += 1;
        self.n_bytes += restored.len() as u64;
        push_number(out, place.offset);
        if let Some(part) = place.part {
            out.push(b',');
            push_number(out, part.part as u64);
            out.push(b',');
            push_number(out, part.n_parts as u64);
        }
        out.push(place.kind);
        out.push(match ending {
            Ending::Lf => b'n',
            Ending::CrLf => b'r',
            Ending::None => b'e',
        });
        push_number(out, restored.len() as u64);
        out.push(b':');
        push_check(out, XxHash3_64::oneshot(restored));
    }

    /// Appends the pieces of an entry. Leaves out template pieces if they would restore more bytes
    /// than a reader allows.
    fn push_pieces(
        &self,
        out: &mut impl EntryText,
        content: &[u8],
        text: Option<&str>,
        start: usize,
        copied: &mut [Copied],
    ) {
        copied.sort_unstable_by_key(|copy| copy.from);
        let before = out.n_bytes();
        let of_template = self.push_difference(out, content, text, start, copied, true);
        let most = (out.n_bytes() - before) as u64 * TEMPLATE_FACTOR + TEMPLATE_SLACK;
        if of_template > most {
            out.cut(before);
            self.push_difference(out, content, text, start, copied, false);
        }
    }

    /// Appends the pieces of `content`, which starts at `start` of its record; `text` is the same
    /// content if it is UTF-8. Returns the number of bytes that the template restores.
    fn push_difference<T: EntryText>(
        &self,
        out: &mut T,
        content: &[u8],
        text: Option<&str>,
        start: usize,
        copied: &[Copied],
        has_template: bool,
    ) -> u64 {
        let mut of_template = 0;
        let mut push = |out: &mut T, at: usize, end: usize| match text {
            Some(text) if text.is_char_boundary(at) && text.is_char_boundary(end) => {
                of_template += self.push_text(out, &text[at..end], has_template);
            }
            _ => of_template += self.push_bytes(out, &content[at..end], has_template),
        };
        let mut at = 0;
        for copy in copied {
            let [from, len, written_at, written] =
                [copy.from, copy.len, copy.at, copy.written].map(|number| number as usize);
            let Some(from) = from.checked_sub(start).filter(|_| len >= SHORTEST_COPY) else {
                continue;
            };
            let end = from + len;
            if from < at || end > content.len() {
                continue;
            }
            push(out, at, from);
            let out = out.buffer();
            push_number(out, written_at as u64);
            out.push(b',');
            push_number(out, written as u64);
            if copy.spelling != Spelling::Same {
                out.push(b',');
                push_number(out, len as u64);
            }
            match copy.spelling {
                Spelling::Same => out.push(b'V'),
                Spelling::Respelt => out.push(b'R'),
                Spelling::Indented(indent) => {
                    out.push(b',');
                    push_number(out, indent.into());
                    out.push(b'P');
                }
            }
            at = end;
        }
        push(out, at, content.len());
        of_template
    }

    fn push_bytes(&self, out: &mut impl EntryText, bytes: &[u8], has_template: bool) -> u64 {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.push_text(out, text, has_template);
        }
        let mut digits = Vec::new();
        push_base64(&mut digits, bytes);
        let out = out.buffer();
        push_number(out, digits.len() as u64);
        out.push(b'X');
        out.append(&mut digits);
        0
    }

    fn push_text(&self, out: &mut impl EntryText, text: &str, has_template: bool) -> u64 {
        let (mut at, mut of_template) = (0, 0);
        while has_template && let Some((start, from, length)) = self.template.find(text, at) {
            push_literal(out, text.get(at..start).unwrap_or_default());
            let out = out.buffer();
            push_number(out, from as u64);
            out.push(b',');
            push_number(out, length as u64);
            out.push(b'T');
            of_template += length as u64;
            at = start + length;
        }
        push_literal(out, text.get(at..).unwrap_or_default());
        of_template
    }
}

/// Returns the letter of an entry that a written record shows.
fn own_kind(line: &Line<'_>) -> u8 {
    if line.is_glue() { b'~' } else { b'@' }
}

fn text_of(content: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(content).ok()
}

/// Appends a member of a head.
fn push_member(out: &mut Vec<u8>, key: u8, value: &[u8]) {
    out.push(key);
    push_number(out, value.len() as u64);
    out.push(b':');
    out.extend_from_slice(value);
}

fn push_literal(out: &mut impl EntryText, text: &str) {
    if !text.is_empty() {
        let pieces = out.buffer();
        push_number(pieces, text.len() as u64);
        pieces.push(b'L');
        out.push_literal(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use jsonl::{Scanner, Style};

    use super::{
        super::{CarriedFormat, Carry, End, EntryKind, PendingEntries, Queue},
        *,
    };

    fn entry_of(source: &str, template: &[u8], copied: Copied) -> String {
        let (line, mut scanner) = (Line::new(source.as_bytes(), 0), Scanner::default());
        let value = scanner.scan(&line).expect("valid");
        let mut encoder = CarryEncoder::new("claude-code", Template::new(template));
        let mut text = Vec::new();
        encoder.push_own(&mut text, &line, value, &mut [copied]);
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn the_examples_of_the_comments_are_true() {
        let source = "{\"t\":\"Hello, world\",\"n\":1}\n";
        let copied = Copied { from: 5, len: 14, at: 8, written: 14, spelling: Spelling::Same };
        assert_eq!(entry_of(source, b"", copied), r#"0@nr:H0OFWC5L{"t":8,eV7L,"n":1}"#);
        let source = "{\"a\":2,\"cwd\":\"/home/ada\",\"v\":1}\n";
        let none = Copied { from: 0, len: 0, at: 0, written: 0, spelling: Spelling::Same };
        let template = br#","cwd":"/home/ada","v":1"#;
        assert_eq!(entry_of(source, template, none), r#"0@nw:G1Z2xn6L{"a":20,oT1L}"#);
    }

    #[test]
    fn records_restore_their_lines() {
        let visible = br#"{"text":"Hello, world, how are you?","x":"\u00e9t\u00e9 2026"}"#;
        let line = "{\"uuid\":\"1\",\"t\":\"Hello, world, how are you?\",\"x\":\"été 2026\"}\r\n";
        let at = line.find("\"Hello").expect("there");
        let respelt = line.find("\"été").expect("there");
        let [at, respelt] = [at, respelt].map(|at| at as u32);
        let mut copied = [
            Copied { from: respelt, len: 12, at: 41, written: 20, spelling: Spelling::Respelt },
            Copied { from: at, len: 28, at: 8, written: 28, spelling: Spelling::Same },
        ];
        let mut encoder =
            CarryEncoder::new("claude-code", Template::new(b"{\"uuid\":\"1\",\"t\":\"\"}"));
        let mut text = Vec::new();
        encoder.push_head(&mut text, 7, 0, b"");
        let (line_, mut scanner) = (Line::new(line.as_bytes(), 1234), Scanner::default());
        let value = scanner.scan(&line_).expect("valid");
        encoder.push_own(&mut text, &line_, value, &mut copied);
        let mut pending = PendingEntries::new(Some(12));
        pending.add(&mut encoder, 2000, b"not \xff UTF-8", false).expect("kept");
        pending.add(&mut encoder, 3000, "ééééééééé\r\n".as_bytes(), false).expect("kept");
        pending.add_sidecar(&mut encoder, 3000, b"1a").expect("kept");
        let mut taken = Queue::default();
        assert!(pending.take(&mut taken, usize::MAX).expect("taken") && pending.is_empty());
        let append = |part: &[u8]| {
            text.extend_from_slice(part);
            Ok(())
        };
        taken.drain(append).expect("read");
        encoder.push_end(&mut text, 1, 7);

        let text = String::from_utf8(text).expect("text");
        let carry = Carry::parse(&text).expect("a carry");
        assert_eq!((carry.format, carry.guard), (CarriedFormat::Name("claude-code"), 7));
        assert_eq!(carry.ordinal, Some(0));
        let n_entries = carry.entries().count() as u64;
        let n_bytes = carry.entries().map(|entry| entry.length).sum();
        let end = End { carries: 1, entries: n_entries, bytes: n_bytes, guards: Some(7) };
        assert_eq!(carry.end, Some(end));
        let base = carry.template.expect("the first").as_bytes();
        let mut lines = Vec::new();
        let mut restored = Vec::new();
        for record in carry.entries() {
            if record.kind == EntryKind::Sidecar {
                continue;
            }
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
        carry.entries().next().expect("one").skeleton(&mut skeleton, base);
        assert_eq!(skeleton, br#"{"uuid":"1","t":null,"x":null}"#);
        assert!(!carry.entries().next().expect("one").restore(
            &mut restored,
            b"{}",
            base,
            Style::Compact
        ));
    }

    #[test]
    fn the_held_entries_of_a_long_carry_are_taken_out_of_it() {
        let line = format!("{{\"a\":\"{}\"}}\n", "long ".repeat(60));
        let mut encoder = CarryEncoder::new("clido", Template::new(b""));
        let mut text = Vec::new();
        encoder.push_head(&mut text, 7, 0, b"");
        let hold = |encoder: &mut CarryEncoder, text: &mut Vec<u8>, offset: u64| {
            let (mut pending, mut taken) = (PendingEntries::new(None), Queue::default());
            pending.add(encoder, offset, b"held\n", false).expect("kept");
            pending.take(&mut taken, usize::MAX).expect("taken");
            let append = |part: &[u8]| {
                text.extend_from_slice(part);
                Ok(())
            };
            taken.drain(append).expect("read");
        };
        hold(&mut encoder, &mut text, 100);
        let (own, mut scanner) = (Line::new(line.as_bytes(), 200), Scanner::default());
        encoder.push_own(&mut text, &own, scanner.scan(&own).expect("valid"), &mut []);
        hold(&mut encoder, &mut text, 900);
        encoder.push_end(&mut text, 1, 7);
        let text = String::from_utf8(text).expect("text");
        let carry = Carry::parse(&text).expect("a carry");
        assert_eq!(carry.entries().count(), 3);
        let (held, mut cursor) = carry.cursor(&text).held(&text).expect("few");
        for offset in [100, 900] {
            let entry = cursor.next(&held).expect("an entry");
            let mut restored = Vec::new();
            assert!(entry.restore(&mut restored, b"", b"", Style::Compact));
            assert_eq!((entry.offset, &*restored), (offset, &b"held\n"[..]));
        }
        assert!(cursor.next(&held).is_none());
        // Where most of it is held, it stays whole.
        let mut text = Vec::new();
        encoder.push_head(&mut text, 7, 0, b"");
        hold(&mut encoder, &mut text, 100);
        let text = String::from_utf8(text).expect("text");
        assert!(Carry::parse(&text).expect("a carry").cursor(&text).held(&text).is_none());
    }
}
