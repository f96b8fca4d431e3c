//! Reads and writes the sessions that OpenCode exports and imports: one JSON document each.
//!
//! ```
//! use format_opencode::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/opencode/one-call.json");
//! # let mut n_calls = 0;
//! for record in Reader::open(path)? {
//!     let record = record?;
//!     let event = record.event();
//!     for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
//!         if let Block::ToolUse(tool) = block {
//!             println!("{} {}", tool.name.decode(), tool.input.json());
//! #           n_calls += 1;
//!         }
//!     }
//! }
//! # assert_eq!(n_calls, 1);
//! # Ok::<(), format_opencode::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as a document that `opencode import` reads.
//! - [`read_session`] and [`list_sessions`] read the folder of small files of versions before 1.2, and
//!   [`sessions_dir`] finds it. [`database`] finds the database of later versions.
//! - [`TypedRecord`] has the members of a record as fields of a struct.
//! - [`Checker`] finds the faults on which the import stops. An import is no transaction, so a
//!   document is checked before it.
//!
//! FORMAT.md lists the facts about the format, each with the version of OpenCode that showed it.
//!
//! # Features
//!
//! All features are on by default.
//!
//! - `serde`: records as structs of Rust, and events as JSON.
//! - `full`: the feature above, faster hashes and UTF-8, and every spelling of ISO 8601.
//!
//! [`core_model`] and [`jsonl`] are re-exported: this crate is the only dependency that you need.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod face;
mod layout;
mod reader;
mod record;
mod revert;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{Format, Functions, Rewrites};
use jsonl::Framing;

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    AssistantRecord, SessionRecord, TypedAssistant, TypedPart, TypedRecord, TypedSession,
    TypedState, TypedTokens, TypedUser, UserRecord,
};
pub use self::{
    face::{Checker, OpenCode, Reader, RecordBuf, RecordRef, Writer},
    reader::{detect, read, read_more, read_part},
    record::{MessageInfo, Record, SessionInfo},
    revert::Revert,
    store::{
        SessionSummary, database, list_sessions, opencode_dir, read_session, sessions_dir,
        write_session,
    },
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "opencode";

/// The array whose objects are records.
pub(crate) const PATHS: &[&str] = &["messages"];

/// The version of OpenCode whose documents are written.
pub const VERSION: &str = "1.18.33";

/// The sessions of OpenCode, as `opencode export` prints them.
pub static FORMAT: Format = Format::new(
    NAME,
    'o',
    "sessions of OpenCode (opencode export, opencode import)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.framing(Framing::Document(PATHS))
.rewrites(Rewrites::Values { volatile: VOLATILE, mark: Some("info.path") })
.carry_places(&["parts[].metadata.convert", "info.metadata.convert"])
.title_place("info.title")
.read_more(read_more)
.read_each(reader::read_each)
.planner(|_| Box::<Revert>::default())
.layout(layout::LAYOUT)
.store(store::STORE)
.documents(store::DOCUMENTS);

/// The members of the session that the client adds, changes or computes anew when it imports a session and goes on
/// with it (FORMAT.md, "Going on"). It changes no message that it has stored.
const VOLATILE: &[&str] = &[
    "info.agent",
    "info.cost",
    "info.directory",
    "info.model",
    "info.path",
    "info.permission",
    "info.projectID",
    "info.share",
    "info.summary",
    "info.time.archived",
    "info.time.compacting",
    "info.time.updated",
    "info.title",
    "info.tokens",
    "info.workspaceID",
];

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
