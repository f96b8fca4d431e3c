//! Finds the formats that a source was converted from, by its first carries.
//!
//! In: a clido file whose first carry names `claude-code`. Out: a history of one format,
//! `claude-code`. A carry may restore records with carries of their own: then the history has
//! several formats, the latest first.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io::{self, Read, Seek},
    sync::Arc,
};

use core_model::{Format, Formats};
use jsonl::{Line, Scanner, Unit, UnitScanner};

use crate::{
    carry::{
        Carry, CarryError, Manifest, Member,
        guard::{is_of_value, line_guard},
        restore::{Item, RestoreStats, Restorer},
        sidecar::Sidecar,
    },
    detect::MAX_LINES,
    pipeline::source::Source,
};

/// The formats and files that a source was converted from.
#[derive(Debug, Default)]
pub struct ConversionHistory {
    /// The formats, the latest first.
    pub formats: Vec<&'static Format>,
    /// The sub-agents with files of their own, by the carries that restore each of these formats.
    agents: Vec<Vec<String>>,
    /// The sub-agents with derived files, by the carries that restore each of these formats.
    derived: Vec<Vec<String>>,
    /// The manifest in the first carry.
    pub manifest: Option<Manifest>,
    /// Whether a source in the history had several files.
    pub is_several: bool,
    /// Whether the sidecar belongs to another file that had the same name before.
    pub has_foreign_sidecar: bool,
    /// Whether the sidecar has no carry, and neither have the first lines: the sidecar was cut.
    pub(crate) has_empty_sidecar: bool,
    /// Whether this sidecar has a carry, so that leaving it out is said.
    pub(crate) has_unread_sidecar: bool,
    /// Whether the sidecar has the carries of added records only, and the records before them have their carries inline.
    pub(crate) has_sidecar_of_added: bool,
    /// The fault of the first carry, if no carry can be read.
    pub fault: Option<CarryError>,
    /// The faults of the carries that end the history: they restore no record that names the format before.
    pub(crate) interruption: RestoreStats,
    /// Whether the carries of the first lines were searched.
    pub(crate) is_searched: bool,
}

impl ConversionHistory {
    /// Returns the index of a format in the history, 0 for the latest.
    pub fn depth(&self, format: &Format) -> Option<usize> {
        self.formats.iter().position(|known| known.name == format.name)
    }

    /// Returns the faults of the carries that end the history, if there are any.
    pub fn interruption(&self) -> Option<RestoreStats> {
        Some(self.interruption).filter(RestoreStats::is_not_the_source)
    }

    /// Returns the ids of the sub-agents with files of their own that the carries list down to a format, each once; none if
    /// the format is not in the history.
    pub fn agents(&self, format: &Format) -> Vec<&str> {
        let n_levels = self.depth(format).map_or(0, |depth| depth + 1);
        ids_of(&self.agents, n_levels)
    }

    /// Returns the ids of the sub-agents with derived files that the carries list down to a format, each once; none if
    /// the format is not in the history.
    pub fn derived(&self, format: &Format) -> Vec<&str> {
        ids_of(&self.derived, self.depth(format).map_or(0, |depth| depth + 1))
    }
}

/// Returns the ids of the first levels, each once, or as often as one level lists it.
fn ids_of(levels: &[Vec<String>], n_levels: usize) -> Vec<&str> {
    let (mut ids, mut counts) = (Vec::new(), HashMap::<&str, usize>::new());
    for level in levels.iter().take(n_levels) {
        let mut here = HashMap::<&str, usize>::new();
        for id in level {
            let (n, known) = (here.entry(id).or_default(), counts.entry(id).or_default());
            *n += 1;
            if *n > *known {
                *known = *n;
                ids.push(id.as_str());
            }
        }
    }
    ids
}

/// Stands for a line without a carry, whose bytes are not needed.
const PLAIN: &[u8] = b"{}\n";

/// An editor may write it at the start of a file.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Limit in bytes on the lines without a carry before the first carry.
const MAX_PLAIN: usize = 128 * 1024;

/// A line, or a unit of a document.
struct HeadLine {
    bytes: Vec<u8>,
    unit: Unit,
    /// Its carry from the sidecar.
    carry: Option<Arc<String>>,
}

