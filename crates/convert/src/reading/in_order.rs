//! Works on many items at a time, and writes their output in the order of the items.
//!
//! In: items 0, 1, 2, of which 1 is done first. Out: the bytes of 0, then 1, then 2. Output that
//! comes early is kept in memory, within limits.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use archive::on_threads;

/// The item whose turn it is passes its output on after this number of bytes.
const FLUSHED: usize = 64 * 1024;

/// Limit on the buffered output of an item whose turn has not come. Above it, the item waits.
const MAX_HELD: usize = 4 * 1024 * 1024;

/// Limit on the output of items that are done early, in bytes. Above it, threads wait.
const MAX_PARKED: usize = 64 * 1024 * 1024;

/// Runs `job` for all items on `n_jobs` threads, and writes their output to `sink` in the order of
/// the items, in bounded memory.
///
/// # Errors
///
/// Returns the first error of a job or of the sink. No further item is begun then.
pub(crate) fn in_order<T: Sync>(
    items: &[T],
    n_jobs: usize,
    sink: &mut (dyn Write + Send),
    job: impl Fn(&T, &mut dyn Write) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let turns = Turns {
        state: Mutex::new(State {
            turn: 0,
            parked: BTreeMap::new(),
            n_parked: 0,
            sink,
            error: None,
        }),
        changed: Condvar::new(),
    };
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item_idx, item)) = {
            let item_idx = next.fetch_add(1, Ordering::Relaxed);
            items.get(item_idx).map(|item| (item_idx, item))
        } {
            let mut output = Output { turns: &turns, item_idx, buffer: Vec::new() };
            let result = job(item, &mut output);
            if !output.finish(result) {
                break;
            }
        }
    };
    on_threads(n_jobs.min(items.len()), work);
    let state = turns.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(()), Err)
}

struct Turns<'s> {
    state: Mutex<State<'s>>,
    changed: Condvar,
}

struct State<'s> {
    /// The index of the item whose output goes to the sink.
    turn: usize,
    /// The output of items that are done early.
    parked: BTreeMap<usize, Vec<u8>>,
    n_parked: usize,
    sink: &'s mut (dyn Write + Send),
    error: Option<io::Error>,
}

impl State<'_> {
    fn pass_on(&mut self, bytes: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.sink.write_all(bytes)
        {
            self.error = Some(error);
        }
    }
}

impl<'s> Turns<'s> {
    fn lock(&self) -> MutexGuard<'_, State<'s>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The output of one item.
struct Output<'t, 's> {
    turns: &'t Turns<'s>,
    item_idx: usize,
    buffer: Vec<u8>,
}

impl Output<'_, '_> {
    /// Writes the buffer to the sink if it is this item's turn. With `is_patient`, waits for the
    /// turn.
    fn pass_on(&mut self, is_patient: bool) -> io::Result<()> {
        let mut state = self.turns.lock();
        while is_patient && state.turn != self.item_idx && state.error.is_none() {
            state = self.turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.turn == self.item_idx {
            state.pass_on(&self.buffer);
            self.buffer.clear();
        }
        // The thread with the error returns it; the others only stop.
        if state.error.is_some() { Err(io::Error::other("stopped")) } else { Ok(()) }
    }

    /// Ends the item. Returns whether there should be another.
    fn finish(mut self, result: io::Result<()>) -> bool {
        let mut state = self.turns.lock();
        if let Err(error) = result {
            state.error.get_or_insert(error);
        }
        while state.turn != self.item_idx
            && state.n_parked + self.buffer.len() > MAX_PARKED
            && state.error.is_none()
        {
            state = self.turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let buffer = std::mem::take(&mut self.buffer);
        state.n_parked += buffer.len();
        state.parked.insert(self.item_idx, buffer);
        loop {
            let turn = state.turn;
            let Some(buffer) = state.parked.remove(&turn) else { break };
            state.n_parked -= buffer.len();
            state.pass_on(&buffer);
            state.turn += 1;
        }
        self.turns.changed.notify_all();
        state.error.is_none()
    }
}

impl Write for Output<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= FLUSHED {
            self.pass_on(self.buffer.len() >= MAX_HELD)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_stands_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..40).map(|n| (n * 7919) % 200_000).collect();
        let job = |length: &usize, out: &mut dyn Write| {
            for n in 0..*length {
                out.write_all(&[b'a' + (n % 26) as u8])?;
            }
            out.write_all(b"\n")
        };
        let mut one = Vec::new();
        for item in &items {
            job(item, &mut one).expect("a vector takes all");
        }
        for n_jobs in [1, 2, 7, 100] {
            let mut many = Vec::new();
            in_order(&items, n_jobs, &mut many, job).expect("a vector takes all");
            assert!(many == one, "{n_jobs} jobs");
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let items = vec![(); 1000];
        let n_begun = AtomicUsize::new(0);
        // An item with this much output waits for its turn.
        let bytes = vec![b'a'; MAX_HELD];
        let result = in_order(&items, 4, &mut Full(2 * MAX_HELD), |(), out| {
            n_begun.fetch_add(1, Ordering::Relaxed);
            out.write_all(&bytes)
        });
        assert_eq!(result.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        assert!(n_begun.into_inner() <= 2 + 4);
        let job = |_: &(), _: &mut dyn Write| Err(io::Error::other("no"));
        let result = in_order(&items, 4, &mut Vec::new(), job);
        assert_eq!(result.map_err(|error| error.to_string()), Err("no".to_owned()));
    }
}
