//! Pairs tool calls with their results by numbers.
//!
//! In: the calls 0 and 1 of `t1`, and two results of `t1`. Out: the first result belongs to call 0, the second to call 1.

use crate::{ByHash, CallId, Event, OpenCalls};

/// Pairs the calls of a session with their results. A caller has the calls, counts them from 0, and knows their ids.
///
/// Of several calls with one id, the first one is answered first, but a result in the record of a call belongs to that
/// call. Of several results of one call, the first one counts, as in the clients.
///
/// ```
/// let hasher = core_model::IdHasher::default();
/// let [t1, t2] = ["t1", "t2"].map(|id| hasher.hash(id).into());
/// let mut pairs = core_model::CallPairs::default();
/// assert_eq!(pairs.call(t1, 0), 0);
/// assert_eq!(pairs.answer(t1), Some(0));
/// // A result that came before its call has the number 1.
/// assert_eq!(pairs.answer(t2), None);
/// pairs.hold(t2, 1);
/// assert_eq!(pairs.call(t2, 2), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallPairs {
    open: OpenCalls<u32>,
    /// The numbers of results without a call, by the hashes of their ids.
    early: ByHash<u32>,
}

impl CallPairs {
    /// Starts a record at its first event. Results after it belong to the calls after it, if these have their ids.
    pub fn start_record(&mut self, event: &Event<'_>) {
        self.open.start_record(event);
    }

    /// Adds a call and returns its number: `next`, or the number of the result that came before it.
    pub fn call(&mut self, id: CallId, next: u32) -> u32 {
        if let Some(early) = self.early.remove(&id.hash) {
            return early;
        }
        self.open.add(id, next);
        next
    }

    /// Returns the number of the call that a result answers; `None` if no call with its id is open.
    pub fn answer(&mut self, id: CallId) -> Option<u32> {
        self.open.answer(id)
    }

    /// Gives a number to the first result of an id without a call. A later call of the id gets the same number.
    pub fn hold(&mut self, id: CallId, number: u32) {
        self.early.insert(id.hash, number);
    }
}
