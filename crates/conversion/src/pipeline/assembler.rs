//! Writes records as one document.
//!
//! In: restored records and glue, and new records. Out: the document. As long as each restored unit
//! follows the one before it, all bytes are the source's. From the first gap, edit or addition on,
//! separators and brackets are made here, because the source's separators would leave a comma too
//! many or none. The tail of the source is kept if it still closes the document.
//!
//! ```text
//! restored   {"id":1,"messages":[   {"a":1}   ", "   (gap)   ", "   {"a":3}   ],"n":3}
//! document   {"id":1,"messages":[{"a":1},
//!            {"a":3}],"n":3}
//! ```

use core_model::{DocumentPart, Framing};
use jsonl::{Scanner, validate};

use super::history::BYTE_ORDER_MARK;

/// Limit on the levels whose brackets are kept.
const MAX_LEVELS: usize = 64;

/// Puts a document together.
#[derive(Debug)]
pub(crate) struct Assembler {
    /// The member with the array of the records; empty if the document is the array.
    array: &'static str,
    nesting: Nesting,
    /// Whether anything is written.
    has_head: bool,
    /// Whether each unit followed the one before it.
    is_verbatim: bool,
    /// Restored glue. The next unit decides whether it is written.
    held: Option<Vec<u8>>,
    /// The restored tail, for the end.
    tail: Option<Vec<u8>>,
    /// The object whose members come behind the records.
    members: Vec<u8>,
}

/// The open brackets after some bytes.
#[derive(Clone, Debug, Default)]
struct Nesting {
    open: Vec<u8>,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last byte that is not blank.
    last: u8,
}

