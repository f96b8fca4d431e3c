//! Translates session logs of AI coding agents into one another, and loses nothing.
//!
//! ```
//! use convert::{CarryMode, Conversion, by_name};
//!
//! let clido = by_name("clido").expect("a format");
//! let claude_code = by_name("claude-code").expect("a format");
//! let session = concat!(
//!     r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Hello"}}"#,
//!     "\n",
//! );
//! let there = Conversion {
//!     from: claude_code,
//!     to: clido,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let back = Conversion { from: clido, to: claude_code, ..there.clone() };
//! let (converted, _, _) = there.convert(session.as_bytes(), None)?;
//! let (restored, _, _) = back.convert(&converted, None)?;
//! assert_eq!(restored, session.as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```

mod account;
mod carry;
mod cli;
#[cfg(feature = "cloud")]
mod cloud;
mod commands;
mod compress;
mod conversions;
mod detect;
mod folder;
mod folder_run;
mod formats;
mod input;
mod inspect;
mod install;
mod interrupt;
mod job;
mod journal;
mod output;
mod outputs;
mod pipeline;
mod reading;
mod redaction;
mod run;
mod scratch;
mod session;
mod storage;
mod terminal;
mod unit;
mod worker;

pub use self::{
    carry::{
        CarriedFormat, Carry, CarryEntry, CarryError, Contents, End, Ending, EntryKind, MEMBER,
        Member, Piece, Volume, VolumeKind, guard_of, restore::Tally, sidecar::Sidecar,
    },
    detect::Detected,
    formats::{FORMATS, by_name},
    pipeline::{
        Conversion,
        damage::{Damage, Recovered},
        detect,
        engine::CarryMode,
        report::{MAX_PLACES, Report},
        source::Source,
    },
    redaction::{Redacted, Redactions, redact},
    run::run,
};
