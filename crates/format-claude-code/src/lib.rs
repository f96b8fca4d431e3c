//! Reads and writes Claude Code transcripts: one JSON object a line, a tree by `parentUuid`.
//!
//! ```
//! use format_claude_code::{Reader, core_model::Block};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/one-tool-call.jsonl");
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
//! # Ok::<(), format_claude_code::core_model::ReadError>(())
//! ```
//!
//! # Contents
//!
//! - [`Reader`] reads records: owned ones as an iterator, borrowed ones with
//!   [`next_borrowed`](core_model::Reader::next_borrowed). [`Record`] gives access to the members
//!   of a record.
//! - [`Writer`] writes records of any format as records of a transcript. [`Appender`] appends
//!   messages to a file.
//! - [`Checker`] finds records that the client would refuse.
//! - [`list_sessions`] and [`sessions_dir`] find sessions.
//! - `TypedRecord` decodes a record into a struct for its type, with the feature `serde`.
//!
//! [`Transcript`] holds a whole file with its branches, titles and queries. [`Project`] and
//! [`head_tail_scan`] list sessions as the client does. [`rename`], [`tag()`] and [`fork()`] edit
//! sessions. FORMAT.md lists the facts about the format, each with the client version that showed
//! it.
//!
//! # Features
//!
//! All features are on by default. Without them the crate needs 8 crates from outside this
//! workspace.
//!
//! - `serde`: structs for records, and events as JSON.
//! - `unicode`: normal forms of tags and of folder names, as the SDK makes them.
//! - `full`: the features above, faster hashes and UTF-8, and every spelling of ISO 8601.
//!
//! [`core_model`] and [`jsonl`] are re-exported: this crate is the only dependency that you need.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod chain;
mod diagnose;
mod edit;
mod face;
mod layout;
mod markdown;
mod prompt;
mod reader;
mod record;
mod store;
mod transcript;
#[cfg(feature = "serde")]
mod typed;
mod unicode;
mod validate;
mod writer;

pub use core_model::{Followed, Follower};
use core_model::{Format, Functions, Limits};

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    AgentColorRecord, AgentMetadataRecord, AgentNameRecord, AgentSettingRecord, AiTitleRecord,
    ApiRequestBlobRecord, ApiRequestRecord, ApiRequestResumedRecord, ApiRequestShapeRecord,
    ArtifactAutoreactLedgerRecord, ArtifactCommentMonitorRecord, AssistantRecord, AtisLatchRecord,
    AttachmentRecord, AttributionSnapshotRecord, BridgeSessionRecord, CarriedRecord,
    ContentReplacementRecord, ContinuedInRecord, CostStateRecord, CustomTitleRecord,
    DataFlowIncompleteRecord, DataFlowRecordsRecord, DerivedFromRecord, DevModsRecord,
    EndedByModelRecord, FileHistoryDeltaRecord, FileHistorySnapshotRecord, ForkContextRefRecord,
    FrameLinkRecord, HistorySuppressionRecord, HostRowRecord, HybridOrganizationRecord,
    IsolationLatchRecord, LastPromptRecord, MemoryModeRecord, ModeRecord, ObserverRefRecord,
    PermissionModeRecord, PrLinkRecord, ProgressRecord, QueueOperationRecord, RelocatedRecord,
    ReplModeRecord, ResumeHeadVouchRecord, SessionOwnerRecord, SummaryRecord, SystemRecord,
    TagRecord, ToolResultRecord, ToolsUsedRecord, TypedRecord, UserRecord, WorktreeStateRecord,
};
pub use self::{
    chain::Chain,
    diagnose::{DamageKind, Finding},
    edit::{
        Appender, Fork, ForkError, ForkPlan, NewMessage, Thread, create_transcript, fork, rename,
        tag, tag_line, title_line,
    },
    face::{Checker, ClaudeCode, Reader, RecordBuf, RecordRef, Writer},
    layout::open_session_tree,
    markdown::SessionMarkdown,
    reader::{detect, read},
    record::{ApiMessage, Record},
    store::{
        Breadcrumb, IndexEntry, MAX_PROJECT_DIR, Project, ProjectSession, SessionInfo, candidates,
        config_dir, encode_project_dir, folders_named, head_tail_scan, list_sessions,
        project_folders, sessions_dir, sessions_index,
    },
    transcript::{
        BadLine, ChainRule, Entries, Entry, Filter, FoundCall, FoundError, FoundResult, KeyMessage,
        SessionTitle, StringContent, TitleSource, Transcript, estimate_tokens,
    },
    validate::validate,
    writer::{ClaudeCodeWriter, session_uuid},
};
#[cfg(feature = "serde")]
pub use core_model::{TypedBlock, TypedContent, TypedMessage, TypedUsage};

/// The name of the format.
pub(crate) const NAME: &str = "claude-code";

/// The transcripts of Claude Code.
pub static FORMAT: Format = Format::new(
    NAME,
    'a',
    "Claude Code transcripts (~/.claude/projects/<path>/<uuid>.jsonl)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: |_, facts| Box::new(ClaudeCodeWriter::new(facts)),
        checker: validate::checker,
    },
)
.linear()
.learning()
.planner(|options| Box::new(Chain::new(options)))
.prompt_preview(prompt::prompt_preview)
.origin(reader::origin)
.store(store::STORE)
.layout(layout::LAYOUT)
.limits(Limits {
    head: 8 * 1024,
    head_size: 64 * 1024,
    filler_record: "{\"type\":\"carried\"",
    filler_record_size: 256 * 1024,
});

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
/// The examples of the page for library users.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/LIBRARY.md")]
enum Library {}
