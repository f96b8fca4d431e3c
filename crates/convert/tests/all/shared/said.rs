//! The content of a session, in a form that can be compared between formats.

use std::borrow::Cow;

use core_model::{
    Answers, Block, Content, Event, Facts, Field, Format, Message, Options, Role, Sidechains,
    ToolResult,
};
use jsonl::{Raw, Scanner, Style};

use super::pieces::{as_lines, pieces};

/// A tool use: its id, its name, its input.
pub(crate) type Call = (String, String, String);

/// The content of a session.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Texts of the user.
    pub(crate) user: Vec<String>,
    /// Texts of the assistant.
    pub(crate) assistant: Vec<String>,
    pub(crate) thinking: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) results: Vec<Answer>,
    /// Blocks of other kinds.
    pub(crate) n_others: usize,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    /// The text; several blocks are joined by newlines.
    pub(crate) text: String,
    /// Whether there is other content than text.
    pub(crate) is_rich: bool,
    pub(crate) is_error: bool,
}

impl Said {
    /// Reads the content of a file in the format `to`.
    pub(crate) fn of(bytes: &[u8], from: &'static Format, to: &'static Format) -> Self {
        let bytes = &*as_lines(bytes, from).0;
        let mut scanner = Scanner::default();
        let mut planner = from.planner.map(|planner| planner(&Options::default()));
        let mut has_main = false;
        let mut sidechains = from.layout.map(Sidechains::new);
        each(bytes, from, &mut scanner, |offset, event| {
            if let Some(sidechains) = &mut sidechains {
                sidechains.observe(offset, event);
            }
            if let Some(planner) = &mut planner {
                planner.observe(offset, event);
            }
            has_main |= event.message().is_some() && !event.is_sub_agent();
        });
        let plan = planner.map(|planner| planner.finish()).unwrap_or_default();
        let shows_agents = !has_main || from.family == to.family;
        sidechains.iter_mut().for_each(Sidechains::link);
        let is_linked = |offset| {
            sidechains.as_ref().is_some_and(|sidechains| {
                let place = sidechains.place_of(offset);
                place.is_some_and(|place| sidechains.agents()[place].tool_use.is_some())
            })
        };
        let mut said = Said::default();
        let mut facts = Facts::default();
        let mut answers = Answers::default();
        each(bytes, from, &mut scanner, |offset, event| {
            let is_told = to.has_inline_agents
                && (is_linked(offset) || event.context.parent_tool_use.is_some());
            let is_shown = shows_agents || !event.is_sub_agent() || is_told;
            if is_shown && plan.hides(offset).is_none() {
                // Formats of the own family keep outcomes unchanged.
                if let Some(answer) = answers.answer_of(event).filter(|_| from.family != to.family)
                    && let Some(message) = answer.message()
                {
                    said.message(message);
                }
                facts.observe(event);
                if let Some(message) = event.message() {
                    said.message(message);
                }
            }
        });
        said
    }

    fn message(&mut self, message: &Message<'_>) {
        for (block, _) in message.blocks() {
            match block {
                Block::Text(text) => {
                    let words = match message.role {
                        Role::User => &mut self.user,
                        Role::Assistant => &mut self.assistant,
                    };
                    words.push(text.decode().into_owned());
                }
                Block::Thinking { text, .. } => self.thinking.push(text.decode().into_owned()),
                Block::ToolUse(tool) => {
                    let id = tool.id.decode().into_owned();
                    self.calls.push((
                        id,
                        tool.name.decode().into_owned(),
                        canonical(tool.input.json().raw()),
                    ));
                }
                Block::ToolResult(result) => self.results.push(answer(&result)),
                _ => self.n_others += 1,
            }
        }
    }
}

fn each(
    bytes: &[u8],
    format: &Format,
    scanner: &mut Scanner,
    mut look: impl FnMut(u64, &Event<'_>),
) {
    for piece in pieces(bytes, Some(format)).into_iter().filter(|piece| piece.is_record) {
        if let Ok(value) = scanner.scan(&piece.line) {
            format.for_each_event(value, |event| {
                look(piece.line.offset(), event);
                true
            });
        }
    }
}

fn answer(result: &ToolResult<'_>) -> Answer {
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    let mut is_rich = matches!(result.content, Content::Other(raw) if !raw.is_null());
    for (block, _) in result.content.blocks() {
        match block {
            // The API refuses empty texts, so that writers leave them out.
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => words.push(text.decode()),
            _ => is_rich = true,
        }
    }
    Answer {
        id: result.tool_use_id.decode().into_owned(),
        text: words.join("\n"),
        is_rich,
        is_error: result.is_error == Field::Value(true),
    }
}

/// Returns a value in a spelling that depends only on its meaning to Python.
fn canonical(value: Raw<'_>) -> String {
    let mut spelled = Vec::new();
    jsonl::respell(&mut spelled, value, Style::Python);
    match serde_json::from_slice::<serde_json::Value>(&spelled) {
        Ok(value) => value.to_string(),
        Err(_) => String::from_utf8_lossy(&spelled).into_owned(),
    }
}

/// Calls `look` with the events of a file of lines, or of a document.
pub(crate) fn for_each_event(bytes: &[u8], format: &Format, mut look: impl FnMut(&Event<'_>)) {
    let bytes = &*as_lines(bytes, format).0;
    each(bytes, format, &mut Scanner::default(), |_, event| look(event));
}
