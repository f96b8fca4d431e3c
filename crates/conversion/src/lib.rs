//! Converts session logs of coding agents into one another, and back byte for byte.
//!
//! In: the bytes of a session in one format. Out: the same session in another format. Records and
//! members that the target has no place for go into the carry ([`Carry`]), from which the way back
//! restores the source. Each written record has the carry of its source records in the member `_carried`,
//! with a guard: a hash of the record, so that an edited record is converted anew and not replaced by its
//! source. docs/CARRY.md has the grammar. Nothing here opens a file of the caller, prints, or reads the
//! environment; records that are moved far wait in a temporary file.
//!
//! ```
//! use conversion::{CarryMode, Conversion};
//! use core_model::Formats;
//!
//! static FORMATS: Formats =
//!     Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let session = concat!(
//!     r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Hello"}}"#,
//!     "\n",
//! );
//! let there = Conversion {
//!     formats: FORMATS,
//!     from: &format_claude_code::FORMAT,
//!     to: &format_clido::FORMAT,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let back = Conversion { from: there.to, to: there.from, ..there.clone() };
//! let converted = there.convert(session.as_bytes(), None)?.bytes;
//! let restored = back.convert(&converted, None)?.bytes;
//! assert_eq!(restored, session.as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```

mod carry;
mod detect;
mod pipeline;
mod program;
mod redaction;

pub use self::{
    carry::{
        CarriedFormat, Carry, CarryAudit, CarryEntry, CarryError, CarryFault, DerivedFile,
        DerivedFrom, End, Ending, EntryKind, ExchangedCarry, MEMBER, Manifest, ManifestEntry,
        ManifestEntryKind, Member, Piece, SplitLine, carry_faults, guard_of,
        restore::{RestoreStats, max_restored},
        sidecar::Sidecar,
        strip::without_carry,
        totals::end_mark,
    },
    detect::{Ballot, Detected},
    pipeline::{
        Conversion, Converted, OtherTarget, RunResult, Target,
        agents::Agents,
        damage::{Damage, Recovered, first_damage},
        detect as detect_format,
        engine::{CarryMode, EachImage, Written},
        history::{ConversionHistory, conversion_history, is_sidecar_of},
        recovery::{Recovery, is_damage},
        report::{MAX_PLACES, Report},
        sink::{Retract, Sink},
        source::{EachLine, Source},
        survey::{EachEvent, EachWindow, Events},
    },
    program::{NotConverted, convert},
    redaction::{Redacted, Redactions, redact, redact_with},
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
