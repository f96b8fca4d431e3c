//! Adds up the tokens of a session. Only the last count of each response is used, because its lines
//! repeat a growing count.
//!
//! In: three lines of one response with `output_tokens` 1, 5, 9. Out: 9.

use std::ops::{Add, AddAssign};

use jsonl::Value;

use crate::{AgentUsage, Body, ByHash, Event, IdHasher};

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tokens {
    /// Input tokens outside the cache: `input_tokens`.
    pub input: u64,
    /// Output tokens: `output_tokens`.
    pub output: u64,
    /// Input tokens read from the cache: `cache_read_input_tokens`.
    pub cache_read: u64,
    /// Tokens written to the cache: `cache_creation_input_tokens`.
    pub cache_creation: u64,
}

impl Tokens {
    /// Reads a `usage` object. Members that are not whole numbers count as 0.
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

/// Sum of the tokens of a session.
///
/// A response counts once, with the usage of its last line. If an outcome has the usage of an
/// interaction, it replaces that of its messages, because messages of streams have preliminary
/// numbers or none. A sub-agent's response in the session's own file counts unless its own line is
/// also among the events.
#[derive(Debug, Default)]
pub struct TokenTotals {
    done: Tokens,
    /// Tokens of responses, by hashes of their ids.
    by_response: ByHash<Tokens>,
    /// Tokens of sub-agents' responses in the session's own file, by hashes of their ids.
    by_agent_response: ByHash<Tokens>,
    hasher: IdHasher,
    nameless: Tokens,
}

impl TokenTotals {
    /// Adds an event.
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
        // If the sub-agent's own file is also read, its lines count.
        let is_told_once = |(id, _): &(&u64, &Tokens)| !self.by_response.contains_key(id);
        let told = self.by_agent_response.iter().filter(is_told_once).map(|(_, tokens)| tokens);
        let all = self.by_response.values().chain(told);
        all.fold(self.done + self.nameless, |sum, tokens| sum + *tokens)
    }
}
