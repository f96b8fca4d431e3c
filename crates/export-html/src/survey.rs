//! The first pass over a session: collects the facts above the conversation.

use std::collections::HashSet;

use core_model::{
    Block, CostPolicy, Costs, ErrorPolicy, Errors, Event, Facts, Format, Overview, Place, Span,
    Status, Timeline, TokenTotals, Tokens, event_millis,
};
use jsonl::Text;

use crate::{
    casts::Casts,
    runs::Runs,
    spent::{Responses, Spent},
    threads::{Thread, Threads},
    words::first_line,
};

/// Limit for the prompts that the page lists.
const MAX_PROMPTS: usize = 1_000;

/// Limit for the points of the token chart.
const MAX_CONTEXTS: usize = 64 * 1024;

/// Limit in characters for a listed prompt or title.
const MAX_TITLE: usize = 120;

/// Collector of the facts that the page of a session needs before its first line.
///
/// It must get every line of the session in order: each is an event, unreadable, or not shown. Its
/// memory is that of ids and times.
#[derive(Debug, Default)]
pub struct Survey {
    /// The format's function that shortens a prompt for lists.
    prompt_preview: Option<fn(&str) -> Option<String>>,
    cost_policy: CostPolicy,
    pub(crate) facts: Facts,
    pub(crate) overview: Overview,
    pub(crate) span: Span,
    pub(crate) tokens: TokenTotals,
    costs: Costs,
    pub(crate) responses: Responses,
    pub(crate) runs: Runs,
    pub(crate) timeline: Timeline,
    /// Times and the tokens in the context at each.
    pub(crate) contexts: Vec<(i64, u64)>,
    pub(crate) threads: Threads,
    pub(crate) casts: Casts,
    /// Tool uses whose sub-agents have no lines in the session.
    pub(crate) missing: HashSet<String>,
    pub(crate) links: Vec<Link>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) n_prompts: u64,
    pub(crate) errors: Errors,
    n_lines: u64,
}

/// A prompt.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// The number of its line.
    pub(crate) line: u64,
    pub(crate) time: Option<i64>,
    pub(crate) text: String,
}

/// A link to the page of a related session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// How the other session is related, such as `Fork, after 3 prompts, of`.
    pub words: String,
    /// The name of the other session.
    pub name: String,
    /// The path of its page, relative to this one, with slashes.
    pub path: String,
}

/// The figures of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The title, or the start of the first prompt; `None` if there is neither.
    pub title: Option<String>,
    /// The session's id.
    pub session_id: Option<String>,
    /// The working directory.
    pub project: Option<String>,
    /// The first model that answers.
    pub model: Option<String>,
    /// The earliest time, in milliseconds since 1970.
    pub start: Option<i64>,
    /// The latest time, in milliseconds since 1970.
    pub end: Option<i64>,
    /// The duration in milliseconds: of the times, or of the runs if they state a longer one.
    pub millis: Option<i64>,
    /// How the last run ended, if the session says it.
    pub outcome: Option<Status>,
    /// The number of prompts.
    pub n_prompts: u64,
    /// The number of lines that are messages.
    pub n_messages: u64,
    /// The number of tool uses.
    pub n_tool_calls: u64,
    /// The number of sub-agents.
    pub n_sub_agents: u64,
    /// The errors: failed tools, and failed requests to the API.
    pub errors: Errors,
    /// The tokens; each response counts once. A response without a line of its own does not count, such as
    /// one that only the result of a sub-agent mentions.
    pub tokens: Tokens,
    /// The cost in US dollars: of outcomes that state one, and of responses that no outcome covers;
    /// `None` if neither is known.
    pub cost: Option<f64>,
}

impl Survey {
    /// Creates a survey of a session in a format.
    pub fn new(format: &Format) -> Self {
        Self { prompt_preview: format.prompt_preview, cost_policy: format.cost, ..Self::default() }
    }