impl Nesting {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.in_string {
                self.in_string = self.is_escaped || !matches!(byte, b'"' | b'\n');
                self.is_escaped = !self.is_escaped && *byte == b'\\';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => {
                        if self.depth == self.open.len() && self.depth < MAX_LEVELS {
                            self.open.push(*byte);
                        }
                        self.depth = self.depth.saturating_add(1);
                    }
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        self.open.truncate(self.depth);
                    }
                    _ => {}
                }
            }
            if !is_blank(*byte) {
                self.last = *byte;
            }
        }
    }

    /// Returns whether a record may come next.
    fn is_in_array(&self) -> bool {
        self.depth == self.open.len() && self.open.last() == Some(&b'[')
    }

    fn needs_comma(&self) -> bool {
        !matches!(self.last, b'[' | b',')
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

impl Assembler {
    /// Creates an assembler; `None` for a format of lines.
    pub(crate) fn new(framing: Framing) -> Option<Self> {
        let Framing::Document(paths) = framing else { return None };
        Some(Self {
            array: paths.first().copied().unwrap_or_default(),
            nesting: Nesting::default(),
            has_head: false,
            is_verbatim: true,
            held: None,
            tail: None,
            members: Vec::new(),
        })
    }

    /// Appends a restored record, or the glue between restored records, to `out`. `follows` means
    /// that it starts where the unit before it ended.
    pub(crate) fn push_restored(
        &mut self,
        bytes: &[u8],
        follows: bool,
        is_glue: bool,
        out: &mut Vec<u8>,
    ) {
        if !follows {
            self.mix(out);
        }
        match (self.is_verbatim, is_glue) {
            (true, true) => {
                self.push_held(out);
                self.held = Some(bytes.to_vec());
            }
            (true, false) => {
                self.push_held(out);
                self.push(bytes, out);
            }
            (false, true) => self.push_glue(bytes, out),
            (false, false) => {
                self.start_record(out);
                self.push(bytes, out);
            }
        }
    }

    /// Starts a line that the writer made. Returns false if the line has no place: a second head.
    pub(crate) fn start_line(&mut self, part: DocumentPart, out: &mut Vec<u8>) -> bool {
        self.mix(out);
        match part {
            DocumentPart::Head if self.has_head => return false,
            DocumentPart::Head => self.has_head = true,
            DocumentPart::Record => self.start_record(out),
            DocumentPart::Tail => {}
        }
        true
    }

    /// Ends a line that the writer made: `line` has its end.
    pub(crate) fn end_line(&mut self, part: DocumentPart, line: &mut Vec<u8>) {
        if part == DocumentPart::Head {
            line.pop();
            if line.last().is_some_and(|last| *last != b'{') {
                line.push(b',');
            }
            self.push_array(line);
            self.nesting.last = b'[';
            self.nesting.open = b"{[".to_vec();
            self.nesting.depth = self.nesting.open.len();
        } else {
            self.nesting.last = b'}';
        }
    }

    /// Sets the object whose members come behind the records.
    pub(crate) fn set_tail(&mut self, object: &[u8]) {
        self.members = object.to_vec();
    }

    /// Returns the object of the head with the members of the tail.
    pub(crate) fn with_tail(&self, head: &[u8]) -> Vec<u8> {
        let mut object = head.strip_suffix(b"}").unwrap_or(head).to_vec();
        if let Some(members) = self.tail_members() {
            if !object.ends_with(b"{") {
                object.push(b',');
            }
            object.extend_from_slice(members);
        }
        object.push(b'}');
        object
    }

    /// Returns the members of the tail that the writer made; `None` without any.
    fn tail_members(&self) -> Option<&[u8]> {
        let members = self.members.strip_prefix(b"{")?.strip_suffix(b"}")?;
        (!members.is_empty()).then_some(members)
    }

    /// Ends the verbatim bytes, because the end of the source is gone: the document is closed here.
    pub(crate) fn end_verbatim(&mut self, out: &mut Vec<u8>) {
        self.mix(out);
    }

    /// Appends the end of the document.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.is_verbatim {
            return self.push_held(out);
        }
        if !self.has_head {
            self.start_array(out);
        }
        if let Some(tail) = self.tail.take().filter(|tail| self.closes(tail)) {
            return self.push(&tail, out);
        }
        if self.nesting.last == b',' {
            out.extend_from_slice(b"null");
        }
        out.push(b'\n');
        let members = self.tail_members();
        let n_open = self.nesting.open.len();
        for (level, bracket) in self.nesting.open.iter().enumerate().rev() {
            out.push(if *bracket == b'[' { b']' } else { b'}' });
            if let Some(members) = members.filter(|_| level == 1 && n_open == 2) {
                out.push(b',');
                out.extend_from_slice(members);
            }
        }
        out.push(b'\n');
    }

    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.has_head = true;
        self.nesting.feed(bytes);
        out.extend_from_slice(bytes);
    }

    fn push_held(&mut self, out: &mut Vec<u8>) {
        if let Some(held) = self.held.take() {
            self.push(&held, out);
        }
    }

    /// From here on, separators are made.
    fn mix(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_verbatim)
            && let Some(held) = self.held.take()
        {
            self.push_glue(&held, out);
        }
    }

    /// Appends restored glue as far as it fits.
    fn push_glue(&mut self, glue: &[u8], out: &mut Vec<u8>) {
        let text = glue.strip_prefix(BYTE_ORDER_MARK).unwrap_or(glue);
        let first = text.iter().find(|byte| !is_blank(**byte));
        if !self.has_head && matches!(first, Some(b'{' | b'[')) {
            let mut after = self.nesting.clone();
            after.feed(glue);
            if after.depth == 0 {
                self.split(glue, out);
            } else {
                self.push(glue, out);
            }
            return;
        }
        if first != Some(&b']') {
            let is_separator = text.iter().all(|byte| is_blank(*byte) || *byte == b',');
            if !is_separator {
                // The source is damaged here, so that the document is no JSON either, but has the text. Its brackets
                // are not counted: the array of the records goes on.
                let last = text.iter().rfind(|byte| !is_blank(**byte));
                self.nesting.last = last.copied().unwrap_or_default();
                out.extend_from_slice(glue);
            }
            return;
        }
        if !self.has_head {
            // The head is gone.
            self.start_array(out);
        }
        let mut after = self.nesting.clone();
        after.feed(glue);
        if after.depth == 0 {
            self.tail = Some(glue.to_vec());
        } else if after.is_in_array() && self.fits(glue, &after) {
            // The end of an array of records, and the start of another one.
            self.push(glue, out);
        }
    }

    /// Appends the start of a document without records, up to the end of its array, and keeps the
    /// rest as the tail.
    fn split(&mut self, document: &[u8], out: &mut Vec<u8>) {
        let mut scanner = Scanner::default();
        let mark = BYTE_ORDER_MARK;
        let start = if document.starts_with(mark) { mark.len() } else { 0 };
        let Ok(value) = scanner.scan_slice(document.get(start..).unwrap_or_default(), 0) else {
            return self.push(document, out);
        };
        let array = match self.array {
            "" => Some(value),
            name => value.get(name),
        };
        let whole = value.raw().as_str();
        let end = match array.filter(|array| array.is_array()) {
            Some(array) => {
                let raw = array.raw().as_str();
                let at = (raw.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
                start + at + raw.len() - 1
            }
            None => {
                let end = start + whole.trim_end().len() - 1;
                let mut head = document.get(..end).unwrap_or_default().to_vec();
                let is_empty = head.iter().rfind(|byte| !is_blank(**byte)) == Some(&b'{');
                if !is_empty {
                    head.push(b',');
                }
                self.push_array(&mut head);
                self.push(&head, out);
                let mut tail = b"]".to_vec();
                tail.extend_from_slice(document.get(end..).unwrap_or_default());
                self.tail = Some(tail);
                return;
            }
        };
        let (head, tail) = document.split_at_checked(end).unwrap_or((document, b""));
        self.push(head, out);
        self.tail = Some(tail.to_vec());
    }

    fn push_array(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(self.array.as_bytes());
        out.extend_from_slice(b"\":[");
    }

    fn start_record(&mut self, out: &mut Vec<u8>) {
        if !self.has_head {
            self.start_array(out);
        } else if self.nesting.needs_comma() {
            out.push(b',');
        }
        out.push(b'\n');
    }

    /// Appends a head without members of the source.
    fn start_array(&mut self, out: &mut Vec<u8>) {
        let mut head = Vec::new();
        if self.array.is_empty() {
            head.push(b'[');
        } else {
            head.push(b'{');
            self.push_array(&mut head);
        }
        self.push(&head, out);
    }

    /// Returns whether a tail makes the document complete.
    fn closes(&self, tail: &[u8]) -> bool {
        self.fits(tail, &Nesting::default())
    }

    /// Returns whether the document is JSON with this glue next, which leaves these brackets open.
    fn fits(&self, glue: &[u8], after: &Nesting) -> bool {
        if self.nesting.depth != self.nesting.open.len() || self.nesting.last == b',' {
            return false;
        }
        let mut document = Vec::new();
        for (level, bracket) in self.nesting.open.iter().enumerate() {
            document.push(*bracket);
            if *bracket == b'{' && level + 1 < self.nesting.open.len() {
                document.extend_from_slice(b"\"\":");
            }
        }
        document.extend_from_slice(glue);
        let ends = after.open.iter().rev().map(|it| if *it == b'[' { b']' } else { b'}' });
        document.extend(ends);
        validate(&document).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units: `(bytes, follows, is_glue)`, or a line of the writer if the bytes start with `+`.
    fn document(units: &[(&str, bool, bool)]) -> String {
        let mut assembler = Assembler::new(Framing::Document(&["m", "a[].s"])).expect("a document");
        let mut out = Vec::new();
        for (bytes, follows, is_glue) in units {
            match bytes.strip_prefix('+') {
                None => assembler.push_restored(bytes.as_bytes(), *follows, *is_glue, &mut out),
                Some(line) => {
                    let part = if *is_glue { DocumentPart::Head } else { DocumentPart::Record };
                    if assembler.start_line(part, &mut out) {
                        let mut line = line.as_bytes().to_vec();
                        assembler.end_line(part, &mut line);
                        out.append(&mut line);
                    }
                }
            }
        }
        assembler.finish(&mut out);
        String::from_utf8(out).expect("text")
    }

    const HEAD: (&str, bool, bool) = ("{\"id\":1,\"m\":[\n ", true, true);
    const SEPARATOR: (&str, bool, bool) = (",\n ", true, true);
    const TAIL: (&str, bool, bool) = ("\n],\"n\":2}\n", true, true);

    #[test]
    fn what_follows_is_verbatim() {
        let units = [HEAD, ("{}", true, false), SEPARATOR, ("{\"a\":[", true, false), TAIL];
        let all: String = units.iter().map(|unit| unit.0).collect();
        assert_eq!(document(&units), all);
        assert_eq!(document(&[("torn ]", true, true)]), "torn ]");
        assert_eq!(document(&[]), "");
    }

    #[test]
    fn gaps_and_additions() {
        let gap = |unit: (&'static str, bool, bool)| (unit.0, false, unit.2);
        let one = ("{\"a\":1}", true, false);
        let new = ("+{\"a\":9}", true, false);
        for (units, expected) in [
            (
                vec![HEAD, gap(SEPARATOR), one, TAIL],
                "{\"id\":1,\"m\":[\n \n{\"a\":1}\n],\"n\":2}\n",
            ),
            (vec![HEAD, one, SEPARATOR, gap(TAIL)], "{\"id\":1,\"m\":[\n {\"a\":1}\n],\"n\":2}\n"),
            (vec![HEAD, one, SEPARATOR], "{\"id\":1,\"m\":[\n {\"a\":1},\n "),
            (vec![HEAD, one, gap(one)], "{\"id\":1,\"m\":[\n {\"a\":1},\n{\"a\":1}\n]}\n"),
            (vec![HEAD, one, TAIL, new], "{\"id\":1,\"m\":[\n {\"a\":1},\n{\"a\":9}\n],\"n\":2}\n"),
            (vec![gap(one), SEPARATOR, one], "{\"m\":[\n{\"a\":1},\n{\"a\":1}\n]}\n"),
            (vec![("+{\"x\":1}", true, true), new], "{\"x\":1,\"m\":[\n{\"a\":9}\n]}\n"),
            (vec![("+{}", true, true)], "{\"m\":[\n]}\n"),
            (vec![gap(TAIL)], "{\"m\":[\n],\"n\":2}\n"),
            (vec![gap(SEPARATOR)], "{\"m\":[\n]}\n"),
            (vec![("{\"m\" : [ ],\"n\":1}", true, true), new], "{\"m\" : [ \n{\"a\":9}],\"n\":1}"),
            (vec![("{\"n\":1}", true, true), new], "{\"n\":1,\"m\":[\n{\"a\":9}]}"),
        ] {
            assert_eq!(document(&units), expected);
        }
    }

    #[test]
    fn text_of_a_damaged_document_is_kept() {
        let (one, new) = (("{\"a\":1}", true, false), ("+{\"a\":9}", true, false));
        let torn = ("} \"content\": \"One\",\n", true, true);
        assert_eq!(
            document(&[HEAD, new, one, torn, one, TAIL]),
            "{\"id\":1,\"m\":[\n \n{\"a\":9},\n{\"a\":1}} \"content\": \"One\",\n\n{\"a\":1}\n],\"n\":2}\n"
        );
    }

    #[test]
    fn arrays_within_arrays() {
        let units = [
            ("{\"a\":[{\"s\":[", true, true),
            ("{\"a\":1}", true, false),
            ("]},{\"s\":[", false, true),
            ("{\"a\":2}", true, false),
            ("]}]}", true, true),
        ];
        let expected = "{\"a\":[{\"s\":[{\"a\":1}]},{\"s\":[\n{\"a\":2}]}]}";
        assert_eq!(document(&units), expected);
        let cut = [units[0], units[1], ("{\"a\":2}", false, false), units[4]];
        assert_eq!(document(&cut), "{\"a\":[{\"s\":[{\"a\":1},\n{\"a\":2}]}]}");
        // Without its first bracket, a tail does not close the document.
        let cut = [units[0], ("{\"a\":2}", false, false), ("]}", true, true)];
        assert_eq!(document(&cut), "{\"a\":[{\"s\":[\n{\"a\":2}]}\n]}\n");
        // Without the head, the end of an array may open one within the made head, or does not fit.
        let (one, next) = (("{\"a\":2}", true, false), ("],\"t\":[", false, true));
        assert_eq!(document(&[next, one]), "{\"m\":[],\"t\":[\n{\"a\":2}\n]}\n");
        let next = ("]},{\"s\":[", false, true);
        assert_eq!(document(&[next, one]), "{\"m\":[\n{\"a\":2}\n]}\n");
    }
}
