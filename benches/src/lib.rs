//! What the benches share: input made up in the shape of real sessions, and CPU time.
//!
//! `cargo bench -p benches` runs them; with `CONVERT_DATA=FOLDER`, over its JSONL files too.
//!
//! ```
//! let corpus = benches::corpus(100_000);
//! assert_eq!(corpus, benches::corpus(100_000));
//! assert!(corpus.ends_with(b"}\n"));
//! ```

mod archive;
mod corpus;
mod time;

pub use self::{
    archive::write_archive,
    corpus::{corpus, files_below},
    time::CpuTime,
};
