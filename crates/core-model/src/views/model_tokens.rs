//! Adds up the tokens of a session by model.
//!
//! In: responses of `a` with 5 tokens and of `b` with 7. Out: `a` 5, `b` 7.

use std::collections::BTreeMap;

use crate::{Body, ByHash, Event, IdHasher, ResponseUsage, Tokens};

/// Sum of the tokens of a session for each model. Together they equal
/// [`TokenTotals`](crate::TokenTotals).
///
/// A response counts once, with the usage of its last record. The usage of an outcome replaces that
/// of the messages in its interaction. It counts for their model if they have only one, else for no
/// model. The usage of a sub-agent's response in the session's own file counts for no model.
#[derive(Debug, Default)]
pub struct ModelTokens {
    done: BTreeMap<Option<String>, Tokens>,
    /// The model and tokens of responses, by hashes of their ids.
    by_response: ByHash<(usize, Tokens)>,
    by_agent_response: ByHash<Tokens>,
    nameless: Vec<(usize, Tokens)>,
    models: Vec<Option<String>>,
    hasher: IdHasher,
    /// The model of the last start.
    current: Option<String>,
    /// The total of the session, as the last record with one says.
    last_total: Option<Tokens>,
}

impl ModelTokens {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else { return };
                let model = self.model(message.model.map(|model| model.decode().into_owned()));
                let tokens = usage.tokens();
                match message.id.map(|id| self.hasher.hash_text(id)) {
                    Some(id) => _ = self.by_response.insert(id, (model, tokens)),
                    None => self.nameless.push((model, tokens)),
                }
            }
            Body::Usage(ResponseUsage { message_id: Some(message_id), usage, .. }) => {
                let response = self.hasher.hash_text(*message_id);
                self.by_agent_response.insert(response, usage.tokens());
            }
            Body::Usage(usage) => {
                if let Some(tokens) = usage.since(&mut self.last_total) {
                    let model = self.model(self.current.clone());
                    self.nameless.push((model, tokens));
                }
            }
            Body::Start(start) => {
                let model = start.model.map(|model| model.decode().into_owned());
                self.current = model.or_else(|| self.current.take());
            }
            Body::Outcome(outcome) => {
                let Some(usage) = outcome.usage.filter(|usage| !usage.is_null()) else { return };
                let only = self.only_model();
                *self.done.entry(only).or_default() += usage.tokens();
                self.by_response.clear();
                self.by_agent_response.clear();
                self.nameless.clear();
            }
            _ => {}
        }
    }

    /// Returns the tokens of each model, by name. The key of an unknown model is `None`.
    pub fn finish(self) -> BTreeMap<Option<String>, Tokens> {
        let Self { mut done, by_response, by_agent_response, nameless, models, .. } = self;
        for (model, tokens) in by_response.values().chain(&nameless) {
            let name = models.get(*model).cloned().flatten();
            *done.entry(name).or_default() += *tokens;
        }
        for (id, tokens) in by_agent_response {
            // If the sub-agent's own file is also read, its records count.
            if !by_response.contains_key(&id) {
                *done.entry(None).or_default() += tokens;
            }
        }
        done
    }

    /// Returns the index of a model, and adds it if it is new.
    fn model(&mut self, name: Option<String>) -> usize {
        let known = self.models.iter().position(|model| *model == name);
        known.unwrap_or_else(|| {
            self.models.push(name);
            self.models.len() - 1
        })
    }

    /// Returns the only model of the messages since the last outcome; `None` if there are several
    /// or none.
    fn only_model(&self) -> Option<String> {
        let mut models = self.by_response.values().chain(&self.nameless).map(|(model, _)| *model);
        let first = models.next()?;
        if models.all(|model| model == first) { self.models.get(first)?.clone() } else { None }
    }
}
