//! Copies an edited folder from a written record to the source record that names the folder.
//!
//! In: an edited `{"type":"meta","project_path":"/new",..}`. Out: the restored start record with
//! `/new` and all its other bytes.

use core_model::{Body, Event, Format};
use jsonl::{Line, Unit, UnitScanner, push_string};

use super::{Item, Restorer};
use crate::carry::{Carry, EntryKind, Member, WrittenText, guard::is_as_guarded};

/// The folder from edited records, until the source's first start is restored.
#[derive(Debug, Default)]
pub(super) struct Moved {
    cwd: Option<String>,
    is_past: bool,
    /// The folder in the source's first start.
    old: Option<String>,
}

impl Moved {
    /// Sets the folder.
    pub(super) fn set(&mut self, cwd: &str) {
        self.cwd = Some(cwd.to_owned());
    }

    /// Stores the folder of an edited record.
    pub(super) fn note(&mut self, event: &Event<'_>) {
        if let Some(cwd) = event.context.cwd.filter(|_| !self.is_past) {
            self.cwd = Some(cwd.decode().into_owned());
        }
    }

    /// Replaces the folder in the source's first start. All other bytes stay.
    pub(super) fn change(&mut self, item: &mut Item, format: &Format, scanner: &mut UnitScanner) {
        let (Item::Restored { line: restored, is_glue, .. }, Some(cwd), false) =
            (item, &self.cwd, self.is_past)
        else {
            return;
        };
        let unit = if *is_glue { Unit::Glue } else { Unit::Line };
        let (line, value) = scanner.scan_buf(restored, 0, unit, format.framing.paths());
        let Ok(value) = value else { return };
        let event = format.first_event(value);
        if !matches!(event.body, Body::Start(_)) {
            return;
        }
        self.is_past = true;
        self.old = event.context.cwd.map(|cwd| cwd.decode().into_owned());
        let Some(old) = event.context.cwd.filter(|old| !old.is(cwd)) else { return };
        let place = line.offset_of(old.as_str().as_bytes());
        let Some(start) = place.map(|start| start as usize) else { return };
        let range = start..start + old.as_str().len();
        let mut spelled = Vec::new();
        push_string(&mut spelled, cwd, format.style);
        let mut bytes = std::mem::take(restored).into_bytes();
        bytes.splice(range, spelled);
        *restored = bytes.into();
    }
}

/// Limit on the entries of a carry that are searched for the source's start.
const MAX_LOOKED_AT: usize = 8;

impl Restorer {
    /// Returns a record as it was written, if only its folder was edited.
    pub(super) fn before_move(
        &mut self,
        member: &Member<'_>,
        carry: &Carry<'_>,
        event: &Event<'_>,
        is_glue: bool,
    ) -> Option<String> {
        let new = event.context.cwd?.as_str();
        if self.moved.old.is_none() {
            self.moved.old = self.start_in(carry);
        }
        let mut old = Vec::new();
        push_string(&mut old, self.moved.old.as_ref()?, self.written.style);
        let start = (new.as_ptr() as usize).checked_sub(member.before.as_ptr() as usize)?;
        let (before, rest) = member.before.split_at_checked(start)?;
        let after = rest.strip_prefix(new)?;
        let written = [before, std::str::from_utf8(&old).ok()?, after, member.after].concat();
        if !is_as_guarded(self.written, is_glue, &[written.as_bytes()], carry.guards()) {
            return None;
        }
        self.moved.note(event);
        Some(written)
    }

    /// Returns the folder in the start record that a carry holds.
    fn start_in(&mut self, carry: &Carry<'_>) -> Option<String> {
        let mut scanner = std::mem::take(&mut self.scanner);
        let held = carry.entries().filter(|entry| entry.kind == EntryKind::Held);
        let found = held.take(MAX_LOOKED_AT).find_map(|entry| {
            let mut bytes = Vec::new();
            if entry.n_parts > 1 || !self.may_restore(entry.length) {
                return None;
            }
            self.restore(&entry, WrittenText::default(), &mut bytes);
            let unit = if entry.is_glue { Unit::Glue } else { Unit::Line };
            let line = Line::of_unit(&bytes, entry.offset, unit);
            let value = scanner.scan(&line, self.format.framing.paths()).1.ok()?;
            let event = self.format.first_event(value);
            let is_start = matches!(event.body, Body::Start(_));
            event.context.cwd.filter(|_| is_start).map(|cwd| cwd.decode().into_owned())
        });
        self.scanner = scanner;
        found
    }
}
