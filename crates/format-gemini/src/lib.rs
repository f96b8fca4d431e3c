//! Reads and writes sessions of Qwen Code and of Gemini CLI: JSON Lines with Google's messages. Qwen Code's
//! are a tree by `parentUuid`, and Gemini CLI's a log of changes.
//!
//! ```
//! use format_gemini::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/qwen/one-call.jsonl");
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
//! # Ok::<(), format_gemini::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record, and [`read_part`] reads a part of a message, such as a text or a call.
//! - [`Writer`] writes records of any format as records of a session.
//! - [`Checker`] finds records that the client would refuse, lose or send otherwise.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its type, with the feature `serde`.
//!
//! The same names with `Gemini` are for the sessions of Gemini CLI: [`GeminiReader`], [`GeminiRecord`],
//! [`GeminiWriter`], [`GeminiChecker`], [`list_gemini_sessions`] and `TypedGeminiRecord`. [`GEMINI`] is
//! their format, and [`QWEN`] that of Qwen Code.
//!
//! FORMAT.md lists the facts about the format, each with the version of the client that showed it.
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
mod calls;
mod face;
mod gemini;
mod layout;
mod part;
mod reader;
mod record;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod unread_part;
mod validate;
mod write_part;
mod writer;

use core_model::{Format, Functions};

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::gemini::{
    GeminiHeaderRecord, GeminiMessageRecord, GeminiRewindRecord, GeminiSetRecord, TypedGeminiRecord,
};
#[cfg(feature = "serde")]
pub use self::typed::{
    AssistantRecord, SystemRecord, ToolResultRecord, TypedMessage, TypedRecord, UserRecord,
};
pub use self::{
    branch::Branch,
    face::{Checker, Qwen, Reader, RecordBuf, RecordRef, Writer},
    gemini::{
        GEMINI, GEMINI_DOCUMENT, Gemini, GeminiBranch, GeminiChecker, GeminiHeader, GeminiMessage,
        GeminiReader, GeminiRecord, GeminiRecordBuf, GeminiRecordRef, GeminiSummary, GeminiWriter,
        detect_gemini, detect_gemini_document, gemini_dir, gemini_sessions_dir,
        list_gemini_sessions, project_slug, read_gemini, validate_gemini,
    },
    part::read_part,
    reader::{detect, read},
    record::Record,
    store::{
        SessionSummary, encode_project_dir, list_sessions, qwen_dir, session_uuid, sessions_dir,
    },
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "qwen";

/// The sessions of Qwen Code.
///
/// A line that is ignored needs the id of the line before, so no constant line can hold a carry. The
/// client reads whole files, so the head has no limit.
pub static QWEN: Format = Format::new(
    NAME,
    'q',
    "sessions of Qwen Code (~/.qwen/projects/<path>/chats/<UUID>.jsonl)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.read_more(reader::read_more)
.read_each(reader::read_each)
.planner(|options| Box::new(Branch::new(options)))
.escaping_separators()
.store(store::STORE)
.layout(layout::LAYOUT);

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
