//! Finds the faults of a session that Gemini CLI would refuse, ignore, or send otherwise (FORMAT.md).
//!
//! In: a file without a line that has a `sessionId` and a `projectHash`. Out: a [`Problem`] that stops the
//! client.

mod calls;

use std::collections::HashSet;

use core_model::{Check, Checker, Findings, Place, Problem, Severity};
use jsonl::{Line, Value};

use self::calls::Calls;
use super::{
    record::{GeminiMessage, GeminiRecord},
    store::PREFIX,
    writer::Head,
};
use crate::part::member;

/// Returns the problems of a session for Gemini CLI 0.61.0; an empty vector if there are none.
///
/// The client loads and continues a session if no problem [stops](Problem::stops).
///
/// ```
/// let line = b"{\"id\":\"a\",\"type\":\"user\",\"content\":\"q\"}\n";
/// let problems = format_gemini::validate_gemini(line);
/// assert_eq!(problems[0].rule, "no-header");
/// assert!(problems[0].stops());
/// ```
pub fn validate_gemini(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a session.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

#[derive(Debug, Default)]
struct SessionChecker {
    has_header: bool,
    /// Whether a message is sent after a resume.
    has_content: bool,
    ids: HashSet<String>,
    calls: Calls,
}

impl Checker for SessionChecker {
    fn name(&mut self, stem: &str, out: &mut Findings<'_>) {
        if !stem.starts_with(PREFIX) {
            out.warns(
                "file-name",
                "the name does not begin with `session-`: the client does not find the session; \
                 rename the file",
            );
        }
    }

    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.bytes().trim_ascii().is_empty() {
            return;
        }
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message =
                    format!("{}: the client skips the line; mend or remove it", error.kind);
                return out.add(place, Severity::Warns, "json", message.into());
            }
        };
        let record = GeminiRecord::decode(value);
        match &record {
            GeminiRecord::Header(header) => {
                let is_full = !header.session_id.is_empty() && !header.project_hash.is_empty();
                self.has_header |= is_full;
                if header.kind.is_some_and(|kind| kind.is("subagent")) {
                    out.warns("sub-agent", "a sub-agent's session: the client does not list it");
                }
            }
            GeminiRecord::Message(message) => self.message(message, out),
            GeminiRecord::Rewind(id) => {
                if !self.ids.contains(&*id.decode()) {
                    let message = "no message has this id: the client forgets all messages before; \
                        name an earlier one, or remove the line";
                    out.warns("rewind", message);
                }
            }
            GeminiRecord::Set(_) => {}
            GeminiRecord::Other => {
                out.warns("line", "neither a header nor a message: the client ignores the line");
            }
        }
        for message in record.messages().into_iter().flat_map(|messages| messages.items()) {
            match GeminiMessage::decode(message) {
                Some(message) => self.message(&message, out),
                None => {
                    let message = "a message without a string `id`: the client ignores it; add one";
                    out.warns("id", message);
                }
            }
        }
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        let first = Place { line: 1, offset: 0 };
        if !self.has_header {
            let message = "no line has a `sessionId` and a `projectHash`: the client does not find the \
                session, and deletes the file; begin it with such a line";
            return out.add(first, Severity::Stops, "no-header", message.into());
        }
        if !self.has_content {
            let message =
                "no message is sent: the client does not list the session, and deletes the file";
            out.add(first, Severity::Warns, "empty", message.into());
        }
        self.calls.finish(out);
    }
}

impl SessionChecker {
    fn message(&mut self, message: &GeminiMessage<'_>, out: &mut Findings<'_>) {
        self.ids.insert(message.id.decode().into_owned());
        if message.parts().any(|part| part.is_null()) {
            let message =
                "a part of the `content` is `null`: the client ends with an error; remove it";
            return out.stops("part", message);
        }
        match message.kind.map(|kind| kind.decode()).as_deref() {
            Some("user") => self.user(message, out),
            Some("gemini") => {
                let lists = [message.thoughts, message.tool_calls];
                let mut items = lists.into_iter().flatten().flat_map(|list| list.items());
                if items.any(|item| item.is_null()) {
                    let message = "an item of `thoughts` or `toolCalls` is `null`: the client ends with an \
                        error; remove it";
                    return out.stops("item", message);
                }
                self.has_content |= message.tool_calls.is_some()
                    || message.thoughts.is_some()
                    || message.parts().any(is_said);
                self.calls.response(message, out);
            }
            Some("info" | "warning" | "error") => {}
            Some(kind) => {
                out.warns("type", format!("the type `{kind}` is unknown: the message is not sent"));
            }
            None => out.warns("type", "a message without a `type`: it is not sent; add one"),
        }
    }

    fn user(&mut self, message: &GeminiMessage<'_>, out: &mut Findings<'_>) {
        let mut head = Head::default();
        let mut has_others = false;
        for part in message.parts() {
            // A part without a text has words for the client.
            let text = part.text().or_else(|| member(part, "text"));
            has_others = text.is_none();
            if text.is_none_or(|text| !head.push(&text.decode())) {
                break;
            }
        }
        match head.as_str() {
            "" if !has_others => {
                out.warns("empty-text", "a blank text: the client does not send it");
            }
            text if text.starts_with('<') && head.is_ignored() => {}
            _ if head.is_ignored() => {
                let message = "the text begins with `/` or `?`: the client does not send it after a \
                    resume; put a word before it";
                out.warns("not-sent", message);
            }
            _ => self.has_content = true,
        }
        self.calls.results(message, out);
    }
}

/// Returns whether a part has something that the client takes for words.
fn is_said(part: Value<'_>) -> bool {
    part.text().or_else(|| member(part, "text")).is_none_or(|text| !text.is_blank())
}
