//! Restores source records from written records with carries.
//!
//! In: written records, in the order of their file. Out: [`Item`]s in the order of the source:
//! records restored byte for byte, and records to convert, because they were added or edited. The
//! entries of a carry are read one at a time, as items are asked for, so that a carry of many
//! entries takes the memory of one.

mod compare;
mod current;
mod early;
mod faults;
mod items;
mod limit;
mod moved;
mod own;
mod respelling;
mod sidecar;
mod steps;
mod totals;

use std::{
    collections::{HashSet, VecDeque},
    io,
    sync::Arc,
};

use core_model::{Body, Event, Format};
use jsonl::{Line, TextBuf, Unit, UnitScanner, Value};

pub(crate) use self::items::Item;
use self::{
    current::{CarryText, Current, Phase, ReadRecord, Visible},
    items::Unusable,
    moved::Moved,
    own::{OwnEntries, OwnRecord},
    sidecar::Found,
    totals::DocumentTotals,
};
pub use self::{items::RestoreStats, limit::max_restored};
use crate::carry::{
    Carry, CarryEntry, CarryError, EntryCursor, Member, MemberOrders, WrittenText,
    agreement::ReplacedIds,
    guard::line_guard,
    ordinals::{Ordinals, Seen},
    reorder_buffers::ReorderBuffers,
    respelt::RespeltValues,
    sidecar::Sidecar,
    spilled_runs::RestoredRecord,
    totals::CarryTotals,
    unused::UnusedCarries,
};

/// Limit on the bytes of a carry that stays in memory as a whole while its held entries wait.
const MAX_WHOLE: usize = 1024 * 1024;

/// Turns records of one format into the records of another that they carry.
#[derive(Debug)]
pub(crate) struct Restorer {
    /// The format of the source.
    format: &'static Format,
    /// The format of the written records.
    written: &'static Format,
    template: Option<Vec<u8>>,
    orders: MemberOrders,
    values: RespeltValues,
    /// Added and moved records that wait for the head of the document, and the bytes of such records until then.
    early: VecDeque<Item>,
    n_early: usize,
    /// Whether the start of the document was restored, or is no longer waited for.
    has_head: bool,
    totals: CarryTotals,
    /// Compares the totals of the written document with its records.
    document_totals: Option<DocumentTotals>,
    /// The ordinals of the sidecar's carries whose records did not come.
    orphans: Ordinals,
    /// Whether a carry was read.
    is_started: bool,
    /// Whether the sidecar was asked for a record.
    has_read: bool,
    /// The guards of all records of a file with a sidecar.
    guards: HashSet<u64>,
    scanner: UnitScanner,
    /// The carry of the record that is read.
    carry_buf: TextBuf,
    replaced_ids: ReplacedIds,
    /// The folder from an edited record, for the source record that names the folder.
    moved: Moved,
    buffers: ReorderBuffers,
    stats: RestoreStats,
    /// Counts the carries of other formats.
    others: UnusedCarries,
    sidecar: Option<Sidecar>,
    /// The guards of the records that came with a carry of a sidecar, in a chain of formats.
    attached: HashSet<u64>,
    /// The carry whose entries are being read.
    current: Option<Current>,
    /// The number of the record that is read; 0 if it is not known.
    line_number: u64,
    is_finishing: bool,
    is_drained: bool,
    /// Whether written records are compared with the records that they restore.
    is_comparing: bool,
    /// The bytes read, and the bytes restored from them.
    n_read: u64,
    n_restored: u64,
    max_restored: u64,
    /// The number of records that were added.
    n_pushed: u64,
}

