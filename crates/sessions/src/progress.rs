//! Reports the progress of a run to the program that started it.

use crate::input::Input;

/// Receives the progress of a run, from any thread.
pub trait Progress: Sync {
    /// Counts bytes that were read.
    fn add_bytes(&self, n_bytes: u64);

    /// Counts a finished input.
    fn add_input(&self, input: &Input);
}

/// Ignores progress.
impl Progress for () {
    fn add_bytes(&self, _: u64) {}

    fn add_input(&self, _: &Input) {}
}
