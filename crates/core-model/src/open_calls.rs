//! Calls without a result, in little memory: a session may have hundreds of thousands of them.
//!
//! In: the calls `t1`, `t2` and again `t1`, then a result of `t1`. Out: the first call of `t1`; `t2` and the
//! second `t1` are open. If the result is in the record of the second `t1`, it answers that one.

use std::{
    collections::{VecDeque, hash_map::Entry},
    sync::Arc,
};

use jsonl::{Text, json_string};

use crate::{ByHash, Event, Hashes, IdHasher};

/// The id of a tool use, or the id that a tool result names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallId {
    /// The hash of the id.
    pub hash: u64,
    /// The offset of the id in its record. A call and its result have the same one if the record has the id once for
    /// both.
    at: Option<u32>,
}

impl CallId {
    /// Returns the id in an event; `hasher` computes its hash.
    pub fn new(event: &Event<'_>, id: Text<'_>, hasher: &IdHasher) -> Self {
        let start = |text: &str| text.as_ptr() as usize;
        let at = start(id.as_str()).checked_sub(start(event.value.raw().as_str()));
        let is_within = |at: &usize| *at < event.value.raw().as_str().len();
        let at = at.filter(is_within).and_then(|at| u32::try_from(at).ok());
        Self { hash: hasher.hash_text(id), at }
    }
}

impl From<u64> for CallId {
    /// Returns the id with a hash, at an unknown place.
    fn from(hash: u64) -> Self {
        Self { hash, at: None }
    }
}

/// Calls without a result, in the order in which they were added. Of several calls with one id, the
/// first one is answered first, but a result in the record of a call belongs to that call.
///
/// ```
/// let hasher = core_model::IdHasher::default();
/// let [t1, t2] = ["t1", "t2"].map(|id| hasher.hash(id).into());
/// let mut calls = core_model::OpenCalls::default();
/// calls.add(t1, "a");
/// calls.add(t2, "b");
/// calls.add(t1, "c");
/// assert_eq!(calls.answer(t1), Some("a"));
/// assert_eq!(calls.answer(t1), Some("c"));
/// assert_eq!(calls.answer(t1), None);
/// ```
#[derive(Clone, Debug)]
pub struct OpenCalls<C> {
    /// The calls, with gaps where calls were answered. The first one is open.
    calls: VecDeque<Option<OpenCall<C>>>,
    /// The number of the first call: calls are counted from 0, removed ones included.
    start: u32,
    n_open: u32,
    by_id: ByHash<Waiting>,
    /// The calls of the current record.
    own: OwnCalls,
    /// No call with a smaller number is expected to get a result.
    expected_from: u32,
}

#[derive(Clone, Debug)]
struct OpenCall<C> {
    /// The hash of its id.
    id: u64,
    /// The numbers of the calls before and after it with the same id, or `NONE`.
    previous: u32,
    next: u32,
    call: C,
}

/// The numbers of the first and the last open call with an id.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: u32,
    last: u32,
}

/// The calls of the current record, for results in the same record.
#[derive(Clone, Debug, Default)]
struct OwnCalls {
    /// The number of the first call.
    start: u32,
    /// The offsets of the ids of the calls, or `NONE`.
    offsets: Vec<u32>,
    /// The first open call, or `NONE` if there is none, by the id. Has only the ids of calls that are not the first
    /// ones with their id, and of calls that are not in the output.
    by_id: ByHash<u32>,
    /// The offsets of the ids of calls that are not in the output.
    others: Hashes,
}

/// In place of the number of a call: there is none.
const NONE: u32 = u32::MAX;

/// Limit on the offsets for which there is memory between two records.
const MAX_OFFSETS: usize = 64;

impl OwnCalls {
    fn start(&mut self, number: u32) {
        self.start = number;
        self.offsets.clear();
        self.offsets.shrink_to(MAX_OFFSETS);
        if !self.by_id.is_empty() {
            self.by_id = ByHash::default();
        }
        if !self.others.is_empty() {
            self.others = Hashes::default();
        }
    }

