//! Reads and writes sessions of Qwen Code: JSON Lines, a tree by `parentUuid`, with Google's messages.
//!
//! ```
//! use format_gemini::{core_model::Block, qwen::Reader};
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
//! - [`qwen`] has the sessions of Qwen Code: `Reader`, `Record`, `Writer`, `Checker`, and functions
//!   that find sessions.
//! - [`read_part`] reads a part of a message, such as a text or a call.
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

mod calls;
mod key;
mod part;
pub mod qwen;
mod unread;
mod write_part;

use jsonl::{Style, push_string};

pub use core_model;
pub use jsonl;

pub use self::{part::read_part, qwen::QWEN};

/// Returns a text as a JSON string.
pub(crate) fn json(text: &str) -> String {
    let mut written = Vec::with_capacity(text.len().saturating_add(2));
    push_string(&mut written, text, Style::Compact);
    String::from_utf8_lossy(&written).into_owned()
}

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
