//! Writes the tokens of responses as `token_count` events, after the response and its outputs.
//!
//! In: a response with `{"input_tokens":30,"cache_read_input_tokens":60,"output_tokens":7}`. Out:
//! `{"input_tokens":90,"cached_input_tokens":60,"output_tokens":7,..}`, and the sum so far.

use core_model::{Output, ResponseUsage, Tokens};

use super::SessionWriter;

/// The tokens of the session.
#[derive(Debug, Default)]
pub(super) struct Tally {
    total: Tokens,
    /// The response whose tokens are not written yet: the hash of its id, and the tokens.
    held: Option<(Option<u64>, Tokens)>,
}

impl Tally {
    /// Continues after a resumed line.
    pub(super) fn resume(&mut self, usage: &ResponseUsage<'_>) {
        if let Some(total) = usage.total {
            self.total = total.tokens();
        }
    }

    /// Returns whether a message with an id continues the response whose tokens are held.
    pub(super) fn continues(&self, response: Option<u64>) -> bool {
        response.is_some() && self.held.is_some_and(|(held, _)| held == response)
    }

    fn add(&mut self, tokens: Tokens) {
        self.total = std::ops::Add::add(self.total, tokens);
    }

    /// Stores the tokens of a response. The last line of a response has the final ones.
    pub(super) fn hold(&mut self, response: Option<u64>, tokens: Tokens) {
        self.held = Some((response, tokens));
    }
}

impl SessionWriter {
    /// Writes the tokens of the last response.
    pub(super) fn flush_usage(&mut self, out: &mut Output) {
        let Some((_, last)) = self.tally.held.take() else { return };
        self.tally.add(last);
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"token_count\",\"info\":{\"total_token_usage\":");
        out.put(line, &written(self.tally.total));
        out.put(line, ",\"last_token_usage\":");
        out.put(line, &written(last));
        out.put(line, ",\"model_context_window\":null},\"rate_limits\":null");
        self.close(line, out);
    }
}

/// Returns the tokens as Codex writes them. The input includes the cache.
fn written(tokens: Tokens) -> String {
    let Tokens { input, output, cache_read, cache_creation } = tokens;
    let whole = input.saturating_add(cache_read).saturating_add(cache_creation);
    let total = tokens.total();
    format!(
        "{{\"input_tokens\":{whole},\"cached_input_tokens\":{cache_read},\
         \"cache_write_input_tokens\":{cache_creation},\"output_tokens\":{output},\
         \"reasoning_output_tokens\":0,\"total_tokens\":{total}}}"
    )
}
