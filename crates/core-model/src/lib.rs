//! The vocabulary that all session formats share, and what a format is.
//!
//! A reader turns a line into an [`Event`]; a [`Writer`] turns events into lines of another format,
//! through an [`Output`] that notes which slices of the source stand in which line. Nothing here
//! knows a format, and nothing here reads a file.
//!
//! ```
//! use core_model::{Loss, LossKind, Losses};
//!
//! let mut losses = Losses::default();
//! losses.add(LossKind::Dropped, "usage", 120);
//! losses.add(LossKind::Dropped, "usage", 480);
//! let (kind, field, loss) = losses.iter().next().expect("one entry");
//! assert_eq!((kind.name(), field, loss.count), ("dropped", "usage", 2));
//! assert_eq!(loss.places, [120, 480]);
//! ```

mod event;
mod facts;
mod format;
mod id;
mod loss;
mod message;
mod outcome;
mod output;
mod time;

pub use self::{
    event::{Body, Context, Event, Field, Notice, NoticeKind, Start, Title, TitleRank, ToolCall},
    facts::{Facts, Interaction},
    format::{Format, Limits, Options, Planner, SdkVersion, Writer},
    id::uuid_of_name,
    loss::{Loss, LossKind, Losses},
    message::{Block, BlockIter, Blocks, Content, FileRecord, Message, Role, ToolResult, ToolUse},
    outcome::{Outcome, Status},
    output::{Copied, LineId, Output},
    time::{iso_millis, millis},
};
