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
mod commands;
mod compress;
mod conversions;
mod damage;
mod describe;
mod detect;
mod duplicates;
mod engine;
mod enough;
mod figures;
mod filter;
mod folder;
mod folder_run;
mod formats;
mod hashing;
mod in_order;
mod input;
mod inspect;
mod install;
mod interrupt;
mod job;
mod journal;
mod late;
mod lock;
mod needle;
mod object;
mod opened;
mod output;
mod outputs;
mod pager;
mod parallel;
mod part;
mod pipeline;
mod pool;
mod progress;
mod reader;
mod reading;
mod recovery;
mod redaction;
mod report;
mod restore;
mod rooms;
mod run;
mod second_pass;
mod session;
mod sessions;
mod settled;
mod shown;
mod sidecar;
mod snapshot;
mod source;
mod stack;
mod summary;
mod survey;
mod table;
mod target;
mod temporary;
mod terminal;
mod unit;
mod verdict;
mod waiting;
mod windows;

pub use self::{
    carry::{Carry, Contents, Ending, MEMBER, Member, Piece, Record, Volume, VolumeKind, guard_of},
    damage::{Damage, Recovered},
    detect::Detected,
    engine::CarryMode,
    formats::{FORMATS, by_name},
    pipeline::{Conversion, detect},
    redaction::{Redacted, Redactions, redact},
    report::{MAX_PLACES, Report},
    restore::Tally,
    run::run,
    sidecar::Sidecar,
    source::Source,
};
