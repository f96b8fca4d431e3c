//! Runs many checks on all cores, and reports each failure by name.

use std::{
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Runs a check for each item. Fails with all messages, and with the names of items whose check panics.
pub(crate) fn check_all<T: Sync>(
    items: &[T],
    name: impl Fn(&T) -> String + Sync,
    check: impl Fn(&T) -> Vec<String> + Sync,
) {
    assert!(!items.is_empty(), "nothing to check");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = catch_unwind(AssertUnwindSafe(|| check(item)));
                    let wrong = result.unwrap_or_else(|_| vec!["it panics".to_owned()]);
                    let wrong = wrong.iter().map(|wrong| format!("{}: {wrong}", name(item)));
                    failures.lock().expect("no thread panics here").extend(wrong);
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics here");
    failures.sort();
    let n = failures.len();
    failures.truncate(40);
    assert!(n == 0, "{n} failures:\n{}", failures.join("\n"));
}