impl HeadLine {
    fn line(&self) -> Line<'_> {
        Line::of_unit(&self.bytes, 1, self.unit)
    }

    /// Returns the guard of the line in a file of a format.
    fn guard(&self, format: &Format, scanner: &mut UnitScanner) -> u64 {
        let line = Line::of_unit(&self.bytes, 0, self.unit);
        if !is_of_value(format, line.is_glue()) {
            return line_guard(format, &line, None);
        }
        let (line, value) = scanner.scan(&line, format.framing.paths());
        line_guard(format, &line, value.ok())
    }
}

/// The first lines of a file, each with its carry from the sidecar.
#[derive(Default)]
struct Head {
    lines: Vec<HeadLine>,
    /// The sidecar's first carry.
    first: Option<Arc<String>>,
    /// Carries of the sidecar for lines that are not in the head.
    orphans: Vec<Arc<String>>,
    /// Whether the file has no other lines.
    is_whole: bool,
}

/// Returns the history of a source. It is empty unless one of the first lines has a carry: converters write a carry on every
/// line, and clients add lines without one at the end, and a few at the start.
///
/// # Errors
///
/// Returns an error if the source or its sidecar cannot be read.
pub fn conversion_history<R: Read + Seek + Send>(
    formats: Formats,
    from: &'static Format,
    source: &mut Source<R>,
    mut sidecar: Option<&mut Sidecar>,
) -> io::Result<ConversionHistory> {
    let is_of_values = from.rewrites.is_values();
    source.set_root_first(is_of_values && sidecar.is_some());
    let mut head = Head::read(from, source, sidecar.is_some())?;
    if is_of_values && sidecar.is_none() && head.begins_late() {
        // A long record would be in memory twice.
        drop(std::mem::take(&mut head));
        source.set_root_first(true);
        head = Head::read(from, source, false)?;
    }
    let mut found = ConversionHistory { is_searched: true, ..ConversionHistory::default() };
    let mut scanner = UnitScanner::default();
    if let Some(sidecar) = &mut sidecar {
        let is_of_head = !head.is_not_of(formats, from, sidecar, &mut scanner)?;
        found.has_empty_sidecar = is_of_head && sidecar.is_empty()?;
        if is_of_head || !head.is_whole && knows_any(sidecar, from, source)? {
            head.attach(from, sidecar.shared_head(MAX_LINES)?, &mut scanner);
        }
        // The carries of records behind the head continue a session, or are of another file.
        if !is_of_head && !head.is_continued() {
            head.detach();
            found.has_foreign_sidecar = true;
            found.has_unread_sidecar = sidecar.peek()?.is_some();
        }
    }
    let is_continued = head.is_continued();
    let mut written = from;
    loop {
        let (format, of_carry) = match head.carried_format(formats, written, &mut scanner) {
            Ok(Some(carried)) => carried,
            Ok(None) => break,
            Err(fault) => {
                // Faults of later carries are counted by the restorer.
                found.fault = found.formats.is_empty().then_some(fault);
                break;
            }
        };
        found.interruption = RestoreStats::default();
        found.is_several |= of_carry.as_ref().is_some_and(|manifest| manifest.entries.len() > 1);
        let agents = of_carry.as_ref().map(|manifest| manifest.agents.clone());
        let derived = of_carry.as_ref().map(|manifest| manifest.derived.clone());
        if found.formats.is_empty() {
            found.manifest = of_carry;
        }
        if found.manifest.as_ref().is_some_and(Manifest::is_derived) {
            break;
        }
        let is_known =
            format.name == from.name || found.formats.iter().any(|it| it.name == format.name);
        if is_known || found.formats.len() > formats.len() {
            break;
        }
        found.has_sidecar_of_added = is_continued;
        found.formats.push(format);
        found.agents.push(agents.unwrap_or_default());
        found.derived.push(derived.unwrap_or_default());
        // The lines are in `head`, and a long one would be in memory twice.
        source.free_long_window();
        (head, found.interruption) = head.restored(format, written, &mut scanner)?;
        written = format;
    }
    if let Some(sidecar) = sidecar {
        drop(head);
        // Its first carry names the format of the file itself, or fits no record of the head.
        let is_unread = found.formats.is_empty() && found.manifest.is_none();
        found.has_unread_sidecar |= is_unread && found.fault.is_none() && sidecar.peek()?.is_some();
        sidecar.settle()?;
    }
    Ok(found)
}

