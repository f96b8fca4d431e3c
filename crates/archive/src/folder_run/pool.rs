//! Runs jobs on threads in the order of a list.
//!
//! Each thread takes the next item. rayon's parallel iterators split a list in halves instead, so
//! that the largest item, which comes first, might start late and delay the end of the run.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Calls `work` once on each of `n_threads` threads. The results have no order.
pub fn on_threads<R: Send>(n_threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    if n_threads > 1
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()
    {
        return pool.broadcast(|_| work());
    }
    vec![work()]
}

/// Runs `job` for each item on several threads. Returns the results in the order of the items.
pub(crate) fn each_of<T: Sync, R: Send>(
    items: &[T],
    n_jobs: usize,
    job: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let n_threads = n_jobs.min(items.len());
    if n_threads <= 1 {
        return items.iter().map(job).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    on_threads(n_threads, || {
        while let Some((item_idx, item)) = {
            let item_idx = next.fetch_add(1, Ordering::Relaxed);
            items.get(item_idx).map(|item| (item_idx, item))
        } {
            let result = job(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((item_idx, result));
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(item_idx, _)| *item_idx);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(each_of(&items[..3], 2000, |item| item * 2), [0, 2, 4]);
        for n_jobs in [0, 1, 7, 40] {
            assert_eq!(each_of(&items, n_jobs, |item| item * 2)[999], 1998);
        }
        assert!(each_of(&[] as &[u8], 4, |_| ()).is_empty());
    }
}
