//! Writes the session: the members around the messages.

use core_model::{Body, DocumentPart, Event, LossKind, Output, iso_millis, millis};
use jsonl::{Raw, Scanner, Text};

use super::{SessionWriter, ids::written_id, message::TIMES};
use crate::VERSION;

impl SessionWriter {
    /// Writes the session, unless the output has it.
    pub(super) fn write_header(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_header, true) {
            return;
        }
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        let mut scanner = Scanner::default();
        let start = self.facts.start.as_deref().unwrap_or("null");
        let start = scanner.scan_slice(start.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        let created = millis(start).filter(|millis| TIMES.contains(millis)).unwrap_or_else(|| {
            let kind =
                self.facts.start.as_ref().map_or(LossKind::Invented, |_| LossKind::Flattened);
            out.lose(kind, "timestamp");
            0
        });
        let id = self.facts.session_id.as_deref().and_then(Text::new).map(|id| id.decode());
        let id = id.unwrap_or_else(|| {
            out.lose(LossKind::Invented, "session_id");
            out.uuid(event, "session", 0).into()
        });
        let parent = self.facts.agent.as_ref().map(|_| id.to_string());
        let own = match &self.facts.agent {
            Some(agent) => format!("{id}_agent-{agent}"),
            None => id.into_owned(),
        };
        self.ids.start_session(&own, created);
        self.has_other_id = self.ids.session != own;
        out.put(line, "{\"info\":{\"id\":");
        out.put_string(line, &self.ids.session);
        out.put(line, ",\"slug\":\"converted\",\"projectID\":\"global\",\"directory\":");
        let cwd = self.facts.cwd.as_deref().and_then(Text::new);
        match cwd {
            Some(cwd) => out.put_string(line, &cwd.decode()),
            None => {
                out.lose(LossKind::Invented, "info.directory");
                out.put(line, "\"/\"");
            }
        }
        self.cwd = cwd.map(|cwd| cwd.as_str().to_owned());
        if let Some(parent) = parent {
            out.put(line, ",\"parentID\":");
            // The id of that session has the time of its start, which may be another one.
            let start = self.facts.session_start.as_deref().and_then(|start| {
                let start = scanner.scan_slice(start.as_bytes(), 0).ok()?;
                Some(millis(start.raw()).filter(|millis| TIMES.contains(millis)).unwrap_or(0))
            });
            out.put_string(line, &written_id(&parent, start.unwrap_or(created)));
        }
        out.put(line, ",\"title\":");
        let title = self.facts.title.as_ref().and_then(|(_, title)| Text::new(title));
        match title.filter(|title| !title.is_blank()) {
            Some(title) => out.put_string(line, &title.decode()),
            None => {
                out.lose(LossKind::Invented, "info.title");
                out.put_string(line, &format!("New session - {}", iso_millis(created)));
            }
        }
        for field in ["info.slug", "info.projectID", "info.version"] {
            out.lose(LossKind::Invented, field);
        }
        out.put_args(
            line,
            format_args!(",\"version\":\"{VERSION}\",\"time\":{{\"created\":{created},"),
        );
        let end = self.facts.end.as_deref().unwrap_or("null");
        let end = scanner.scan_slice(end.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        let end = millis(end).filter(|millis| TIMES.contains(millis));
        let updated = end.unwrap_or(created).max(created);
        out.put_args(line, format_args!("\"updated\":{updated}}}"));
        out.mark_carry(line, ",\"metadata\":{\"convert\":{", "}}");
        out.put(line, "}}");
        out.emit_as(line, DocumentPart::Head);
    }
}
