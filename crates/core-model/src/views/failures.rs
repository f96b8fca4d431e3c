//! Which tool results tell of an error.

use crate::{Event, ToolResult};

/// When a tool result tells of an error (REQUIREMENTS R001-23).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ErrorPolicy {
    /// It says so: `is_error` is true.
    Flag,
    /// Its text has `error` or `failed` in it, in any case (seed 001): `0 errors` is one too.
    Text,
    /// Either of the two.
    #[default]
    Either,
}

/// Returns whether a tool result tells of an error.
pub fn is_failure(result: &ToolResult<'_>, policy: ErrorPolicy) -> bool {
    let by_flag = || result.is_error.value() == Some(true);
    match policy {
        ErrorPolicy::Flag => by_flag(),
        ErrorPolicy::Text => has_error_words(result),
        ErrorPolicy::Either => by_flag() || has_error_words(result),
    }
}

/// Returns the tool results of an event that tell of an error.
pub fn failed_results<'l>(
    event: &Event<'l>,
    policy: ErrorPolicy,
) -> impl Iterator<Item = ToolResult<'l>> + use<'l> {
    let message = event.message().copied();
    let results = message.into_iter().flat_map(|message| message.tool_results());
    results.filter(move |result| is_failure(result, policy))
}

fn has_error_words(result: &ToolResult<'_>) -> bool {
    let text = result.content.joined().to_lowercase();
    text.contains("error") || text.contains("failed")
}
