//! The note of a test that has nothing to look at. `.ci/run` reads it, and runs these tests over the shared
//! data if it is there.

use std::{
    fmt::Display,
    io::{self, Write},
    thread,
};

/// Says that a test looked at nothing because something is missing. A test that says so passes.
///
/// With `no data in ../shared/data`: `skipped: data::hostile_files_come_back: no data in ../shared/data`.
pub(crate) fn say_skipped(reason: impl Display) {
    let test = thread::current();
    // Not `eprintln!`: the note of a passing test would be captured.
    _ = writeln!(io::stderr(), "skipped: {}: {reason}", test.name().unwrap_or_default());
}
