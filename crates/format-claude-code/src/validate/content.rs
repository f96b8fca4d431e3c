//! Checks calls, results and responses across lines: order, pairs, and messages that the client
//! leaves out.
//!
//! In: a tool use `toolu_1` without a later result. Out: the warning `open-call` for its line.

use std::collections::HashMap;

use core_model::{Block, Content, Findings, Message, Place, Role, Severity, ToolUse};
use jsonl::{Raw, Text, Value};

/// The calls, the results, and the current response.
#[derive(Debug, Default)]
pub(super) struct Contents {
    calls: HashMap<String, Call>,
    /// Results before their calls, which the client moves.
    early: HashMap<String, Place>,
    response: Option<Response>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    is_answered: bool,
}

/// The lines of one response.
#[derive(Debug, Default)]
struct Response {
    id: Option<String>,
    /// The line of its thinking, while it has nothing else.
    only_thinking: Option<Place>,
    /// Whether it has a block other than thinking.
    has_more: bool,
}

impl Response {
    /// Adds a block of the line at `place`.
    fn block(&mut self, block: &Block<'_>, place: Place) {
        let is_thinking = match block {
            Block::Thinking { .. } => true,
            Block::Other { kind, .. } => kind.is_some_and(|kind| kind.is("redacted_thinking")),
            _ => false,
        };
        self.has_more |= !is_thinking;
        self.only_thinking = if self.has_more { None } else { self.only_thinking.or(Some(place)) };
    }
}

impl Contents {
    pub(super) fn message(
        &mut self,
        message: &Message<'_>,
        content: Value<'_>,
        is_sidechain: bool,
        out: &mut Findings<'_>,
    ) {
        let is_assistant = message.role == Role::Assistant;
        if is_assistant {
            self.respond(message.id, out);
            if matches!(message.content, Content::Text(_)) {
                out.warns("content-string", "the content is a string: 2.0 fails");
            }
        } else if !is_sidechain {
            self.close(out);
        }
        if is_assistant && content.is_array() && content.items().next().is_none() {
            out.warns("empty-text", "no content: 2.1 sends a placeholder, 2.0 drops the line");
        }
        for (block, _) in message.blocks() {
            if is_assistant && let Some(response) = &mut self.response {
                response.block(&block, out.place);
            }
            self.block(block, message, out);
        }
    }

    fn block(&mut self, block: Block<'_>, message: &Message<'_>, out: &mut Findings<'_>) {
        match block {
            Block::Text(text) => {
                let words = text.decode();
                let words = words.trim();
                if message.role == Role::Assistant && matches!(words, "" | "(no content)") {
                    out.warns("empty-text", "a blank text: the client drops the line");
                } else if words.is_empty() && matches!(message.content, Content::Blocks(_)) {
                    out.warns("empty-text", "a blank text: the API refuses it");
                }
                surrogates(text, out);
            }
            Block::Thinking { signature, .. } => thinking(signature, message, out),
            Block::ToolUse(tool) => self.call(tool, out),
            Block::ToolResult(result) => {
                let id = result.tool_use_id.decode().into_owned();
                match self.calls.get_mut(&id) {
                    Some(call) if call.is_answered => {
                        out.warns("result-twice", "a call is answered twice: 2.0 sends both");
                    }
                    Some(call) => call.is_answered = true,
                    None => {
                        self.early.insert(id, out.place);
                    }
                }
            }
            // Results of server tools.
            Block::Other { raw, .. } => {
                if !self.calls.is_empty()
                    && let Some(id) = answered_id(raw)
                    && let Some(call) = self.calls.get_mut(&id)
                {
                    call.is_answered = true;
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, tool: ToolUse<'_>, out: &mut Findings<'_>) {
        let id = tool.id.decode();
        let is_answered = self.early.remove(&*id).is_some();
        let call = Call { place: out.place, is_answered };
        if self.calls.insert(id.into_owned(), call).is_some() {
            out.warns("duplicate-call", "another tool use has this `id`: one is not sent");
        }
    }

    /// Starts a response, or continues the one with the same id.
    fn respond(&mut self, id: Option<Text<'_>>, out: &mut Findings<'_>) {
        let id = id.map(|id| id.decode().into_owned());
        if let Some(response) = &self.response
            && id.is_some()
            && response.id == id
        {
            return;
        }
        self.close(out);
        self.response = Some(Response { id, ..Response::default() });
    }

    fn close(&mut self, out: &mut Findings<'_>) {
        let Some(response) = &mut self.response else { return };
        if let Some(place) = response.only_thinking.take() {
            let message = "only thinking: the client drops the line";
            out.add(place, Severity::Warns, "only-thinking", message.into());
        }
    }

    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        self.close(out);
        let open = self.calls.values().filter(|call| !call.is_answered);
        let open = open.map(|call| {
            let message = "a call has no result: the client drops its message, or makes one up";
            (call.place, "open-call", message)
        });
        let orphans = self.early.values().map(|place| {
            (*place, "orphan-result", "a result without a call: the client replaces it, 2.0 fails")
        });
        let mut found: Vec<_> = open.chain(orphans).collect();
        found.sort_by_key(|(place, rule, _)| (place.offset, *rule));
        for (place, rule, message) in found {
            out.add(place, Severity::Warns, rule, message.into());
        }
    }
}

/// Returns the id of the call that a server tool's result answers.
fn answered_id(block: Raw<'_>) -> Option<String> {
    let mut scanner = jsonl::Scanner::default();
    let block = scanner.scan_slice(block.as_str().as_bytes(), 0).ok()?;
    Some(block.get("tool_use_id")?.text()?.decode().into_owned())
}

fn thinking(signature: Option<Text<'_>>, message: &Message<'_>, out: &mut Findings<'_>) {
    if signature.is_none_or(|signature| signature.is_empty()) {
        let text =
            "thinking without a signature: the API refuses it, 2.1 repeats the request without it";
        return out.warns("unsigned-thinking", text);
    }
    let model = message.model.map(|model| model.decode());
    if model.is_some_and(|model| !model.starts_with("claude") && model != "<synthetic>") {
        let text = "thinking of an unknown model: the client does not send it";
        out.warns("foreign-model", text);
    }
}

fn surrogates(text: Text<'_>, out: &mut Findings<'_>) {
    if text.has_lone_surrogate() {
        out.warns("surrogate", "half a surrogate pair: 2.1 sends U+FFFD, 2.0 fails");
    }
}
