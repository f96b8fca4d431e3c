//! The changes of a repair, with their places in the input and their words.
//!
//! In: 12 bytes of a damaged line. Out: `left out 12 bytes of a damaged line: unexpected end of line`.

use std::fmt;

use jsonl::ErrorKind;

/// A change, with its place in the input.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) what: ChangeKind,
}

/// The words of a change.
#[derive(Clone, Debug)]
pub(super) enum ChangeKind {
    /// Bytes of a damaged line.
    Damage {
        n_bytes: usize,
        error: ErrorKind,
    },
    /// A line with several records.
    Split {
        n_records: u64,
    },
    /// The newline after the last record.
    Newline,
    Other(Box<str>),
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeKind::Damage { n_bytes: 1, error } => {
                write!(f, "left out 1 byte of a damaged line: {error}")
            }
            ChangeKind::Damage { n_bytes, error } => {
                write!(f, "left out {n_bytes} bytes of a damaged line: {error}")
            }
            ChangeKind::Split { n_records } => {
                write!(f, "put {n_records} records on lines of their own")
            }
            ChangeKind::Newline => f.write_str("added the newline after the last record"),
            ChangeKind::Other(what) => f.write_str(what),
        }
    }
}

impl From<String> for ChangeKind {
    fn from(what: String) -> Self {
        ChangeKind::Other(what.into())
    }
}
