//! The exit status of a run.

/// The result of a run; its number is the exit status of the program.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Everything was done.
    Done = 0,
    /// Everything was done, with warnings.
    Attention = 1,
    /// Wrong usage, or nothing could be done.
    Failed = 2,
}
