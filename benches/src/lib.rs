//! Input and clock of the benches: generated sessions, and CPU time.
//!
//! `cargo bench -p benches --features criterion` runs the benches. `CONVERT_DATA=FOLDER` adds the
//! JSONL files of a folder.
//!
//! ```
//! let corpus = benches::corpus(100_000);
//! assert_eq!(corpus, benches::corpus(100_000));
//! assert!(corpus.ends_with(b"}\n"));
//! ```

mod archive;
mod corpus;
#[cfg(feature = "criterion")]
mod time;

#[cfg(feature = "criterion")]
pub use self::time::CpuTime;
pub use self::{
    archive::write_archive,
    corpus::{corpus, files_below},
};
