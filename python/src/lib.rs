//! The Python extension `session_convert._native`.
//!
//! In: objects of Python. Out: sessions, batches of Arrow, converted bytes. The crates below do the work; here
//! are only the calls, which release the GIL while they run, and errors as exceptions with the program's text.

mod batches;
mod conversions;
mod error;
mod files;
mod rows;
mod sums;
mod workers;

/// The module of the extension.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        batches::{Batches, events, summaries},
        conversions::{
            Converted, ConvertedFile, Problem, Redacted, check, convert_bytes, convert_file,
            detect, formats, redact,
        },
        error::Error,
        files::{Session, list_sessions, open},
        sums::usage,
        workers::{Worker, main, plan},
    };
}