impl Restorer {
    /// Creates a restorer of records of a format from records of another one.
    pub(crate) fn new(
        format: &'static Format,
        written: &'static Format,
        sidecar: Option<Sidecar>,
    ) -> Self {
        Self {
            format,
            written,
            template: None,
            orders: MemberOrders::default(),
            values: RespeltValues::default(),
            early: VecDeque::new(),
            n_early: 0,
            has_head: false,
            totals: CarryTotals::default(),
            document_totals: DocumentTotals::new(written),
            orphans: Ordinals::default(),
            is_started: false,
            has_read: false,
            guards: HashSet::new(),
            scanner: UnitScanner::default(),
            carry_buf: TextBuf::default(),
            replaced_ids: ReplacedIds::default(),
            moved: Moved::default(),
            buffers: ReorderBuffers::default(),
            stats: RestoreStats::default(),
            others: UnusedCarries::late(None),
            sidecar,
            attached: HashSet::new(),
            current: None,
            line_number: 0,
            is_finishing: false,
            is_drained: false,
            is_comparing: true,
            n_read: 0,
            n_restored: 0,
            max_restored: 0,
            n_pushed: 0,
        }
    }

    /// Skips the comparison of written records with the records that they restore.
    pub(crate) fn without_comparison(self) -> Self {
        Self { is_comparing: false, ..self }
    }

    /// Sets the guards of all records of a file with a sidecar. They tell an edited record, whose
    /// carry fits no record, from a new one.
    pub(crate) fn set_guards(&mut self, guards: HashSet<u64>) {
        self.guards = guards;
    }

    /// Sets the template, if the record that has it comes behind others.
    pub(crate) fn set_template(&mut self, template: Option<String>) {
        self.template = template.map(String::into_bytes);
    }

    /// Returns whether the carries are in a sidecar.
    pub(crate) fn has_sidecar(&self) -> bool {
        self.sidecar.is_some()
    }

    /// Returns whether the sidecar has no carry for a record with this guard.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read.
    pub(crate) fn lacks(&mut self, guard: u64) -> io::Result<bool> {
        self.sidecar.as_mut().map_or(Ok(false), |sidecar| Ok(!sidecar.knows(guard)?))
    }

    /// Returns whether the sidecar may have a carry whose record is not in the file. Otherwise no record was edited.
    pub(crate) fn may_lack_a_record(&self) -> bool {
        self.sidecar.as_ref().is_some_and(|sidecar| sidecar.may_have_other_than(&self.guards))
    }

    /// Returns the guard of the sidecar's first carry, if the file has its record.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read.
    pub(crate) fn first_guard(&mut self) -> io::Result<Option<u64>> {
        let Some(sidecar) = &mut self.sidecar else { return Ok(None) };
        let guard = sidecar.peek_shared()?.and_then(|carry| Carry::guard_in(&carry));
        Ok(guard.filter(|guard| self.guards.contains(guard)))
    }

    /// Sets the folder that the source's first start gets.
    pub(crate) fn move_to(&mut self, cwd: &str) {
        self.moved.set(cwd);
    }

    /// Sets the number of the line that comes next.
    pub(crate) fn set_line_number(&mut self, number: u64) {
        self.line_number = number;
    }

    /// Adds bytes of the input to the limit on restored bytes.
    pub(crate) fn count_read(&mut self, n_bytes: u64) {
        self.n_read = self.n_read.saturating_add(n_bytes);
    }

    /// Returns the counts so far.
    pub(crate) fn stats(&self) -> RestoreStats {
        self.stats
    }

    /// Returns the next item in source order, and the number of its file in the source; `None`
    /// until more records are added, or at the end. `shown` is the value of the record that was added last, unless
    /// that is glue or no longer in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read.
    pub(crate) fn next_item(
        &mut self,
        shown: Option<Value<'_>>,
    ) -> io::Result<Option<(usize, Item)>> {
        loop {
            if let Some(item) = self.next_early() {
                return Ok(Some((0, item)));
            }
            if let Some((file_idx, mut item)) = self.buffers.next_item(&mut self.stats) {
                self.compare_parts(&item, shown);
                if file_idx == 0 {
                    self.moved.change(&mut item, self.format, &mut self.scanner);
                    if self.is_before_head(&item) {
                        self.early.push_back(item);
                        continue;
                    }
                }
                return Ok(Some((file_idx, item)));
            }
            if let Some(current) = self.current.take() {
                self.step(current);
            } else if self.is_drained && !self.has_head {
                // The head of the document did not come.
                self.has_head = true;
            } else if let Some(carry) = self.next_alone()? {
                self.push_orphan(carry.into());
            } else if !self.is_finishing || self.is_drained {
                return Ok(None);
            } else if let Some(carry) = self.next_of_sidecar()? {
                self.push_orphan(carry.into());
            } else {
                self.finish_totals();
                self.buffers.drain(&mut self.stats);
                self.is_drained = true;
            }
        }
    }

