//! Views of a stream that need no other format: exchanges, texts of the model, tool runs, costs.

use core_model::{
    Body, CostPolicy, Costs, Event, Exchange, Exchanges, Place, Role, SaidBlock, ToolRun, ToolRuns,
};
use jsonl::Scanner;

use crate::{
    read,
    record::{Record, RecordKind},
};

/// Returns the interactions: a prompt, the start of its run, its messages, and its result.
///
/// ```
/// let stream = include_bytes!("../../../fixtures/sdk-stream/seed-002-seven-lines.jsonl");
/// let interactions = format_sdk_stream::interactions(stream);
/// assert_eq!((interactions.len(), interactions[0].n_events), (1, 7));
/// ```
pub fn interactions(stream: &[u8]) -> Vec<Exchange> {
    let mut exchanges = Exchanges::default();
    for_each_event(stream, |place, event| exchanges.push(place, event));
    exchanges.finish()
}

/// Returns the prompts: the orchestrator's, or if it wrote none, those that the client repeats.
pub fn prompts(stream: &[u8]) -> Vec<String> {
    let mut prompts = Vec::new();
    for_each_event(stream, |_, event| {
        if event.is_prompt() {
            prompts.extend(event.message().map(|message| message.content.joined().into_owned()));
        }
    });
    prompts
}

/// Returns all text blocks of the model, sub-agents included. Messages that start with thinking
/// count too.
pub fn assistant_texts(stream: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    for_each_event(stream, |_, event| {
        let message = event.message().filter(|message| message.role == Role::Assistant);
        for block in message.into_iter().flat_map(|message| SaidBlock::all(&message.content)) {
            if let SaidBlock::Text(text) = block {
                texts.push(text);
            }
        }
    });
    texts
}

/// Returns the tool uses with their inputs as written, each with its first result.
pub fn tool_invocations(stream: &[u8]) -> Vec<ToolRun> {
    let mut runs = runs(stream);
    runs.retain(|run| run.called.is_some());
    runs
}

/// Returns the tool results in order, with the text of their blocks.
pub fn tool_results(stream: &[u8]) -> Vec<ToolRun> {
    let mut runs = runs(stream);
    runs.retain(|run| run.answered.is_some());
    runs.sort_by_key(|run| run.answered.map(|moment| moment.place.offset));
    runs
}

/// Returns the number of tool uses, at any position in their messages.
pub fn count_tool_uses(stream: &[u8]) -> u64 {
    tool_invocations(stream).len() as u64
}

/// Returns the cost of all runs in US dollars; `None` if no result has a cost.
pub fn total_cost(stream: &[u8]) -> Option<f64> {
    let mut costs = Costs::default();
    for_each_event(stream, |_, event| costs.push(event));
    costs.total(CostPolicy::PerInteraction)
}

fn runs(stream: &[u8]) -> Vec<ToolRun> {
    let mut runs = ToolRuns::with_contents();
    for_each_event(stream, |place, event| runs.push(place, event));
    runs.finish()
}

/// Reads the lines as events; unreadable ones are skipped. If the orchestrator wrote prompts, other
/// texts of the user are the client's own, although a dump does not mark them.
fn for_each_event(stream: &[u8], mut take: impl FnMut(Place, &Event<'_>)) {
    let mut scanner = Scanner::default();
    let has_prompts = jsonl::lines(stream).any(|line| {
        scanner.scan(&line).is_ok_and(|value| Record::new(value).kind == RecordKind::Prompt)
    });
    for (number, line) in (1..).zip(jsonl::lines(stream)) {
        let Ok(value) = scanner.scan(&line) else { continue };
        let mut event = read(value);
        if let Body::Message(message) = &mut event.body
            && has_prompts
            && Record::new(value).kind == RecordKind::User
        {
            message.is_meta = true;
        }
        take(Place { line: number, offset: line.offset() }, &event);
    }
}
