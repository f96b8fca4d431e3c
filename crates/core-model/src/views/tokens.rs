//! Adds up the tokens of a session. Only the last count of each response is used, because its lines
//! repeat a growing count.
//!
//! In: three lines of one response with `output_tokens` 1, 5, 9. Out: 9.

use crate::{Body, ByHash, Event, Hashes, IdHasher, ResponseUsage, Tokens};

/// Sum of the tokens of a session.
///
/// A response counts once, with the usage of its last line: the lines with one message id and one
/// request id. A message without an id counts as a response of its own. If an outcome has a usage, it replaces the usage of all messages since the
/// last outcome with one, because messages of streams have preliminary
/// numbers or none. A sub-agent's response in the session's own file counts unless its own line is
/// also among the events.
#[derive(Debug, Default)]
pub struct TokenTotals {
    done: Tokens,
    /// Tokens of responses, by hashes of their message ids and request ids.
    by_response: ByHash<Tokens>,
    /// The hashes of the message ids.
    message_ids: Hashes,
    /// Tokens of sub-agents' responses in the session's own file, by hashes of their ids.
    by_agent_response: ByHash<Tokens>,
    hasher: IdHasher,
    nameless: Tokens,
    /// The total of the session, as the last record with one says.
    last_total: Option<Tokens>,
}

impl TokenTotals {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else { return };
                let tokens = usage.tokens();
                match message.id {
                    Some(id) => {
                        let id = self.hasher.hash_text(id);
                        self.message_ids.insert(id);
                        let key = message.request_id.map_or(id, |request| {
                            let request = self.hasher.hash_text(request);
                            self.hasher.hash([id, request].map(u64::to_le_bytes).as_flattened())
                        });
                        self.by_response.insert(key, tokens);
                    }
                    None => self.nameless += tokens,
                }
            }
            Body::Usage(ResponseUsage { message_id: Some(message_id), usage, .. }) => {
                let response = self.hasher.hash_text(*message_id);
                self.by_agent_response.insert(response, usage.tokens());
            }
            Body::Usage(usage) => {
                if let Some(tokens) = usage.since(&mut self.last_total) {
                    self.nameless += tokens;
                }
            }
            Body::Outcome(outcome) => {
                let Some(usage) = outcome.usage.filter(|usage| !usage.is_null()) else { return };
                self.done += usage.tokens();
                self.by_response.clear();
                self.message_ids.clear();
                self.by_agent_response.clear();
                self.nameless = Tokens::default();
            }
            _ => {}
        }
    }

    /// Returns the tokens of the session so far.
    pub fn total(&self) -> Tokens {
        // If the sub-agent's own file is also read, its lines count.
        let is_told_once = |(id, _): &(&u64, &Tokens)| !self.message_ids.contains(id);
        let told = self.by_agent_response.iter().filter(is_told_once).map(|(_, tokens)| tokens);
        told.fold(self.of_lines(), |sum, tokens| sum + *tokens)
    }

    /// Returns the tokens of the session so far, without responses of sub-agents that have no line
    /// among the events. Their counts are preliminary.
    pub fn of_lines(&self) -> Tokens {
        self.by_response.values().fold(self.done + self.nameless, |sum, tokens| sum + *tokens)
    }
}
