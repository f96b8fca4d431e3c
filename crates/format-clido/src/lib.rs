//! Reads and writes clido's session files: JSON Lines of eight kinds, which clido loads whole or not at
//! all.
//!
//! ```
//! use format_clido::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documented.jsonl");
//! # let mut n_texts = 0;
//! for record in Reader::open(path)? {
//!     let record = record?;
//!     let event = record.event();
//!     for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
//!         if let Block::Text(text) = block {
//!             println!("{}", text.decode());
//! #           n_texts += 1;
//!         }
//!     }
//! }
//! # assert!(n_texts > 0);
//! # Ok::<(), format_clido::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as records of a clido session. [`Appender`] appends
//!   lines to a file.
//! - [`Checker`] finds records that clido would refuse.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its type, with the feature `serde`.
//!
//! [`SessionReader`], [`SessionWriter`] and [`SessionLine`] have records as an enum, as clido's own
//! programs do. [`to_messages`] returns the conversation that clido resumes with. [`repair`] makes
//! a damaged file loadable. [`stale_paths`] returns the files that changed since a session wrote
//! them.
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

mod content_block;
mod face;
mod fork;
mod history;
mod layout;
mod reader;
mod record;
mod repair;
mod session_line;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod views;
mod writer;

use core_model::{CostPolicy, Format, Functions};

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    AssistantMessageRecord, MetaRecord, ResultRecord, SystemRecord, TitleRecord, ToolCallRecord,
    ToolResultRecord, TypedBlock, TypedRecord, UserMessageRecord,
};
pub use self::{
    content_block::ContentBlock,
    face::{Checker, Clido, Reader, RecordBuf, RecordRef, Writer},
    fork::{fork, fork_line},
    history::{HistoryError, HistoryMessage, to_messages},
    reader::{detect, read, read_block},
    record::{
        AssistantMessage, Meta, Record, SCHEMA_VERSION, SystemLine, TitleLine, ToolCallLine,
        ToolResultLine, TurnResult, UserMessage,
    },
    repair::{BadLines, RepairStep, Repaired, Repairer, repair},
    session_line::{NotLoadable, SessionLine},
    store::{
        Appender, Listing, RawLine, RawLines, SessionReader, SessionSummary, SessionWriter,
        StaleFileRecord, data_dir, encode_project_dir, find, list_sessions, sessions_dir,
        stale_file_records, stale_paths, validate_file,
    },
    validate::validate_strict,
    views::{count_by_type, interactions, title, tool_calls, total_cost, user_texts},
};

/// clido's session files.
pub static FORMAT: Format = Format::new(
    "clido",
    'c',
    "session files of clido",
    Functions {
        detect: reader::detect,
        is_record: reader::is_record,
        read: reader::read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.linear()
.learning()
.cost(CostPolicy::Cumulative)
.store(store::STORE)
.layout(layout::LAYOUT);
