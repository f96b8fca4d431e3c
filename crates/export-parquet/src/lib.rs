//! Writes sessions of AI coding agents as Parquet tables, and restores the sessions from them.
//!
//! There are two tables, whose columns [`EVENTS`] and [`SESSIONS`] list. `events` has a row for
//! every content block, in the order of the lines of each file. Its key is `file`, `offset`,
//! `block`, which does not depend on how the work was divided. The tokens of a response are on the first
//! row of its last line only, so that sums are right. `sessions` has a row for every file.
//!
//! With [`Options::with_raw`], the tables store the bytes of every line, and [`restore`] returns
//! the files. [`EventRows`] and [`SessionRows`] have the same rows as batches of Arrow, with all columns or a
//! [`Selection`]; they are there without the feature `parquet` too, which is on by default.
//!
//! ```
//! # #[cfg(feature = "parquet")] {
//! use export_parquet::{Dataset, Options, SessionFile};
//! use format_claude_code::FORMAT;
//!
//! let folder = tempfile::tempdir()?;
//! let session = concat!(
//!     r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Hello"}}"#,
//!     "\n",
//! );
//! let mut dataset = Dataset::below(folder.path(), &Options { with_raw: true });
//! let mut file = SessionFile::new("s1.jsonl", FORMAT.name);
//! let mut scanner = jsonl::Scanner::default();
//! for line in jsonl::lines(session.as_bytes()) {
//!     file.observe(&line, scanner.scan(&line).map(|value| FORMAT.first_event(value)).as_ref().ok());
//! }
//! for line in jsonl::lines(session.as_bytes()) {
//!     let event = scanner.scan(&line).map(|value| FORMAT.first_event(value));
//!     dataset.push(&mut file, &line, event.as_ref().ok())?;
//! }
//! dataset.end_file(file)?;
//! assert_eq!(dataset.finish()?.n_rows, 1);
//!
//! let mut restored = Vec::new();
//! export_parquet::restore(folder.path(), &mut |file, bytes| {
//!     assert_eq!(file, "s1.jsonl");
//!     restored.extend_from_slice(bytes);
//!     Ok(())
//! })?;
//! assert_eq!(restored, session.as_bytes());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice))]

mod block;
mod columns;
#[cfg(feature = "parquet")]
mod dataset;
mod error;
mod file;
#[cfg(feature = "parquet")]
mod parts;
#[cfg(feature = "parquet")]
mod restore;
mod row;
mod rows;
mod schema;
mod selection;
#[cfg(feature = "parquet")]
mod shelf;

pub use self::{
    columns::Columns,
    error::{Error, Result},
    file::SessionFile,
    row::Response,
    rows::{EventRows, SessionRows},
    schema::{Column, EVENTS, SESSIONS, VERSION},
    selection::Selection,
};
#[cfg(feature = "parquet")]
pub use self::{
    dataset::{Dataset, Options, Written},
    restore::restore,
    shelf::{NewFiles, Shelf},
};
