//! Detects the format of a file by a vote of its first lines.
//!
//! In: the lines `{"type":"user","uuid":"u1",..}` and `{"type":"summary",..}`. Out:
//! [`Detected::Format`] with Claude Code.

use core_model::{Format, Formats, Framing};
use jsonl::{Document, ErrorKind, Line, Scanner, UnitScanner, Value};

/// Limit on the readable lines that vote.
pub(crate) const MAX_LINES: usize = 64;

/// The number of first lines of which one may say that the input is no document.
const MAX_FIRST: usize = 8;

/// Limit on the bytes that are split into the records of documents.
pub(crate) const MAX_HEAD: usize = 256 * 1024;

/// The detected format of a file.
#[derive(Clone, Copy, Debug)]
pub enum Detected {
    /// A supported format.
    Format(&'static Format),
    /// Two formats have the same number of votes.
    Ambiguous(&'static Format, &'static Format),
    /// The name of a format that is recognized and not supported.
    Foreign(&'static str),
    /// The name of a kind of archive, or of compressed files, whose content may be sessions.
    Archive(&'static str),
    /// No format got a vote.
    Unknown,
    /// The file has no line with content.
    Empty,
}

/// Returns whether a line, or its value if it has one, is in a certain format.
type IsForeign = fn(&[u8], Option<Value<'_>>) -> bool;

/// Formats that are recognized and not supported.
const FOREIGN: &[(&str, IsForeign)] = &[
    ("UTF-16 text", |line, _| line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff")),
    ("a gzip file", |line, _| line.starts_with(b"\x1f\x8b")),
    ("a zstd file", |line, _| line.starts_with(b"\x28\xb5\x2f\xfd")),
];

/// Returns whether an input has a certain start.
type HasStart = fn(&[u8]) -> bool;

/// Archives, and compressed files that are not expanded, by the start of the input. Files in an archive may be sessions
/// whose lines would get votes.
const ARCHIVES: &[(&str, HasStart)] = &[
    ("a tar archive", is_tar),
    ("a zip archive", |head| {
        [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"].iter().any(|magic| head.starts_with(*magic))
    }),
    ("a 7z archive", |head| head.starts_with(b"7z\xbc\xaf\x27\x1c")),
    ("a rar archive", |head| head.starts_with(b"Rar!\x1a\x07")),
    ("an xz file", |head| head.starts_with(b"\xfd7zXZ\0")),
    ("a bzip2 file", |head| {
        head.starts_with(b"BZh") && head.get(4..10).is_some_and(|it| it == b"1AY&SY")
    }),
];

/// Returns whether an input starts like a tar archive: the name of a file, filled up with zeros, and `ustar` at
/// byte 257.
fn is_tar(head: &[u8]) -> bool {
    head.get(257..262).is_some_and(|magic| magic == b"ustar")
        && head.get(..257).is_some_and(|fields| fields.contains(&0))
}

/// The votes for one format.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    n: u32,
    /// The number of lines about which the format was not asked.
    n_unasked: u32,
}

impl Votes {
    /// Returns the highest possible number of votes.
    fn at_most(self) -> u32 {
        self.n + self.n_unasked
    }

    /// Adds the vote of a line, or none if it could not make more than `limit` votes.
    fn add(&mut self, limit: Option<u32>, is_of_format: impl FnOnce() -> bool) {
        if limit.is_some_and(|limit| self.at_most() < limit) {
            self.n_unasked += 1;
        } else {
            self.n += u32::from(is_of_format());
        }
    }
}

/// The votes of the lines of one file: of its first 64 lines that are JSON, or of fewer, if no other format can
/// get as many votes any more.
#[derive(Debug)]
pub struct Ballot {
    formats: Formats,
    votes: Vec<Votes>,
    /// The formats whose records the start of the input has, as one document.
    documents: Vec<&'static Format>,
    /// Whether the documents count more than the votes of lines.
    is_document: bool,
    /// Whether the first line with content is no whole value.
    is_open: bool,
    foreign: Vec<Votes>,
    /// The name of the kind of archive that the input is; `None` for other inputs.
    archive: Option<&'static str>,
    /// Whether a format is not asked about a line if it stays behind anyway.
    is_thrifty: bool,
    n_lines: usize,
    n_seen: usize,
    /// The number of lines in the input; very large if it is unknown.
    n_all: usize,
    is_empty: bool,
}

impl Ballot {
    /// Creates a ballot without votes.
    pub fn new(formats: Formats) -> Self {
        Self {
            formats,
            votes: vec![Votes::default(); formats.len()],
            documents: Vec::new(),
            is_document: false,
            is_open: false,
            foreign: vec![Votes::default(); FOREIGN.len()],
            archive: None,
            is_thrifty: false,
            n_lines: 0,
            n_seen: 0,
            n_all: usize::MAX,
            is_empty: true,
        }
    }

    /// Creates a ballot that asks only the leading format about a line, as long as no other can overtake
    /// it. The result holds if it [is certain](Ballot::is_certain).
    pub fn thrifty(formats: Formats) -> Self {
        Self { is_thrifty: true, ..Self::new(formats) }
    }

    /// Returns whether the result is that of [`Ballot::new`], which asks each format about each line.
    pub fn is_certain(&self) -> bool {
        let most = self.most();
        let is_behind = |votes: &Votes, limit| votes.n_unasked == 0 || votes.at_most() < limit;
        self.votes.iter().all(|votes| is_behind(votes, most))
            && self.foreign.iter().all(|votes| is_behind(votes, most + 1))
    }

    /// Returns a ballot of the same input that asks each format about each line.
    #[must_use]
    pub fn exact(self) -> Self {
        let Self { documents, is_document, n_all, .. } = self;
        Self { documents, is_document, n_all, ..Self::new(self.formats) }
    }

    /// Adds the votes of the first bytes of the input, as the start of a document.
    pub fn push_head(&mut self, head: &[u8]) {
        let content = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
        let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[')) {
            return;
        }
        let head = head.get(..MAX_HEAD).unwrap_or(head);
        let has_record = self.has_record(head);
        if has_record && !opens_over_lines(head) {
            return;
        }
        for format in self.formats.iter().filter(|format| is_document_of(format, head)) {
            let goes_on = goes_on_over_lines(format, head);
            self.is_document |= goes_on;
            if goes_on || !has_record {
                self.documents.push(format);
            }
        }
    }

    /// Returns whether one of the first lines is a record of a format of lines. It gets a vote, and documents count
    /// only if no line has one, or if the first line goes on in the others. So files of lines are not split as
    /// documents.
    fn has_record(&self, head: &[u8]) -> bool {
        let mut scanner = Scanner::default();
        jsonl::lines(head).take(MAX_FIRST).any(|line| {
            scanner.scan(&line).is_ok_and(|value| {
                let is_of =
                    |format: &Format| !format.framing.is_document() && (format.detect)(value);
                self.formats.iter().any(|format| is_of(format))
            })
        })
    }

    /// Returns whether no line has a vote, or the first line is no whole value, so that the start of the input decides,
    /// as [`Ballot::push_head`] reads it.
    pub fn needs_head(&self) -> bool {
        self.formats.has_documents() && (self.most() == 0 || self.is_open)
    }

    /// Returns whether the first bytes are the start of a document.
    pub fn has_document(&self) -> bool {
        !self.documents.is_empty()
    }

    /// Sets the number of lines in the input. The vote then ends once no other format can win.
    pub(crate) fn set_n_lines(&mut self, n_lines: usize) {
        self.n_all = n_lines;
    }

    /// Adds the votes of a line. Returns whether more lines are needed.
    pub fn push(&mut self, line: &Line<'_>, value: Option<Value<'_>>) -> bool {
        if self.n_seen == 0 && value.is_none() {
            let mut archives = ARCHIVES.iter();
            let found = archives.find(|(_, is_archive)| is_archive(line.bytes()));
            self.archive = found.map(|(name, _)| *name);
            if self.archive.is_some() {
                return false;
            }
        }
        self.is_open |= self.is_empty && !line.is_blank() && value.is_none();
        self.is_empty &= line.is_blank();
        self.n_seen += 1;
        self.n_lines += usize::from(value.is_some());
        let Some(value) = value else {
            for (votes, (_, is_foreign)) in self.foreign.iter_mut().zip(FOREIGN) {
                votes.add(None, || is_foreign(line.content(), None));
            }
            return self.n_seen < MAX_LINES * 16;
        };
        let is_of = |format: &Format| !format.framing.is_document() && (format.detect)(value);
        let (leader, limit) = self.lead(&is_of);
        for (format_idx, votes) in self.votes.iter_mut().enumerate() {
            if Some(format_idx) != leader
                && let Some(format) = self.formats.get(format_idx)
            {
                votes.add(limit.map(|votes| votes - 1), || is_of(format));
            }
        }
        for (votes, (_, is_foreign)) in self.foreign.iter_mut().zip(FOREIGN) {
            votes.add(limit, || is_foreign(line.content(), Some(value)));
        }
        self.n_lines < MAX_LINES && !self.is_decided()
    }

    /// Asks the leading format about a line, if the ballot is thrifty and a format leads. Returns its place,
    /// and its votes if it got another one.
    fn lead(&mut self, is_of: &impl Fn(&Format) -> bool) -> (Option<usize>, Option<u32>) {
        let most = self.most();
        if !self.is_thrifty || most == 0 {
            return (None, None);
        }
        let leader = self.votes.iter().position(|votes| votes.n == most);
        let Some((format_idx, format)) = leader.and_then(|it| Some((it, *self.formats.get(it)?)))
        else {
            return (None, None);
        };
        let has_vote = is_of(format);
        if let Some(votes) = self.votes.get_mut(format_idx) {
            votes.n += u32::from(has_vote);
        }
        (Some(format_idx), has_vote.then_some(most + 1))
    }

    /// Returns the most votes of a format.
    fn most(&self) -> u32 {
        self.votes.iter().map(|votes| votes.n).max().unwrap_or(0)
    }

    /// Returns whether the remaining lines cannot change the result.
    fn is_decided(&self) -> bool {
        let most = self.most();
        let n_left = self.n_all.saturating_sub(self.n_seen);
        let rest = (MAX_LINES - self.n_lines).min(n_left) as u32;
        let all = self.votes.iter().chain(&self.foreign);
        // Decided once a single format can still get the most votes.
        all.filter(|votes| votes.at_most() + rest >= most).count() == 1
    }

    /// Counts the votes.
    pub fn result(&self) -> Detected {
        if let Some(name) = self.archive {
            return Detected::Archive(name);
        }
        let most = self.most();
        let foreign = self.foreign.iter().zip(FOREIGN).max_by_key(|(votes, _)| votes.n);
        if most == 0 || self.is_document {
            match self.documents[..] {
                [] => {}
                [one] => return Detected::Format(one),
                [one, other, ..] => return Detected::Ambiguous(one, other),
            }
        }
        if let Some((votes, (name, _))) = foreign
            && votes.n > most
        {
            return Detected::Foreign(name);
        }
        if most == 0 {
            return if self.is_empty { Detected::Empty } else { Detected::Unknown };
        }
        let mut winners = self.formats.iter().zip(&self.votes).filter(|(_, votes)| votes.n == most);
        match (winners.next(), winners.next()) {
            (Some((one, _)), Some((other, _))) => Detected::Ambiguous(one, other),
            (Some((one, _)), None) => Detected::Format(one),
            _ => Detected::Unknown,
        }
    }
}

/// Returns whether the start of an input has the head or a record of a format of documents.
fn is_document_of(format: &Format, head: &[u8]) -> bool {
    let Framing::Document(paths) = format.framing else { return false };
    let (mut document, mut units) = (Document::new(head, paths), UnitScanner::default());
    let mut n_records = 0;
    // Reading a slice does not fail.
    while let Ok(Some(unit)) = document.next()
        && n_records < MAX_LINES
    {
        n_records += usize::from(!unit.is_glue());
        if let (_, Ok(value)) = units.scan(&unit, paths)
            && (format.detect)(value)
        {
            return true;
        }
    }
    if n_records > 1 {
        return false;
    }
    // The first record may be longer than the head: it has the carry of all that no other record shows.
    let whole = closed(head);
    Scanner::default().scan_slice(&whole, 0).is_ok_and(|value| (format.detect)(value))
}

/// Returns whether the first line with content is no whole value.
fn opens_over_lines(head: &[u8]) -> bool {
    let mut scanner = Scanner::default();
    let mut lines = jsonl::lines(head).filter(|line| !line.is_blank());
    lines.next().is_some_and(|line| scanner.scan(&line).is_err())
}

/// Returns whether an input whose first line is no whole value goes on as a document, although lines of the input may be
/// records of a format of lines. The members before the first record are valid, and a comma or the end of the array
/// follows the record. No line of a file of lines ends so, however it is damaged.
///
/// ```text
/// {"sessionId":"s","messages":[
/// {"id":"1","type":"user"},
/// {"id":"2","type":"gemini"}
/// ]}
/// ```
fn goes_on_over_lines(format: &Format, head: &[u8]) -> bool {
    let Framing::Document(paths) = format.framing else { return false };
    if !opens_over_lines(head) {
        return false;
    }
    let (mut document, mut units) = (Document::new(head, paths), UnitScanner::default());
    let mut has_record = false;
    // Reading a slice does not fail.
    while let Ok(Some(unit)) = document.next() {
        if !unit.is_glue() {
            has_record = true;
            if unit.end() >= MAX_HEAD as u64 {
                return true;
            }
            continue;
        }
        let (unit, value) = units.scan(&unit, paths);
        let is_valid = value.map_or_else(|error| error.kind == ErrorKind::Empty, |_| true);
        if has_record {
            let count = |byte: u8| unit.bytes().iter().filter(|it| **it == byte).count();
            return is_valid && (count(b',') == 1 || count(b']') > 0);
        }
        if !is_valid {
            return false;
        }
    }
    false
}

/// Closes a JSON object that is cut, after the last member of the object, or of an object in it, that is whole.
///
/// ```text
/// in   {"info":{"id":"ses_1","slug":"a","metadata":{"conv
/// out  {"info":{"id":"ses_1","slug":"a"}}
/// ```
fn closed(head: &[u8]) -> Vec<u8> {
    let (mut closers, mut is_string, mut is_escaped) = (Vec::new(), false, false);
    let (mut end, mut end_closers) = (0, Vec::new());
    for (at, byte) in head.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' => closers.push(b'}'),
            b'[' => closers.push(b']'),
            b'}' | b']' => _ = closers.pop(),
            b',' if closers.len() <= 2 => {
                end = at;
                end_closers.clone_from(&closers);
            }
            _ => {}
        }
    }
    let mut closed = head.get(..end).unwrap_or_default().to_vec();
    closed.extend(end_closers.iter().rev());
    closed
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::Source;

    static FORMATS: Formats = Formats::new(&[
        &format_claude_code::FORMAT,
        &format_clido::FORMAT,
        &format_sdk_stream::DUMP,
        &format_sdk_stream::WIRE,
    ]);

    const LINES: [&str; 6] = [
        r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user"}}"#,
        r#"{"type":"title","title":"t"}"#,
        r#"{"type":"system","subtype":"init","session_id":"s","uuid":"u"}"#,
        r#"{"sessionId":"s","projectHash":"p"}"#,
        r#"{"a":1}"#,
        "{",
    ];

    /// Votes on lines. Returns the result, whether it is certain, and the number of lines about which a
    /// format was not asked.
    fn vote(mut ballot: Ballot, lines: &[&str], n_lines: Option<usize>) -> (String, bool, u32) {
        if let Some(n_lines) = n_lines {
            ballot.set_n_lines(n_lines);
        }
        let mut scanner = Scanner::default();
        for line in lines {
            let line = Line::new(line.as_bytes(), 0);
            if !ballot.push(&line, scanner.scan(&line).ok()) {
                break;
            }
        }
        let result = match ballot.result() {
            Detected::Format(format) => format.name.to_owned(),
            Detected::Ambiguous(one, other) => format!("{} or {}", one.name, other.name),
            other => format!("{other:?}"),
        };
        let n_unasked = ballot.votes.iter().map(|votes| votes.n_unasked).sum();
        (result, ballot.is_certain(), n_unasked)
    }

    static BOOK: Format = format_clido::FORMAT.framing(Framing::Document(&["messages"]));
    static WITH_BOOK_AND_LINES: Formats = Formats::new(&[&format_clido::FORMAT, &BOOK]);
    static WITH_BOOK: Formats = Formats::new(&[&format_claude_code::FORMAT, &BOOK]);

    #[test]
    fn an_archive_of_sessions_is_no_session() {
        let mut tar = vec![0; 512];
        tar[..7].copy_from_slice(b"a.jsonl");
        tar[257..262].copy_from_slice(b"ustar");
        for (start, name) in [
            (&*tar, "a tar archive"),
            (b"PK\x03\x04\x14\0a.jsonl", "a zip archive"),
            (b"PK\x05\x06", "a zip archive"),
            (b"\xfd7zXZ\0", "an xz file"),
            (b"BZh91AY&SY", "a bzip2 file"),
        ] {
            let lines = [LINES[0], LINES[0], ""].join("\n");
            let bytes = [start, lines.as_bytes()].concat();
            let found = crate::detect_format(FORMATS, &mut Source::new(Cursor::new(&bytes)));
            let found = found.expect("read");
            assert!(matches!(found, Detected::Archive(it) if it == name), "{name}: {found:?}");
        }
        // The bytes in a line are no start of an archive.
        for line in [format!("{}ustar", " ".repeat(257)), "PK\u{3}\u{4}".to_owned()] {
            let bytes = [LINES[0], &*line, LINES[0], ""].join("\n");
            let found = crate::detect_format(FORMATS, &mut Source::new(Cursor::new(&bytes)));
            let found = found.expect("read");
            assert!(matches!(found, Detected::Format(it) if it.name == "claude-code"), "{found:?}");
        }
    }

    #[test]
    fn files_of_lines_are_not_split_as_documents() {
        let document = format!(r#"{{"messages":[{}]}}"#, LINES[1]);
        let over_lines = document.replace(',', "\n,");
        for (head, has_document) in [
            (document.clone(), true),
            (over_lines, true),
            (format!("{}\n{document}", LINES[0]), false),
            (format!("{document}\n{}", LINES[0]), false),
        ] {
            let mut ballot = Ballot::new(WITH_BOOK);
            ballot.push_head(head.as_bytes());
            assert_eq!(ballot.has_document(), has_document, "{head}");
            assert!(ballot.needs_head());
        }
    }

    #[test]
    fn a_document_with_a_record_on_a_line_is_no_file_of_lines() {
        let record = LINES[1];
        let large = format!(r#"{{"type":"title","title":"{}"}}"#, "t".repeat(MAX_HEAD));
        for (head, is_document) in [
            (format!("{{\"messages\":[\n{record},\n{record}\n]}}\n"), true),
            (format!("\n{{\"a\":1,\n\"messages\": [\n{record}\n ] }}\n"), true),
            (format!("{{\"messages\":[\n{record},\n"), true),
            (
                format!(
                    "{{\"type\":\"title\",\"title\":\"t\",\"messages\":[\n{large},\n{record}\n]}}\n"
                ),
                true,
            ),
            // Lines of which the first one is damaged.
            (format!("{{\"messages\":[\n{record}\n{record}\n"), false),
            (format!("{{\"messages\":[\n{record}\n"), false),
            (format!("{{\"a\":\n{record}\n{record}\n"), false),
            (format!("{{\"type\":\"title\",\"ti\n{record}\n{record}\n"), false),
            // Lines of which the first one is a document.
            (format!("{{\"messages\":[{record}]}}\n{record}\n"), false),
        ] {
            let mut ballot = Ballot::new(WITH_BOOK_AND_LINES);
            let mut scanner = Scanner::default();
            for line in jsonl::lines(head.as_bytes()) {
                ballot.push(&line, scanner.scan(&line).ok());
            }
            if ballot.needs_head() {
                ballot.push_head(head.as_bytes());
            }
            let Detected::Format(found) = ballot.result() else { panic!("{head:.200}") };
            assert_eq!(found.framing.is_document(), is_document, "{head:.200}");
        }
    }

    #[test]
    fn a_certain_result_is_the_exact_one() {
        let (mut results, mut n_certain) = (Vec::new(), 0);
        for length in 1..=5 {
            for case in 0..LINES.len().pow(length) {
                let place = |at| LINES[case / LINES.len().pow(at) % LINES.len()];
                let lines: Vec<_> = (0..length).map(place).collect();
                for n_lines in [None, Some(lines.len())] {
                    let (exact, is_certain, _) = vote(Ballot::new(FORMATS), &lines, n_lines);
                    assert!(is_certain);
                    let (result, is_certain, _) = vote(Ballot::thrifty(FORMATS), &lines, n_lines);
                    if is_certain {
                        assert_eq!(result, exact, "{lines:?}");
                        n_certain += 1;
                    }
                    if !results.contains(&exact) {
                        results.push(exact);
                    }
                }
            }
        }
        assert!(results.len() >= 6, "{results:?}");
        assert!(n_certain > 2 * 6_usize.pow(5) * 3 / 4, "{n_certain}");
        let same = [LINES[0]; 9];
        assert_eq!(
            vote(Ballot::thrifty(FORMATS), &same, None),
            ("claude-code".to_owned(), true, 24)
        );
    }
}