/// Returns whether a sidecar has the carry of a record of its file.
fn knows_any<R: Read + Seek + Send>(
    sidecar: &mut Sidecar,
    from: &'static Format,
    source: &mut Source<R>,
) -> io::Result<bool> {
    let mut found = Ok(false);
    source.for_each_piece(&[from], &mut |line, value| {
        if !line.is_glue() {
            found = sidecar.knows(line_guard(from, line, value.ok()));
        }
        matches!(found, Ok(false))
    })?;
    found
}

/// Returns whether a sidecar has the carries of the first records of a file.
///
/// # Errors
///
/// Returns an error if the file or the sidecar cannot be read.
pub fn is_sidecar_of<R: Read + Seek + Send>(
    from: &'static Format,
    source: &mut Source<R>,
    sidecar: &mut Sidecar,
) -> io::Result<bool> {
    /// One record may be the same in two sessions.
    const MAX_COMPARED: usize = 4;
    let (mut n_compared, mut found) = (0, Ok(false));
    source.for_each_piece(&[from], &mut |line, value| {
        if !line.is_glue() && !line.is_blank() {
            n_compared += 1;
            found = sidecar.knows(line_guard(from, line, value.ok()));
        }
        n_compared < MAX_COMPARED && (n_compared == 0 || matches!(found, Ok(true)))
    })?;
    found
}

impl Head {
    /// Reads the first lines of a source: of one without a carry, no more than are in the first window.
    fn read<R: Read + Seek + Send>(
        from: &'static Format,
        source: &mut Source<R>,
        has_sidecar: bool,
    ) -> io::Result<Self> {
        let mut head = Self { is_whole: true, ..Self::default() };
        let (mut n_bytes, mut may_have_carry) = (0, has_sidecar);
        source.for_each_piece(&[from], &mut |line, value| {
            // Glue between records has no carry.
            let has_carry = value.is_ok_and(|value| Member::is_in(value, from));
            if line.is_glue() && !(has_carry || value.is_ok() && has_sidecar) {
                return true;
            }
            let is_plain = value.is_ok() && !has_carry;
            may_have_carry |= has_carry || value.is_err() && Member::was_in(line.bytes());
            n_bytes += line.bytes().len();
            // A line without a carry is needed only to find its carry in a sidecar.
            let bytes = match value {
                _ if is_plain && !has_sidecar => PLAIN,
                Ok(value) if line.is_glue() => value.raw().as_str().as_bytes(),
                _ => line.bytes(),
            };
            // The line is read again as one that is not at the start of a file.
            let is_first = line.offset() == 0;
            let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(bytes);
            head.lines.push(HeadLine { bytes: bytes.to_vec(), unit: line.unit(), carry: None });
            head.is_whole = head.lines.len() < MAX_LINES && (may_have_carry || n_bytes < MAX_PLAIN);
            head.is_whole
        })?;
        Ok(if may_have_carry { head } else { Self::default() })
    }

    /// Returns whether a line has a carry, and the object around the records has none before them.
    fn begins_late(&self) -> bool {
        let has_root = self.lines.first().is_some_and(|line| line.unit == Unit::Glue);
        !has_root && self.lines.iter().any(|line| line.bytes != PLAIN)
    }

    /// Attaches the sidecar's carries to their lines.
    fn attach(&mut self, format: &Format, carries: Vec<Arc<String>>, scanner: &mut UnitScanner) {
        let mut places: HashMap<Option<u64>, VecDeque<usize>> = HashMap::new();
        for (place, carry) in carries.iter().enumerate() {
            places.entry(Carry::guard_in(carry)).or_default().push_back(place);
        }
        self.first = carries.first().cloned();
        let mut carries: Vec<Option<Arc<String>>> = carries.into_iter().map(Some).collect();
        for line in &mut self.lines {
            let place =
                places.get_mut(&Some(line.guard(format, scanner))).and_then(VecDeque::pop_front);
            line.carry = place.and_then(|place| carries[place].take());
        }
        self.orphans.extend(carries.into_iter().flatten());
    }

    /// Removes the sidecar's carries.
    fn detach(&mut self) {
        self.first = None;
        self.orphans.clear();
        self.lines.iter_mut().for_each(|line| line.carry = None);
    }

