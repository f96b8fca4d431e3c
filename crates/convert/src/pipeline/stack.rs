//! Which formats a source was converted from.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek},
};

use core_model::Format;
use jsonl::{Line, Scanner};

use crate::{
    carry::{
        Carry, Contents, Member, guard_of,
        restore::{Item, Restorer},
        sidecar::Sidecar,
    },
    detect::MAX_LINES,
    formats::{FORMATS, by_tag},
    pipeline::source::Source,
};

/// What a source was converted from.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// The formats, the latest first.
    pub(crate) formats: Vec<&'static Format>,
    /// What the first carry says of the files of the source before it.
    pub(crate) contents: Option<Contents>,
    /// Whether one of the sources on the way was several files.
    pub(crate) is_several: bool,
    /// Whether the sidecar beside the source is of another file, which had the name before.
    pub(crate) has_foreign_sidecar: bool,
}

impl Stack {
    /// Returns how many formats lie between the source and a format that it came from.
    pub(crate) fn depth(&self, format: &Format) -> Option<usize> {
        self.formats.iter().position(|known| known.name == format.name)
    }
}

/// Returns what a source was converted from.
///
/// It was, if one of its first two lines has a carry: lines without one come later.
pub(crate) fn stack<R: Read + Seek + Send>(
    from: &'static Format,
    source: &mut Source<R>,
    sidecar: Option<&Sidecar>,
) -> io::Result<Stack> {
    let mut head: Vec<Vec<u8>> = Vec::new();
    let mut n_plain = 0;
    source.for_each_piece(Some(from), &mut |line, value| {
        n_plain += usize::from(value.is_ok_and(|value| !Member::is_in(value)));
        head.push(line.bytes().to_vec());
        // Most sources carry nothing, and their first two lines tell.
        head.len() < MAX_LINES && (head.len() != 2 || n_plain < 2 || sidecar.is_some())
    })?;
    let mut stack: Vec<&'static Format> = Vec::new();
    let (mut contents, mut is_several) = (None, false);
    let mut scanner = Scanner::default();
    let has_foreign_sidecar =
        sidecar.is_some_and(|sidecar| is_foreign(sidecar, &head, &mut scanner));
    let sidecar = sidecar.filter(|_| !has_foreign_sidecar);
    let mut sidecar = sidecar.map(|sidecar| sidecar.head(MAX_LINES));
    loop {
        let of_sidecar = sidecar.as_ref().and_then(Sidecar::first).and_then(Carry::parse);
        let found = match of_sidecar {
            Some(carry) => by_tag(carry.tag).map(|format| (format, carry.contents)),
            None => carried_format(&head, &mut scanner),
        };
        let Some((format, of_carry)) = found else { break };
        is_several |= of_carry.as_ref().is_some_and(|contents| contents.volumes.len() > 1);
        if stack.is_empty() {
            contents = of_carry;
        }
        if contents.as_ref().is_some_and(Contents::is_derived) {
            break;
        }
        let is_known = format.name == from.name || stack.iter().any(|it| it.name == format.name);
        if is_known || stack.len() > FORMATS.len() {
            break;
        }
        stack.push(format);
        let mut restorer = Restorer::new(format.tag, format.style, sidecar.take());
        for line in &head {
            let line = Line::new(line, 1);
            restorer.push(&line, scanner.scan(&line).ok());
        }
        restorer.finish();
        // A second file's lines say nothing of where the first came from, unless that has none.
        let mut restored: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
        while let Some((file_idx, item)) = restorer.next_item() {
            if let Item::Restored { bytes, .. } = item {
                restored.entry(file_idx).or_default().push(bytes);
            }
        }
        head = restored.into_values().next().unwrap_or_default();
    }
    Ok(Stack { formats: stack, contents, is_several, has_foreign_sidecar })
}

/// Returns whether lines have carries of their own, of which the sidecar knows none.
fn is_foreign(sidecar: &Sidecar, head: &[Vec<u8>], scanner: &mut Scanner) -> bool {
    let is_known = |bytes: &Vec<u8>| sidecar.knows(guard_of(&[Line::new(bytes, 0).content()]));
    carried_format(head, scanner).is_some() && !head.iter().any(is_known)
}

/// Returns the format that one of the first two objects carries, and what it says of files.
fn carried_format(
    head: &[Vec<u8>],
    scanner: &mut Scanner,
) -> Option<(&'static Format, Option<Contents>)> {
    let mut n_objects = 0;
    for (n, bytes) in head.iter().enumerate() {
        let line = Line::new(bytes, n as u64);
        let Ok(value) = scanner.scan(&line) else { continue };
        let member = Member::find(value);
        if let Some(carry) = member.as_ref().and_then(|member| Carry::parse(&member.carry)) {
            // A session that was continued elsewhere and came home: its own lines come first, and
            // the carries know nothing of what stood before them.
            let is_continued = n_objects > 0
                && !carry.records.is_empty()
                && carry.records.iter().all(|record| record.offset > 0);
            let format = by_tag(carry.tag).filter(|_| !is_continued)?;
            return Some((format, carry.contents));
        }
        n_objects += 1;
        if n_objects == 2 {
            break;
        }
    }
    None
}