    /// Adds a record and its value, if it has one; see [`Restorer::push`].
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read.
    pub(crate) fn push_value(
        &mut self,
        line: &Line<'_>,
        value: Option<Value<'_>>,
        mut attached: Option<Arc<String>>,
    ) -> io::Result<()> {
        let Some(value) = value else { return self.push(line, None, attached) };
        let mut result = Ok(());
        self.written.for_each_event(value, |first| {
            result = self.push(line, Some(first), attached.take());
            false
        });
        result
    }

    /// Adds a record and its first event, if it has a value. `attached` is its carry from a sidecar. All
    /// items must have been taken before.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read.
    pub(crate) fn push(
        &mut self,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        attached: Option<Arc<String>>,
    ) -> io::Result<()> {
        if line.is_blank() && !line.is_glue() && attached.is_none() {
            // An editor added it: a written file has no such line, and the carries have the ones of the source.
            return Ok(());
        }
        self.n_pushed = self.n_pushed.saturating_add(1);
        let value = event.map(|event| event.value);
        let n_added = self.stats.added;
        let is_without = line.is_glue() && attached.is_none() && !self.has_carry(line, value)?;
        if !is_without {
            self.push_record(line, event, attached)?;
        }
        if let (Some(totals), Some(value)) = (&mut self.document_totals, value) {
            match line.is_glue() {
                true => totals.add_root(value, !is_without),
                false => totals.add_record(value, self.stats.added > n_added),
            }
        }
        Ok(())
    }

    /// Adds a record, or glue with a carry.
    fn push_record(
        &mut self,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        attached: Option<Arc<String>>,
    ) -> io::Result<()> {
        let value = event.map(|event| event.value);
        let content = match value.filter(|_| line.is_glue()) {
            Some(glue) => glue.raw().as_str().as_bytes(),
            None => line.content(),
        };
        let carry = match attached {
            Some(carry) => {
                self.attached.extend(Carry::guard_in(&carry));
                Some(carry)
            }
            None if self.sidecar.is_some() => match self.take_of_sidecar(line, content, value)? {
                Found::Carry(carry) => Some(Arc::new(carry)),
                Found::Nothing => None,
                Found::Repeated => {
                    self.stats.doubled += 1;
                    self.stats.repeated += 1;
                    self.push_as_it_is(line, value, true);
                    return Ok(());
                }
            },
            None => {
                let has_carry = |value| Member::is_in(value, self.written);
                let mut buf = std::mem::take(&mut self.carry_buf);
                match value.and_then(|value| Member::find_into(value, self.written, &mut buf)) {
                    Some(mut member) => {
                        let text = CarryText::OfRecord(std::mem::take(&mut member.carry));
                        self.push_member(line, event, &member, text);
                    }
                    None if value.map_or_else(|| Member::was_in(content), has_carry) => {
                        self.push_unreadable(line, value, CarryError::Damaged);
                    }
                    None if self.is_attached(line, value) => {
                        self.stats.doubled += 1;
                        self.stats.repeated += 1;
                        self.push_as_it_is(line, value, true);
                    }
                    None => self.push_added(line, value),
                }
                self.carry_buf = buf;
                return Ok(());
            }
        };
        match carry {
            Some(carry) => {
                self.count_read(carry.len() as u64);
                let before = std::str::from_utf8(content).unwrap_or_default();
                let member = Member { before, after: "", carry: "".into() };
                self.push_member(line, event, &member, CarryText::OfSidecar(carry));
            }
            None => self.push_added(line, value),
        }
        Ok(())
    }

