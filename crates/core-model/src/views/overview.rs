//! A session in a few lines (seed 004).

use std::{collections::HashSet, fmt};

use jsonl::Scanner;

use super::{DurationRule, ErrorPolicy, Span, Viewed, span::Minutes};
use crate::{Block, Body, Event, IdSet, Message, Role};

/// A session in a few lines; printed, it is the text of seed 004.
///
/// ```
/// use core_model::Overview;
///
/// let mut overview = Overview::default();
/// overview.session_id = Some("abc123".to_owned());
/// (overview.n_events, overview.n_user_messages, overview.n_tool_calls) = (342, 23, 156);
/// overview.n_sub_agents = 2;
/// overview.sub_agents = vec!["Plan mode".to_owned(), "Debug mode".to_owned()];
/// overview.n_errors = 3;
/// overview.span.push_time(Some(0));
/// overview.span.push_time(Some(45 * 60_000));
/// assert_eq!(
///     overview.to_string(),
///     "Session abc123 (342 events)
/// - Duration: 45 minutes
/// - User messages: 23
/// - Tool calls: 156
/// - Sub-agents: 2 (Plan mode, Debug mode)
/// - Errors: 3
///
/// Show: [full] [tools only] [errors only] [subagents only]"
/// );
/// ```
#[derive(Debug, Default)]
pub struct Overview {
    /// The session: the first id, unless the caller knows better.
    pub session_id: Option<String>,
    /// The number of events.
    pub n_events: u64,
    /// The times of the events.
    pub span: Span,
    /// The number of messages of a user with words that no client wrote on its own, prompts of
    /// sub-agents included.
    pub n_user_messages: u64,
    /// The number of tool uses.
    pub n_tool_calls: u64,
    /// The number of sub-agents: of the tool uses that start one, or of the agents that speak, if
    /// those are more.
    pub n_sub_agents: u64,
    /// What the sub-agents are called where they are started, each name once; without a name, the
    /// mode that the prompt tells.
    pub sub_agents: Vec<String>,
    /// The number of tool results that tell of an error.
    pub n_errors: u64,
    /// When a tool result tells of an error: by default only when it says so, for a look at a
    /// session must not count every text about errors.
    pub errors: Option<ErrorPolicy>,
    calls: IdSet,
    agents: HashSet<String>,
    names: HashSet<String>,
    has_main: bool,
    n_started: u64,
    scanner: Scanner,
}

impl Overview {
    /// Takes note of an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.view(&Viewed::new(event));
    }

    /// Takes note of an event that other views look at too.
    pub fn view(&mut self, viewed: &Viewed<'_, '_>) {
        let event = viewed.event;
        self.n_events += 1;
        self.span.push_time(viewed.time);
        if self.session_id.is_none() {
            self.session_id = event.context.session_id.map(|id| id.decode().into_owned());
        }
        let errors = self.errors.unwrap_or(ErrorPolicy::Flag);
        self.n_errors += viewed.failed_results(errors).count() as u64;
        match &event.body {
            Body::Message(message) => self.message(message, &viewed.blocks),
            Body::ToolCall(call) => {
                self.call(&call.id.decode(), &call.name.decode(), call.input);
            }
            _ => {}
        }
        if event.is_sub_agent() {
            let context = &event.context;
            if let Some(agent) = context.agent_id.or(context.parent_tool_use) {
                self.agents.insert(agent.decode().into_owned());
            }
        }
        self.has_main |= !event.is_sub_agent();
        // Where nobody else speaks, the one who does is no sub-agent of this file.
        let n_agents = if self.has_main { self.agents.len() as u64 } else { 0 };
        self.n_sub_agents = self.n_started.max(n_agents);
    }

    fn message(&mut self, message: &Message<'_>, blocks: &[Block<'_>]) {
        let is_text = |block: &Block<'_>| matches!(block, Block::Text(text) if !text.is_empty());
        if message.role == Role::User && !message.is_meta && blocks.iter().any(is_text) {
            self.n_user_messages += 1;
        }
        for block in blocks {
            if let Block::ToolUse(tool) = block {
                self.call(&tool.id.decode(), &tool.name.decode(), tool.input);
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: jsonl::Raw<'_>) {
        if !self.calls.insert(id) {
            return;
        }
        self.n_tool_calls += 1;
        // `Task` is called `Agent` since 2.1.63.
        if !matches!(name, "Task" | "Agent") {
            return;
        }
        self.n_started += 1;
        let input = self.scanner.scan_slice(input.as_str().as_bytes(), 0).ok();
        let text = |name: &str| {
            let text = input.as_ref().and_then(|input| input.get(name)?.text())?;
            Some(text.decode().into_owned()).filter(|text| !text.is_empty())
        };
        let prompt = || mode(&[text("description"), text("prompt")].map(Option::unwrap_or_default));
        let name = text("subagent_type").unwrap_or_else(|| prompt().to_owned());
        if self.names.insert(name.clone()) {
            self.sub_agents.push(name);
        }
    }
}

/// Returns what an agent without a name seems to be started for, by the words of claude-historian,
/// from which seed 004 is.
fn mode(words: &[String]) -> &'static str {
    let words = words.join(" ").to_lowercase();
    let has = |any: [&str; 3]| any.iter().any(|word| words.contains(word));
    if has(["plan", "approach", "strategy"]) {
        "Plan mode"
    } else if has(["error", "debug", "investigate"]) {
        "Debug mode"
    } else {
        "Agent mode"
    }
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session_id.as_deref().unwrap_or("unknown");
        let events = if self.n_events == 1 { "event" } else { "events" };
        writeln!(f, "Session {session} ({} {events})", self.n_events)?;
        writeln!(f, "- Duration: {}", Minutes(self.span.millis(DurationRule::MinMax)))?;
        writeln!(f, "- User messages: {}", self.n_user_messages)?;
        writeln!(f, "- Tool calls: {}", self.n_tool_calls)?;
        write!(f, "- Sub-agents: {}", self.n_sub_agents)?;
        if self.n_sub_agents > 0 && !self.sub_agents.is_empty() {
            write!(f, " ({})", self.sub_agents.join(", "))?;
        }
        writeln!(f, "\n- Errors: {}\n", self.n_errors)?;
        f.write_str("Show: [full] [tools only] [errors only] [subagents only]")
    }
}
