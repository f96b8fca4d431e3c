//! Finds the carries of a sidecar for the records of its file, and restores those whose records did
//! not come.
//!
//! In: the guard of a written record. Out: its carry; or that it is repeated, if an equal record took it.

use std::{collections::VecDeque, io, sync::Arc};

use jsonl::{Line, Value};

use super::{
    Restorer,
    current::{Current, Phase},
};
use crate::carry::{
    Carry,
    guard::{is_of_value, line_guard},
    guard_of,
    ordinals::Seen,
};

/// The sidecar's answer for a record.
pub(super) enum Found {
    Carry(String),
    /// An equal record that came before took the carry.
    Repeated,
    Nothing,
}

impl Restorer {
    /// Returns the sidecar's carry for a record: by the guard of its bytes, or of its bytes respelt
    /// in our style.
    pub(super) fn take_of_sidecar(
        &mut self,
        line: &Line<'_>,
        content: &[u8],
        value: Option<Value<'_>>,
    ) -> io::Result<Found> {
        let Some(sidecar) = &mut self.sidecar else { return Ok(Found::Nothing) };
        let is_first = !std::mem::replace(&mut self.has_read, true);
        let guard = line_guard(self.written, line, value);
        if is_first && let Some(first) = sidecar.peek_shared()? {
            // The template's record may be gone or moved; the other carries need the template.
            let first = Some(&*first).filter(|first| Carry::guard_in(first) != Some(guard));
            let first = first.and_then(|first| Carry::parse(first).ok());
            let first = first.filter(|it| it.ordinal == Some(0) && it.format.is(self.format));
            let template = first.and_then(|first| first.template);
            self.template = template.map(|template| template.as_bytes().to_vec());
        }
        if let Some(carry) = sidecar.take(guard)? {
            return Ok(Found::Carry(carry));
        }
        if sidecar.has_given(guard) {
            return Ok(Found::Repeated);
        }
        let Some(next) = sidecar.peek_shared()? else { return Ok(Found::Nothing) };
        let (Ok(carry), Ok(text)) = (Carry::parse(&next), std::str::from_utf8(content)) else {
            return Ok(Found::Nothing);
        };
        self.orders.learn(carry.orders);
        // If no record of the file has the guard of the next carry, this record was edited.
        let is_edited = !self.guards.is_empty()
            && !self.guards.contains(&carry.guard)
            && carry.guard != guard_of(&[b""])
            && carry.format.is(self.format);
        let is_of_value = is_of_value(self.written, line.is_glue());
        if !is_edited && (is_of_value || self.spelled_as(text, carry.guard).is_none()) {
            return Ok(Found::Nothing);
        }
        let guard = carry.guard;
        // Otherwise a long carry would be copied.
        drop(next);
        let sidecar = self.sidecar.as_mut();
        let carry = sidecar.map_or(Ok(None), |sidecar| sidecar.take(guard))?;
        Ok(carry.map_or(Found::Nothing, Found::Carry))
    }

    /// Returns the sidecar's next carry if it belongs to no record. It comes with the record before it.
    pub(super) fn next_alone(&mut self) -> io::Result<Option<String>> {
        match &mut self.sidecar {
            Some(sidecar) if self.has_read && !self.is_drained => sidecar.take_alone(),
            _ => Ok(None),
        }
    }

    /// Returns the next carry of the sidecar whose record did not come; `None` at the end.
    pub(super) fn next_of_sidecar(&mut self) -> io::Result<Option<String>> {
        let Some(sidecar) = &mut self.sidecar else { return Ok(None) };
        let next = sidecar.next_left();
        let n_doubled = sidecar.take_doubled();
        self.stats.doubled += n_doubled;
        self.stats.doubled_carries += n_doubled;
        next
    }

    /// Adds a carry whose record is gone. Its held entries can still be restored.
    pub(crate) fn push_orphan(&mut self, carry: Arc<String>) {
        self.count_read(carry.len() as u64);
        let parsed = match Carry::parse(&carry) {
            Ok(parsed) if parsed.format.is(self.format) => parsed,
            Ok(_) => return self.stats.unreadable += 1,
            Err(error) => return self.stats.count_unusable(error.into()),
        };
        if let Err(why) = self.take_head(&parsed) {
            return self.stats.count_unusable(why);
        }
        if let Some(ordinal) = parsed.ordinal {
            // The entries of a carry that is in the sidecar twice are restored once.
            if self.totals.has(ordinal) || self.orphans.see(ordinal) == Seen::Again {
                self.stats.doubled_carries += 1;
                return self.stats.doubled += 1;
            }
            // A file without records has its carry under the guard of an empty record.
            if parsed.guard == guard_of(&[b""]) {
                self.totals.see(&parsed);
            }
        }
        let start = parsed.cursor(&carry);
        self.current = Some(Current {
            carry: Arc::clone(&carry),
            visible: String::new(),
            read: None,
            is_terminated: false,
            offset: 0,
            start,
            cursor: start,
            phase: Phase::HeldBefore,
            last_own: u64::MAX,
            is_moved: false,
            is_gone: true,
            is_whole: false,
            has_parts: false,
            n_sources: 0,
            is_start: false,
            own: VecDeque::new(),
            is_restored: false,
            is_placed: false,
        });
    }
}
