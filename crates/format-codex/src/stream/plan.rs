//! Finds the lines about an item that a later line says again.
//!
//! In: `item.started` and `item.completed` with one id. Out: a [`Plan`] that hides the first one. A
//! call that only started was interrupted, and is shown.

use core_model::{ByHash, Event, Hidden, IdHasher, Plan, Planner};

use super::item::Item;

/// Finder of the last line about each item.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// The last line about each item of the current run, by the hash of its id.
    open: ByHash<u64>,
    hidden: Vec<Hidden>,
    hasher: IdHasher,
}

impl Planner for Last {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        // A line with a call and its result is seen twice.
        if event.nth > 0 {
            return;
        }
        let Some(item) = Item::decode(event.value) else {
            // Ids start again in each run.
            if event.kind.is_some_and(|kind| kind.is("thread.started")) {
                self.open.clear();
            }
            return;
        };
        let id = self.hasher.hash_text(item.id);
        if let Some(offset) = self.open.remove(&id) {
            self.hidden.push(Hidden { offset, field: "item.started" });
        }
        if !item.is_completed {
            self.open.insert(id, offset);
        }
    }

    fn finish(mut self: Box<Self>) -> Plan {
        self.hidden.sort_unstable_by_key(|hidden| hidden.offset);
        Plan { hidden: self.hidden, ..Plan::default() }
    }
}
