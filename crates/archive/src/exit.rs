//! How a run ends.

/// How a run ends; its number is the exit status of the program.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// All was done.
    Done = 0,
    /// All was done, but something wants attention.
    Attention = 1,
    /// The command line makes no sense, or nothing could be done.
    Failed = 2,
}