    /// Returns the number of the call whose id is at an offset. The offsets increase in nearly all records; in others,
    /// a call may not be found.
    fn at(&self, offset: u32) -> Option<u32> {
        let idx = self.offsets.binary_search(&offset).ok()?;
        self.start.checked_add(u32::try_from(idx).ok()?)
    }
}

impl<C> Default for OpenCalls<C> {
    fn default() -> Self {
        Self {
            calls: VecDeque::new(),
            start: 0,
            n_open: 0,
            by_id: ByHash::default(),
            own: OwnCalls::default(),
            expected_from: 0,
        }
    }
}

impl<C> OpenCalls<C> {
    /// Starts a record at its first event. Results after it belong to the calls after it, if these have their ids.
    pub fn start_record(&mut self, event: &Event<'_>) {
        if event.nth == 0 {
            self.own.start(self.end());
        }
    }

    /// Adds a call.
    pub fn add(&mut self, id: CallId, call: C) {
        // A session with four billion calls would have a hundred gigabytes.
        let number = self.end();
        let mut previous = NONE;
        match self.by_id.entry(id.hash) {
            Entry::Vacant(entry) => {
                entry.insert(Waiting { first: number, last: number });
            }
            Entry::Occupied(mut entry) => {
                let waiting = entry.get_mut();
                previous = std::mem::replace(&mut waiting.last, number);
                if waiting.first < self.own.start {
                    self.own.by_id.entry(id.hash).or_insert(NONE);
                }
                if let Some(previous) = self.get_mut(previous) {
                    previous.next = number;
                }
            }
        }
        if let Some(first @ &mut NONE) = self.own.by_id.get_mut(&id.hash) {
            *first = number;
        }
        self.own.offsets.push(id.at.unwrap_or(NONE));
        self.calls.push_back(Some(OpenCall { id: id.hash, previous, next: NONE, call }));
        self.n_open = self.n_open.saturating_add(1);
    }

    /// Notes a call that is not in the output. Results in the same record may belong to it, and then answer no other
    /// call.
    pub fn add_other(&mut self, id: CallId) {
        self.own.others.extend(id.at.map(u64::from));
        let first = self.by_id.get(&id.hash).map_or(NONE, |waiting| waiting.first);
        let first = if first < self.own.start { NONE } else { first };
        self.own.by_id.entry(id.hash).or_insert(first);
    }

    /// Removes and returns the call that a result answers.
    pub fn answer(&mut self, id: CallId) -> Option<C> {
        if let Some(at) = id.at {
            if self.own.others.contains(&u64::from(at)) {
                return None;
            }
            let own = self.own.at(at);
            if let Some(number) = own.filter(|number| self.is_open(*number, id.hash)) {
                return self.take(number);
            }
        }
        match self.own.by_id.get(&id.hash) {
            Some(number) => self.take(*number),
            None => self.remove(id.hash),
        }
    }

    /// Removes and returns the first call with an id, without a result.
    pub fn remove(&mut self, id: u64) -> Option<C> {
        self.take(self.by_id.get(&id)?.first)
    }

