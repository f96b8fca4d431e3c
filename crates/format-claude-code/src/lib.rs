//! Reads and writes Claude Code transcripts: one JSON object a line, a tree by `parentUuid`.
//!
//! What is known of the format, and from which client, stands in `FORMAT.md`. [`read`] turns a line
//! into an event; [`Transcript`] is a whole file, and answers what people ask of one; [`Project`] and
//! [`head_tail_scan`] list sessions, [`Appender`], [`rename`] and [`fork()`] write to them.
//!
//! ```
//! use core_model::{Block, Field};
//!
//! let line = br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":[
//!     {"type":"tool_result","tool_use_id":"toolu_1","content":"42 passed"}]},"uuid":"u1"}"#;
//! let mut scanner = jsonl::Scanner::default();
//! let event = format_claude_code::read(scanner.scan_slice(line, 0)?);
//! assert!(matches!(event.context.parent, Field::Null));
//! let (block, _) = event.message().and_then(|said| said.blocks().next()).expect("one block");
//! assert!(matches!(block, Block::ToolResult(result) if result.tool_use_id.is("toolu_1")));
//! # Ok::<(), jsonl::Error>(())
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod bundle;
mod chain;
mod diagnose;
mod edit;
mod face;
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

use core_model::{CostPolicy, Format, Limits};
pub use core_model::{Followed, Follower};
use jsonl::Style;

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    AiTitleRecord, AssistantRecord, AttachmentRecord, ContinuedInRecord, CostStateRecord,
    CustomTitleRecord, DerivedFromRecord, FileHistorySnapshotRecord, LastPromptRecord, ModeRecord,
    PermissionModeRecord, PrLinkRecord, ProgressRecord, QueueOperationRecord, RelocatedRecord,
    SummaryRecord, SystemRecord, TagRecord, ToolResultRecord, ToolsUsedRecord, TypedRecord,
    UserRecord,
};
pub use self::{
    bundle::open_bundle,
    chain::Chain,
    diagnose::{DamageKind, Finding},
    edit::{
        Appender, Fork, ForkError, NewMessage, Thread, create_transcript, fork, rename, tag,
        tag_line, title_line,
    },
    face::{Checker, ClaudeCode, Reader, RecordBuf, RecordRef, Writer},
    markdown::SessionMarkdown,
    reader::{detect, read},
    record::{ApiMessage, Record},
    store::{
        Breadcrumb, IndexEntry, MAX_PROJECT_DIR, Project, SessionInfo, candidates, config_dir,
        encode_project_dir, folders_named, head_tail_scan, list_sessions, project_folders,
        sessions_dir, sessions_index,
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
pub static FORMAT: Format = Format {
    name: NAME,
    tag: 'a',
    about: "Claude Code transcripts (~/.claude/projects/<path>/<uuid>.jsonl)",
    family: NAME,
    style: Style::Compact,
    has_inline_agents: false,
    detect,
    is_record: reader::is_record,
    read,
    writer: |_, facts| Box::new(ClaudeCodeWriter::new(facts)),
    planner: Some(|options| Box::new(Chain::new(options))),
    checker: validate::checker,
    prompt_preview: Some(prompt::prompt_preview),
    cost: CostPolicy::PerInteraction,
    store: Some(store::STORE),
    bundles: Some(bundle::BUNDLES),
    limits: Limits {
        head: 8 * 1024,
        filler_record: "{\"type\":\"carried\"",
        filler_record_size: 256 * 1024,
    },
};

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
