//! Finds the sessions of coding agents, opens each with all its files, and reads their events.
//!
//! In: paths, ids or URLs. Out: [`SessionFiles`], which group inputs into sessions with the files
//! that their client keeps beside them, and their events. An [`Input`] is a file, an object of a
//! store, or standard input. [`read`] calls back with every event of an input, and a [`Filter`]
//! selects some. A [`Session`] is several files as one source.
//!
//! [`sessions()`] lists the sessions of all agents on this machine, and [`open()`] opens one of them.
//!
//! ```
//! use core_model::Formats;
//! use sessions::{Filter, Input, Matcher, SessionFiles, parts, read};
//! use storage::Interruption;
//!
//! static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("s1.jsonl");
//! let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
//! std::fs::write(&path, format!("{line}\n"))?;
//!
//! let mut warn = |warning| eprintln!("{warning}");
//! let sessions = SessionFiles::group(FORMATS, vec![Input::file(path)], &mut warn);
//! let filter = Filter::default();
//! let (prefilter, mut matcher, mut n_parts) = (filter.prefilter(), Matcher::new(&filter), 0);
//! for session in &sessions {
//!     let never = Interruption::default();
//!     read(FORMATS, &session.main, None, &prefilter, &(), never, &mut |_, _, event| {
//!         for part in event.iter().flat_map(|event| parts(event)) {
//!             n_parts += u64::from(matcher.wants(&part));
//!         }
//!         Ok(true)
//!     })?;
//! }
//! assert_eq!((sessions.len(), n_parts), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod copies;
mod documents;
mod error;
mod filter;
mod input;
mod lineage;
mod lookup;
mod needle;
mod part;
mod program;
mod progress;
mod reader;
mod redact;
mod session;
mod session_files;
mod stored;
mod stores;
mod titles;
mod turns;
mod usage;
mod walk;
mod warning;
mod windows;
mod worktrees;

pub use self::{
    copies::{Converted, carried_format, leave_out_copies, newest_with_turns},
    documents::{documents_at, expand_documents},
    error::{ReadError, UnknownFormat, single_format},
    filter::{Filter, Matcher},
    input::{Input, is_inside_an_input, residue_path, sidecar_path, stem_of},
    lineage::{Ancestry, Kin, Member, Relation, lineage},
    lookup::{LATEST, Lookup, absolute},
    needle::{Candidates, Needle, Prefilter},
    part::{Part, PartKind, parts},
    program::{OpenSession, ReadEvent, open, sessions},
    progress::Progress,
    reader::{EachRead, format_of, known, read},
    redact::{Redact, RedactedFile},
    session::{
        Bytes, Change, Expanded, FileLabel, Session, SessionEvents, SessionFile, SessionPlace,
        Start, Unread, run_session,
    },
    session_files::{Companion, Folders, SessionFiles, is_of_a_session},
    stored::{Stored, marked_project, project_in_marker},
    stores::Stores,
    titles::indexed_titles,
    turns::{FileTurns, Owners, Rank, SessionTurns, TurnKey, TurnKeys, TurnsCollector},
    usage::{
        Elsewhere, PriceError, Priced, PricedResponses, Prices, Response, SessionUsage, Usage,
    },
    walk::{OwnFiles, is_ours, walk},
    warning::Warning,
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
