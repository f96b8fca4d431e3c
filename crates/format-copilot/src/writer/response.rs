//! Holds the current line of a response: thinking, then a text, then calls.
//!
//! In: thinking, a text and a call of one response, in three lines. Out: one line with
//! `reasoningBlocks`, `content` and `toolRequests`. A text after a call begins another line.

use core_model::{LineId, Message, Output, ResponseKey};
use jsonl::json_string;

use super::{SessionWriter, thread::Line};

/// The member of the line that is being written.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Stage {
    /// None of the three.
    Start,
    /// The array of thinking is open.
    Thinking,
    /// The text is complete.
    Text,
    /// The array of calls is open.
    Calls,
}

/// The current line of a response.
#[derive(Debug)]
pub(super) struct Response {
    key: ResponseKey,
    line: Line,
    stage: Stage,
    /// The words of the thinking, joined.
    thinking: String,
    /// The first signature.
    signature: Option<String>,
    model: Option<String>,
    message_id: Option<String>,
}

impl Response {
    pub(super) fn new(key: ResponseKey, line: Line, uuid: &str, out: &mut Output) -> Self {
        out.put_args(line.id, format_args!("\"messageId\":\"{uuid}\""));
        let (thinking, signature, model, message_id) = Default::default();
        Self { key, line, stage: Stage::Start, thinking, signature, model, message_id }
    }

    /// Returns whether a block that belongs to a stage continues the line.
    pub(super) fn takes(&self, key: ResponseKey, stage: Stage) -> bool {
        let has_place = match stage {
            Stage::Text => self.stage < Stage::Text,
            stage => self.stage <= stage,
        };
        self.key == key && has_place
    }

    /// Returns whether the line continues a response with a key, without a look at its blocks.
    pub(super) fn is_of(&self, key: ResponseKey) -> bool {
        self.key == key && key != ResponseKey::Alone
    }

    /// Returns the line, ready for a block that belongs to a stage.
    pub(super) fn line_for(&mut self, stage: Stage, out: &mut Output) -> LineId {
        let id = self.line.id;
        if self.stage == Stage::Thinking && stage > Stage::Thinking {
            out.put(id, "]}");
        }
        match (stage, self.stage) {
            (Stage::Thinking, Stage::Thinking) | (Stage::Calls, Stage::Calls) => out.put(id, ","),
            (Stage::Thinking, _) => {
                out.put(id, ",\"reasoningBlocks\":{\"provider\":\"anthropic-messages\",");
                out.put(id, "\"blocks\":[");
            }
            (Stage::Text, _) => out.put(id, ",\"content\":"),
            (Stage::Calls, Stage::Text) => out.put(id, ",\"toolRequests\":["),
            (Stage::Calls, _) => out.put(id, ",\"content\":\"\",\"toolRequests\":["),
            (Stage::Start, _) => {}
        }
        self.stage = stage;
        id
    }

    /// Notes thinking, which the client shows from other members than the one that it sends.
    pub(super) fn think(&mut self, words: &str, signature: Option<String>) {
        if !self.thinking.is_empty() && !words.is_empty() {
            self.thinking.push_str("\n\n");
        }
        self.thinking.push_str(words);
        self.signature = self.signature.take().or(signature);
    }

    /// Notes the members of the response that are written behind its blocks.
    pub(super) fn observe(&mut self, message: &Message<'_>) {
        if let Some(model) = message.model.filter(|model| !model.is_empty()) {
            self.model = Some(json_string(&model.decode()));
        }
        if let Some(id) = message.id {
            self.message_id = Some(json_string(&id.decode()));
        }
    }
}

impl SessionWriter {
    /// Emits the current line of a response.
    pub(super) fn close_response(&mut self, out: &mut Output) {
        let Some(response) = self.response.take() else { return };
        let Response { key, line, stage, thinking, signature, model, message_id } = response;
        let id = line.id;
        out.put(
            id,
            match stage {
                Stage::Start => ",\"content\":\"\",\"toolRequests\":[]",
                Stage::Thinking => "]},\"content\":\"\",\"toolRequests\":[]",
                Stage::Text => ",\"toolRequests\":[]",
                Stage::Calls => "]",
            },
        );
        if !thinking.is_empty() {
            out.put(id, ",\"reasoningText\":");
            out.put_string(id, &thinking);
        }
        if let Some(signature) = signature {
            out.put(id, ",\"reasoningOpaque\":");
            out.put_string(id, &signature);
        }
        if let Some(message_id) = message_id {
            // Copilot joins the texts of lines with one `apiCallId`, without a blank between them, and
            // drops the thinking of later ones.
            let is_later = key != ResponseKey::Alone && self.last_key == key;
            out.put(id, if is_later { ",\"responseId\":" } else { ",\"apiCallId\":" });
            out.put(id, &message_id);
        }
        self.last_key = key;
        self.model = model.or(self.model.take());
        if let Some(model) = &self.model {
            out.put(id, ",\"model\":");
            out.put(id, model);
        }
        if let Some(speaker) = &self.speaker {
            out.put_args(id, format_args!(",\"parentToolCallId\":{}", speaker.tool_use));
        }
        self.emit(line, out);
    }
}
