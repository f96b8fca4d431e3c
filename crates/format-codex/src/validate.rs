//! Finds the faults of a session that Codex would refuse, skip, or not show (FORMAT.md, "Check").
//!
//! In: a file whose first line is a message. Out: a [`Problem`] of line 1 that stops Codex.

mod calls;
mod items;
mod meta;

use core_model::{Check, Checker, Findings, Place, Problem, Severity, is_uuid};
use jsonl::{Line, Value};

use self::{calls::Calls, meta::check_meta};
use crate::{
    reader::KINDS,
    record::{Entry, Record},
    store::rollout_id,
};

/// Returns the problems of a session for Codex 0.169; an empty vector if there are none.
///
/// Codex loads and continues a session if no problem [stops](Problem::stops). Nothing is known of
/// the file's name and folder; [`validate_file`](crate::validate_file) checks them too.
///
/// ```
/// let line = br#"{"timestamp":"t","type":"world_state","payload":{}}"#;
/// let problems = format_codex::validate(line);
/// assert!(problems[0].stops());
/// assert_eq!(problems[0].rule, "meta-first");
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a session.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

/// The number of lines in which Codex looks for the first prompt, to list a session (0.169).
const MAX_HEAD: u64 = 210;

/// The types of lines that converters write and that Codex skips.
const OURS: [&str; 2] = ["carried", "notice"];

#[derive(Debug, Default)]
struct SessionChecker {
    n_lines: u64,
    has_meta: bool,
    is_paginated: bool,
    /// Whether a prompt is among the first lines.
    has_prompt: bool,
    /// The id in the file's name.
    name_id: Option<String>,
    /// Whether the last line has an ordinal, and its place.
    last: Option<(Place, bool)>,
    calls: Calls,
}

impl Checker for SessionChecker {
    fn name(&mut self, stem: &str, out: &mut Findings<'_>) {
        let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
        self.name_id = rollout_id(stem).map(str::to_owned);
        if self.name_id.is_none() {
            out.warns(
                "file-name",
                "the name is not `rollout-YYYY-MM-DDThh-mm-ss-UUID`: Codex does not find the \
                 session; rename the file",
            );
        }
    }

    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.offset() == 0 && line.bytes().starts_with(b"\xef\xbb\xbf") {
            out.stops("byte-order-mark", "Codex refuses a file with a byte order mark; remove it");
        }
        if line.is_blank() {
            return;
        }
        self.n_lines = self.n_lines.saturating_add(1);
        let is_first = self.n_lines == 1;
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = format!("{}: Codex skips the line; mend or remove it", error.kind);
                out.add(place, Severity::Warns, "json", message.into());
                return self.needs_meta(is_first, out);
            }
        };
        if value.oddities().surrogate_escape && has_half_pair(value.raw().as_str()) {
            out.warns(
                "surrogate",
                "half a surrogate pair: Codex cannot read the line, and skips it",
            );
        }
        let record = Record::decode(value);
        self.last = Some((out.place, record.ordinal.is_some()));
        if record.timestamp.is_none() {
            if is_first {
                out.stops(
                    "timestamp",
                    "`timestamp` of the first line is missing or no string: Codex refuses the file",
                );
            } else {
                out.warns("timestamp", "`timestamp` is missing or no string: Codex skips the line");
            }
            self.has_meta |= is_first;
            return;
        }
        if let (true, Entry::SessionMeta(meta), Some(_)) = (is_first, &record.entry, record.payload)
        {
            self.has_meta = true;
            self.is_paginated = meta.is_paginated;
            return check_meta(meta, self.name_id.as_deref(), out);
        }
        self.needs_meta(is_first, out);
        self.entry(&record, out);
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        if self.n_lines == 0 {
            let place = Place { line: 1, offset: 0 };
            let message = "an empty file: Codex refuses it";
            return out.add(place, Severity::Stops, "meta-first", message.into());
        }
        if let (true, Some((place, false))) = (self.is_paginated, self.last) {
            let message = "the last line of a paginated file has no `ordinal`: Codex refuses the \
                           file; remove the line, or number it";
            out.add(place, Severity::Stops, "ordinal", message.into());
        }
        if !self.has_prompt {
            let kind = match self.is_paginated {
                true => "`item_completed` with a `UserMessage`",
                false => "`user_message`",
            };
            let message = format!(
                "no event {kind} among the first {MAX_HEAD} lines: Codex loads the session, and \
                 does not list it"
            );
            out.add(Place { line: 1, offset: 0 }, Severity::Warns, "not-listed", message.into());
        }
        self.calls.finish(out);
    }
}

impl SessionChecker {
    /// Reports a first line that is no session's.
    fn needs_meta(&mut self, is_first: bool, out: &mut Findings<'_>) {
        if is_first && !self.has_meta {
            out.stops(
                "meta-first",
                "the first line is no `session_meta`: Codex refuses the file; put one first",
            );
        }
    }

    fn entry(&mut self, record: &Record<'_>, out: &mut Findings<'_>) {
        let Some(kind) = record.kind.map(|kind| kind.decode()) else {
            return out.warns("line-type", "`type` is missing or no string: Codex skips the line");
        };
        match &record.entry {
            _ if record.payload.is_none() => {
                if !OURS.contains(&&*kind) {
                    out.warns("line-type", "`payload` is no object: Codex skips the line");
                }
            }
            Entry::Item(item) => items::check_item(item, &mut self.calls, out),
            Entry::Compacted(compacted) => items::check_compacted(compacted, &mut self.calls, out),
            Entry::Event(None, _) => {
                out.warns("event-type", "the event has no `type`: Codex skips the line");
            }
            Entry::Event(Some(name), payload) => self.event(&name.decode(), *payload, out),
            Entry::TurnContext(_) => items::check_turn_context(record, out),
            _ if KINDS.contains(&&*kind) || OURS.contains(&&*kind) => {}
            _ => out.warns("line-type", format!("the type `{kind}`: Codex skips the line")),
        }
    }

    fn event(&mut self, name: &str, payload: Value<'_>, out: &mut Findings<'_>) {
        let is_prompt = match name {
            "user_message" => {
                let message = payload.get("message").and_then(|message| message.text());
                let is_client = |text: jsonl::Text<'_>| {
                    text.body().trim_start().starts_with("<environment_context")
                };
                message.is_some_and(|text| !is_client(text))
            }
            "item_completed" if self.is_paginated => {
                let kind = payload.get("item").and_then(|item| item.get("type")?.text());
                kind.is_some_and(|kind| kind.is("UserMessage"))
            }
            _ => false,
        };
        self.has_prompt |= is_prompt && self.n_lines <= MAX_HEAD;
        if !items::EVENTS.contains(&name) {
            out.warns("event-type", format!("the event `{name}`: Codex skips the line"));
        }
    }
}

/// Returns whether a string is the id of a session.
pub(crate) fn is_session_id(id: &str) -> bool {
    is_uuid(id)
}

/// Returns whether a JSON text has the escape of half a surrogate pair.
fn has_half_pair(json: &str) -> bool {
    let code = |at: &str| u32::from_str_radix(at.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let escape = rest.get(at..).unwrap_or_default();
        let after = |n: usize| escape.get(n..).unwrap_or_default();
        match code(escape) {
            Some(0xD800..=0xDBFF) if matches!(code(after(6)), Some(0xDC00..=0xDFFF)) => {
                rest = after(12);
            }
            Some(0xD800..=0xDFFF) => return true,
            _ => rest = after(2),
        }
    }
    false
}
