//! The types of Gemini CLI's records as structs, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{RawBuf, Value, typed_record, typed_records};

use super::GeminiRecord;

typed_records! {
    /// A record of a log, by what it does.
    ///
    /// ```
    /// use format_gemini::{GeminiReader, TypedGeminiRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gemini/one-call.jsonl");
    /// let mut n_messages = 0;
    /// for record in GeminiReader::open(path)? {
    ///     if let TypedGeminiRecord::Message(_) = TypedGeminiRecord::decode(record?.value()) {
    ///         n_messages += 1;
    ///     }
    /// }
    /// assert_eq!(n_messages, 5);
    /// # Ok::<(), format_gemini::core_model::ReadError>(())
    /// ```
    pub enum TypedGeminiRecord by kind {
        /// The start of the session.
        Header(GeminiHeaderRecord) = "header",
        /// A message.
        Message(GeminiMessageRecord) = "message",
        /// New values for members of the session.
        Set(GeminiSetRecord) = "$set",
        /// The end of the session from a message on.
        Rewind(GeminiRewindRecord) = "$rewindTo",
    }
}

typed_record! {
    /// The start of a session.
    pub struct GeminiHeaderRecord {
        session_id: String = "sessionId",
        project_hash: String = "projectHash",
        start_time: String = "startTime",
        last_updated: String = "lastUpdated",
        kind: String = "kind",
        directories: RawBuf = "directories",
        messages: RawBuf = "messages",
        summary: String = "summary",
    }
}

typed_record! {
    /// A message.
    pub struct GeminiMessageRecord {
        id: String = "id",
        timestamp: String = "timestamp",
        kind: String = "type",
        content: RawBuf = "content",
        display_content: RawBuf = "displayContent",
        thoughts: RawBuf = "thoughts",
        tokens: RawBuf = "tokens",
        model: String = "model",
        tool_calls: RawBuf = "toolCalls",
    }
}

typed_record! {
    /// New values for members of the session.
    pub struct GeminiSetRecord {
        set: RawBuf = "$set",
    }
}

typed_record! {
    /// The end of the session from a message on.
    pub struct GeminiRewindRecord {
        rewind_to: String = "$rewindTo",
    }
}

/// Returns a word for what a record does.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    let kind = match GeminiRecord::decode(value) {
        GeminiRecord::Header(_) => "header",
        GeminiRecord::Message(_) => "message",
        GeminiRecord::Set(_) => "$set",
        GeminiRecord::Rewind(_) => "$rewindTo",
        GeminiRecord::Other => return None,
    };
    Some(Cow::Borrowed(kind))
}
