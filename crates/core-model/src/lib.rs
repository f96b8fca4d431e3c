//! The model that all session formats share, and the row of a format.
//!
//! A reader converts a line to an [`Event`]. An [`EventWriter`] converts events to lines of another
//! format. It writes to an [`Output`], which notes the copied slices of the source. This crate
//! knows no format. It touches files only in `folder` (lists of folders), `store` (new files), `files` (the
//! disk) and `follower` (a growing file).
//!
//! ```
//! use core_model::{LossKind, Losses, Place};
//!
//! let mut losses = Losses::default();
//! losses.add(LossKind::Dropped, "usage", Place { line: 2, offset: 120 });
//! losses.add(LossKind::Dropped, "usage", Place { line: 5, offset: 480 });
//! let (kind, field, loss) = losses.iter().next().expect("one entry");
//! assert_eq!((kind.name(), field, loss.count), ("dropped", "usage", 2));
//! assert_eq!(loss.places[1].line, 5);
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice))]

mod block_counts;
mod calls;
mod client_text;
mod documents;
mod draft;
mod drop;
mod error;
mod event;
#[cfg(feature = "serde")]
mod event_buf;
mod facts;
mod field;
mod files;
mod folder;
mod follower;
mod format;
mod formats;
#[cfg(feature = "zstd")]
mod frame;
mod id;
mod ids;
mod input;
mod interactions;
mod known_title;
mod layout;
mod loss;
mod members;
mod message;
mod name;
mod notice;
mod open_calls;
mod origin;
mod outcome;
mod output;
mod packed;
mod pairs;
mod plan;
mod problem;
mod record_format;
mod response_key;
mod rewrites;
mod sha1;
mod sha256;
mod store;
mod system_words;
mod text_body;
mod time;
mod tool_name;
mod turn;
#[cfg(feature = "serde")]
mod typed;
mod usage;
mod views;
mod words;

pub use jsonl::Framing;

#[cfg(feature = "serde")]
pub use self::event_buf::{BlockBuf, BodyBuf, EventBuf};
#[cfg(feature = "zstd")]
pub use self::frame::FrameWriter;
#[cfg(feature = "jiff")]
pub use self::time::named_time;
#[cfg(feature = "serde")]
pub use self::typed::{TypedBlock, TypedContent, TypedMessage, TypedUsage};
pub use self::{
    block_counts::BlockCounts,
    calls::{Calls, EarlyResults},
    client_text::is_client_text,
    documents::{
        Cell, DocumentStore, EachDocument, FolderDocuments, PlaceKind, StoredDocument,
        TableDocuments, Tables,
    },
    draft::{CarryMark, Copied, DocumentPart, LineId, Spelling},
    error::ReadError,
    event::{Body, Context, Event, ResponseUsage, Start, Title, TitleRank, ToolCall},
    facts::{FactLog, Facts, LoggedEvent},
    field::Field,
    files::{Disk, Files, rules_out_file},
    folder::{FolderEntry, folder_entries},
    follower::{Followed, Follower},
    format::{
        CARRY_MEMBER, CreatePlanner, EventWriter, Format, Functions, Limits, Options, Planner,
        PreviewPrompt, ReadEachEvent, ReadEvent, ReadNextEvent, SdkVersion, is_carry,
    },
    formats::Formats,
    id::{
        is_accepted_tool_id, is_replacement_tool_id, replacement_tool_id, replacement_tool_name,
        uuid_of_name,
    },
    ids::{ByHash, Hashes, IdHasher, IdSet, is_uuid},
    input::{Input, InputJson},
    interactions::{Interaction, Interactions},
    known_title::KnownTitle,
    layout::{
        Agent, AgentIds, Description, Evidence, FileRole, Layout, LayoutFile, Link, Linked,
        Missing, NamedAgents, Owner, SessionTree, Sidechain, Sidechains, folder_of, main_file,
    },
    loss::{Loss, LossKind, Losses, Place},
    members::{Shape, Vocabulary, is_void},
    message::{Block, BlockIter, Blocks, Content, FileRecord, Message, Role, ToolResult, ToolUse},
    name::{SafeName, is_device},
    notice::{Notice, NoticeKind},
    open_calls::{CallId, OpenCalls, ToolNames},
    origin::{Origin, Relative, RelativeKind},
    outcome::{Outcome, Status},
    output::{ImageFile, Output},
    packed::{CreateLineFile, LineFile, PackedLines},
    pairs::CallPairs,
    plan::{Hidden, Late, Plan},
    problem::{Check, Checker, FUTURE, Findings, Problem, Severity},
    record_format::{
        ExitStatus, Reader, RecordBuf, RecordChecker, RecordFormat, RecordRef, RecordWriter,
        WrittenRecords,
    },
    response_key::ResponseKey,
    rewrites::{CreateTotals, Rewrites, Totals},
    sha256::Sha256,
    store::{
        Environment, FindHome, Home, Named, OlderFiles, ReadTitles, SessionFolder, Store, System,
        TitleIndex, append_session_file, create_session_file, files_with_endings, marked_path,
        session_files, subfolders,
    },
    system_words::system_words,
    text_body::TextBody,
    time::{iso_millis, millis, millis_as_printed},
    tool_name::ToolName,
    turn::Turn,
    usage::{Tokens, Usage},
    views::{
        Answers, Compaction, CompactionRule, CostPolicy, Costs, DurationRule, Ending, ErrorPolicy,
        Errors, Exchange, Exchanges, FilesTouched, Generation, Generations, Lane, Markdown,
        Messages, ModelTokens, Moment, NameRoom, OTHERS, Overview, Point, PointKind, Runs, Said,
        SaidBlock, Span, Timeline, TokenTotals, ToolRun, ToolRuns, Touches, TypeCounts, Viewed,
        event_millis, failed_results, is_api_error, is_failure, quoted, shell_command, shown_time,
        thread, tool_path,
    },
};
