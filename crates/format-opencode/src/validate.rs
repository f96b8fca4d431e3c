//! Finds the faults on which `opencode import` stops, or that the client would not send as they are
//! (FORMAT.md, "Import"). An import is no transaction: it leaves behind all before the fault.
//!
//! In: a response without `mode`. Out: a [`Problem`] of its record that stops the import.

use core_model::{Check, Checker, FUTURE, Findings, IdSet, Problem, TextBody};
use jsonl::{Line, Raw, Value};

use crate::{
    FORMAT, Record,
    record::{MessageInfo, SessionInfo, is_type, part_type},
};

/// Returns the problems of a document for OpenCode 1.18.33; an empty vector if there are none.
///
/// ```
/// let problems = format_opencode::validate(br#"{"info":{"id":"ses_1"},"messages":[]}"#);
/// assert!(problems[0].stops());
/// assert_eq!(problems[0].rule, "session-member");
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::file(&FORMAT, bytes)
}

/// Creates a checker for a document.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

#[derive(Debug, Default)]
struct SessionChecker {
    has_session: bool,
    session_id: Option<String>,
    ids: IdSet,
    calls: IdSet,
    last: f64,
    has_message: bool,
}

/// The members that a session must have.
const SESSION: [&str; 6] = ["id", "slug", "projectID", "directory", "title", "version"];

/// The members that a message must have.
const MESSAGE: [&str; 3] = ["id", "sessionID", "agent"];

/// The members that a response must have besides.
const RESPONSE: [&str; 4] = ["parentID", "modelID", "providerID", "mode"];

/// The types of parts.
const PARTS: [&str; 12] = [
    "text",
    "reasoning",
    "tool",
    "file",
    "step-start",
    "step-finish",
    "snapshot",
    "patch",
    "agent",
    "retry",
    "compaction",
    "subtask",
];

impl Checker for SessionChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        let value = match value {
            Ok(value) => value,
            Err(_) if line.is_glue() && line.is_punctuation() => return,
            Err(error) => {
                if error.kind == jsonl::ErrorKind::Empty {
                    return;
                }
                let message =
                    format!("{}: the document is no JSON, so nothing is imported", error.kind);
                return out.stops("json", message);
            }
        };
        match Record::decode(value) {
            Record::Session(session) if line.is_glue() => self.session(&session, out),
            Record::Message(message) if !line.is_glue() => self.message(&message, out),
            _ if line.is_glue() => {}
            _ => out.stops("message", "no message with `info` and `parts`: the import stops here"),
        }
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        if !self.has_session {
            out.stops("session", "the document has no `info`, so nothing is imported");
        }
    }
}

fn is_number(value: Option<Value<'_>>) -> bool {
    value.is_some_and(|value| Raw::as_f64(&value.raw()).is_some())
}

fn has_text(object: Value<'_>, name: &str) -> bool {
    object.get(name).is_some_and(|value| value.text().is_some())
}

impl SessionChecker {
    fn session(&mut self, session: &SessionInfo<'_>, out: &mut Findings<'_>) {
        self.has_session = true;
        self.session_id = session.id.map(|id| id.decode().into_owned());
        for name in SESSION.iter().filter(|name| !has_text(session.value, name)) {
            out.stops("session-member", format!("the session has no string `{name}`"));
        }
        let time = session.value.get("time");
        for name in ["created", "updated"] {
            if !is_number(time.and_then(|time| time.get(name))) {
                out.stops("session-time", format!("the session has no number `time.{name}`"));
            }
        }
        if session.id.is_some_and(|id| !id.body().starts_with("ses_")) {
            out.stops("session-id", "the session's `id` does not begin with `ses_`");
        }
    }

    fn message(&mut self, message: &MessageInfo<'_>, out: &mut Findings<'_>) {
        let info = message.value;
        for name in MESSAGE.iter().filter(|name| !has_text(info, name)) {
            out.stops("message-member", format!("the message has no string `{name}`"));
        }
        let created = message.created.and_then(|time| time.raw().as_f64());
        match created {
            None => out.stops("message-time", "the message has no number `time.created`"),
            Some(created) if created < self.last => {
                out.warns("order", "earlier than the message before: the client sorts by time");
            }
            Some(created) => self.last = created,
        }
        if message.is_user() && created.is_some_and(|created| out.is_later_than_now(created)) {
            let message = "a prompt that is later than the clock: the client sorts by time, takes a new \
                prompt for an earlier one, and sends nothing; set the clock, or wait until then";
            out.warns(FUTURE, message);
        }
        let is_of = |id: &jsonl::Text<'_>| self.session_id.as_deref().is_none_or(|it| id.is(it));
        if message.session_id.is_some_and(|id| !is_of(&id)) {
            out.stops("message-session", "`sessionID` is not the id of the session");
        }
        if message.id.is_some_and(|id| !self.ids.insert_text(id)) {
            out.warns("duplicate-id", "a message before has this id: the import skips this one");
        }
        if message.is_user() {
            let model = info.get("model");
            for name in ["providerID", "modelID"] {
                if !model.is_some_and(|model| has_text(model, name)) {
                    out.stops("user-model", format!("the message has no string `model.{name}`"));
                }
            }
        } else if message.role.is_some_and(|role| role.is("assistant")) {
            if !self.has_message {
                let message = "the first message is the assistant's: the API refuses the request; put a \
                    user's message before it";
                out.warns("assistant-first", message);
            }
            self.response(message, out);
        } else {
            out.stops("role", "the role is neither `user` nor `assistant`");
        }
        self.has_message = true;
        for part in message.parts() {
            self.part(message, part, out);
        }
        if message.parts.is_none() {
            out.stops("parts", "the message has no array `parts`");
        }
    }

