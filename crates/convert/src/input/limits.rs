//! How much an input may hold, and what is said of one that holds more.

/// How much an input may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// The bytes of a line.
    pub(crate) line: Option<u64>,
    /// The bytes that a compressed input expands to.
    pub(crate) expanded: Option<u64>,
}

impl Limits {
    /// Whatever it holds: for what we wrote ourselves.
    pub(crate) const NONE: Self = Self { line: Some(u64::MAX), expanded: Some(u64::MAX) };
}

/// An input that holds more than it may.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Excess {
    #[error("a line has more than {0} bytes; --max-line allows longer ones")]
    Line(u64),
    #[error("it expands to more than {0} bytes; --max-expanded allows more")]
    Expanded(u64),
}
