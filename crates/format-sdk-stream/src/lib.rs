//! Reads and writes Claude Agent SDK streams, in both flavors: the wire, which the client prints with
//! `--output-format stream-json`, and the dump, which the SDK for Python makes of it with
//! `json.dumps(asdict(message))`. Readers take lines of either flavor, since files mix them.
//!
//! ```
//! use format_sdk_stream::Reader;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sdk-stream/seed-002-four-lines.jsonl");
//! # let mut n_texts = 0;
//! for record in Reader::open(path)? {
//!     let record = record?;
//!     let event = record.event();
//!     if let Some(text) = event.message().and_then(|message| message.first_text()) {
//!         println!("line {}: {}", record.place().line, text.decode());
//! #       n_texts += 1;
//!     }
//! }
//! # assert!(n_texts > 0);
//! # Ok::<(), format_sdk_stream::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as records of a stream. [`Appender`] appends lines to
//!   a file.
//! - [`Checker`] finds lines that the readers of streams would refuse.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its kind, with the feature `serde`.
//!
//! [`StreamReader`] and [`StreamWriter`] have records as an enum, [`Message`]. [`status()`] reads
//! the last line of a stream only. [`agent_sessions`] and [`SessionMeta`] read the orchestrator's
//! folder. [`DUMP`] and [`WIRE`] are the rows of the two flavors in the table of formats.
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

mod block;
mod block_writer;
mod compose;
mod dump;
mod dump_losses;
mod ending;
mod events;
mod face;
mod message;
mod parser;
mod reader;
mod record;
mod session;
mod speech;
mod status;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod views;
mod wire;
mod writer;

use core_model::{Format, Functions};
use jsonl::Style;

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    DumpAssistantRecord, DumpPromptRecord, DumpRateLimitRecord, DumpResetRecord, DumpResultRecord,
    DumpStreamEventRecord, DumpSystemRecord, DumpUserRecord, TypedRecord, WireAssistantRecord,
    WireAuthStatusRecord, WireControlCancelRecord, WireControlRequestRecord,
    WireControlResponseRecord, WirePromptSuggestionRecord, WireRateLimitRecord, WireResetRecord,
    WireResultRecord, WireStreamEventRecord, WireSystemRecord, WireToolProgressRecord,
    WireToolUseSummaryRecord, WireUserRecord,
};
pub use self::{
    block::read_block,
    face::{Checker, Reader, RecordBuf, RecordRef, SdkStream, Writer},
    message::Message,
    reader::{read, read_wire},
    record::{Flavor, Record, RecordKind},
    status::{Progress, result, status},
    store::{
        AgentSession, Appender, Dialect, SessionMeta, StreamReader, StreamWriter, Written,
        agent_sessions, is_session_name, list_sessions, result_of, sessions_dir, status_of,
    },
    validate::validate,
    views::{
        assistant_texts, count_tool_uses, interactions, prompts, tool_invocations, tool_results,
        total_cost,
    },
    writer::{wire_writer, writer},
};
#[cfg(feature = "serde")]
pub use core_model::{TypedBlock, TypedContent, TypedMessage, TypedUsage};

/// The name of the formats' family.
const FAMILY: &str = "sdk-stream";

/// The dump of the Agent SDK for Python, with the orchestrator's prompts. No client lists it, so a
/// converted session cannot be installed.
pub static DUMP: Format = Format::new(
    "sdk-stream",
    'd',
    "Claude Agent SDK for Python, messages dumped as JSON lines",
    Functions {
        detect: record::is_dump,
        is_record: record::is_dump,
        read,
        writer,
        checker: validate::checker,
    },
)
.family(FAMILY)
.style(Style::Python)
.with_inline_agents()
.linear()
.store(store::STORE);

/// The client's `--output-format stream-json`.
pub static WIRE: Format = Format::new(
    "sdk-stream:wire",
    'w',
    "Claude Code's --output-format stream-json",
    Functions {
        detect: record::is_wire,
        is_record: record::is_wire,
        read: read_wire,
        writer: wire_writer,
        checker: validate::checker,
    },
)
.family(FAMILY)
.with_inline_agents()
.linear();