    fn response(&self, message: &MessageInfo<'_>, out: &mut Findings<'_>) {
        let info = message.value;
        for name in RESPONSE.iter().filter(|name| !has_text(info, name)) {
            out.stops("response-member", format!("the response has no string `{name}`"));
        }
        let path = info.get("path");
        if !path.is_some_and(|path| has_text(path, "cwd") && has_text(path, "root")) {
            out.stops("response-path", "the response has no `path` with `cwd` and `root`");
        }
        if !is_number(info.get("cost")) {
            out.stops("response-cost", "the response has no number `cost`");
        }
        let tokens = message.tokens;
        let cache = tokens.and_then(|tokens| tokens.get("cache"));
        let count = |name| is_number(tokens.and_then(|tokens| tokens.get(name)));
        let cached = |name| is_number(cache.and_then(|cache| cache.get(name)));
        let has_counts = ["input", "output", "reasoning"].into_iter().all(count);
        if !has_counts || !["read", "write"].into_iter().all(cached) {
            out.stops(
                "response-tokens",
                "the response has no `tokens` with `input`, `output`, `reasoning` and `cache`",
            );
        }
    }

    fn part(&mut self, message: &MessageInfo<'_>, part: Value<'_>, out: &mut Findings<'_>) {
        let kind = part_type(part);
        if !PARTS.contains(&&*kind) {
            return out.stops("part-type", format!("a part has the unknown type `{kind}`"));
        }
        for name in ["id", "sessionID", "messageID"] {
            if !has_text(part, name) {
                out.stops("part-member", format!("a part has no string `{name}`"));
            }
        }
        let owner = part.get("messageID").and_then(|id| id.text());
        if owner.zip(message.id).is_some_and(|(owner, id)| owner.decode() != id.decode()) {
            out.stops("part-message", "a part has the `messageID` of another message");
        }
        if part.get("id").and_then(|id| id.text()).is_some_and(|id| !self.ids.insert_text(id)) {
            out.warns("duplicate-id", "a part before has this id: the import skips this one");
        }
        let texts: &[&str] = match kind.as_str() {
            "text" | "reasoning" => &["text"],
            "file" => &["mime", "url"],
            "tool" => &["callID", "tool"],
            _ => &[],
        };
        for name in texts.iter().filter(|name| !has_text(part, name)) {
            out.stops("part-member", format!("a part `{kind}` has no string `{name}`"));
        }
        check_image(part, out);
        if is_type(part, "tool") {
            self.call(part, out);
        }
    }

    fn call(&mut self, part: Value<'_>, out: &mut Findings<'_>) {
        let Some(state) = part.get("state").filter(Value::is_object) else {
            return out.stops("tool-state", "a call has no `state`");
        };
        if !state.get("input").is_some_and(|input| input.is_object()) {
            out.stops("tool-input", "the input of a call is no object");
        }
        let status = state.get("status").and_then(|status| status.text());
        let has_time = |name| is_number(state.get("time").and_then(|time| time.get(name)));
        let is_complete = match status.map(|status| status.decode()).as_deref() {
            Some("completed") => {
                has_text(state, "output")
                    && has_text(state, "title")
                    && state.get("metadata").is_some_and(|it| it.is_object())
                    && has_time("start")
                    && has_time("end")
            }
            Some("error") => has_text(state, "error") && has_time("start") && has_time("end"),
            Some("running") => has_time("start"),
            Some("pending") => has_text(state, "raw"),
            _ => false,
        };
        if !is_complete {
            out.stops("tool-state", "the `state` of a call lacks a member of its `status`");
        }
        for attachment in state.get("attachments").into_iter().flat_map(|all| all.items()) {
            check_image(attachment, out);
        }
        let id = part.get("callID").and_then(|id| id.text());
        if id.is_some_and(|id| !self.calls.insert_text(id)) {
            out.warns("duplicate-call", "a call before has this id: the API refuses the session");
        }
    }
}

/// Checks that the data URL of a file can be decoded.
fn check_image(file: Value<'_>, out: &mut Findings<'_>) {
    let url = file.get("url").and_then(|url| url.text());
    let data = url.and_then(|url| url.body().strip_prefix("data:")?.split_once(";base64,"));
    if data.is_some_and(|(_, data)| !TextBody::new(data).is_padded_base64()) {
        let message = "the data URL of a file is not base64 with its padding: the client cannot send the session; put a text in \
            its place";
        out.stops("data-url", message);
    }
}
