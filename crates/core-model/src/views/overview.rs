//! A summary of a session in a few lines.

use std::{collections::HashSet, fmt};

use jsonl::Scanner;

use super::{DurationRule, ErrorPolicy, Errors, NameRoom, Span, Viewed, span::Minutes};
use crate::{Block, Body, Event, IdSet, Message, Role, Status};

/// A summary of a session in a few lines.
///
/// ```
/// use core_model::Overview;
///
/// let mut overview = Overview::default();
/// overview.session_id = Some("abc123".to_owned());
/// (overview.n_events, overview.n_user_messages, overview.n_tool_calls) = (342, 23, 156);
/// overview.n_sub_agents = 2;
/// overview.sub_agents = vec!["Plan mode".to_owned(), "Debug mode".to_owned()];
/// (overview.errors.n_tool, overview.errors.n_api) = (2, 1);
/// overview.span.push_time(Some(0));
/// overview.span.push_time(Some(45 * 60_000));
/// assert_eq!(
///     overview.to_string(),
///     "Session abc123 (342 events)
/// - Duration: 45 minutes
/// - User messages: 23
/// - Tool calls: 156
/// - Sub-agents: 2 (Plan mode, Debug mode)
/// - Errors: 3 (2 of tools, 1 of the API)
///
/// Show: [full] [tools only] [errors only] [subagents only]"
/// );
/// ```
#[derive(Debug, Default)]
pub struct Overview {
    /// The session id: the first one, unless the caller sets another.
    pub session_id: Option<String>,
    /// The number of events.
    pub n_events: u64,
    /// The times of the events.
    pub span: Span,
    /// The number of user messages with text that the client did not write, prompts of sub-agents
    /// included.
    pub n_user_messages: u64,
    /// The number of tool uses.
    pub n_tool_calls: u64,
    /// The number of sub-agents: of tool uses that start one, or of agents with messages, whichever
    /// is larger.
    pub n_sub_agents: u64,
    /// The distinct names of the sub-agents in the tool uses that start them. Without a name, the
    /// mode in the prompt. About 4 MiB at most.
    pub sub_agents: Vec<String>,
    /// The errors.
    pub errors: Errors,
    /// The policy for errors. By default only the flag counts, so that texts about errors do not.
    pub policy: Option<ErrorPolicy>,
    /// The status of the last run, if the session says how its runs ended.
    pub outcome: Option<Status>,
    /// The wall time of all runs in milliseconds, if the session states it.
    pub run_millis: Option<u64>,
    calls: IdSet,
    agents: IdSet,
    n_agents: u64,
    names: HashSet<String>,
    room: NameRoom,
    has_main: bool,
    n_started: u64,
    scanner: Scanner,
}

impl Overview {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.view(&Viewed::passing(event));
    }

    /// Adds an event that other views also use.
    pub fn view(&mut self, viewed: &Viewed<'_, '_>) {
        let event = viewed.event;
        self.n_events += 1;
        self.span.push_time(viewed.time);
        if self.session_id.is_none() {
            self.session_id = event.context.session_id.map(|id| id.decode().into_owned());
        }
        self.errors += Errors::view(viewed, self.policy.unwrap_or(ErrorPolicy::Flag));
        match &event.body {
            Body::Message(message) => self.message(message, viewed),
            Body::ToolCall(call) => {
                self.call(&call.id.decode(), &call.name.decode(), call.input);
            }
            Body::Outcome(_) => {
                let mut runs = Runs { outcome: self.outcome, millis: self.run_millis };
                runs.push(event);
                (self.outcome, self.run_millis) = (runs.outcome, runs.millis);
            }
            _ => {}
        }
        if event.is_sub_agent() {
            let context = &event.context;
            if let Some(agent) = context.agent_id.or(context.parent_tool_use) {
                self.n_agents += u64::from(self.agents.insert_text(agent));
            }
        }
        self.has_main |= !event.is_sub_agent();
        // If only one agent has messages, it is not a sub-agent of this file.
        let n_agents = if self.has_main { self.n_agents } else { 0 };
        self.n_sub_agents = self.n_started.max(n_agents);
    }

    fn message(&mut self, message: &Message<'_>, viewed: &Viewed<'_, '_>) {
        let is_text = |block: Block<'_>| matches!(block, Block::Text(text) if !text.is_empty());
        if message.role == Role::User && !message.is_meta && viewed.blocks().any(is_text) {
            self.n_user_messages += 1;
        }
        for block in viewed.blocks() {
            if let Block::ToolUse(tool) = block {
                self.call(&tool.id.decode(), &tool.name.decode(), tool.input.json().raw());
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
        if !self.names.contains(&name) && self.room.add(&name) {
            self.names.insert(name.clone());
            self.sub_agents.push(name);
        }
    }
}

/// Returns the likely purpose of an agent without a name, by the keywords of claude-historian.
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

impl Overview {
    /// Returns the duration in milliseconds: that of the times, or of all runs if it is longer,
    /// because the lines of some formats have no times.
    pub fn millis(&self) -> Option<i64> {
        Runs { outcome: self.outcome, millis: self.run_millis }.duration(&self.span)
    }
}

/// What a session states of its runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Runs {
    /// The status of the last run.
    pub outcome: Option<Status>,
    /// The wall time of all runs in milliseconds.
    pub millis: Option<u64>,
}

impl Runs {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        let Body::Outcome(outcome) = &event.body else { return };
        self.outcome = Some(outcome.status);
        if let Some(millis) = outcome.duration_ms.and_then(|millis| millis.as_u64()) {
            self.millis = Some(self.millis.unwrap_or(0).saturating_add(millis));
        }
    }

    /// Returns the duration of a session in milliseconds: that of its times, or of all runs if it is
    /// longer, because the lines of some formats have no times.
    pub fn duration(&self, span: &Span) -> Option<i64> {
        let runs = self.millis.map(|millis| i64::try_from(millis).unwrap_or(i64::MAX));
        span.millis(DurationRule::MinMax).max(runs)
    }
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session_id.as_deref().unwrap_or("unknown");
        let events = if self.n_events == 1 { "event" } else { "events" };
        writeln!(f, "Session {session} ({} {events})", self.n_events)?;
        writeln!(f, "- Duration: {}", Minutes(self.millis()))?;
        writeln!(f, "- User messages: {}", self.n_user_messages)?;
        writeln!(f, "- Tool calls: {}", self.n_tool_calls)?;
        write!(f, "- Sub-agents: {}", self.n_sub_agents)?;
        if self.n_sub_agents > 0 && !self.sub_agents.is_empty() {
            write!(f, " ({})", self.sub_agents.join(", "))?;
        }
        write!(f, "\n- Errors: {}", self.errors.total())?;
        if self.errors.n_api > 0 {
            let Errors { n_tool, n_api } = self.errors;
            write!(f, " ({n_tool} of tools, {n_api} of the API)")?;
        }
        if let Some(outcome) = self.outcome {
            write!(f, "\n- Outcome: {}", outcome.words())?;
        }
        f.write_str("\n\n")?;
        f.write_str("Show: [full] [tools only] [errors only] [subagents only]")
    }
}
