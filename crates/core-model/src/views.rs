//! Views over the events of a session of any format. Callers push the events in the order of the
//! file.
//!
//! Views return owned values. Their memory is bounded by ids, unless stated otherwise.

mod answers;
mod calls;
mod commands;
mod compactions;
mod costs;
mod counts;
mod exchanges;
mod failures;
mod files;
mod markdown;
mod model_tokens;
mod names;
mod overview;
mod said;
mod span;
mod timeline;
mod tokens;
mod viewed;

pub(crate) use self::answers::Spoken;
pub use self::{
    answers::Answers,
    calls::{Moment, ToolRun, ToolRuns},
    commands::shell_command,
    compactions::{Compaction, CompactionRule, Generation, Generations},
    costs::{CostPolicy, Costs},
    counts::TypeCounts,
    exchanges::{Ending, Exchange, Exchanges},
    failures::{ErrorPolicy, Errors, failed_results, is_api_error, is_failure},
    files::{FilesTouched, Touches, tool_path},
    markdown::{Markdown, quoted, shown_time},
    model_tokens::ModelTokens,
    names::{NameRoom, OTHERS},
    overview::{Overview, Runs},
    said::{Messages, Said, SaidBlock},
    span::{DurationRule, Span},
    timeline::{Lane, Point, PointKind, Timeline},
    tokens::TokenTotals,
    viewed::Viewed,
};
use crate::{Event, millis};

/// Returns the time of an event in milliseconds since 1970: its own, or that of the recorded thing.
pub fn event_millis(event: &Event<'_>) -> Option<i64> {
    millis(event.context.time.or(event.context.recorded)?)
}

/// Returns the thread of an event: the sub-agent's id, or the tool use that started it. Empty for a
/// sub-agent without a name, and `None` for the main conversation.
pub fn thread(event: &Event<'_>) -> Option<String> {
    let context = &event.context;
    if !event.is_sub_agent() {
        return None;
    }
    let name = context.agent_id.or(context.parent_tool_use);
    Some(name.map(|name| name.decode().into_owned()).unwrap_or_default())
}
