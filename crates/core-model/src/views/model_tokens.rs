//! The tokens of a session by the models that were asked.

use std::collections::BTreeMap;

use super::Tokens;
use crate::{AgentUsage, Body, ByHash, Event, IdHasher};

/// Sums the tokens of a session by model; all models together are what
/// [`TokenTotals`](crate::TokenTotals) returns.
///
/// A response counts once, with the usage of its last record. The usage of an outcome replaces that
/// of its interaction's messages. It goes to their model if they have one alone, and otherwise to no
/// model. So does what a session's own file says of a sub-agent's response.
#[derive(Debug, Default)]
pub struct ModelTokens {
    done: BTreeMap<Option<String>, Tokens>,
    /// By the hashes of the responses' ids: the number of the model.
    by_response: ByHash<(usize, Tokens)>,
    by_agent_response: ByHash<Tokens>,
    nameless: Vec<(usize, Tokens)>,
    models: Vec<Option<String>>,
    hasher: IdHasher,
}

impl ModelTokens {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else { return };
                let model = self.model(message.model.map(|model| model.decode().into_owned()));
                let tokens = Tokens::read(usage);
                match message.id.map(|id| self.hasher.hash_text(id)) {
                    Some(id) => _ = self.by_response.insert(id, (model, tokens)),
                    None => self.nameless.push((model, tokens)),
                }
            }
            Body::Usage(AgentUsage { message_id, usage }) => {
                let response = self.hasher.hash_text(*message_id);
                self.by_agent_response.insert(response, Tokens::read(*usage));
            }
            Body::Outcome(outcome) => {
                let Some(usage) = outcome.usage.filter(|usage| !usage.is_null()) else { return };
                let only = self.only_model();
                *self.done.entry(only).or_default() += Tokens::read(usage);
                self.by_response.clear();
                self.by_agent_response.clear();
                self.nameless.clear();
            }
            _ => {}
        }
    }

    /// Returns the tokens of each model, by name; what is of no known model has none.
    pub fn finish(self) -> BTreeMap<Option<String>, Tokens> {
        let Self { mut done, by_response, by_agent_response, nameless, models, .. } = self;
        for (model, tokens) in by_response.values().chain(&nameless) {
            let name = models.get(*model).cloned().flatten();
            *done.entry(name).or_default() += *tokens;
        }
        for (id, tokens) in by_agent_response {
            // Where the sub-agent's own file is read too, its records count.
            if !by_response.contains_key(&id) {
                *done.entry(None).or_default() += tokens;
            }
        }
        done
    }

    /// Returns the number of a model.
    fn model(&mut self, name: Option<String>) -> usize {
        let known = self.models.iter().position(|model| *model == name);
        known.unwrap_or_else(|| {
            self.models.push(name);
            self.models.len() - 1
        })
    }

    /// Returns the model of all messages since the last outcome, if it is one.
    fn only_model(&self) -> Option<String> {
        let mut models = self.by_response.values().chain(&self.nameless).map(|(model, _)| *model);
        let first = models.next()?;
        if models.all(|model| model == first) { self.models.get(first)?.clone() } else { None }
    }
}
