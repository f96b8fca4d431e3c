//! Claude Agent SDK streams: the dump of the SDK for Python, and the client's wire form.
//!
//! The wire is what the client prints with `--output-format stream-json`; the dump is what the
//! SDK for Python makes of it, printed with `json.dumps(asdict(message))`. FORMAT.md beside this
//! crate tells how they differ. Both readers take lines of either flavor, since files mix them.
//!
//! For programs that know streams alone there are [`StreamReader`] and [`StreamWriter`], with
//! messages that own what they say; [`interactions`], [`prompts`], [`assistant_texts`],
//! [`tool_invocations`], [`tool_results`] and [`total_cost`]; [`agent_sessions`] and
//! [`SessionMeta`] for the orchestrator's folder, and [`status`], which reads a last line alone.
//!
//! ```
//! use core_model::{Facts, Options, Output};
//! use format_sdk_stream::{DUMP, WIRE};
//!
//! let input = br#"{"type":"user","message":{"role":"user","content":"h\u00e9"},"session_id":"s"}"#;
//! let mut scanner = jsonl::Scanner::default();
//! let line = jsonl::lines(input).next().expect("one line");
//! let event = (WIRE.read)(scanner.scan(&line)?);
//! assert!(event.is_prompt());
//!
//! let mut out = Output::new(DUMP.style, WIRE.style, "s");
//! let mut writer = (DUMP.writer)(&Options::default(), Facts::default());
//! out.start_source(&line, WIRE.style);
//! writer.write(&event, &mut out);
//! let id = out.next_emitted().expect("one line");
//! let expected = r#"{"content": "h\u00e9", "uuid": null, "parent_tool_use_id": null, "tool_use_result": null, "origin": null}"#;
//! assert_eq!(out.bytes(id), expected.as_bytes());
//! # Ok::<(), jsonl::Error>(())
//! ```

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

use core_model::{CostPolicy, Format, Limits};
use jsonl::Style;

pub use core_model;
pub use jsonl;

#[cfg(feature = "serde")]
pub use self::typed::{
    DumpAssistantRecord, DumpPromptRecord, DumpRateLimitRecord, DumpResetRecord, DumpResultRecord,
    DumpStreamEventRecord, DumpSystemRecord, DumpUserRecord, TypedRecord, WireAssistantRecord,
    WireRateLimitRecord, WireResetRecord, WireResultRecord, WireStreamEventRecord,
    WireSystemRecord, WireUserRecord,
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

/// The dump of the Agent SDK for Python, with the orchestrator's prompts.
pub static DUMP: Format = Format {
    name: "sdk-stream",
    tag: 'd',
    about: "Claude Agent SDK for Python, messages dumped as JSON lines",
    family: FAMILY,
    style: Style::Python,
    has_inline_agents: true,
    detect: record::is_dump,
    is_record: record::is_dump,
    read,
    writer,
    planner: None,
    checker: validate::checker,
    prompt_preview: None,
    cost: CostPolicy::PerInteraction,
    store: Some(store::STORE),
    bundles: None,
    limits: NO_LIMITS,
};

/// The client's `--output-format stream-json`.
pub static WIRE: Format = Format {
    name: "sdk-stream:wire",
    tag: 'w',
    about: "Claude Code's --output-format stream-json",
    family: FAMILY,
    style: Style::Compact,
    has_inline_agents: true,
    detect: record::is_wire,
    is_record: record::is_wire,
    read: read_wire,
    writer: wire_writer,
    planner: None,
    checker: validate::checker,
    prompt_preview: None,
    cost: CostPolicy::PerInteraction,
    store: None,
    bundles: None,
    limits: NO_LIMITS,
};

const NO_LIMITS: Limits = Limits { head: 0, filler_record: "", filler_record_size: 0 };
