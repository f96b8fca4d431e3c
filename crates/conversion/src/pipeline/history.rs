//! Which formats a source was converted from.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io::{self, Read, Seek},
};

use core_model::{Format, Formats};
use jsonl::{Line, Scanner};

use crate::{
    carry::{
        Carry, CarryError, Manifest, Member, guard_of,
        restore::{Item, Restorer},
        sidecar::Sidecar,
    },
    detect::MAX_LINES,
    pipeline::source::Source,
};

/// What a source was converted from.
#[derive(Debug, Default)]
pub struct ConversionHistory {
    /// The formats, the latest first.
    pub formats: Vec<&'static Format>,
    /// What the first carry says of the files of the source before it.
    pub contents: Option<Manifest>,
    /// Whether one of the sources on the way was several files.
    pub is_several: bool,
    /// Whether the sidecar beside the source is of another file, which had the name before.
    pub has_foreign_sidecar: bool,
    /// Why nobody can say what the source was converted from, though it has carries.
    pub fault: Option<CarryError>,
}

impl ConversionHistory {
    /// Returns how many formats lie between the source and a format that it came from.
    pub fn depth(&self, format: &Format) -> Option<usize> {
        self.formats.iter().position(|known| known.name == format.name)
    }
}

/// Stands for a line without a carry, whose bytes nothing asks for.
const PLAIN: &[u8] = b"{}\n";

/// The first lines of a file, each with the carry that a sidecar has for it.
#[derive(Default)]
struct Head {
    lines: Vec<(Vec<u8>, Option<String>)>,
    /// The sidecar's first carry.
    first: Option<String>,
    /// The sidecar's carries for other lines, or for none.
    orphans: Vec<String>,
}

/// Returns what a source was converted from.
///
/// It was, if one of its first two lines has a carry: lines without one come later.
pub fn conversion_history<R: Read + Seek + Send>(
    formats: Formats,
    from: &'static Format,
    source: &mut Source<R>,
    mut sidecar: Option<&mut Sidecar>,
) -> io::Result<ConversionHistory> {
    let mut head = Head::default();
    let mut n_plain = 0;
    source.for_each_piece(&[from], &mut |line, value| {
        let is_plain = value.is_ok_and(|value| !Member::is_in(value));
        n_plain += usize::from(is_plain);
        // Only a sidecar has carries for lines without one. Their bytes may be many.
        let is_needed = sidecar.is_some() || !is_plain;
        head.lines.push((if is_needed { line.bytes() } else { PLAIN }.to_vec(), None));
        // Most sources carry nothing, and their first two lines tell.
        head.lines.len() < MAX_LINES && (head.lines.len() != 2 || n_plain < 2 || sidecar.is_some())
    })?;
    let mut found = ConversionHistory::default();
    let mut scanner = Scanner::default();
    if let Some(sidecar) = &mut sidecar {
        found.has_foreign_sidecar = head.is_not_of(formats, sidecar, &mut scanner)?;
        if !found.has_foreign_sidecar {
            head.attach(sidecar.head(MAX_LINES)?);
        }
    }
    let mut written = from;
    loop {
        let (format, of_carry) = match head.carried_format(formats, &mut scanner) {
            Ok(Some(carried)) => carried,
            Ok(None) => break,
            Err(fault) => {
                // Further down, the restorer counts them.
                found.fault = found.formats.is_empty().then_some(fault);
                break;
            }
        };
        found.is_several |= of_carry.as_ref().is_some_and(|contents| contents.entries.len() > 1);
        if found.formats.is_empty() {
            found.contents = of_carry;
        }
        if found.contents.as_ref().is_some_and(Manifest::is_derived) {
            break;
        }
        let is_known =
            format.name == from.name || found.formats.iter().any(|it| it.name == format.name);
        if is_known || found.formats.len() > formats.len() {
            break;
        }
        found.formats.push(format);
        head = head.restored(format, written, &mut scanner)?;
        written = format;
    }
    Ok(found)
}

impl Head {
    /// Gives the lines the carries that a sidecar has for them.
    fn attach(&mut self, carries: Vec<String>) {
        let mut places: HashMap<Option<u64>, VecDeque<usize>> = HashMap::new();
        for (place, carry) in carries.iter().enumerate() {
            places.entry(Carry::guard_in(carry)).or_default().push_back(place);
        }
        self.first = carries.first().cloned();
        let mut carries: Vec<Option<String>> = carries.into_iter().map(Some).collect();
        for (line, carry) in &mut self.lines {
            let guard = guard_of(&[Line::new(line, 0).content()]);
            let place = places.get_mut(&Some(guard)).and_then(VecDeque::pop_front);
            *carry = place.and_then(|place| carries[place].take());
        }
        self.orphans.extend(carries.into_iter().flatten());
    }

