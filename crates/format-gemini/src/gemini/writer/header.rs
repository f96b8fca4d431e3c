//! Writes the header, and the members that all messages have: id and time.
//!
//! In: an event with the uuid `u2` and a time. Out: `{"id":"u2","timestamp":"..","type":"user"`.

use core_model::{
    Body, DocumentPart, Event, LineId, LossKind, Output, Sha256, is_uuid, iso_millis, millis,
    uuid_of_name,
};
use jsonl::{Raw, Scanner, Text, json_string};

use super::SessionWriter;

impl SessionWriter {
    /// Writes the header, unless the output has one. It has no `lastUpdated`: for the client the session
    /// is then as new as its start, and not one of those that it deletes (FORMAT.md, "Deletion").
    pub(super) fn write_header(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_header, true) {
            return;
        }
        self.is_dirty = true;
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        let id = self.session_id(event, out);
        let fact = |fact: &Option<String>| Some(Text::new(fact.as_deref()?)?.decode().into_owned());
        let cwd = fact(&self.facts.cwd);
        let hash = project_hash(cwd.as_deref().unwrap_or("/"));
        out.put_args(
            line,
            format_args!(
                "{{\"sessionId\":{},\"projectHash\":\"{hash}\",\"startTime\":",
                json_string(&id)
            ),
        );
        let mut scanner = Scanner::default();
        let start = self.facts.start.as_deref().unwrap_or("null");
        let start = scanner.scan_slice(start.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        let known = known_time(start);
        self.last = known.unwrap_or(0);
        match (known, start.as_text()) {
            (Some(_), Some(text)) => out.put_string(line, &text.decode()),
            (known, _) => {
                match (&self.facts.start, is_home) {
                    (None, _) => out.lose(LossKind::Invented, "timestamp"),
                    (Some(_), false) => out.lose(LossKind::Flattened, "timestamp"),
                    // It is counted with the members of the start.
                    (Some(_), true) => {}
                }
                out.put_string(line, &iso_millis(known.unwrap_or(0)));
            }
        }
        let kind = if self.facts.agent.is_some() { "subagent" } else { "main" };
        out.put_args(line, format_args!(",\"kind\":\"{kind}\""));
        if let Some(cwd) = cwd {
            out.put_args(line, format_args!(",\"directories\":[{}]", json_string(&cwd)));
        }
        out.put(line, "}");
        match self.is_document {
            true => out.emit_as(line, DocumentPart::Head),
            false => out.emit(line),
        }
    }

    /// Returns the id of the session: a UUID. A sub-agent's session has an id of its own.
    fn session_id(&self, event: &Event<'_>, out: &mut Output) -> String {
        let known = self.facts.session_id.as_deref().and_then(Text::new).map(|id| id.decode());
        let Some(id) = known else {
            out.lose(LossKind::Invented, "session_id");
            return out.uuid(event, "session", 0);
        };
        let written = match &self.facts.agent {
            Some(agent) => uuid_of_name("agent", &format!("{id} {agent}")),
            None => written_id(&id),
        };
        if written != id {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        written
    }

    /// Opens a line with a message, up to its type. The first one of an event (`n` is 0) has its id.
    pub(super) fn open_line(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> LineId {
        let line = out.open();
        out.put(line, "{");
        self.put_envelope(line, kind, event, n, out);
        line
    }

    /// Writes the id, the time and the type of a message.
    pub(super) fn put_envelope(
        &mut self,
        line: LineId,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) {
        let own = event.context.uuid.filter(|_| n == 0);
        // A line with a known id would replace the message that has it.
        let is_new = |id: &Text<'_>| {
            !id.is_empty() && !id.has_lone_surrogate() && !self.used.contains(&id.decode())
        };
        let id = match own.filter(is_new) {
            Some(id) => id.decode().into_owned(),
            None => {
                if own.is_some() {
                    out.lose(LossKind::Dropped, event.vocabulary.uuid);
                }
                out.uuid(event, "entry", n)
            }
        };
        self.used.insert(&id);
        // The client gives this id to the results of a response.
        self.used.insert(&format!("{id}_response"));
        out.put_args(line, format_args!("\"id\":{},\"timestamp\":", json_string(&id)));
        self.put_time(line, event, out);
        out.put_args(line, format_args!(",\"type\":\"{kind}\""));
        let parent = event.context.parent.value().is_some() && n == 0;
        out.drop_if(parent, event.vocabulary.parent);
    }

    /// Writes the time of an event, or of the line before if the event has none.
    pub(super) fn put_time(&mut self, line: LineId, event: &Event<'_>, out: &mut Output) {
        let time = event.context.time;
        let known = time.and_then(known_time);
        match (known, time.and_then(|time| time.as_text())) {
            (Some(_), Some(text)) => out.put_raw(line, Raw::from(text)),
            (known, _) => {
                let lost = time.map_or(LossKind::Invented, |_| LossKind::Flattened);
                out.lose(lost, event.vocabulary.time);
                out.put_args(line, format_args!("\"{}\"", iso_millis(known.unwrap_or(self.last))));
            }
        }
        self.last = known.unwrap_or(self.last);
    }
}

/// Returns the id under which a session is written: the id itself if it is a UUID.
pub(in crate::gemini) fn written_id(id: &str) -> String {
    if is_uuid(id) { id.to_ascii_lowercase() } else { uuid_of_name("gemini", id) }
}

/// Returns the client's hash of a project: the SHA-256 of its path, in hexadecimal digits.
pub(in crate::gemini) fn project_hash(project: &str) -> String {
    let mut hash = Sha256::default();
    hash.update(project.as_bytes());
    hash.hex()
}

/// Returns a time in milliseconds since 1970; `None` if the value is no time that a log can have.
pub(super) fn known_time(value: Raw<'_>) -> Option<i64> {
    millis(value).filter(|millis| TIMES.contains(millis))
}

/// Milliseconds since 1970 whose year has four digits.
const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;
