//! Sets and maps of ids, stored as hashes to bound the memory of long sessions.

use std::{
    collections::{HashMap, HashSet},
    hash::BuildHasher,
};

use foldhash::{fast, quality};
use jsonl::Text;

/// Returns whether a text is a UUID in digits and hyphens, of any version.
///
/// ```
/// assert!(core_model::is_uuid("71de4fac-a477-400c-b3c5-34bbe2c339ed"));
/// assert!(!core_model::is_uuid("71de4faca477400cb3c534bbe2c339ed"));
/// ```
pub fn is_uuid(text: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_digit)
}

/// Values by the hashes of ids.
pub type ByHash<V> = HashMap<u64, V, fast::RandomState>;

/// Hashes of ids.
pub type Hashes = HashSet<u64, fast::RandomState>;

/// Hasher of unescaped ids, with 64-bit hashes.
///
/// The seeds differ in each run, so that nobody can prepare a file with colliding ids.
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
    /// Returns the hash of an id or of another key.
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

    /// Returns whether the set contains the id.
    pub fn contains(&self, id: &str) -> bool {
        self.hashes.contains(&self.hasher.hash(id))
    }
}
