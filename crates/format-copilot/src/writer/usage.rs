//! Writes the tokens of responses as `session.usage_record` lines, behind the response.
//!
//! In: a response with `{"input_tokens":30,"cache_read_input_tokens":60,"output_tokens":7}`. Out:
//! `{"model":..,"inputTokens":90,"outputTokens":7,"cacheReadTokens":60,"cacheWriteTokens":0,..}`.

use core_model::{Output, ResponseKey, Tokens};

use super::{SessionWriter, thread::put_type};

/// The tokens of the response that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    key: ResponseKey,
    /// The API's id of the response, a JSON string.
    id: Option<String>,
    tokens: Tokens,
}

impl Tally {
    /// Returns whether a message with a key continues the response whose tokens are held.
    pub(super) fn continues(&self, key: ResponseKey) -> bool {
        key != ResponseKey::Alone && self.held.as_ref().is_some_and(|held| held.key == key)
    }

    /// Stores the tokens of a response. The last line of a response has the final ones.
    pub(super) fn hold(&mut self, key: ResponseKey, id: Option<String>, tokens: Tokens) {
        self.held = Some(Held { key, id, tokens });
    }
}

impl SessionWriter {
    /// Writes the tokens of the last response. Copilot refuses a file with tokens of no model.
    pub(super) fn flush_usage(&mut self, out: &mut Output) {
        if self.tally.held.is_none() {
            return;
        }
        self.close_response(out);
        let Some(Held { id, tokens, .. }) = self.tally.held.take() else { return };
        let Tokens { input, output, cache_read, cache_creation } = tokens;
        let whole = input.saturating_add(cache_read).saturating_add(cache_creation);
        let uuid = self.thread.derived_id("usage");
        let line = self.thread.open_derived(&uuid, out);
        let model = self.model.clone().unwrap_or_else(|| "\"unknown\"".to_owned());
        put_type(line.id, "session.usage_record", out);
        out.put_args(
            line.id,
            format_args!(
                "\"usage\":{{\"model\":{model},\"inputTokens\":{whole},\"outputTokens\":{output},\
                 \"cacheReadTokens\":{cache_read},\"cacheWriteTokens\":{cache_creation}"
            ),
        );
        if let Some(id) = id {
            out.put_args(line.id, format_args!(",\"apiCallId\":{id}"));
        }
        out.put(line.id, "}");
        self.emit(line, out);
    }
}
