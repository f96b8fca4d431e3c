//! Ids by their hashes: of a session of any length, no more than these is kept.

use std::{
    collections::{HashMap, HashSet},
    hash::BuildHasher,
};

use foldhash::{fast, quality};
use jsonl::Text;

/// Values by the hashes of ids.
pub type ByHash<V> = HashMap<u64, V, fast::RandomState>;

/// Hashes of ids.
pub type Hashes = HashSet<u64, fast::RandomState>;

/// Makes 64-bit hashes that stand for ids, by what they mean and not how they are written.
///
/// Its seeds are other ones in each run: no log can hold two ids that are made to have one hash.
///
/// ```
/// let hasher = core_model::IdHasher::default();
/// let id = jsonl::Text::new(r#""toolu_\u0030\u0031""#).expect("a string");
/// assert_eq!(hasher.hash_text(id), hasher.hash("toolu_01"));
/// assert_ne!(hasher.hash_text(id), hasher.hash("toolu_02"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct IdHasher(quality::RandomState);

impl IdHasher {
    /// Returns the hash of an id, or of what else tells one thing from another.
    pub fn hash(&self, id: impl AsRef<[u8]>) -> u64 {
        self.0.hash_one(id.as_ref())
    }

    /// Returns the hash of an id in its line.
    pub fn hash_text(&self, id: Text<'_>) -> u64 {
        self.hash(&*id.decode())
    }
}

/// A set of ids.
///
/// ```
/// let mut ids = core_model::IdSet::default();
/// assert!(ids.insert("toolu_01") && !ids.insert("toolu_01"));
/// assert!(ids.contains("toolu_01") && !ids.contains("toolu_02"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct IdSet {
    hashes: Hashes,
    hasher: IdHasher,
}

impl IdSet {
    /// Adds an id and returns whether it is new.
    pub fn insert(&mut self, id: &str) -> bool {
        self.hashes.insert(self.hasher.hash(id))
    }

    /// Adds an id in its line and returns whether it is new.
    pub fn insert_text(&mut self, id: Text<'_>) -> bool {
        self.hashes.insert(self.hasher.hash_text(id))
    }

    /// Returns the hash that stands for an id in the set, whether it is there or not.
    pub fn hash(&self, id: &str) -> u64 {
        self.hasher.hash(id)
    }

    /// Returns whether an id is in the set, of which [`IdSet::hash`] returned the hash.
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.hashes.contains(&hash)
    }

    /// Returns whether the id is in the set.
    pub fn contains(&self, id: &str) -> bool {
        self.hashes.contains(&self.hasher.hash(id))
    }
}
