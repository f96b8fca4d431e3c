//! Calls without a result, in little memory: a session may have hundreds of thousands of them.
//!
//! In: the calls `t1`, `t2` and again `t1`, then a result of `t1`. Out: the first call of `t1`; `t2` and the
//! second `t1` are open.

use std::{
    collections::{VecDeque, hash_map::Entry},
    sync::Arc,
};

use jsonl::json_string;

use crate::{ByHash, Facts, Hashes};

/// Calls without a result, in the order in which they were added. Of several calls with one id, the
/// first one is answered first. Ids are given as their [hashes](Facts::hash).
///
/// ```
/// let hasher = core_model::IdHasher::default();
/// let [t1, t2] = ["t1", "t2"].map(|id| hasher.hash(id));
/// let mut calls = core_model::OpenCalls::default();
/// calls.add(t1, "a");
/// calls.add(t2, "b");
/// calls.add(t1, "c");
/// assert_eq!(calls.answer(t1), Some("a"));
/// assert_eq!(calls.answer(t1), Some("c"));
/// assert_eq!(calls.answer(t1), None);
/// ```
#[derive(Debug)]
pub struct OpenCalls<C> {
    /// The calls, with gaps where calls were answered. The first one is open.
    calls: VecDeque<Option<OpenCall<C>>>,
    /// The number of the first call: calls are counted from 0, answered ones included.
    start: u32,
    n_open: u32,
    by_id: ByHash<Waiting>,
    answered: Hashes,
    /// No call with a smaller number has a result that is yet to come.
    expected_from: u32,
}

#[derive(Debug)]
struct OpenCall<C> {
    /// The hash of its id.
    id: u64,
    /// The number of the next call with the same id, or 0.
    next: u32,
    call: C,
}

/// The numbers of the first and the last open call with an id.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: u32,
    last: u32,
}

impl<C> Default for OpenCalls<C> {
    fn default() -> Self {
        Self {
            calls: VecDeque::new(),
            start: 0,
            n_open: 0,
            by_id: ByHash::default(),
            answered: Hashes::default(),
            expected_from: 0,
        }
    }
}

impl<C> OpenCalls<C> {
    /// Adds a call.
    pub fn add(&mut self, id: u64, call: C) {
        // A session with four billion calls would have a hundred gigabytes.
        let number = self.end();
        match self.by_id.entry(id) {
            Entry::Vacant(entry) => {
                entry.insert(Waiting { first: number, last: number });
            }
            Entry::Occupied(mut entry) => {
                let last = std::mem::replace(&mut entry.get_mut().last, number);
                let at = last.saturating_sub(self.start) as usize;
                if let Some(Some(last)) = self.calls.get_mut(at) {
                    last.next = number;
                }
            }
        }
        self.calls.push_back(Some(OpenCall { id, next: 0, call }));
        self.n_open = self.n_open.saturating_add(1);
    }

    /// Removes and returns the call that a result answers.
    pub fn answer(&mut self, id: u64) -> Option<C> {
        self.answered.insert(id);
        self.remove(id)
    }

    /// Removes and returns the first call with an id, without a result.
    pub fn remove(&mut self, id: u64) -> Option<C> {
        let Entry::Occupied(mut entry) = self.by_id.entry(id) else { return None };
        let Waiting { first, last } = *entry.get();
        let OpenCall { next, call, .. } =
            self.calls.get_mut(first.checked_sub(self.start)? as usize)?.take()?;
        if first == last {
            entry.remove();
        } else {
            entry.get_mut().first = next;
        }
        self.n_open = self.n_open.saturating_sub(1);
        while let Some(None) = self.calls.front() {
            self.calls.pop_front();
            self.start = self.start.saturating_add(1);
        }
        Some(call)
    }

    /// Returns the first call with an id.
    pub fn first(&self, id: u64) -> Option<&C> {
        let first = self.by_id.get(&id)?.first.checked_sub(self.start)?;
        Some(&self.calls.get(first as usize)?.as_ref()?.call)
    }

    /// Returns the number of the next call.
    fn end(&self) -> u32 {
        self.start.saturating_add(u32::try_from(self.calls.len()).unwrap_or(u32::MAX))
    }

    /// Returns whether no call is open.
    pub fn is_empty(&self) -> bool {
        self.n_open == 0
    }

