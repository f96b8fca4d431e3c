//! The table of the formats that a program supports.

use std::ops::Deref;

use crate::Format;

/// The formats that a program supports, one row each. Detection, conversion and restoring use only
/// this table. The rows are compiled in, so the value is as cheap to pass on as a slice.
///
/// ```
/// use core_model::Formats;
///
/// let none = Formats::new(&[]);
/// assert!(none.by_name("clido").is_none());
/// assert_eq!(none.len(), 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Formats(&'static [&'static Format]);

impl Formats {
    /// Creates a table of rows with different names.
    pub const fn new(rows: &'static [&'static Format]) -> Self {
        Self(rows)
    }

    /// Returns the rows.
    pub const fn rows(self) -> &'static [&'static Format] {
        self.0
    }

    /// Returns the formats that sessions of other formats are converted to.
    pub fn targets(self) -> impl Iterator<Item = &'static Format> {
        self.0.iter().copied().filter(|format| !format.is_read_only)
    }

    /// Returns whether the files of a format are documents.
    pub fn has_documents(self) -> bool {
        self.0.iter().any(|format| format.framing.is_document())
    }

    /// Returns the format with this name.
    pub fn by_name(self, name: &str) -> Option<&'static Format> {
        self.0.iter().find(|format| format.name == name).copied()
    }
}

impl Deref for Formats {
    type Target = [&'static Format];

    fn deref(&self) -> &Self::Target {
        self.0
    }
}
