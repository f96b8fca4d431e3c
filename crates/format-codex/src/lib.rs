//! Reads and writes sessions of OpenAI Codex: JSON Lines, called rollouts.
//!
//! ```
//! use format_codex::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex/one-call.jsonl");
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
//! # Ok::<(), format_codex::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as records of a Codex session.
//! - [`Checker`] finds records that Codex would refuse, skip or not show. [`validate_file`] also
//!   checks the name and the folder of a file.
//! - [`history`] returns the items that Codex sends when it continues a session. [`read_lineage`]
//!   reads a fork with the lines of the session that it starts with.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its type, with the feature `serde`.
//!
//! FORMAT.md lists the facts about the format, each with the version of Codex that showed it.
//!
//! # Features
//!
//! All features are on by default. Without them the crate needs 8 crates from outside this
//! workspace.
//!
//! - `serde`: structs for records, and events as JSON.
//! - `zst`: reads sessions that Codex compressed (`.jsonl.zst`).
//! - `full`: the features above, faster hashes and UTF-8, and every spelling of ISO 8601.
//!
//! [`core_model`] and [`jsonl`] are re-exported: this crate is the only dependency that you need.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod active;
mod face;
mod history;
mod layout;
mod reader;
mod record;
mod store;
mod stream;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{Format, Functions, Limits};

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    CompactedRecord, EventMsgRecord, InterAgentMetadataRecord, InterAgentRecord,
    ResponseItemRecord, SessionMetaRecord, TokenUsageRecord, TurnContextRecord, TypedCompacted,
    TypedItem, TypedRecord, TypedSessionMeta, TypedTurnContext, WorldStateRecord,
};
pub use self::{
    active::Active,
    face::{Checker, Codex, Reader, RecordBuf, RecordRef, Writer},
    history::history,
    reader::{detect, read, read_block},
    record::{Compacted, Entry, HistoryBase, Item, ItemKind, Record, SessionMeta, TurnContext},
    store::{
        SessionSummary, codex_dir, list_sessions, read_lineage, rollout_stem, sessions_dir,
        validate_file,
    },
    stream::{STREAM, detect_stream, read_stream},
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "codex";

/// The sessions of Codex.
pub static FORMAT: Format = Format::new(
    NAME,
    'x',
    "sessions of OpenAI Codex (~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl)",
    Functions { detect, is_record: reader::is_record, read, writer: writer::create, checker: validate::checker },
)
.linear()
.learning()
.read_more(reader::read_more)
.planner(|options| Box::new(Active::new(options)))
.prompt_preview(reader::prompt_preview)
.origin(reader::origin)
.store(store::STORE)
.place_by_start(store::place_by_start)
.layout(layout::LAYOUT)
    // Codex looks for the first prompt in the first 210 lines, whatever their length.
.limits(Limits {
        head: 0,
        head_size: 0,
        filler_record: "{\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"type\":\"carried\",\"payload\":{}",
        filler_record_size: 256 * 1024,
    });

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