    /// Returns whether the source has a later result for an open call. Does not ask twice about a call that
    /// has none: facts that get a result later are refuted, and the conversion begins anew
    /// ([`Facts::is_refuted`]).
    pub fn is_any_expected(&mut self, facts: &Facts) -> bool {
        self.expected_from = self.expected_from.max(self.start);
        let skipped = self.expected_from.saturating_sub(self.start) as usize;
        for call in self.calls.iter().skip(skipped) {
            if call.as_ref().is_some_and(|call| is_expected(&self.answered, call.id, facts)) {
                return true;
            }
            self.expected_from = self.expected_from.saturating_add(1);
        }
        false
    }

    /// Removes the calls without a later result in the source, and returns them in order.
    pub fn take_unexpected(&mut self, facts: &Facts) -> Vec<C> {
        let mut unexpected = Vec::new();
        let answered = std::mem::take(&mut self.answered);
        let calls = std::mem::take(&mut self.calls);
        self.forget();
        for OpenCall { id, call, .. } in calls.into_iter().flatten() {
            match is_expected(&answered, id, facts) {
                true => self.add(id, call),
                false => unexpected.push(call),
            }
        }
        self.answered = answered;
        unexpected
    }

    /// Removes all calls and returns them in order.
    pub fn take_all(&mut self) -> Vec<C> {
        let calls = std::mem::take(&mut self.calls);
        self.forget();
        calls.into_iter().flatten().map(|open| open.call).collect()
    }

    /// Removes all calls.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.forget();
    }

    fn forget(&mut self) {
        self.by_id.clear();
        (self.start, self.n_open, self.expected_from) = (0, 0, 0);
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

fn is_expected(answered: &Hashes, id: u64, facts: &Facts) -> bool {
    !answered.contains(&id) && facts.is_hash_answered(id)
}

#[cfg(test)]
mod tests {
    use jsonl::Value;

    use super::*;
    use crate::{Block, Body, Content, Event, Field, Message, Role, ToolResult};

    /// Reads the id of a tool use as a result of it.
    fn result_of(value: Value<'_>) -> Block<'_> {
        let tool_use_id = value.text().expect("an id");
        Block::ToolResult(ToolResult::new(tool_use_id, Content::Absent, Field::Absent))
    }

    #[test]
    fn calls_are_answered_in_order() {
        let mut calls = OpenCalls::default();
        for (n, id) in [1, 2, 1, 3, 1].into_iter().enumerate() {
            calls.add(id, n);
        }
        assert_eq!(calls.answer(2), Some(1));
        assert_eq!(calls.answer(1), Some(0));
        assert_eq!(calls.start, 2);
        calls.add(2, 5);
        assert_eq!(calls.first(1), Some(&2));
        assert_eq!((calls.answer(2), calls.answer(2)), (Some(5), None));
        assert_eq!((calls.answer(1), calls.remove(1)), (Some(2), Some(4)));
        assert_eq!(calls.answer(3), Some(3));
        assert!(calls.is_empty() && calls.by_id.is_empty() && calls.calls.is_empty());
    }

    #[test]
    fn calls_without_a_later_result_are_taken() {
        let mut facts = Facts::default();
        let mut calls = OpenCalls::default();
        let [a, b] = ["a", "b"].map(|id| facts.hasher().hash(id));
        for (n, id) in [b, a, b].into_iter().enumerate() {
            calls.add(id, n);
        }
        assert!(!calls.is_any_expected(&facts));
        let mut scanner = jsonl::Scanner::default();
        let blocks = scanner.scan_slice(br#"["a"]"#, 0).expect("an array");
        let message = Message::new(Role::User, Content::new(Some(blocks), result_of));
        facts.observe(&Event { body: Body::Message(message), ..Event::other("toy", blocks) });
        calls.add(a, 3);
        assert!(calls.is_any_expected(&facts));
        assert_eq!(calls.take_unexpected(&facts), [0, 2]);
        assert_eq!(calls.answer(a), Some(1));
        assert!(!calls.is_any_expected(&facts), "one result answers one call");
        assert_eq!((calls.take_unexpected(&facts), calls.is_empty()), (vec![3], true));
        calls.add(b, 4);
        assert_eq!(calls.take_all(), [4]);
    }
}
