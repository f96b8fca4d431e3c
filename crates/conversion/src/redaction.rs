//! `--redact`: what is read are the lines of the source without their secrets.
//!
//! Lines are redacted before anybody reads them: so the target, the carry, the sidecar, and what
//! rides along of a damaged line all come from the redacted source, and the way back gives that.
//! What a source carries of another one is left out: whole lines may be in it, in pieces.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Read, Write},
};

use core_model::{Formats, Place};
use jsonl::{Line, Scanner, Stream};
use memchr::memmem;
use secrets::Search;

use crate::{
    carry::{MEMBER, strip::without_carry},
    pipeline::report::MAX_PLACES,
};

/// What was taken out of a source.
#[derive(Clone, Debug, Default)]
pub struct Redactions {
    rules: BTreeMap<&'static str, Redacted>,
    /// How many lines carried lines of another format, which were left out.
    pub n_carries: u64,
}

/// The secrets of one rule.
#[derive(Clone, Debug, Default)]
pub struct Redacted {
    /// How many there were.
    pub count: u64,
    /// Where the first of them lay, at most [`MAX_PLACES`].
    pub places: Vec<Place>,
}

impl Redactions {
    /// Returns the rules that something fitted, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Redacted)> {
        self.rules.iter().map(|(rule, redacted)| (*rule, redacted))
    }

    /// Returns whether nothing was taken out.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.n_carries == 0
    }

    /// Adds what was taken out of another file.
    pub fn absorb(&mut self, other: Redactions) {
        self.n_carries += other.n_carries;
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

/// Copies lines without their secrets and without what they carry.
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
/// Those of reading and writing.
pub fn redact(formats: Formats, source: impl Read, sink: &mut dyn Write) -> io::Result<Redactions> {
    redact_with(Search::new(), formats, source, sink)
}

/// Copies lines as [`redact`] does, without what a search finds.
pub fn redact_with(
    mut search: Search,
    formats: Formats,
    source: impl Read,
    sink: &mut dyn Write,
) -> io::Result<Redactions> {
    let (mut redactions, mut scanner) = (Redactions::default(), Scanner::default());
    let mut stream = Stream::new(source);
    let mut redacted = Vec::new();
    let mut number = 0;
    while let Some(line) = stream.next()? {
        number += 1;
        let offset = line.offset();
        let bytes = match memmem::find(line.bytes(), MEMBER.as_bytes()) {
            Some(_) => visible(&line, formats, &mut scanner, &mut redactions),
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

/// Returns a line without what it carries.
fn visible<'l>(
    line: &Line<'l>,
    formats: Formats,
    scanner: &mut Scanner,
    redactions: &mut Redactions,
) -> Cow<'l, [u8]> {
    let visible = match scanner.scan(line) {
        Ok(value) => without_carry(line, value, formats).map(Cow::Owned),
        Err(_) => without_torn_carries(line.bytes()).map(Cow::Owned),
    };
    redactions.n_carries += u64::from(visible.is_some());
    visible.unwrap_or(Cow::Borrowed(line.bytes()))
}

/// Returns the bytes of a damaged line with nothing in its carries, if it has any.
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