    /// Returns the first call with an id.
    pub fn first(&self, id: u64) -> Option<&C> {
        let first = self.by_id.get(&id)?.first.checked_sub(self.start)?;
        Some(&self.calls.get(first as usize)?.as_ref()?.call)
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut OpenCall<C>> {
        self.calls.get_mut(number.checked_sub(self.start)? as usize)?.as_mut()
    }

    fn is_open(&self, number: u32, id: u64) -> bool {
        let at = number.checked_sub(self.start).map(|at| at as usize);
        at.and_then(|at| self.calls.get(at)?.as_ref()).is_some_and(|call| call.id == id)
    }

    /// Removes and returns a call by its number.
    fn take(&mut self, number: u32) -> Option<C> {
        let at = number.checked_sub(self.start)? as usize;
        let OpenCall { id, previous, next, call } = self.calls.get_mut(at)?.take()?;
        if let Some(previous) = self.get_mut(previous) {
            previous.next = next;
        }
        if let Some(next) = self.get_mut(next) {
            next.previous = previous;
        }
        if let Entry::Occupied(mut entry) = self.by_id.entry(id) {
            let Waiting { first, last } = entry.get_mut();
            if first == last {
                entry.remove();
            } else if *first == number {
                *first = next;
            } else if *last == number {
                *last = previous;
            }
        }
        if let Some(first) = self.own.by_id.get_mut(&id).filter(|first| **first == number) {
            *first = next;
        }
        self.n_open = self.n_open.saturating_sub(1);
        while let Some(None) = self.calls.front() {
            self.calls.pop_front();
            self.start = self.start.saturating_add(1);
        }
        Some(call)
    }

    /// Returns the number of the next call.
    fn end(&self) -> u32 {
        self.start.saturating_add(u32::try_from(self.calls.len()).unwrap_or(u32::MAX))
    }

    /// Returns whether no call is open.
    pub fn is_empty(&self) -> bool {
        self.n_open == 0
    }

    /// Returns whether an open call is expected to get a result, by the hash of its id. Does not ask twice about a call
    /// that is not.
    pub fn is_any_expected(&mut self, is_expected: impl Fn(u64) -> bool) -> bool {
        self.expected_from = self.expected_from.max(self.start);
        let skipped = self.expected_from.saturating_sub(self.start) as usize;
        for call in self.calls.iter().skip(skipped) {
            if call.as_ref().is_some_and(|call| is_expected(call.id)) {
                return true;
            }
            self.expected_from = self.expected_from.saturating_add(1);
        }
        false
    }

    /// Removes the calls that are not expected to get a result, by the hashes of their ids, and returns them in order.
    pub fn take_unexpected(&mut self, is_expected: impl Fn(u64) -> bool) -> Vec<C> {
        let mut unexpected = Vec::new();
        for OpenCall { id, call, .. } in self.take_open() {
            match is_expected(id) {
                true => self.add(id.into(), call),
                false => unexpected.push(call),
            }
        }
        // The calls have other numbers.
        self.own.start(self.end());
        unexpected
    }

    /// Removes all calls and returns them in order.
    pub fn take_all(&mut self) -> Vec<C> {
        self.take_open().map(|open| open.call).collect()
    }

    /// Removes all calls.
    pub fn clear(&mut self) {
        self.forget();
        self.calls.clear();
    }

    fn take_open(&mut self) -> impl Iterator<Item = OpenCall<C>> + use<C> {
        self.forget();
        std::mem::take(&mut self.calls).into_iter().flatten()
    }

    /// Clears all but the calls themselves. The calls after them have higher numbers.
    fn forget(&mut self) {
        self.start = self.end();
        self.by_id.clear();
        (self.n_open, self.expected_from) = (0, 0);
    }
}

/// Names of tools, which the calls of a session share.
///
/// ```
/// let mut names = core_model::ToolNames::default();
/// let (first, second) = (names.json("Read"), names.json("Read"));
/// assert_eq!(&*first, "\"Read\"");
/// assert!(std::sync::Arc::ptr_eq(&first, &second));
/// ```
#[derive(Debug, Default)]
pub struct ToolNames(Vec<Arc<str>>);

impl ToolNames {
    /// Limit for the names that are shared.
    const MAX: usize = 32;

