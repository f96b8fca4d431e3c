//! Finds answers that are in no message, but in the outcome of their run.

use crate::{Body, Content, Event, Field, IdHasher, Message, Role, Status};

/// Finder of answers that are in no message, as in the output of `claude -p --output-format json`:
/// one line `{"type":"result","subtype":"success","result":"4",..}`.
///
/// ```
/// use core_model::{Answers, Body, Event, Outcome, Status};
///
/// let mut scanner = jsonl::Scanner::default();
/// let line = scanner.scan_slice(br#"{"type":"result","result":"4"}"#, 0)?;
/// let result = line.get("result").map(|result| result.raw());
/// let outcome = Outcome { result, ..Outcome::new(Status::Success) };
/// let event = Event { body: Body::Outcome(outcome), ..Event::other("stream", line) };
/// let answer = Answers::default().answer_of(&event).expect("no message said it");
/// assert!(answer.message().is_some_and(|message| message.content.joined() == "4"));
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Answers {
    /// Whether a message of the assistant followed the last outcome.
    is_said: bool,
    /// A hash of the last answer, because a run of a background agent ends twice.
    last: Option<u64>,
    hasher: IdHasher,
}

impl Answers {
    /// Adds an event, and returns the answer as a message if no other event has it.
    pub fn answer_of<'l>(&mut self, event: &Event<'l>) -> Option<Event<'l>> {
        let said = Spoken::of(event, &self.hasher)?;
        if !self.is_new(said) {
            return None;
        }
        let Body::Outcome(outcome) = &event.body else { return None };
        let raw = outcome.result?;
        let text = raw.as_text()?;
        let is_error = match outcome.is_error {
            Field::Value(is_error) => is_error,
            _ => outcome.status != Status::Success,
        };
        let message = Message {
            is_api_error: is_error,
            ..Message::new(Role::Assistant, Content::Text(text))
        };
        let mut answer = Event { kind: None, body: Body::Message(message), ..*event };
        // The outcome keeps its id, so the answer has none.
        answer.context.uuid = None;
        // The message refers to the value of the answer, so that derived ids differ.
        let holder = || {
            let mut members = event.value.members().map(|(_, member)| member);
            members.find(|member| member.raw().as_str().contains(raw.as_str()))
        };
        if let Some(value) = event.value.get("result").or_else(holder) {
            answer.value = value;
        }
        Some(answer)
    }

    /// Adds the words of an event, and returns whether they are an answer that no other event has.
    pub(crate) fn is_new(&mut self, said: Spoken) -> bool {
        let Spoken::Answer(hash) = said else {
            self.is_said = true;
            return false;
        };
        let last = self.last.replace(hash);
        !std::mem::take(&mut self.is_said) && last != self.last
    }
}

/// The words of an event that matter to [`Answers`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spoken {
    /// A message of the assistant, outside sub-agents.
    Message,
    /// The hash of the answer in an outcome.
    Answer(u64),
}

impl Spoken {
    /// Returns the words of an event; `None` for most events.
    pub(crate) fn of(event: &Event<'_>, hasher: &IdHasher) -> Option<Self> {
        match &event.body {
            Body::Message(message) => {
                let is_said = message.role == Role::Assistant && !event.is_sub_agent();
                is_said.then_some(Self::Message)
            }
            Body::Outcome(outcome) => {
                let text = outcome.result?.as_text().filter(|text| !text.is_empty())?;
                Some(Self::Answer(hasher.hash_text(text)))
            }
            _ => None,
        }
    }
}
