//! Holds a line until it is complete, and writes it.
//!
//! In: a response with the parts text, call, and the result of the call. Out:
//! `{..,"content":[{"text":..}],"toolCalls":[{..,"result":[..],"status":"success"}]}`.

use std::sync::Arc;

use core_model::{Facts, LineId, LossKind, Message, Output, Place, ResponseKey, Tokens};
use jsonl::{Text, json_string};

/// A line that is not emitted yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) line: LineId,
    /// Whether the response before it cannot go on: it is a message that is sent.
    pub(super) closes: bool,
    /// The response in the line; `None` if the line is complete.
    response: Option<Response>,
}

#[derive(Debug)]
struct Response {
    key: ResponseKey,
    place: Place,
    parts: Vec<Part>,
    /// The number of first parts that no later result belongs to.
    n_complete: usize,
    has_results: bool,
    model: Option<String>,
    tokens: Option<String>,
}

/// A part of a response.
#[derive(Debug)]
pub(super) struct Part {
    /// The bytes of the part: a whole text, the words of a thought, or the members of a call.
    pub(super) bytes: LineId,
    pub(super) kind: PartKind,
}

/// The kind of a part.
#[derive(Debug)]
pub(super) enum PartKind {
    Text,
    Thought,
    Call(Call),
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    /// The hash of its id in the source.
    pub(super) id: u64,
    /// The id in the output, if it is another one.
    pub(super) written: Option<Box<str>>,
    /// The name of the tool, a JSON string.
    pub(super) name: Arc<str>,
    /// The members with the result, as a part of the line.
    pub(super) result: Option<LineId>,
}

impl Open {
    /// Creates a message of the user, which has all its bytes.
    pub(super) fn message(line: LineId) -> Self {
        Self { line, closes: true, response: None }
    }

    /// Creates a line that is not sent, which has all its bytes.
    pub(super) fn notice(line: LineId) -> Self {
        Self { line, closes: false, response: None }
    }

    /// Creates a response on a line that has the envelope.
    pub(super) fn response(line: LineId, key: ResponseKey, place: Place) -> Self {
        let (parts, model, tokens) = Default::default();
        let has_results = false;
        let response = Response { key, place, parts, n_complete: 0, has_results, model, tokens };
        Self { line, closes: true, response: Some(response) }
    }

    /// Returns whether the line is a response.
    pub(super) fn is_response(&self) -> bool {
        self.response.is_some()
    }

    /// Returns whether a record with a key continues the response.
    pub(super) fn takes(&self, key: ResponseKey, is_last: bool) -> bool {
        self.response
            .as_ref()
            .is_some_and(|response| key.continues(response.key, is_last && !response.has_results))
    }

    /// Adds a part, and returns its number.
    pub(super) fn add(&mut self, part: Part) -> usize {
        let Some(response) = &mut self.response else { return 0 };
        response.parts.push(part);
        response.parts.len().saturating_sub(1)
    }

    /// Returns a call by the number of its part, for its result.
    pub(super) fn answer(&mut self, part: usize) -> Option<&mut Call> {
        let response = self.response.as_mut()?;
        response.has_results = true;
        match &mut response.parts.get_mut(part)?.kind {
            PartKind::Call(call) => Some(call),
            PartKind::Text | PartKind::Thought => None,
        }
    }

