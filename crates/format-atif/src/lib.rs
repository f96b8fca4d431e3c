//! Reads and writes ATIF documents, the trajectories of Harbor: one JSON document, a step for each
//! prompt and each response.
//!
//! ```
//! use format_atif::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/atif/one-call.json");
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
//! # Ok::<(), format_atif::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record. A step with results has a second event, which
//!   [`for_each_event`](core_model::Format::for_each_event) of [`FORMAT`] calls back with.
//! - [`Writer`] writes records of any format as the steps of a document.
//! - [`TypedRecord`] has the members of a record as fields of a struct.
//! - [`Checker`] finds what Harbor's validator refuses.
//!
//! FORMAT.md lists the facts about the format, each with the version of Harbor that showed it.
//!
//! # Features
//!
//! All features are on by default. Without them the crate needs 8 crates from outside this
//! workspace.
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
mod totals;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{CostPolicy, Format, Framing, Functions, Rewrites};

pub use core_model;
#[cfg(feature = "serde")]
pub use core_model::TypedContent;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    DocumentRecord, StepRecord, TrajectoryRecord, TypedAgent, TypedCall, TypedFinalMetrics,
    TypedMetrics, TypedObservation, TypedPart, TypedRecord, TypedReference, TypedResult,
    TypedSource,
};
pub use self::{
    face::{Atif, Checker, Reader, RecordBuf, RecordRef, Writer},
    reader::{detect, read, read_block},
    record::{Document, Entry, Record, Step},
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "atif";

/// The arrays whose objects are records. A sub-agent's trajectory is one record with all its steps.
pub(crate) const PATHS: &[&str] = &["steps", "subagent_trajectories"];

/// The trajectories of Harbor, in the Agent Trajectory Interchange Format.
///
/// Programs read a document and write it anew, so a carry must survive other spaces and another
/// order of members. It is in `extra`, because Harbor refuses unknown members.
pub static FORMAT: Format = Format::new(
    NAME,
    't',
    "ATIF documents, versions 1.0 to 1.8 (Harbor's trajectory.json)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.framing(Framing::Document(PATHS))
.rewrites(Rewrites::Values { volatile: &["final_metrics"], mark: None })
.carry_places(&["extra"])
.title_place("extra.title")
.totals(totals::create)
.read_more(reader::read_more)
.cost(CostPolicy::Cumulative)
.with_image_files()
.layout(layout::LAYOUT);

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