    /// Returns whether the lines have carries of their own, of which a sidecar knows none.
    fn is_not_of(
        &self,
        formats: Formats,
        sidecar: &mut Sidecar,
        scanner: &mut Scanner,
    ) -> io::Result<bool> {
        if !matches!(self.carried_format(formats, scanner), Ok(Some(_))) {
            return Ok(false);
        }
        for (line, _) in &self.lines {
            if sidecar.knows(guard_of(&[Line::new(line, 0).content()]))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the format that the sidecar, or one of the first two objects, carries, and what it says
    /// of files.
    fn carried_format(
        &self,
        formats: Formats,
        scanner: &mut Scanner,
    ) -> Result<Option<(&'static Format, Option<Manifest>)>, CarryError> {
        let attached = self.lines.iter().filter_map(|(_, carry)| carry.as_ref());
        if let Some(carry) = self.first.iter().chain(attached).chain(&self.orphans).next() {
            let carry = Carry::parse(carry)?;
            let format = carry.format.of(formats).ok_or(CarryError::Newer)?;
            return Ok(Some((format, carry.contents)));
        }
        let (mut n_objects, mut fault) = (0, None);
        for (n, (bytes, _)) in self.lines.iter().enumerate() {
            let line = Line::new(bytes, n as u64);
            let Ok(value) = scanner.scan(&line) else {
                if Member::was_in(bytes) {
                    fault = fault.or(Some(CarryError::Damaged));
                }
                continue;
            };
            let member = Member::find(value);
            match member.as_ref().map(|member| Carry::parse(&member.carry)) {
                Some(Ok(carry)) => {
                    // A session that was continued elsewhere and came home: its own lines come
                    // first, and the carries know nothing of what came before them. Another
                    // ordinal than the first says that records are missing.
                    let is_continued = n_objects > 0
                        && carry.ordinal.is_none_or(|ordinal| ordinal == 0)
                        && carry.entries().next().is_some()
                        && carry.entries().all(|entry| entry.offset > 0);
                    let format = carry.format.of(formats);
                    return match format {
                        _ if is_continued => Ok(None),
                        Some(format) => Ok(Some((format, carry.contents))),
                        None => Err(CarryError::Newer),
                    };
                }
                Some(Err(error)) => fault = fault.or(Some(error)),
                None if Member::is_in(value) => fault = fault.or(Some(CarryError::Damaged)),
                None => {}
            }
            n_objects += 1;
            if n_objects == 2 {
                break;
            }
        }
        fault.map_or(Ok(None), Err)
    }

    /// Returns the first lines of the file that this one was made of.
    fn restored(
        self,
        format: &'static Format,
        written: &'static Format,
        scanner: &mut Scanner,
    ) -> io::Result<Self> {
        let mut restorer = Restorer::new(format, written, None);
        // A second file's lines say nothing of where the first came from, unless that has none.
        let mut restored: BTreeMap<usize, Head> = BTreeMap::new();
        let mut take = |restorer: &mut Restorer| -> io::Result<()> {
            while let Some((file_idx, item)) = restorer.next_item()? {
                let head = restored.entry(file_idx).or_default();
                match item {
                    Item::Restored { bytes, carry, .. } => head.lines.push((bytes, carry)),
                    Item::Orphan { carry } => head.orphans.push(carry),
                    Item::Converted { .. } => {}
                }
            }
            Ok(())
        };
        for (line, carry) in self.lines {
            let line = Line::new(&line, 1);
            restorer.count_read(line.bytes().len() as u64);
            restorer.push(&line, scanner.scan(&line).ok(), carry)?;
            take(&mut restorer)?;
        }
        for carry in self.orphans {
            restorer.push_orphan(carry);
            take(&mut restorer)?;
        }
        restorer.finish();
        take(&mut restorer)?;
        let is_of_use = |head: &Head| !head.lines.is_empty() || !head.orphans.is_empty();
        Ok(restored.into_values().find(is_of_use).unwrap_or_default())
    }
}
