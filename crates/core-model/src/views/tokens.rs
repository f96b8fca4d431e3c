//! The tokens of a session: of each response the last count, for its lines repeat it and it grows.

use std::ops::{Add, AddAssign};

use jsonl::Value;

use crate::{AgentUsage, Body, ByHash, Event, IdHasher};

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tokens {
    /// Tokens sent that no cache knew: `input_tokens`.
    pub input: u64,
    /// Tokens that the model wrote: `output_tokens`.
    pub output: u64,
    /// Tokens sent that a cache knew: `cache_read_input_tokens`.
    pub cache_read: u64,
    /// Tokens put into a cache: `cache_creation_input_tokens`.
    pub cache_creation: u64,
}

impl Tokens {
    /// Reads a `usage` object; members that are no whole numbers count as 0.
    ///
    /// ```
    /// let mut scanner = jsonl::Scanner::default();
    /// let usage = br#"{"input_tokens":12345,"output_tokens":678,"service_tier":null}"#;
    /// let tokens = core_model::Tokens::read(scanner.scan_slice(usage, 0)?);
    /// assert_eq!((tokens.input, tokens.output, tokens.total()), (12345, 678, 13023));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn read(usage: Value<'_>) -> Self {
        let mut tokens = Self::default();
        usage.read_members(|key, value| {
            let place = match key {
                b"input_tokens" => &mut tokens.input,
                b"output_tokens" => &mut tokens.output,
                b"cache_read_input_tokens" => &mut tokens.cache_read,
                b"cache_creation_input_tokens" => &mut tokens.cache_creation,
                _ => return false,
            };
            *place = value.raw().as_u64().unwrap_or(0);
            true
        });
        tokens
    }

    /// Returns the sum of all four.
    pub fn total(&self) -> u64 {
        let parts = [self.output, self.cache_read, self.cache_creation];
        parts.into_iter().fold(self.input, u64::saturating_add)
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
        }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Sums the tokens of a session.
///
/// A response counts once, with the usage of its last line. Where an outcome tells the usage of an
/// interaction, that takes the place of its messages': streams' messages tell preliminary numbers,
/// or none. A sub-agent's response that the session's own file tells of counts unless its own line
/// is among the events too.
#[derive(Debug, Default)]
pub struct TokenTotals {
    done: Tokens,
    /// By the hashes of the responses' ids.
    by_response: ByHash<Tokens>,
    /// What the session's own file tells of sub-agents' responses, by the hashes of their ids.
    by_agent_response: ByHash<Tokens>,
    hasher: IdHasher,
    nameless: Tokens,
}

impl TokenTotals {
    /// Takes note of an event.
    pub fn push(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else { return };
                let tokens = Tokens::read(usage);
                match message.id {
                    Some(id) => {
                        self.by_response.insert(self.hasher.hash_text(id), tokens);
                    }
                    None => self.nameless += tokens,
                }
            }
            Body::Usage(AgentUsage { message_id, usage }) => {
                let response = self.hasher.hash_text(*message_id);
                self.by_agent_response.insert(response, Tokens::read(*usage));
            }
            Body::Outcome(outcome) => {
                let Some(usage) = outcome.usage.filter(|usage| !usage.is_null()) else { return };
                self.done += Tokens::read(usage);
                self.by_response.clear();
                self.by_agent_response.clear();
                self.nameless = Tokens::default();
            }
            _ => {}
        }
    }

    /// Returns the tokens of the session so far.
    pub fn total(&self) -> Tokens {
        // Where the sub-agent's own file is read too, its lines count.
        let is_told_once = |(id, _): &(&u64, &Tokens)| !self.by_response.contains_key(id);
        let told = self.by_agent_response.iter().filter(is_told_once).map(|(_, tokens)| tokens);
        let all = self.by_response.values().chain(told);
        all.fold(self.done + self.nameless, |sum, tokens| sum + *tokens)
    }
}
