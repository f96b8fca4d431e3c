//! What can go wrong with tables.

use std::io;

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The table is no Parquet, or Parquet refused what was written.
    #[error("{0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A batch did not fit the schema.
    #[error("{0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// The tables do not keep the lines' bytes, so there is nothing to restore.
    #[error("{0}: the column raw is missing; only tables written with raw lines can be restored")]
    NoRaw(String),
    /// A line's bytes do not join the ones before them: rows are missing or doubled.
    #[error("{file}: byte {expected} is missing, the next row has byte {found}")]
    Gap {
        /// The file within the tables.
        file: String,
        /// The offset that comes next.
        expected: u64,
        /// The offset that was found.
        found: u64,
    },
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl From<jsonl::Error> for Error {
    fn from(error: jsonl::Error) -> Self {
        Error::Io(io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
    }
}
