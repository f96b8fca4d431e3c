//! The ids of the calls and results of a session, and the questions about ids that were not there
//! yet.
//!
//! In: "is `t1` answered?" before the result of `t1` is added. Out: no, and a doubt; the result
//! refutes it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Hashes, IdHasher};

/// Ids that may be shared. A clone has ids of its own.
#[derive(Debug, Default)]
pub(super) struct SharedCalls {
    calls: Arc<Mutex<Calls>>,
    hasher: IdHasher,
}

#[derive(Clone, Debug, Default)]
struct Calls {
    called: Ids,
    answered: Ids,
    is_incomplete: bool,
    is_refuted: bool,
}

/// Hashes of ids, and of ids that were asked for and not found.
#[derive(Clone, Debug, Default)]
struct Ids {
    known: Hashes,
    doubts: Hashes,
}

impl Clone for SharedCalls {
    fn clone(&self) -> Self {
        let calls = Arc::new(Mutex::new(self.lock().clone()));
        Self { calls, hasher: self.hasher.clone() }
    }
}

impl SharedCalls {
    /// Creates an empty set whose ids have the hashes of a hasher.
    pub(super) fn new(hasher: IdHasher) -> Self {
        Self { calls: Arc::default(), hasher }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the same ids, to which both add.
    pub(super) fn share(&self) -> Self {
        Self { calls: self.calls.clone(), hasher: self.hasher.clone() }
    }

    pub(super) fn set_incomplete(&self, is_incomplete: bool) {
        self.lock().is_incomplete = is_incomplete;
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.lock().is_refuted
    }

    /// Returns the hasher of the ids.
    pub(super) fn hasher(&self) -> &IdHasher {
        &self.hasher
    }

    /// Adds the hash of the id of a call.
    pub(super) fn add_call(&self, hash: u64) {
        let calls = &mut *self.lock();
        calls.is_refuted |= calls.called.add(hash);
    }

    /// Adds the hash of the id of a result's call.
    pub(super) fn add_result(&self, hash: u64) {
        let calls = &mut *self.lock();
        calls.is_refuted |= calls.answered.add(hash);
    }

    pub(super) fn is_called(&self, hash: u64) -> bool {
        let calls = &mut *self.lock();
        calls.called.has(hash, calls.is_incomplete)
    }

    pub(super) fn is_answered(&self, hash: u64) -> bool {
        let calls = &mut *self.lock();
        calls.answered.has(hash, calls.is_incomplete)
    }
}

impl Ids {
    /// Adds an id and returns whether that refutes a doubt.
    fn add(&mut self, hash: u64) -> bool {
        self.known.insert(hash) && self.doubts.contains(&hash)
    }

    /// Returns whether an id is known. Notes a doubt if it is not and more ids may follow.
    fn has(&mut self, hash: u64, is_incomplete: bool) -> bool {
        let is_known = self.known.contains(&hash);
        if !is_known && is_incomplete {
            self.doubts.insert(hash);
        }
        is_known
    }
}
