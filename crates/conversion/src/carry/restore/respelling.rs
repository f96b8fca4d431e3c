//! Finds the bytes of a written record that another program has spelled anew.
//!
//! In: `{ "n": 1, "cost": 0 }`, and a guard. Out: `{"cost":0.0,"n":1}`, which has this guard.

use core_model::Event;
use jsonl::respell_str;

use super::{Restorer, current::Visible};
use crate::carry::{
    Carry, Member,
    guard::{is_as_guarded, is_of_value},
    guard_of,
    respelt::RespeltValues,
};

impl Restorer {
    /// Returns whether a record whose carry names the source's format is as it was written, perhaps in another spelling.
    pub(crate) fn is_as_written(
        &mut self,
        member: &Member<'_>,
        carry: &Carry<'_>,
        is_glue: bool,
    ) -> bool {
        carry.format.is(self.format)
            && self.take_head(carry).is_ok()
            && self.visible(member, carry, None, is_glue).is_intact
    }

    /// Returns a record as it was written.
    pub(super) fn visible(
        &mut self,
        member: &Member<'_>,
        carry: &Carry<'_>,
        event: Option<&Event<'_>>,
        is_glue: bool,
    ) -> Visible {
        let guard = carry.guard;
        let pieces = member.written_text().pieces();
        if is_as_guarded(self.written, is_glue, &pieces, carry.guards()) {
            return Visible { written: None, is_intact: true };
        }
        if !is_of_value(self.written, is_glue) {
            let visible = member.visible();
            let spelled = self.spelled_as(&visible, guard);
            let respelt = spelled.or_else(|| self.with_other_spellings(&visible, guard));
            if respelt.is_some() {
                self.stats.respelt += 1;
                return Visible { written: respelt, is_intact: true };
            }
        }
        let moved = event.and_then(|event| self.before_move(member, carry, event, is_glue));
        self.stats.edited += u64::from(moved.is_some());
        let is_intact = moved.is_some();
        Visible { written: moved, is_intact }
    }

    /// Returns a record respelt in our style, if it then has this guard.
    pub(super) fn spelled_as(&self, record: &str, guard: u64) -> Option<String> {
        let fits = |candidate: &String| guard_of(&[candidate.as_bytes()]) == guard;
        // A long record is in memory in one spelling at a time.
        let in_order = Some(self.in_our_style(record)?).filter(fits);
        in_order.or_else(|| self.orders.respelt(record, self.written.style).filter(fits))
    }

    /// Returns a record in our style, with its members in their order; `None` if it is not JSON.
    fn in_our_style(&self, record: &str) -> Option<String> {
        jsonl::validate(record.as_bytes()).ok()?;
        let mut spelled = Vec::with_capacity(record.len());
        respell_str(&mut spelled, record, self.written.style);
        String::from_utf8(spelled).ok()
    }

    /// Returns a record respelt in our style, and with other spellings of its values, if it then has this guard.
    fn with_other_spellings(&mut self, record: &str, guard: u64) -> Option<String> {
        // Of a long record, no further copies are made.
        if !RespeltValues::may_search(record) {
            return None;
        }
        let in_order = self.in_our_style(record)?;
        if let Some(found) = self.values.find(&in_order, guard) {
            return Some(found);
        }
        let sorted =
            self.orders.respelt(record, self.written.style).filter(|it| *it != in_order)?;
        self.values.find(&sorted, guard)
    }
}
