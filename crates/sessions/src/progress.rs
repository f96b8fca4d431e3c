//! Progress of a run, as the program that started it wants to hear of it.

use crate::input::Input;

/// Receives the progress of a run, from any thread.
pub trait Progress: Sync {
    /// Counts bytes that were read.
    fn add_bytes(&self, n_bytes: u64);

    /// Counts an input that is done.
    fn add_input(&self, input: &Input);
}

/// Ignores progress.
impl Progress for () {
    fn add_bytes(&self, _: u64) {}

    fn add_input(&self, _: &Input) {}
}
