//! Translates session logs of AI coding agents into one another, and loses nothing.
//!
//! In: the arguments of the command line, or as a library the bytes of a session. Out: the session
//! in another format, and the carry from which the source comes back byte for byte. This crate has
//! the command line, the terminal, and the table of formats ([`FORMATS`]); the crates below it do
//! the work.
//!
//! ```
//! use convert::{CarryMode, Conversion, FORMATS, by_name};
//!
//! let clido = by_name("clido").expect("a format");
//! let claude_code = by_name("claude-code").expect("a format");
//! let session = concat!(
//!     r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Hello"}}"#,
//!     "\n",
//! );
//! let there = Conversion {
//!     formats: FORMATS,
//!     from: claude_code,
//!     to: clido,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let back = Conversion { from: clido, to: claude_code, ..there.clone() };
//! let converted = there.convert(session.as_bytes(), None)?.bytes;
//! let restored = back.convert(&converted, None)?.bytes;
//! assert_eq!(restored, session.as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```

mod cli;
mod client;
#[cfg(all(test, feature = "cloud"))]
mod cloud_tests;
mod commands;
mod conversions;
mod environment;
mod formats;
mod hint;
mod inspect;
mod interrupt;
mod names;
mod new_file;
mod object;
mod program;
mod reading;
mod report;
mod run;
mod terminal;

pub use self::{
    cli::run_as,
    commands::{UnitWorker, UsageGroup, UsageGroups, UsageSum, check, plan, usage},
    environment::environment,
    formats::{FORMATS, by_name, detect},
    hint::{convert_message, io_message, read_message},
    run::status_of,
    terminal::stdout::refuse_stdout,
};
pub use conversion::{
    CarriedFormat, Carry, CarryEntry, CarryError, CarryMode, Conversion, Converted, Damage,
    Detected, End, Ending, EntryKind, MAX_PLACES, MEMBER, Manifest, ManifestEntry,
    ManifestEntryKind, Member, Piece, Recovered, Redacted, Redactions, Report, RestoreStats,
    Sidecar, Source, guard_of, redact,
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
