//! Views of a session for users of this crate alone: prompts, cost, tool calls, interactions.

use core_model::{
    Block, Body, CostPolicy, Costs, Event, Exchange, Exchanges, Place, Role, ToolRun, ToolRuns,
    TypeCounts,
};
use jsonl::Scanner;

use crate::read;

/// Returns the texts of the user's messages, like the recipe in clido's documentation.
///
/// ```
/// let session = include_bytes!("../tests/documented.jsonl");
/// assert_eq!(format_clido::user_texts(session), ["How many lines is src/main.rs?"]);
/// ```
pub fn user_texts(session: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    for_each_event(session, |_, event| {
        let message = event.message().filter(|message| message.role == Role::User);
        for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
            if let Block::Text(text) = block {
                texts.push(text.decode().into_owned());
            }
        }
    });
    texts
}

/// Returns the cost in US dollars; `None` if no result has a cost.
///
/// In clido the cost of a result includes earlier turns, and clido lists the last one:
/// [`CostPolicy::Cumulative`]. The recipe in its documentation adds all of them:
/// [`CostPolicy::PerInteraction`].
pub fn total_cost(session: &[u8], policy: CostPolicy) -> Option<f64> {
    let mut costs = Costs::default();
    for_each_event(session, |_, event| costs.push(event));
    costs.total(policy)
}

/// Returns the number of lines by type.
pub fn count_by_type(session: &[u8]) -> TypeCounts {
    let mut counts = TypeCounts::default();
    for_each_event(session, |_, event| counts.push(event));
    counts
}

/// Returns the tool uses, each with its input and its first result.
pub fn tool_calls(session: &[u8]) -> Vec<ToolRun> {
    let mut runs = ToolRuns::with_contents();
    for_each_event(session, |place, event| runs.push(place, event));
    runs.finish()
}

/// Returns the interactions: each prompt with the records after it.
pub fn interactions(session: &[u8]) -> Vec<Exchange> {
    let mut exchanges = Exchanges::default();
    for_each_event(session, |place, event| exchanges.push(place, event));
    exchanges.finish()
}

/// Returns the text of the last title.
pub fn title(session: &[u8]) -> Option<String> {
    let mut title = None;
    for_each_event(session, |_, event| {
        if let Body::Title(line) = event.body {
            title = Some(line.text.decode().into_owned());
        }
    });
    title
}

/// Reads the lines as events. Unreadable lines are skipped.
fn for_each_event(session: &[u8], mut take: impl FnMut(Place, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for (number, line) in (1..).zip(jsonl::lines(session)) {
        if let Ok(value) = scanner.scan(&line) {
            let place = Place { line: number, offset: line.offset() };
            take(place, &read(value));
        }
    }
}
