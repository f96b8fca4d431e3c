//! Finds the faults of a session that Qwen Code would refuse, lose, or send otherwise (FORMAT.md).
//!
//! In: a file whose first line has no `cwd`. Out: a [`Problem`] of line 1 that stops the client.

mod calls;
mod tree;

use core_model::{Check, Checker, Field, Findings, Place, Problem, Severity};
use jsonl::{Line, Value, is_js_space};

use self::{calls::Calls, tree::Tree};
use crate::{record::Record, store::is_uuid};

/// Returns the problems of a session for Qwen Code 0.24.4; an empty vector if there are none.
///
/// The client loads and continues a session if no problem [stops](Problem::stops), unless its folder
/// is that of another project.
///
/// ```
/// let line = b"{\"uuid\":\"a\",\"sessionId\":\"5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b08\",\"type\":\"system\",\"systemPayload\":{}}\n";
/// let problems = format_gemini::validate(line);
/// assert_eq!(problems[0].rule, "cwd");
/// assert!(problems[0].stops());
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a session.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

#[derive(Debug, Default)]
struct SessionChecker {
    /// The session in the first line, once it was read.
    session: Option<String>,
    /// The place of the first line.
    first: Option<Place>,
    has_link: bool,
    tree: Tree,
    calls: Calls,
}

impl Checker for SessionChecker {
    fn name(&mut self, stem: &str, out: &mut Findings<'_>) {
        if !is_uuid(stem.strip_suffix(".jsonl").unwrap_or(stem)) {
            out.warns(
                "file-name",
                "the name is no UUID of the versions 1 to 5: the client does not find the session; rename the file to the \
                 `sessionId` of its first line",
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
        if !value.is_object() {
            return out.warns("object", "not an object: the client ignores the line");
        }
        let record = Record::decode(value);
        self.session(&record, out);
        self.has_link |= record.parent_uuid != Field::Absent;
        if record.uuid.is_none() {
            out.warns("uuid", "a line without a string `uuid`: the client does not send it");
        }
        self.tree.add(line.offset(), value, &record, out);
        self.entry(&record, line.offset(), out);
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        let Some(first) = self.first else {
            let place = Place { line: 1, offset: 0 };
            let message = "no line with a session: the client does not find it";
            return out.add(place, Severity::Warns, "empty", message.into());
        };
        if !self.has_link {
            let message = "no line has a `parentUuid`: the client does not find the session; give \
                the first line `\"parentUuid\":null`, and the others the `uuid` of the line before";
            out.add(first, Severity::Stops, "no-parent-links", message.into());
        }
        let hidden = self.tree.finish(out);
        self.calls.finish(&|offset| !hidden.contains(&offset), out);
    }
}

impl SessionChecker {
    /// Checks that the first line has a session and a folder, and that all lines have one session.
    fn session(&mut self, record: &Record<'_>, out: &mut Findings<'_>) {
        let session = record.session_id.map(|id| id.decode().into_owned());
        if self.first.is_some() {
            if session.is_some() && session != self.session {
                let message = "another `sessionId` than in the first line: the client ends with a \
                    stack trace; give all lines the same one";
                out.stops("session-id-differs", message);
            }
            return;
        }
        self.first = Some(out.place);
        if session.is_none() {
            let message = "the first line has no string `sessionId`: the client does not find the \
                session; add it";
            out.stops("session-id", message);
        }
        if record.cwd.is_none() {
            let message = "the first line has no string `cwd`: the client ends with a stack trace; \
                add the folder of the project";
            out.stops("cwd", message);
        }
        if session.as_deref().is_some_and(|id| !is_uuid(id)) {
            let message = "the `sessionId` is no UUID of the versions 1 to 5: the client takes it for a \
                title, and does not find the session; give all lines another one";
            out.stops("session-id", message);
        }
        self.session = session;
    }

    fn entry(&mut self, record: &Record<'_>, offset: u64, out: &mut Findings<'_>) {
        let Some(kind) = record.kind.map(|kind| kind.decode()) else {
            return out.warns("type", "`type` is missing or no string: the line is not sent");
        };
        match &*kind {
            "user" | "assistant" | "tool_result" => {
                let Some(parts) = record.parts().filter(Value::is_array) else {
                    let message = "the message has no `parts`: the client ends with a stack trace; \
                        lines of Claude Code have a `content` instead, so convert the file";
                    return out.stops("parts", message);
                };
                for part in parts.items() {
                    let text = part.get("text").and_then(|text| text.text());
                    if part.get("thought").is_none() && text.is_some_and(|text| text.is_blank()) {
                        out.warns("empty-text", "a blank text: the client does not send it");
                    }
                }
                if kind == "assistant" && is_placeholder(parts) {
                    out.warns(
                        "not-sent",
                        "the client takes the text for a failed response, and does not send it",
                    );
                }
                self.calls.message(parts, offset, out);
            }
            "system" => {}
            _ => out.warns("type", format!("the type `{kind}` is unknown: the line is not sent")),
        }
    }
}

/// The text of a proxy in place of a response. The client drops responses that say nothing else.
pub(crate) const PLACEHOLDER: &str = "(request timeout)";

/// Returns whether the texts of a response, without its thoughts and without calls, are the placeholder.
fn is_placeholder(parts: Value<'_>) -> bool {
    let mut said = String::new();
    for part in parts.items() {
        if part.get("functionCall").is_some() {
            return false;
        }
        if part.get("thought").and_then(|it| it.bool()) == Some(true) {
            continue;
        }
        match part.get("text").and_then(|text| text.text()) {
            // Longer texts are no placeholder, and are not copied.
            Some(text) if text.body().len() <= 256 => said.push_str(&text.decode()),
            _ => return false,
        }
    }
    said.trim_matches(is_js_space) == PLACEHOLDER
}
