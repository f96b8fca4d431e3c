//! Writes the header: pi refuses a file whose first line is another, and older versions empty it.

use std::borrow::Cow;

use core_model::{Body, Event, LossKind, Output, SafeName, iso_millis, millis};
use jsonl::{Raw, Scanner, Text};

use super::{SessionWriter, thread::TIMES};
use crate::VERSION;

impl SessionWriter {
    /// Writes the header, unless the output has one.
    pub(super) fn write_header(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_header, true) {
            return;
        }
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        out.put_args(line, format_args!("{{\"type\":\"session\",\"version\":{VERSION},\"id\":"));
        let id = self.session_id(event, out);
        out.put_string(line, &id);
        out.put(line, ",\"timestamp\":");
        let mut scanner = Scanner::default();
        let start = self.facts.start.as_deref().unwrap_or("null");
        let start = scanner.scan_slice(start.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        let known = millis(start).filter(|millis| TIMES.contains(millis));
        self.thread.start(known.unwrap_or(0));
        match (known, start.as_text()) {
            (Some(_), Some(text)) => out.put_string(line, &text.decode()),
            (known, _) => {
                let lost =
                    self.facts.start.as_ref().map_or(LossKind::Invented, |_| LossKind::Flattened);
                out.lose(lost, "timestamp");
                out.put_string(line, &iso_millis(known.unwrap_or(0)));
            }
        }
        // Without a folder, pi takes the one that it is started in.
        let own = self.facts.cwd.as_deref().and_then(Text::new).map(|cwd| cwd.decode());
        let project = self.project.as_deref().map(Cow::Borrowed);
        if own.is_some() && project.is_some() && own != project {
            out.lose(LossKind::Flattened, event.vocabulary.cwd);
        }
        if let Some(cwd) = project.or(own) {
            out.put(line, ",\"cwd\":");
            out.put_string(line, &cwd);
        }
        out.put(line, "}");
        out.emit(line);
        self.is_dirty = true;
    }

    /// Returns the id of the session. It is also the name of the file, so it must be safe there. A
    /// sub-agent's session has an id of its own.
    fn session_id(&self, event: &Event<'_>, out: &mut Output) -> String {
        let known = self.facts.session_id.as_deref().and_then(Text::new).map(|id| id.decode());
        let Some(id) = known else {
            out.lose(LossKind::Invented, "session_id");
            return out.uuid(event, "session", 0);
        };
        let id = match &self.facts.agent {
            Some(agent) => format!("{id}_agent-{agent}"),
            None => id.into_owned(),
        };
        let name = SafeName::of(&id);
        if name.as_str() != id {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        name.as_str().to_owned()
    }
}
