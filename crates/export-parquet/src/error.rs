//! The errors of writing and reading tables.

use std::io;

/// The error of writing or reading a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a file failed.
    #[error("{}", core_model::system_words(.0))]
    Io(#[from] io::Error),
    /// The file is not Parquet, or Parquet refused the data.
    #[cfg(feature = "parquet")]
    #[error("{0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A batch did not fit the schema.
    #[error("{0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A table has no column of this name.
    #[error("no column `{0}`; the columns are {1}")]
    NoColumn(String, String),
    /// No column of a table was named.
    #[error("no column is named; the columns are {0}")]
    NoColumns(String),
    /// A column was named twice.
    #[error("column `{0}` is named twice")]
    Twice(String),
    /// The tables do not have the bytes of the lines, so no file can be restored.
    #[error("{0}: the column raw is missing; only tables written with raw lines can be restored")]
    NoRaw(String),
    /// A part of the tables, or its folder, cannot be read.
    #[error("{part}: {error}")]
    Part {
        /// The path.
        part: String,
        /// The reason.
        error: Box<Error>,
    },
    /// All rows of a file are missing, or the rows after some line.
    #[error(
        "{file}: the tables have {found} of its {expected} bytes ({n_files} such files); a part of events is \
         missing or damaged, so write the tables again"
    )]
    Missing {
        /// The first such file within the tables.
        file: String,
        /// The size of the file.
        expected: u64,
        /// The bytes in the tables.
        found: u64,
        /// The number of such files.
        n_files: u64,
    },
    /// The table `sessions` lacks rows of this number of files.
    #[error("the table sessions lacks {0} files that are in events; write the tables again")]
    NoSessions(u64),
    /// Rows are missing or doubled: the bytes of a line do not continue those before them.
    #[error("{file}: byte {expected} is missing, the next row has byte {found}")]
    Gap {
        /// The file within the tables.
        file: String,
        /// The expected offset.
        expected: u64,
        /// The offset that was found.
        found: u64,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl From<jsonl::Error> for Error {
    fn from(error: jsonl::Error) -> Self {
        Error::Io(io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
    }
}