    /// Returns whether an equal record came with a carry of a sidecar.
    fn is_attached(&self, line: &Line<'_>, value: Option<Value<'_>>) -> bool {
        !self.attached.is_empty() && self.attached.contains(&line_guard(self.written, line, value))
    }

    /// Returns whether the glue of a document has a carry, or cannot be read. Other glue was made
    /// with the document.
    fn has_carry(&mut self, line: &Line<'_>, value: Option<Value<'_>>) -> io::Result<bool> {
        // A document that is cut may end in a newline.
        let glue = Line::of_unit(line.bytes(), line.offset(), Unit::Glue);
        let Some(value) = value else { return Ok(!glue.is_punctuation()) };
        if Member::is_in(value, self.written) {
            return Ok(true);
        }
        let guard = line_guard(self.written, line, Some(value));
        let Some(sidecar) = &mut self.sidecar else { return Ok(false) };
        if sidecar.knows(guard)? {
            return Ok(true);
        }
        // The head comes first. If the first carry fits no record, and is not of one, the head was edited.
        let first = sidecar.peek_shared()?.filter(|_| !self.has_read);
        let first = first.as_deref().and_then(|first| Carry::parse(first).ok());
        Ok(first.is_some_and(|first| {
            let is_of_head = first.own_entries().all(|entry| entry.is_glue);
            is_of_head && first.ordinal == Some(0) && !self.guards.contains(&first.guard)
        }))
    }

    /// Adds a record with a carry, which was taken out of its member.
    fn push_member(
        &mut self,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        member: &Member<'_>,
        text: CarryText<'_>,
    ) {
        let value = event.map(|event| event.value);
        let carry = match Carry::parse(&text) {
            Ok(carry) if carry.format.is(self.format) => carry,
            Ok(carry) => {
                self.others.count_read(Ok(carry), &mut self.stats);
                return self.push_added(line, value);
            }
            Err(error) => return self.push_unreadable(line, value, error),
        };
        if let Err(why) = self.take_head(&carry) {
            return self.push_unreadable(line, value, why);
        }
        let is_terminated = line.is_terminated() && !line.is_in_document();
        let offset = line.offset();
        let seen = self.totals.see(&carry);
        if seen == Seen::Again {
            self.stats.doubled += 1;
            let record = ReadRecord { text: &member.visible(), is_terminated }.to_vec();
            let skeletons = None;
            let number = self.line_number;
            let item =
                Item::Converted { line: record, offset, number, skeletons, is_doubled: true };
            self.buffers.push_edited(None, item, &mut self.stats);
            return self.buffers.note_shown(None);
        }
        // The members around the records have no place among them.
        let seen = if line.is_glue() { Seen::Next } else { seen };
        self.stats.moved += u64::from(seen == Seen::Late);
        let is_glue = line.is_glue();
        let Visible { written, is_intact } = self.visible(member, &carry, event, is_glue);
        let visible = match &written {
            Some(written) => written.as_str().into(),
            None => member.written_text(),
        };
        let is_start = event.is_some_and(|event| matches!(event.body, Body::Start(_)));
        if let Some(event) = event.filter(|_| !is_intact) {
            self.moved.note(event);
        }
        let mut own = self.own_entries(&carry, visible, is_intact);
        let is_moved = seen == Seen::Late;
        if !is_glue && (own.n_own > 0 || !is_intact) {
            self.buffers.note_shown(Some(own.last).filter(|_| own.n_own > 0 && !is_moved));
        }
        let is_restored = own.is_restored() && !carry.has_sidecar();
        let has_held = carry.has_held();
        let held = match has_held {
            false => Some(<(String, EntryCursor)>::default()),
            true if is_restored && text.len() > MAX_WHOLE => carry.cursor(&text).held(&text),
            true => None,
        };
        let (carry, start) = match held.filter(|_| is_restored) {
            Some((held, start)) => {
                // The own entries are not read once more. A long carry is not in memory together with the texts that are
                // compared.
                drop(text);
                self.compare(None, event, visible, &mut own, offset);
                if !has_held {
                    // The usual case.
                    return self.push_restored(own.kept, is_moved);
                }
                (Arc::new(held), start)
            }
            None => {
                self.compare(Some(&carry), event, visible, &mut own, offset);
                let start = carry.cursor(&text);
                (text.into_shared(), start)
            }
        };
        // Most carries hold no other records, and their entries are not read once more for them.
        let phase = if has_held { Phase::HeldBefore } else { Phase::Own(None) };
        let OwnEntries { kept, is_whole, has_parts, n_sources, last, .. } = own;
        let (visible, read) = match written {
            // Nothing reads the record once more.
            _ if is_restored || is_whole && !own.refers => (String::new(), None),
            Some(written) => (written, Some(member.visible())),
            None => (member.visible(), None),
        };
        self.current = Some(Current {
            carry,
            visible,
            read,
            is_terminated,
            offset,
            start,
            cursor: start,
            phase,
            last_own: last,
            is_moved,
            is_gone: false,
            is_whole,
            has_parts,
            n_sources,
            is_start,
            own: kept,
            is_restored,
            is_placed: false,
        });
    }

