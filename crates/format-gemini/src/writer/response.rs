//! Holds the current response and the lines after it until the response is complete.
//!
//! In: `text 1 of r`, `result of a`, `call a of r`, `call b of r`, `result of b`. Out: `r with
//! text, a, b`, `result of a`, `result of b`.

use core_model::{LineId, LossKind, Message, Output, ResponseKey, Tokens};
use jsonl::{Text, json_string};

use super::thread::{Line, Thread};

/// The current response.
#[derive(Debug)]
pub(super) struct Response {
    key: ResponseKey,
    line: Line,
    n_parts: usize,
    n_calls: usize,
    results: Vec<(usize, Line)>,
    /// The lines after the response and its results.
    pub(super) tail: Vec<Line>,
    model: Option<String>,
    usage: Option<String>,
}

impl Response {
    /// Limit for the lines that wait for a response. Beyond it, the response counts as complete.
    pub(super) const MAX_TAIL: usize = 1000;

    /// Limit for the results that wait for a response. Beyond it, they are emitted before the response is complete,
    /// because each takes several times its size in memory.
    const MAX_RESULTS: usize = 4096;

    /// Starts a response on an open line.
    pub(super) fn new(key: ResponseKey, line: Line, out: &mut Output) -> Self {
        out.put(line.id, ",\"message\":{\"role\":\"model\",\"parts\":[");
        Self {
            key,
            line,
            n_parts: 0,
            n_calls: 0,
            results: Vec::new(),
            tail: Vec::new(),
            model: None,
            usage: None,
        }
    }

    /// Returns whether a line with a key continues the response.
    pub(super) fn takes(&self, key: ResponseKey) -> bool {
        key.continues(self.key, self.results.is_empty() && self.tail.is_empty())
    }

    /// Returns the line of the response, ready for the next part.
    pub(super) fn line_for_part(&mut self, out: &mut Output) -> LineId {
        if self.n_parts > 0 {
            out.put(self.line.id, ",");
        }
        self.n_parts = self.n_parts.saturating_add(1);
        self.line.id
    }

    /// Counts a call and returns its number.
    pub(super) fn add_call(&mut self) -> usize {
        self.n_calls = self.n_calls.saturating_add(1);
        self.n_calls
    }

    /// Adds the result of a call.
    pub(super) fn add_result(&mut self, place: usize, line: Line) {
        self.results.push((place, line));
    }

    /// Returns whether too many results wait.
    pub(super) fn is_full(&self) -> bool {
        self.results.len() > Self::MAX_RESULTS
    }

    /// Returns whether a result that is added now moves before an earlier line.
    pub(super) fn moves(&self) -> bool {
        !self.tail.is_empty()
    }

    /// Stores the members of the message. The last line of a response has the final ones.
    pub(super) fn observe(&mut self, message: &Message<'_>, out: &mut Output) {
        match message.model.filter(|model| is_known(*model)) {
            Some(model) => self.model = Some(json_string(&model.decode())),
            None => out.drop_if(message.model.is_some(), "model"),
        }
        if let Some(usage) = message.usage.filter(|usage| usage.is_object()) {
            out.lose(LossKind::Flattened, "usage");
            self.usage = Some(usage_of(usage.tokens()));
        }
    }

    /// Emits the response, the results in the order of the calls, and the lines that waited.
    pub(super) fn emit(mut self, thread: &mut Thread, out: &mut Output) {
        let id = self.line.id;
        out.put(id, "]}");
        if let Some(model) = &self.model {
            out.put_args(id, format_args!(",\"model\":{model}"));
        }
        if let Some(usage) = &self.usage {
            out.put_args(id, format_args!(",\"usageMetadata\":{usage}"));
        }
        thread.emit(self.line, out);
        self.results.sort_by_key(|(place, _)| *place);
        for line in self.results.into_iter().map(|(_, line)| line).chain(self.tail) {
            thread.emit(line, out);
        }
    }
}

/// Returns the tokens of a response as the client writes them: the prompt contains the cache.
fn usage_of(tokens: Tokens) -> String {
    let Tokens { input, output, cache_read, cache_creation } = tokens;
    let prompt = input.saturating_add(cache_read).saturating_add(cache_creation);
    let total = tokens.total();
    format!(
        "{{\"promptTokenCount\":{prompt},\"candidatesTokenCount\":{output},\
         \"totalTokenCount\":{total},\"cachedContentTokenCount\":{cache_read}}}"
    )
}

/// Returns whether a model is known. Some programs write `unknown` for an unknown one.
fn is_known(model: Text<'_>) -> bool {
    !model.is_empty() && !model.is("unknown")
}
