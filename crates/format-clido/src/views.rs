//! Views of a session that need no other format: what was asked, what it cost, what ran.

use std::collections::BTreeMap;

use core_model::{Block, Body, Content, Event, Role};
use jsonl::Scanner;

use crate::{Record, read};

/// Which costs add up.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CostPolicy {
    /// The last result's: clido counts on over the turns of a session, and lists this one.
    #[default]
    LastPerSession,
    /// The sum of all results, as the recipe of clido's documentation has it.
    SumLines,
}

/// The number of lines by type.
pub type Counts = BTreeMap<String, u64>;

/// A tool use and what came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRun {
    /// The id.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The input as written.
    pub input: String,
    /// What the tool returned, if it did.
    pub result: Option<String>,
    /// Whether the tool failed, if it returned.
    pub is_error: Option<bool>,
}

/// Returns the texts of the user's messages.
pub fn user_texts(session: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    for_each_event(session, |event| {
        let message = event.message().filter(|message| message.role == Role::User);
        for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
            if let Block::Text(text) = block {
                texts.push(text.decode().into_owned());
            }
        }
    });
    texts
}

/// Returns the cost in US dollars; `None` if no result tells one.
pub fn total_cost(session: &[u8], policy: CostPolicy) -> Option<f64> {
    let mut total = None;
    for_each_event(session, |event| {
        let Body::Outcome(outcome) = event.body else { return };
        let Some(cost) = outcome.cost.and_then(|cost| cost.as_f64()) else { return };
        total = Some(match (policy, total) {
            (CostPolicy::SumLines, Some(sum)) => sum + cost,
            _ => cost,
        });
    });
    total
}

/// Returns the number of lines by type; lines of unknown type count under their own, others that
/// can be read under the empty string.
pub fn count_by_type(session: &[u8]) -> Counts {
    let mut counts = Counts::new();
    for_each_event(session, |event| {
        let kind = event.value.get("type").and_then(|kind| kind.text());
        let kind = kind.map(|kind| kind.decode().into_owned()).unwrap_or_default();
        *counts.entry(kind).or_default() += 1;
    });
    counts
}

/// Returns the tool uses of the responses, each with the first result that follows it.
pub fn tool_calls(session: &[u8]) -> Vec<ToolRun> {
    let mut runs: Vec<ToolRun> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for_each_event(session, |event| {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::ToolUse(tool) => {
                    let id = tool.id.decode().into_owned();
                    open.insert(id.clone(), runs.len());
                    runs.push(ToolRun {
                        id,
                        name: tool.name.decode().into_owned(),
                        input: tool.input.to_string(),
                        result: None,
                        is_error: None,
                    });
                }
                Block::ToolResult(result) => {
                    let place = open.remove(&*result.tool_use_id.decode());
                    let Some(run) = place.and_then(|place| runs.get_mut(place)) else { continue };
                    run.result = Some(text_of(result.content));
                    run.is_error = result.is_error.value();
                }
                _ => {}
            }
        }
    });
    runs
}

fn text_of(content: Content<'_>) -> String {
    let texts: Vec<_> = content
        .blocks()
        .filter_map(|(block, _)| match block {
            Block::Text(text) => Some(text.decode()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// Reads the lines that can be read.
fn for_each_event(session: &[u8], mut take: impl FnMut(Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            take(read(value));
        }
    }
}

/// Returns the words of the last title.
pub fn title(session: &[u8]) -> Option<String> {
    let mut title = None;
    for_each_event(session, |event| {
        if let Record::Title(line) = Record::decode(event.value)
            && let Some(text) = line.title
        {
            title = Some(text.decode().into_owned());
        }
    });
    title
}
