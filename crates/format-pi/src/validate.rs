//! Finds the faults of a session that pi would refuse, lose, or send as the API refuses it
//! (FORMAT.md).
//!
//! In: a file whose first line is a message. Out: a [`Problem`] of line 1 that stops pi.

mod calls;
mod tree;

use core_model::{Check, Checker, Findings, Place, Problem, Severity};
use jsonl::{Line, Value};

use self::{calls::Calls, tree::Tree};
use crate::{Entry, PiMessage, Record, VERSION};

/// Returns the problems of a session for pi 0.87.1; an empty vector if there are none.
///
/// pi loads and continues a session if no problem [stops](Problem::stops), unless the folder of
/// the session is missing.
///
/// ```
/// let problems = format_pi::validate(b"{\"type\":\"label\",\"id\":\"a\",\"parentId\":null}\n");
/// assert!(problems[0].stops());
/// assert_eq!(problems[0].rule, "header-first");
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
    has_first: bool,
    has_header: bool,
    /// The version of the first header; 1 if it has none.
    version: u64,
    tree: Tree,
    calls: Calls,
}

impl Checker for SessionChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.bytes().trim_ascii().is_empty() {
            return;
        }
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = format!("{}: pi skips the line; mend or remove it", error.kind);
                return out.add(place, Severity::Warns, "json", message.into());
            }
        };
        if value.oddities().surrogate_escape && value.raw().as_str().contains("\\u") {
            surrogates(value, out);
        }
        let is_first = !std::mem::replace(&mut self.has_first, true);
        let record = Record::decode(value);
        match record.entry {
            Entry::Session(header) if is_first && record.id.is_some() => {
                self.has_header = true;
                let version = header.version.and_then(|version| version.raw().as_u64());
                self.version(version, out);
                return;
            }
            _ if is_first => {
                let message = "the first line is no header with a string `id`: 0.87 refuses the \
                    file, 0.74 empties it; put `{\"type\":\"session\",\"version\":3,\"id\":..}` first";
                out.stops("header-first", message);
            }
            Entry::Session(_) => {
                return out.warns("second-header", "pi ignores every header but the first one");
            }
            _ => {}
        }
        if !value.is_object() {
            return out.warns("object", "not an object: pi ignores the line");
        }
        self.entry(&record, out);
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        if !self.has_first {
            let place = Place { line: 1, offset: 0 };
            let message = "an empty file: pi starts a new session in it";
            return out.add(place, Severity::Warns, "empty", message.into());
        }
        self.calls.finish(&self.tree.sent(), out);
        self.tree.finish(out);
    }
}

impl SessionChecker {
    fn version(&mut self, version: Option<u64>, out: &mut Findings<'_>) {
        self.version = version.unwrap_or(1);
        self.tree.is_linear = self.version < 2;
        if self.version < VERSION {
            out.warns(
                "old-version",
                "an old version: pi rewrites the file with new ids when it loads it, so convert a \
                 copy back before that",
            );
        } else if self.version > VERSION {
            out.warns(
                "new-version",
                format!("version {}: 0.87 reads it as version {VERSION}", self.version),
            );
        }
    }

    fn entry(&mut self, record: &Record<'_>, out: &mut Findings<'_>) {
        let node_idx = self.tree.add(record, out);
        if record.kind.is_none() {
            out.warns("type", "`type` is missing or no string: pi does not send the line");
        }
        if let Entry::Message(message) = &record.entry {
            self.message(message, node_idx, out);
        }
    }

    fn message(&mut self, message: &PiMessage<'_>, node_idx: usize, out: &mut Findings<'_>) {
        let Some(role) = message.role.map(|role| role.decode()) else {
            return out.warns("role", "the message has no `role`: pi does not send it");
        };
        match &*role {
            "user" => check_blocks(message, &["text", "image"], out),
            "toolResult" => {
                check_blocks(message, &["text", "image"], out);
                self.calls.result(message, node_idx, out);
            }
            "assistant" => {
                check_blocks(message, &["text", "thinking", "toolCall"], out);
                self.calls.response(message, node_idx, out);
                self.usage(message, out);
            }
            "bashExecution" | "custom" | "hookMessage" | "system" => {}
            _ => out.warns("role", format!("the role `{role}` is unknown: pi does not send it")),
        }
    }

    /// Checks that a response has tokens. Only a missing `usage` of a message with a time stops pi,
    /// but no client writes one.
    fn usage(&mut self, message: &PiMessage<'_>, out: &mut Findings<'_>) {
        let is_failed = message.stop_reason.is_some_and(|it| it.is("error") || it.is("aborted"));
        let Some(usage) = message.usage else {
            if message.value.get("timestamp").is_some() && !is_failed {
                let message = "a response without `usage` ends pi if it is the last one; add the \
                    tokens, as `{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,..}`";
                return self.calls.no_usage(message, out);
            }
            return out.warns("usage", "a response without `usage`: 0.74 ends if it is the last");
        };
        self.calls.has_usage();
        let is_number = |name: &&str| usage.get(name).is_some_and(|it| it.raw().as_f64().is_some());
        let members = ["input", "output", "cacheRead", "cacheWrite"];
        if let Some(missing) = members.iter().find(|name| !is_number(name)) {
            out.warns("usage", format!("`usage.{missing}` is no number: pi counts no tokens"));
        }
    }
}

/// Checks the blocks of a message: their types, and that no text is blank.
fn check_blocks(message: &PiMessage<'_>, kinds: &[&str], out: &mut Findings<'_>) {
    let Some(content) = message.content else {
        return out.warns("content", "the message has no `content`");
    };
    if content.text().is_some_and(|text| text.is_blank()) {
        return out.warns("empty-text", "a blank text: pi does not send it");
    }
    for block in content.items() {
        let kind = block.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let kind = kind.as_deref().unwrap_or_default();
        if !kinds.contains(&kind) {
            let message = format!(
                "a block of the type `{kind}`: pi sends it as an image without data; remove it, or \
                 make it a text"
            );
            out.warns("block-type", message);
            continue;
        }
        let has = |name| block.get(name).and_then(|it| it.text()).is_some();
        let is_complete = match kind {
            "text" => has("text"),
            "thinking" => has("thinking"),
            "image" => has("data") && has("mimeType"),
            _ => {
                has("id") && has("name") && block.get("arguments").is_some_and(|it| it.is_object())
            }
        };
        if !is_complete {
            out.warns("block-member", format!("a block of the type `{kind}` lacks a member"));
        }
        let text = block.get("text").and_then(|text| text.text());
        if kind == "text" && text.is_some_and(|text| text.is_blank()) {
            out.warns("empty-text", "a blank text: pi does not send it");
        }
    }
}

/// Checks the texts of a message for halves of surrogate pairs.
fn surrogates(value: Value<'_>, out: &mut Findings<'_>) {
    let is_half = |value: Value<'_>| value.text().is_some_and(|text| text.has_lone_surrogate());
    let content = value.get("message").and_then(|message| message.get("content"));
    let in_block = |block: Value<'_>| block.get("text").is_some_and(is_half);
    if content.is_some_and(|content| is_half(content) || content.items().any(in_block)) {
        out.warns("surrogate", "half a surrogate pair in a text: pi drops it");
    }
}