    /// Returns the part of a user's text for lists; `None` if the client wrote it.
    pub(crate) fn prompt_preview(&self, text: &str) -> Option<String> {
        let preview = match self.prompt_preview {
            Some(preview) => preview(text),
            None => Some(text.to_owned()),
        };
        let preview = preview.filter(|preview| !(preview.starts_with('<') && is_tagged(text)));
        preview.map(|preview| first_line(&preview, MAX_TITLE)).filter(|line| !line.is_empty())
    }

    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.n_lines += 1;
        let place = Place { line: self.n_lines, offset: 0 };
        let time = event_millis(event);
        self.facts.observe(event);
        self.overview.push(event);
        self.span.push(event);
        self.tokens.push(event);
        self.costs.push(event);
        self.responses.end_run(event);
        self.runs.push(self.n_lines, time, event, self.threads.hasher());
        self.timeline.push(place, event);
        if event.is_prompt() {
            self.note_prompt(event, time);
        }
        let errors = Errors::of(event, ErrorPolicy::Flag);
        self.errors += errors;
        let thread = self.threads.of(event);
        if thread == Thread::Main {
            self.note_context(event, time);
        }
        self.casts.note(thread, time, n_calls(event), errors.total());
    }

    /// Notes the tokens and the cost of the response of the last event. If a response has several
    /// events, the largest count is used.
    pub fn spend(&mut self, event: &Event<'_>, spent: Spent) {
        self.responses.note(event, self.n_lines, self.threads.hasher(), spent);
    }

    /// Sets the links to related sessions, which are written above the conversation.
    pub fn link(&mut self, links: Vec<Link>) {
        self.links = links;
    }

    /// Adds an unreadable line.
    pub fn push_unreadable(&mut self) {
        self.n_lines += 1;
    }

    /// Notes that the tool use with this id started a sub-agent without lines in the session.
    pub fn note_missing(&mut self, tool_use: &str) {
        self.missing.insert(tool_use.to_owned());
    }

    /// Adds a line that is not part of the conversation. Its tokens were spent.
    pub fn skip_left_out(&mut self, event: &Event<'_>) {
        self.n_lines += 1;
        self.tokens.push(event);
    }

    /// Adds a line that is not shown.
    pub fn skip(&mut self) {
        self.n_lines += 1;
    }

    /// Returns the figures of the session.
    pub fn figures(&self) -> Figures {
        let decoded = |text: &str| Text::new(text).map(|text| text.decode().into_owned());
        let title = self.facts.title.as_ref().and_then(|(_, title)| decoded(title));
        let title = title.filter(|title| !title.trim().is_empty());
        let cost = match (self.costs.total(self.cost_policy), self.responses.cost()) {
            (Some(stated), Some(priced)) => Some(stated + priced),
            (stated, priced) => stated.or(priced),
        };
        let first = self.prompts.first().map(|prompt| prompt.text.clone());
        Figures {
            title: title.map(|title| first_line(&title, MAX_TITLE)).or(first),
            session_id: self.facts.session_id.as_deref().and_then(decoded),
            project: self.facts.cwd.as_deref().and_then(decoded),
            model: self.facts.interactions.first_model().and_then(decoded),
            start: self.span.earliest(),
            end: self.span.latest(),
            millis: self.overview.millis(),
            outcome: self.overview.outcome,
            n_prompts: self.n_prompts,
            n_messages: self.facts.n_messages,
            n_tool_calls: self.overview.n_tool_calls,
            n_sub_agents: self.casts.n_sub_agents(),
            errors: self.errors,
            tokens: self.tokens.of_lines(),
            cost,
        }
    }

    /// Adds a prompt, unless the client wrote all of it.
    fn note_prompt(&mut self, event: &Event<'_>, time: Option<i64>) {
        let blocks = event.message().into_iter().flat_map(|message| message.blocks());
        let prompt_preview = blocks.filter_map(|(block, _)| match block {
            Block::Text(text) => self.prompt_preview(&text.decode()),
            _ => Some("(a picture)".to_owned()),
        });
        let Some(text) =
            prompt_preview.min_by_key(|prompt_preview| prompt_preview.starts_with("(a picture)"))
        else {
            return;
        };
        self.n_prompts += 1;
        if self.prompts.len() < MAX_PROMPTS {
            self.prompts.push(Prompt { line: self.n_lines, time, text });
        }
    }

    fn note_context(&mut self, event: &Event<'_>, time: Option<i64>) {
        let usage = event.message().and_then(|message| message.usage);
        if let (Some(usage), Some(time)) = (usage, time) {
            let tokens = usage.tokens();
            let sent = Tokens { output: 0, ..tokens }.total();
            if sent > 0 {
                self.note_tokens(time, sent);
            }
        }
    }

    /// Adds a point to the token chart. If there are too many, every second one is removed.
    fn note_tokens(&mut self, time: i64, tokens: u64) {
        self.contexts.push((time, tokens));
        if self.contexts.len() > MAX_CONTEXTS {
            let mut is_kept = false;
            self.contexts.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
        }
    }
}

/// Returns whether a text is one XML element, such as `<task-notification>...`, which clients write
/// for the model.
fn is_tagged(text: &str) -> bool {
    let text = text.trim();
    let name = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    name.filter(is_name).is_some_and(|name| text.ends_with(&format!("</{name}>")))
}

fn n_calls(event: &Event<'_>) -> u64 {
    let blocks = event.message().into_iter().flat_map(|message| message.blocks());
    blocks.filter(|(block, _)| matches!(block, Block::ToolUse(_))).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_wrote_is_no_prompt() {
        let survey = Survey::default();
        let prompt_preview = |text| survey.prompt_preview(text);
        assert_eq!(prompt_preview("<system-reminder>\nx\n</system-reminder>\n"), None);
        assert_eq!(prompt_preview("<b>bold</b> words").as_deref(), Some("<b>bold</b> words"));
        assert_eq!(prompt_preview("<Foo>x</Foo>").as_deref(), Some("<Foo>x</Foo>"));
        assert_eq!(prompt_preview("\n\n  go on\nnow").as_deref(), Some("go on"));
        assert_eq!(prompt_preview(" "), None);
    }
}
