//! Holds the current response and the lines after it until the response is complete.
//!
//! In: `text 1 of r`, `result of a`, `call a of r`, `call b of r`, `result of b`. Out: `r with
//! text, a, b`, `result of a`, `result of b`.

use core_model::{LineId, LossKind, Message, Output, Place, ResponseKey, Tokens};
use jsonl::{Raw, Text, json_string};

use super::thread::{Line, Thread};

/// The current response.
#[derive(Debug)]
pub(super) struct Response {
    key: ResponseKey,
    line: Line,
    place: Place,
    n_blocks: usize,
    n_calls: usize,
    results: Vec<(usize, Line)>,
    /// The lines after the response and its results.
    pub(super) tail: Vec<Line>,
    model: Option<String>,
    message_id: Option<String>,
    usage: Option<String>,
    /// Why the model stopped, and where the source says so.
    stop_reason: Option<(&'static str, Place)>,
}

impl Response {
    /// Limit for the lines that wait for a response. Beyond it, the response counts as complete.
    pub(super) const MAX_TAIL: usize = 1000;

    /// Limit for the results that wait for a response. Beyond it, they are emitted before the response is complete,
    /// because each takes several times its size in memory.
    const MAX_RESULTS: usize = 4096;

    /// Starts a response on an open entry.
    pub(super) fn new(key: ResponseKey, line: Line, out: &mut Output) -> Self {
        out.put(line.id, ",\"message\":{\"role\":\"assistant\",\"content\":[");
        Self {
            key,
            line,
            place: out.place(),
            n_blocks: 0,
            n_calls: 0,
            results: Vec::new(),
            tail: Vec::new(),
            model: None,
            message_id: None,
            usage: None,
            stop_reason: None,
        }
    }

    /// Returns whether a line with a key continues the response.
    pub(super) fn takes(&self, key: ResponseKey) -> bool {
        key.continues(self.key, self.results.is_empty() && self.tail.is_empty())
    }

    /// Returns the line of the response, ready for the next block.
    pub(super) fn line_for_block(&mut self, out: &mut Output) -> LineId {
        if self.n_blocks > 0 {
            out.put(self.line.id, ",");
        }
        self.n_blocks = self.n_blocks.saturating_add(1);
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
        if self.message_id.is_none() {
            self.message_id = message.id.map(|id| json_string(&id.decode()));
        }
        if let Some(usage) = message.usage.filter(|usage| usage.is_object()) {
            self.usage = Some(if is_complete(usage.value()) {
                usage.raw().as_str().to_owned()
            } else {
                out.lose(LossKind::Flattened, "usage");
                usage_of(usage.tokens())
            });
        }
        let Some(reason) = message.stop_reason.and_then(|reason| reason.as_text()) else { return };
        let (written, is_exact) = match &*reason.decode() {
            "end_turn" => ("stop", true),
            "max_tokens" => ("length", true),
            "tool_use" => ("toolUse", true),
            "model_context_window_exceeded" => ("length", false),
            _ => ("stop", false),
        };
        if !is_exact {
            out.lose(LossKind::Flattened, "stop_reason");
        }
        let before = self.stop_reason.replace((written, out.place()));
        if let Some((_, place)) = before.filter(|(before, _)| *before != written) {
            out.lose_at(LossKind::Flattened, "stop_reason", place);
        }
    }

    /// Emits the response, the results in the order of the calls, and the lines that waited.
    /// `model` is the model of the response before.
    pub(super) fn emit(
        mut self,
        model: &mut Option<String>,
        thread: &mut Thread,
        out: &mut Output,
    ) {
        let mut invent = |field| out.lose_at(LossKind::Invented, field, self.place);
        // pi needs a provider, an API and a model. Only with the ones that it goes on with does it
        // send the signatures of thinking.
        invent("message.provider");
        invent("message.api");
        if self.usage.is_none() {
            invent("usage");
        }
        if self.stop_reason.is_none() {
            invent("stop_reason");
        }
        *model = self.model.take().or(model.take());
        let id = self.line.id;
        out.put(id, "],\"api\":\"anthropic-messages\",\"provider\":\"anthropic\"");
        put_model(out, id, model.as_deref());
        out.put(id, ",\"usage\":");
        out.put(id, &self.usage.unwrap_or_else(|| usage_of(Tokens::default())));
        let stop_reason = match (self.stop_reason, self.n_calls) {
            (None, 0) => "stop",
            (None, _) => "toolUse",
            // The calls contradict the reason.
            (Some(("stop", place)), 1..) => {
                out.lose_at(LossKind::Flattened, "stop_reason", place);
                "toolUse"
            }
            (Some((reason, _)), _) => reason,
        };
        out.put_args(id, format_args!(",\"stopReason\":\"{stop_reason}\""));
        if let Some(message_id) = &self.message_id {
            out.put(id, ",\"responseId\":");
            out.put(id, message_id);
        }
        out.put_args(id, format_args!(",\"timestamp\":{}}}", self.line.millis));
        thread.emit(self.line, out);
        self.results.sort_by_key(|(place, _)| *place);
        for line in self.results.into_iter().map(|(_, line)| line).chain(self.tail) {
            thread.emit(line, out);
        }
    }
}

/// Writes a model, if it is known: pi goes on with its own model if the session names none.
pub(super) fn put_model(out: &mut Output, line: LineId, model: Option<&str>) {
    if let Some(model) = model {
        out.put(line, ",\"model\":");
        out.put(line, model);
    }
}

/// Returns the tokens of a response as pi writes them. Their cost is not known.
pub(super) fn usage_of(tokens: Tokens) -> String {
    let Tokens { input, output, cache_read, cache_creation } = tokens;
    let total = tokens.total();
    format!(
        "{{\"input\":{input},\"output\":{output},\"cacheRead\":{cache_read},\
         \"cacheWrite\":{cache_creation},\"totalTokens\":{total},\"cost\":{{\"input\":0,\
         \"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}}}"
    )
}

/// Returns whether a model is known. Some programs write `unknown` for an unknown one.
fn is_known(model: Text<'_>) -> bool {
    !model.is_empty() && !model.is("unknown")
}

/// Returns whether a `usage` has the numbers that pi adds up.
pub(crate) fn is_complete(usage: jsonl::Value<'_>) -> bool {
    let is_number =
        |name: &&str| usage.get(name).is_some_and(|number| Raw::as_f64(&number.raw()).is_some());
    ["input", "output", "cacheRead", "cacheWrite", "totalTokens"].iter().all(is_number)
        && usage.get("cost").is_some_and(|cost| cost.is_object())
}
