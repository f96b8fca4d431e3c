//! Stores in memory, at `memory://NAME`, for tests.

use std::sync::{Arc, Mutex, PoisonError};

use object_store::{ObjectStore, memory::InMemory};

static STORES: Mutex<Vec<(String, Arc<InMemory>)>> = Mutex::new(Vec::new());

/// Returns the store of a name; each call returns the same one.
pub(super) fn store(root: &str) -> Arc<dyn ObjectStore> {
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, store)) = stores.iter().find(|(name, _)| name == root) {
        return store.clone();
    }
    let store = Arc::new(InMemory::new());
    stores.push((root.to_owned(), store.clone()));
    store
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::backend::cloud::Buckets;

    #[test]
    fn names_lead_nowhere_else() {
        let bucket = Buckets::default().of(Path::new("memory://names")).expect("a bucket").0;
        for path in ["memory://names/../x", "memory://other/x", "/etc/passwd", "x"] {
            assert!(bucket.key(Path::new(path)).is_err(), "{path}");
        }
        assert_eq!(bucket.key(Path::new("memory://names//a/./b")).expect("a name"), "a/b".into());
    }
}
