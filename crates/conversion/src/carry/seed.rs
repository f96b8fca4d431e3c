//! The seed of the hashes that compare written records with restored ones.
//!
//! These hashes are of one run: they stay in memory, and no carry has them. With a seed that nobody knows, no text can
//! be made beforehand that has the hash of another one. Guards and checks have no seed, as docs/CARRY.md says.

use std::{
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
};

use twox_hash::XxHash3_64;

/// The seed of this run.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

/// Returns the hash of a text in this run. The same text has another hash for each `kind`.
pub(super) fn seeded_hash(kind: u64, text: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(seed(kind), text.as_bytes())
}

/// Returns a hasher of a text that comes in parts. It finds the hash of [`seeded_hash`].
pub(super) fn seeded_hasher(kind: u64) -> XxHash3_64 {
    XxHash3_64::with_seed(seed(kind))
}

fn seed(kind: u64) -> u64 {
    SEED.wrapping_add(kind)
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn a_hash_depends_on_the_run() {
        let [short, long] = ["a", &"a".repeat(1000)].map(|text| {
            let mut hasher = seeded_hasher(1);
            hasher.write(text.as_bytes());
            assert_eq!(hasher.finish(), seeded_hash(1, text));
            assert_ne!(seeded_hash(0, text), seeded_hash(1, text));
            (seeded_hash(1, text), XxHash3_64::oneshot_with_seed(1, text.as_bytes()))
        });
        assert!(short.0 != short.1 && long.0 != long.1);
    }
}
