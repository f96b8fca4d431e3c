//! Reads and writes sessions of the pi coding agent: JSON Lines, a tree by `parentId`.
//!
//! ```
//! use format_pi::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pi/one-call.jsonl");
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
//! # Ok::<(), format_pi::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as records of a pi session.
//! - [`Checker`] finds records that pi would refuse, lose or send wrongly.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its type, with the feature `serde`.
//!
//! FORMAT.md lists the facts about the format, each with the version of pi that showed it.
//!
//! # Features
//!
//! All features are on by default. Without them the crate needs 8 crates from outside this
//! workspace.
//!
//! - `serde`: structs for records, and events as JSON.
//! - `full`: the features above, faster hashes and UTF-8, and every spelling of ISO 8601.
//!
//! [`core_model`] and [`jsonl`] are re-exported: this crate is the only dependency that you need.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod branch;
mod face;
mod layout;
mod reader;
mod record;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{Format, Functions};

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    BranchSummaryRecord, CompactionRecord, ContextEditRecord, CustomMessageRecord, CustomRecord,
    LabelRecord, MessageRecord, ModelChangeRecord, SessionInfoRecord, SessionRecord,
    ThinkingLevelChangeRecord, TypedMessage, TypedRecord, UsageRecord,
};
pub use self::{
    branch::Branch,
    face::{Checker, Pi, Reader, RecordBuf, RecordRef, Writer},
    reader::{detect, read, read_block},
    record::{Compaction, Custom, Entry, Header, PiMessage, Record, VERSION},
    store::{SessionSummary, agent_dir, encode_project_dir, list_sessions, sessions_dir},
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "pi";

/// The sessions of the pi coding agent.
///
/// An entry that is ignored needs the id of the entry before (FORMAT.md, "The branch"), so no constant
/// line can hold a carry. pi reads whole files, so the head has no limit.
pub static FORMAT: Format = Format::new(
    NAME,
    'p',
    "sessions of the pi coding agent (~/.pi/agent/sessions/<path>/<time>_<id>.jsonl)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.linear()
.learning()
.origin(reader::origin)
.planner(|options| Box::new(Branch::new(options)))
.store(store::STORE)
.layout(layout::LAYOUT);

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
