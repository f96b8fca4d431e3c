//! The types of OpenCode's records as structs of Rust, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Item, Number, RawBuf, Value, typed_record, typed_records};

use crate::Record;

typed_records! {
    /// A record of a document: the document without its messages, or a message by its role.
    ///
    /// ```
    /// use format_opencode::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/opencode/one-call.json");
    /// let mut n_parts = 0;
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::Assistant(response) = TypedRecord::decode(record?.value()) {
    ///         n_parts += response.parts.map_or(0, |parts| parts.len());
    ///     }
    /// }
    /// assert!(n_parts > 0);
    /// # Ok::<(), format_opencode::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The document without its messages.
        Session(SessionRecord) = "session",
        /// A message of the user.
        User(UserRecord) = "user",
        /// A response.
        Assistant(AssistantRecord) = "assistant",
    }
}

typed_record! {
    /// The document without its messages.
    pub struct SessionRecord {
        info: TypedSession = "info",
        messages: RawBuf = "messages",
    }
}

typed_record! {
    /// A message of the user.
    pub struct UserRecord {
        info: TypedUser = "info",
        parts: Vec<Item<TypedPart>> = "parts",
    }
}

typed_record! {
    /// A response.
    pub struct AssistantRecord {
        info: TypedAssistant = "info",
        parts: Vec<Item<TypedPart>> = "parts",
    }
}

typed_record! {
    /// The session.
    pub struct TypedSession {
        id: String = "id",
        slug: String = "slug",
        project_id: String = "projectID",
        workspace_id: String = "workspaceID",
        directory: String = "directory",
        path: String = "path",
        parent_id: String = "parentID",
        title: String = "title",
        agent: String = "agent",
        model: RawBuf = "model",
        version: String = "version",
        summary: RawBuf = "summary",
        cost: Number = "cost",
        tokens: TypedTokens = "tokens",
        share: RawBuf = "share",
        metadata: RawBuf = "metadata",
        revert: RawBuf = "revert",
        permission: RawBuf = "permission",
        time: RawBuf = "time",
    }
}

typed_record! {
    /// The message of the user, without its parts.
    pub struct TypedUser {
        id: String = "id",
        session_id: String = "sessionID",
        role: String = "role",
        time: RawBuf = "time",
        agent: String = "agent",
        model: RawBuf = "model",
        summary: RawBuf = "summary",
        system: String = "system",
        tools: RawBuf = "tools",
    }
}

typed_record! {
    /// A response, without its parts.
    pub struct TypedAssistant {
        id: String = "id",
        session_id: String = "sessionID",
        role: String = "role",
        parent_id: String = "parentID",
        model_id: String = "modelID",
        provider_id: String = "providerID",
        mode: String = "mode",
        agent: String = "agent",
        variant: String = "variant",
        path: RawBuf = "path",
        cost: Number = "cost",
        tokens: TypedTokens = "tokens",
        time: RawBuf = "time",
        finish: String = "finish",
        error: RawBuf = "error",
        summary: bool = "summary",
    }
}

typed_record! {
    /// A part of a message, of whichever type.
    pub struct TypedPart {
        id: String = "id",
        session_id: String = "sessionID",
        message_id: String = "messageID",
        kind: String = "type",
        text: String = "text",
        synthetic: bool = "synthetic",
        ignored: bool = "ignored",
        time: RawBuf = "time",
        metadata: RawBuf = "metadata",
        call_id: String = "callID",
        tool: String = "tool",
        state: TypedState = "state",
        mime: String = "mime",
        filename: String = "filename",
        url: String = "url",
        source: RawBuf = "source",
        snapshot: String = "snapshot",
        reason: String = "reason",
        cost: Number = "cost",
        tokens: TypedTokens = "tokens",
        hash: String = "hash",
        files: RawBuf = "files",
        auto: bool = "auto",
    }
}

typed_record! {
    /// The state of a call.
    pub struct TypedState {
        status: String = "status",
        input: RawBuf = "input",
        raw: String = "raw",
        output: String = "output",
        error: String = "error",
        title: String = "title",
        metadata: RawBuf = "metadata",
        time: RawBuf = "time",
        attachments: RawBuf = "attachments",
    }
}

typed_record! {
    /// The tokens of a session, a response or a step.
    pub struct TypedTokens {
        total: Number = "total",
        input: Number = "input",
        output: Number = "output",
        reasoning: Number = "reasoning",
        cache: RawBuf = "cache",
    }
}

/// Returns the role of a message, or `session`.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    match Record::decode(value) {
        Record::Session(_) => Some("session".into()),
        Record::Message(message) => Some(message.role?.decode()),
        Record::Other => None,
    }
}