    /// Adds the restored source records that a written record shows.
    fn push_restored(&mut self, own: VecDeque<OwnRecord>, is_moved: bool) {
        for OwnRecord { line, offset, is_glue } in own {
            let record = RestoredRecord { offset, line, is_glue };
            self.buffers.push_restored(record, is_moved, &mut self.stats);
        }
    }

    /// Stores template, manifest, end mark and orders of a carry, unless they contradict an earlier carry.
    fn take_head(&mut self, carry: &Carry<'_>) -> Result<(), Unusable> {
        let is_first = !std::mem::replace(&mut self.is_started, true);
        if let Some(template) = carry.template {
            match &self.template {
                Some(known) if known != template.as_bytes() => return Err(Unusable::Foreign),
                Some(_) => {}
                None => self.template = Some(template.as_bytes().to_vec()),
            }
        }
        if let Some(manifest) = &carry.manifest {
            if !is_first && !carry.is_version_1() && carry.ordinal != Some(0) {
                return Err(Unusable::Foreign);
            }
            self.buffers.open(manifest);
        }
        self.totals.note(carry);
        self.orders.learn(carry.orders).then_some(()).ok_or(Unusable::Damaged)
    }

    fn restore(&self, entry: &CarryEntry<'_>, visible: WrittenText<'_>, out: &mut Vec<u8>) -> bool {
        let template = self.template.as_deref().unwrap_or_default();
        entry.restore_from(out, visible, template, self.format.style)
    }

    fn push_added(&mut self, line: &Line<'_>, value: Option<Value<'_>>) {
        self.stats.added += 1;
        self.push_as_it_is(line, value, false);
    }

    /// Adds a record whose carry cannot be read. The carry stays part of the record.
    fn push_unreadable(
        &mut self,
        line: &Line<'_>,
        value: Option<Value<'_>>,
        why: impl Into<Unusable>,
    ) {
        self.stats.count_unusable(why.into());
        self.push_as_it_is(line, value, false);
    }

    fn push_as_it_is(&mut self, line: &Line<'_>, value: Option<Value<'_>>, is_doubled: bool) {
        let offset = line.offset();
        let line = match value.filter(|_| line.is_glue()) {
            Some(glue) => glue.raw().as_str().as_bytes().to_vec(),
            None => line.bytes().to_vec(),
        };
        let number = self.line_number;
        let item = Item::Converted { line, offset, number, skeletons: None, is_doubled };
        match is_doubled {
            true => self.buffers.push_edited(None, item, &mut self.stats),
            false if self.is_early(&item) => self.early.push_back(item),
            false => self.buffers.push_added(item, &mut self.stats),
        }
    }

    /// Releases all waiting records.
    pub(crate) fn flush(&mut self) {
        self.has_head = true;
        self.buffers.drain(&mut self.stats);
    }

    /// Ends the input: [`Restorer::next_item`] releases all waiting records.
    pub(crate) fn finish(&mut self) {
        self.is_finishing = true;
    }
}
