//! Removes secrets from a source before it is converted (`--redact`).
//!
//! In: `{"text":"https://ada:pa55word@example.org"}`. Out:
//! `{"text":"https://ada:[REDACTED:url-password]@example.org"}`. Redaction comes before parsing:
//! the target, the carry and the sidecar are all made of the redacted source, and the way back
//! gives the redacted source. Carries in the source are left out, because they may hold secrets in
//! pieces.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Cursor, Read, Write},
};

use core_model::{Formats, Framing, Place};
use jsonl::{Line, Records, Scanner, UnitScanner};
use memchr::memmem;
use secrets::Search;

use crate::{
    carry::{MEMBER, strip::without_carry},
    detect::{Ballot, Detected, MAX_HEAD},
    pipeline::report::MAX_PLACES,
};

/// The secrets and carries that were removed from a source.
#[derive(Clone, Debug, Default)]
pub struct Redactions {
    rules: BTreeMap<&'static str, Redacted>,
    /// Lines whose carries were left out.
    pub n_carries: u64,
    /// Sidecars of other formats that were left out.
    pub n_sidecars: u64,
}

/// The secrets that one rule found.
#[derive(Clone, Debug, Default)]
pub struct Redacted {
    /// The number of secrets.
    pub count: u64,
    /// The places of the first secrets, at most [`MAX_PLACES`].
    pub places: Vec<Place>,
}

impl Redactions {
    /// Returns the rules that found secrets, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Redacted)> {
        self.rules.iter().map(|(rule, redacted)| (*rule, redacted))
    }

    /// Returns whether nothing was removed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.n_carries + self.n_sidecars == 0
    }

    /// Adds the counts of another file.
    pub fn absorb(&mut self, other: Redactions) {
        self.n_carries += other.n_carries;
        self.n_sidecars += other.n_sidecars;
        for (rule, more) in other.rules {
            let redacted = self.rules.entry(rule).or_default();
            redacted.count += more.count;
            let room = MAX_PLACES.saturating_sub(redacted.places.len());
            redacted.places.extend(more.places.into_iter().take(room));
        }
    }

    fn add(&mut self, rule: &'static str, place: Place) {
        let redacted = self.rules.entry(rule).or_default();
        redacted.count += 1;
        if redacted.places.len() < MAX_PLACES {
            redacted.places.push(place);
        }
    }
}

/// Copies lines without their secrets and without their carries. The copy does not restore the
/// bytes of an original source: converting it back converts the visible lines.
///
/// ```
/// use core_model::Formats;
///
/// static FORMATS: Formats = Formats::new(&[&format_clido::FORMAT]);
///
/// let mut redacted = Vec::new();
/// let source = &b"{\"text\":\"https://ada:pa55word@example.org\"}\n"[..];
/// let redactions = conversion::redact(FORMATS, source, &mut redacted)?;
/// assert_eq!(redacted, b"{\"text\":\"https://ada:[REDACTED:url-password]@example.org\"}\n");
/// let (rule, found) = redactions.iter().next().expect("a rule");
/// assert_eq!((rule, found.count, found.places[0].line), ("url-password", 1, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the source cannot be read or the sink cannot be written.
pub fn redact(formats: Formats, source: impl Read, sink: &mut dyn Write) -> io::Result<Redactions> {
    redact_with(Search::new(), formats, source, sink)
}

/// Copies lines as [`redact`] does, without the secrets that a given search finds. A JSON document is
/// copied by its records, so that the strings of each are unescaped, however it is broken into lines.
///
/// # Errors
///
/// As for [`redact`].
pub fn redact_with(
    mut search: Search,
    formats: Formats,
    mut source: impl Read,
    sink: &mut dyn Write,
) -> io::Result<Redactions> {
    let mut head = Vec::new();
    if formats.has_documents() {
        source.by_ref().take(MAX_HEAD as u64).read_to_end(&mut head)?;
    }
    let framing = framing_of(formats, &head);
    let (mut redactions, mut units) = (Redactions::default(), UnitScanner::default());
    let mut records = Records::new(Cursor::new(head).chain(source), framing);
    let mut redacted = Vec::new();
    let mut number = 0;
    while let Some(line) = records.next()? {
        number += u64::from(!line.is_glue());
        let offset = line.offset();
        let bytes = match memmem::find(line.bytes(), MEMBER.as_bytes()) {
            Some(_) => match visible(&line, framing, formats, &mut units) {
                Some(visible) => {
                    redactions.n_carries += 1;
                    Cow::Owned(visible)
                }
                None => Cow::Borrowed(line.bytes()),
            },
            None => Cow::Borrowed(line.bytes()),
        };
        redacted.clear();
        search.redact(&Line::new(&bytes, offset), &mut redacted, &mut |finding| {
            redactions.add(finding.rule.name, Place { line: number, offset });
        });
        sink.write_all(&redacted)?;
    }
    Ok(redactions)
}

/// Returns the framing of an input from its first bytes: a document, or lines.
fn framing_of(formats: Formats, head: &[u8]) -> Framing {
    let mut ballot = Ballot::new(formats);
    ballot.push_head(head);
    if !ballot.has_document() {
        return Framing::Lines;
    }
    // The first line of a file of lines may look like a document.
    let mut scanner = Scanner::default();
    for line in jsonl::lines(head) {
        if !ballot.push(&line, scanner.scan(&line).ok()) {
            break;
        }
    }
    match ballot.result() {
        Detected::Format(format) | Detected::Ambiguous(format, _) => format.framing,
        _ => Framing::Lines,
    }
}

/// Returns a line or a unit of a document without its carry; `None` if it has none.
fn visible(
    line: &Line<'_>,
    framing: Framing,
    formats: Formats,
    units: &mut UnitScanner,
) -> Option<Vec<u8>> {
    match units.scan(line, framing.paths()) {
        (unit, Ok(value)) => without_carry(&unit, value, formats),
        (_, Err(_)) => without_torn_carries(line.bytes()),
    }
}

/// Returns the bytes of a damaged line with empty carries; `None` if it has no carry.
fn without_torn_carries(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut done) = (Vec::new(), 0);
    for found in memmem::find_iter(bytes, MEMBER.as_bytes()) {
        let key_end = found + MEMBER.len();
        if key_end < done {
            continue;
        }
        let rest = bytes.get(key_end..)?;
        let n_between = rest.iter().take_while(|byte| b"\\\": ".contains(byte)).count();
        let start = key_end + n_between;
        let end = memchr::memchr(b'"', bytes.get(start..)?).map_or(bytes.len(), |at| start + at);
        out.extend_from_slice(bytes.get(done..start)?);
        done = end;
    }
    out.extend_from_slice(bytes.get(done..)?);
    (done > 0).then_some(out)
}
