//! clido's session files: JSON Lines of eight types, which clido loads whole or not at all.
//!
//! [`read`] turns a line into an event, [`FORMAT`] holds the writer that makes a session of the
//! events of any format, and [`validate_strict`] says whether clido would load and resume a file.
//!
//! For programs that know clido alone there are [`SessionReader`] and [`SessionWriter`], with lines
//! that own what they say; [`list_sessions`] and [`find`]; [`to_messages`], the conversation that
//! clido goes on with; [`stale_paths`]; and [`repair`].
//!
//! ```
//! let session = br#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-03-21T14:30:00Z","project_path":"/p"}
//! {"type":"user_message","role":"user","content":[{"text":"How many lines?","type":"text"}]}
//! {"type":"assistant_message","content":[{"text":"312.","type":"text"}]}
//! {"type":"result","exit_status":"completed","total_cost_usd":0.0009,"num_turns":1,"duration_ms":2100}
//! "#;
//! assert!(format_clido::validate_strict(session).is_empty());
//!
//! let mut scanner = jsonl::Scanner::default();
//! let mut said = Vec::new();
//! for line in jsonl::lines(session) {
//!     let event = format_clido::read(scanner.scan(&line)?);
//!     for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
//!         if let core_model::Block::Text(text) = block {
//!             said.push(text.decode().into_owned());
//!         }
//!     }
//! }
//! assert_eq!(said, ["How many lines?", "312."]);
//! # Ok::<(), jsonl::Error>(())
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod bundle;
mod content_block;
mod face;
mod history;
mod loadable;
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

use core_model::{CostPolicy, Format, Limits};
use jsonl::Style;

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
    history::{HistoryError, HistoryMessage, to_messages},
    reader::{detect, read, read_block},
    record::{
        AssistantMessage, Meta, Record, SCHEMA_VERSION, SystemLine, TitleLine, ToolCallLine,
        ToolResultLine, TurnResult, UserMessage,
    },
    repair::{BadLines, Repaired, repair},
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
pub static FORMAT: Format = Format {
    name: "clido",
    tag: 'c',
    about: "session files of clido",
    family: "clido",
    style: Style::Compact,
    has_inline_agents: false,
    detect: reader::detect,
    is_record: reader::is_record,
    read: reader::read,
    writer: writer::create,
    planner: None,
    checker: validate::checker,
    prompt_preview: None,
    cost: CostPolicy::Cumulative,
    store: Some(store::STORE),
    bundles: Some(bundle::BUNDLES),
    limits: Limits { head: 0, filler_record: "", filler_record_size: 0 },
};