    /// Returns whether the lines have carries of their own and none of them is in the sidecar.
    fn is_not_of(
        &self,
        formats: Formats,
        written: &Format,
        sidecar: &mut Sidecar,
        scanner: &mut UnitScanner,
    ) -> io::Result<bool> {
        if !matches!(self.carried_format(formats, written, scanner), Ok(Some(_))) {
            return Ok(false);
        }
        for line in &self.lines {
            if sidecar.knows(line.guard(written, scanner))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the carries of the sidecar, the first one first.
    fn carries(&self) -> impl Iterator<Item = &Arc<String>> {
        let attached = self.lines.iter().filter_map(|line| line.carry.as_ref());
        self.first.iter().chain(attached).chain(&self.orphans)
    }

    /// Returns whether the sidecar belongs to a session that was continued in another client and came home: the first
    /// line has no carry, and the source of the carries has records before theirs.
    fn is_continued(&self) -> bool {
        if self.lines.first().is_none_or(|line| line.carry.is_some()) {
            return false;
        }
        let mut carries: Vec<_> =
            self.carries().filter_map(|carry| Carry::parse(carry).ok()).collect();
        // The carries of edited lines come last.
        carries.sort_by_key(|carry| carry.ordinal);
        let mut carries = carries.iter().enumerate();
        let is_continued = carries.find_map(|(n, carry)| carry.continues_a_session(n == 0));
        is_continued == Some(true)
    }

    /// Returns the format that the first carry of the sidecar or of the lines names, and the manifest.
    fn carried_format(
        &self,
        formats: Formats,
        written: &Format,
        scanner: &mut UnitScanner,
    ) -> Result<Option<(&'static Format, Option<Manifest>)>, CarryError> {
        let mut fault = None;
        let mut found: Option<(&'static Format, Option<Manifest>)> = None;
        let is_continued = self.is_continued();
        for carry in self.carries().filter(|_| !is_continued) {
            match Carry::parse(carry) {
                Ok(carry) => match carry.format.of(formats) {
                    Some(format) => {
                        let (known, manifest) = found.get_or_insert((format, None));
                        if known.name == format.name && manifest.is_none() {
                            *manifest = carry.manifest;
                        }
                        // Another program may have moved the first carry, which has the manifest.
                        if carry.ordinal.unwrap_or(0) == 0 {
                            break;
                        }
                    }
                    None => fault = fault.or(Some(CarryError::Newer)),
                },
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        if found.is_some() {
            return Ok(found);
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        let Some((format, mut manifest, is_moved)) =
            self.inline_format(formats, written, scanner)?
        else {
            return Ok(None);
        };
        if is_moved {
            manifest =
                manifest.or_else(|| self.moved_manifest((formats, format), written, scanner));
        }
        Ok(Some((format, manifest)))
    }

    /// Returns the manifest in a later line, for carries of a format whose first one was moved.
    fn moved_manifest(
        &self,
        (formats, format): (Formats, &Format),
        written: &Format,
        scanner: &mut UnitScanner,
    ) -> Option<Manifest> {
        self.lines.iter().find_map(|HeadLine { bytes, unit, .. }| {
            let line = Line::of_unit(bytes, 1, *unit);
            let (_, value) = scanner.scan(&line, written.framing.paths());
            let member = Member::find(value.ok()?, written)?;
            let carry = Carry::parse(&member.carry).ok()?;
            let is_same = carry.format.of(formats).is_some_and(|it| it.name == format.name);
            carry.manifest.filter(|_| is_same)
        })
    }

    /// Returns the format that the first carry of the lines names, the manifest, and whether that carry is not the first
    /// one of its conversion.
    fn inline_format(
        &self,
        formats: Formats,
        written: &Format,
        scanner: &mut UnitScanner,
    ) -> Result<Option<(&'static Format, Option<Manifest>, bool)>, CarryError> {
        let (mut n_objects, mut first, mut fault) = (0, None, None);
        for (n, HeadLine { bytes, unit, .. }) in self.lines.iter().enumerate() {
            let line = Line::of_unit(bytes, n as u64, *unit);
            let (line, Ok(value)) = scanner.scan(&line, written.framing.paths()) else {
                if Member::was_in(bytes) {
                    fault = fault.or(Some(CarryError::Damaged));
                }
                continue;
            };
            let member = Member::find(value, written);
            match member.as_ref().map(|member| Carry::parse(&member.carry)) {
                Some(Ok(carry)) => {
                    let is_continued = carry.continues_a_session(first.is_none());
                    let is_at_start = n_objects == 0 && first.is_none();
                    let found = first.take().unwrap_or_else(|| {
                        let format = carry.format.of(formats).ok_or(CarryError::Newer)?;
                        let is_moved = carry.ordinal.is_some_and(|ordinal| ordinal > 0);
                        Ok(Some((format, carry.manifest, is_moved)))
                    });
                    match is_continued {
                        _ if is_at_start => return found,
                        Some(true) => return Ok(None),
                        Some(false) => return found,
                        None => first = Some(found),
                    }
                }
                Some(Err(error)) => fault = fault.or(Some(error)),
                None if Member::is_in(value, written) => {
                    fault = fault.or(Some(CarryError::Damaged))
                }
                None => {}
            }
            n_objects += usize::from(!line.is_glue());
        }
        // Late carries without an entry restore nothing.
        fault.map_or(Ok(None), Err)
    }

    /// Returns the first lines of the file that this file was converted from, and the faults of their carries. If one of
    /// the lines is a record without a carry, that file was converted from no other one, and no fault is returned, unless
    /// a carry is of another conversion.
    fn restored(
        self,
        format: &'static Format,
        written: &'static Format,
        scanner: &mut UnitScanner,
    ) -> io::Result<(Self, RestoreStats)> {
        // The conversion itself compares the records.
        let mut restorer = Restorer::new(format, written, None).without_comparison();
        // Lines of a second file do not name the format of the first, unless the first is empty.
        let mut restored: BTreeMap<usize, Head> = BTreeMap::new();
        let mut is_native = false;
        // Returns whether more lines of the first file are needed.
        let mut take = |restorer: &mut Restorer| -> io::Result<bool> {
            while let Some((file_idx, item)) = restorer.next_item(None)? {
                let head = restored.entry(file_idx).or_default();
                if head.lines.len() >= MAX_LINES {
                    if file_idx == 0 {
                        return Ok(false);
                    }
                    continue;
                }
                match item {
                    Item::Restored { line, is_glue, carry, .. } => {
                        let unit = match (is_glue, format.framing.is_document()) {
                            (true, _) => Unit::Glue,
                            (false, true) => Unit::Record,
                            (false, false) => Unit::Line,
                        };
                        let carry = carry.map(Arc::new);
                        head.lines.push(HeadLine { bytes: line.into_bytes(), unit, carry });
                    }
                    Item::Orphan { carry } => head.orphans.push(carry.into()),
                    Item::Converted { skeletons, .. } => {
                        let mut skeletons = skeletons.iter().flatten();
                        // Without the template, a skeleton has less than its record.
                        is_native |= file_idx == 0
                            && restorer.has_first()
                            && skeletons.any(|bytes| is_without_carry(bytes, format));
                    }
                }
            }
            Ok(true)
        };
        let mut needs_more = true;
        for mut head_line in self.lines {
            if !needs_more {
                break;
            }
            let carry = head_line.carry.take();
            let paths = written.framing.paths();
            let (line, value) = scanner.scan(&head_line.line(), paths);
            restorer.count_read(line.bytes().len() as u64);
            restorer.push_value(&line, value.ok(), carry)?;
            needs_more = take(&mut restorer)?;
        }
        for carry in self.orphans {
            if !needs_more {
                break;
            }
            restorer.push_orphan(carry);
            needs_more = take(&mut restorer)?;
        }
        if needs_more {
            restorer.finish();
            take(&mut restorer)?;
        }
        let is_of_use = |head: &Head| !head.lines.is_empty() || !head.orphans.is_empty();
        let mut faults = restorer.faults_so_far(self.is_whole);
        if faults.is_not_the_source() {
            let lines = restored.get(&0).map_or(&[][..], |head| &head.lines);
            // Without the manifest, `{}` may be a file beside the session.
            let has_first = restorer.has_first();
            let is_plain = |line: &HeadLine| {
                let has_carry = line.unit == Unit::Glue || line.carry.is_some();
                let is_of_main = has_first || line.bytes.ends_with(b"\n");
                !has_carry && is_of_main && is_without_carry(&line.bytes, format)
            };
            let is_native = is_native || lines.iter().any(is_plain);
            // Records of another conversion may come from another source.
            if is_native && faults.foreign == 0 {
                faults = RestoreStats::default();
            }
        }
        let mut head = restored.into_values().find(is_of_use).unwrap_or_default();
        head.is_whole = self.is_whole && needs_more;
        Ok((head, faults))
    }
}

/// Returns whether a record, or the skeleton of an edited one, is an object without a carry.
fn is_without_carry(record: &[u8], format: &Format) -> bool {
    let mut scanner = Scanner::default();
    let value = scanner.scan_slice(record, 0);
    value.is_ok_and(|value| value.is_object() && !Member::is_in(value, format))
}