    /// Returns a name as a JSON string.
    pub fn json(&mut self, name: &str) -> Arc<str> {
        let name = json_string(name);
        if let Some(known) = self.0.iter().find(|known| ***known == *name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if self.0.len() < Self::MAX {
            self.0.push(name.clone());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    #[test]
    fn calls_are_answered_in_order() {
        let mut calls = OpenCalls::default();
        for (n, id) in [1, 2, 1, 3, 1].into_iter().enumerate() {
            calls.add(id.into(), n);
        }
        assert_eq!(calls.answer(2.into()), Some(1));
        assert_eq!(calls.answer(1.into()), Some(0));
        assert_eq!(calls.start, 2);
        calls.add(2.into(), 5);
        assert_eq!(calls.first(1), Some(&2));
        assert_eq!((calls.answer(2.into()), calls.answer(2.into())), (Some(5), None));
        assert_eq!((calls.answer(1.into()), calls.remove(1)), (Some(2), Some(4)));
        assert_eq!(calls.answer(3.into()), Some(3));
        assert!(calls.is_empty() && calls.by_id.is_empty() && calls.calls.is_empty());
    }

    /// Starts a record. Its second event does not start another one.
    fn start_record(calls: &mut OpenCalls<u32>) {
        let mut scanner = jsonl::Scanner::default();
        let record = scanner.scan_slice(b"{}", 0).expect("an object");
        calls.start_record(&Event::other("toy", record));
        calls.start_record(&Event { nth: 1, ..Event::other("toy", record) });
    }

    #[test]
    fn results_belong_to_the_calls_of_their_records() {
        let id = |hash, at| CallId { hash, at };
        let mut calls = OpenCalls::default();
        start_record(&mut calls);
        calls.add(1.into(), 0);
        calls.add(2.into(), 1);
        start_record(&mut calls);
        for (n, at) in [(2, 10), (3, 20), (4, 30)] {
            calls.add(id(1, Some(at)), n);
        }
        calls.add_other(id(1, Some(40)));
        calls.add_other(id(2, Some(50)));
        // By its place, then in order, then none: not the calls of the record before.
        assert_eq!(calls.answer(id(1, Some(40))), None);
        assert_eq!(calls.answer(id(1, Some(20))), Some(3));
        assert_eq!(calls.answer(1.into()), Some(2));
        assert_eq!(calls.answer(id(1, Some(15))), Some(4));
        assert_eq!((calls.answer(1.into()), calls.answer(2.into())), (None, None));
        calls.add(1.into(), 5);
        assert_eq!(calls.answer(1.into()), Some(5));
        start_record(&mut calls);
        assert_eq!((calls.answer(1.into()), calls.answer(2.into())), (Some(0), Some(1)));
        assert!(calls.is_empty() && calls.by_id.is_empty() && calls.calls.is_empty());
        calls.add(1.into(), 6);
        calls.clear();
        calls.add(1.into(), 7);
        assert_eq!(calls.answer(1.into()), Some(7));
    }

    /// 20,000 calls of one id, which wait, and as many in one record with their results.
    #[test]
    fn many_calls_with_one_id_are_answered_in_linear_time() {
        const N: u32 = 20_000;
        let mut calls = OpenCalls::default();
        for n in 0..N {
            start_record(&mut calls);
            calls.add(1.into(), n);
        }
        start_record(&mut calls);
        for n in 0..N {
            calls.add(CallId { hash: 1, at: Some(n) }, N + n);
        }
        for n in (0..N).step_by(2) {
            assert_eq!(calls.answer(CallId { hash: 1, at: Some(N - 1 - n) }), Some(2 * N - 1 - n));
        }
        for n in (0..N).step_by(2) {
            assert_eq!(calls.answer(1.into()), Some(N + n));
        }
        start_record(&mut calls);
        for n in 0..N {
            assert_eq!(calls.answer(1.into()), Some(n));
        }
        assert!(calls.is_empty());
    }

    #[test]
    fn unexpected_calls_are_taken() {
        let mut calls = OpenCalls::default();
        for (n, id) in [2, 1, 2].into_iter().enumerate() {
            calls.add(id.into(), n);
        }
        assert!(!calls.is_any_expected(|_| false));
        calls.add(1.into(), 3);
        // The calls before it are not asked about again.
        assert!(calls.is_any_expected(|id| id == 1) && !calls.is_any_expected(|id| id == 2));
        assert_eq!(calls.take_unexpected(|id| id == 1), [0, 2]);
        assert_eq!(calls.answer(1.into()), Some(1));
        assert_eq!((calls.take_unexpected(|_| false), calls.is_empty()), (vec![3], true));
        calls.add(2.into(), 4);
        assert_eq!(calls.take_all(), [4]);
    }
}
