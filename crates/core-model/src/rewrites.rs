//! The changes that clients make in their files: values that are written anew, and totals.

use std::fmt;

use jsonl::Value;

/// The way in which a client changes the records of its files.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rewrites {
    /// It appends to them. A carry refers to bytes of the written record, and its guard is the hash
    /// of these bytes.
    #[default]
    Never,
    /// It reads their values and writes them anew, with other spaces and another order of members.
    /// A carry refers to nothing, and its guard is the hash of the value.
    Values {
        /// The members of the object around the records that the client adds or changes, and totals that are
        /// written behind the records, as paths: `time.updated`. A path goes through arrays.
        volatile: &'static [&'static str],
        /// The path of a member that is in no written document, and that the client adds to each one that it
        /// stores. Without it, the client has changed no volatile member either. `None` if there is no such member, or if
        /// totals are written behind the records.
        mark: Option<&'static str>,
    },
}

impl Rewrites {
    /// Returns whether the client writes values anew.
    pub fn is_values(self) -> bool {
        matches!(self, Rewrites::Values { .. })
    }

    /// Returns the members around the records that the client adds or changes.
    pub fn volatile(self) -> &'static [&'static str] {
        match self {
            Rewrites::Never => &[],
            Rewrites::Values { volatile, .. } => volatile,
        }
    }

    /// Returns the path of the member that the client adds to each document that it stores.
    pub fn mark(self) -> Option<&'static str> {
        match self {
            Rewrites::Never => None,
            Rewrites::Values { mark, .. } => mark,
        }
    }
}

/// Compares the totals in the object around the records of a written document with the records.
pub trait Totals: fmt::Debug + Send {
    /// Adds the object around the records, or a part of it.
    fn add_root(&mut self, root: Value<'_>);

    /// Adds a record.
    fn add_record(&mut self, record: Value<'_>);

    /// Returns whether the totals equal the sums that the format's writer computes from the records.
    fn agree(&self) -> bool;
}

/// Creates the comparison of totals with no record.
pub type CreateTotals = fn() -> Box<dyn Totals>;