    /// Returns the calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        let parts = self.response.iter().flat_map(|response| &response.parts);
        parts.filter_map(|part| match &part.kind {
            PartKind::Call(call) => Some(call),
            PartKind::Text | PartKind::Thought => None,
        })
    }

    /// Returns whether no later result is for one of the calls.
    pub(super) fn is_complete(&mut self, facts: &Facts) -> bool {
        let Some(response) = &mut self.response else { return true };
        while let Some(part) = response.parts.get(response.n_complete) {
            if let PartKind::Call(call) = &part.kind
                && call.result.is_none()
                && facts.is_hash_answered(call.id)
            {
                return false;
            }
            response.n_complete = response.n_complete.saturating_add(1);
        }
        true
    }

    /// Stores the members of the message. The last line of a response has the final ones.
    pub(super) fn observe(&mut self, message: &Message<'_>, out: &mut Output) {
        let Some(response) = &mut self.response else { return };
        match message.model.filter(|model| is_known(*model)) {
            Some(model) => response.model = Some(json_string(&model.decode())),
            None => out.drop_if(message.model.is_some(), "model"),
        }
        if let Some(usage) = message.usage.filter(|usage| usage.is_object()) {
            out.lose(LossKind::Flattened, "usage");
            response.tokens = Some(tokens_of(usage.tokens()));
        }
    }

    /// Writes the rest of the line and emits it.
    pub(super) fn emit(self, out: &mut Output) {
        if let Some(response) = self.response {
            response.write(self.line, out);
        }
        out.emit(self.line);
    }
}

impl Response {
    fn write(self, line: LineId, out: &mut Output) {
        let has_calls_between = self.has_calls_between();
        let (mut calls, mut thoughts) = (Vec::new(), Vec::new());
        let mut comma = ",\"content\":[";
        for Part { bytes, kind } in self.parts {
            match kind {
                PartKind::Text => {
                    out.put(line, comma);
                    comma = ",";
                    out.append_part(bytes, line);
                }
                PartKind::Thought => thoughts.push(bytes),
                PartKind::Call(call) => {
                    let mut bytes = bytes;
                    if has_calls_between {
                        // Twice: the client has the order from the content, and the results from `toolCalls`.
                        bytes = out.unpack_part(bytes, line);
                        let members = String::from_utf8_lossy(out.bytes(bytes)).into_owned();
                        out.put(line, comma);
                        comma = ",";
                        out.put_args(line, format_args!("{{\"functionCall\":{{{members}}}}}"));
                    }
                    calls.push((out.pack(bytes), call));
                }
            }
        }
        out.put(line, if comma == "," { "]" } else { ",\"content\":\"\"" });
        let mut comma = ",\"thoughts\":[";
        for thought in &thoughts {
            out.put(line, comma);
            comma = ",";
            out.put(line, "{\"subject\":\"\",\"description\":");
            out.append_part(*thought, line);
            out.put(line, "}");
        }
        out.put(line, if thoughts.is_empty() { "" } else { "]" });
        if let Some(tokens) = &self.tokens {
            out.put_args(line, format_args!(",\"tokens\":{tokens}"));
        }
        if let Some(model) = &self.model {
            out.put_args(line, format_args!(",\"model\":{model}"));
        }
        let mut comma = ",\"toolCalls\":[";
        for (bytes, call) in &calls {
            out.put(line, comma);
            comma = ",";
            out.put(line, "{");
            out.append_part(*bytes, line);
            match call.result {
                Some(result) => out.append_part(result, line),
                None => {
                    // The client sends the call alone.
                    out.lose_at(LossKind::Invented, "toolCalls.status", self.place);
                    out.put(line, ",\"status\":\"cancelled\"");
                }
            }
            out.put(line, "}");
        }
        out.put(line, if calls.is_empty() { "}" } else { "]}" });
    }

    /// Returns whether a text follows a call. In the client's own form all calls follow the texts.
    fn has_calls_between(&self) -> bool {
        let mut parts =
            self.parts.iter().skip_while(|part| !matches!(part.kind, PartKind::Call(_)));
        parts.any(|part| matches!(part.kind, PartKind::Text))
    }
}

/// Returns the tokens of a response as the client writes them: the input contains the cache.
fn tokens_of(tokens: Tokens) -> String {
    let Tokens { input, output, cache_read, cache_creation } = tokens;
    let prompt = input.saturating_add(cache_read).saturating_add(cache_creation);
    let total = tokens.total();
    format!(
        "{{\"input\":{prompt},\"output\":{output},\"cached\":{cache_read},\"thoughts\":0,\
         \"tool\":0,\"total\":{total}}}"
    )
}

/// Returns whether a model is known. Some programs write `unknown` for an unknown one.
fn is_known(model: Text<'_>) -> bool {
    !model.is_empty() && !model.is("unknown")
}
