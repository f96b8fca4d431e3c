//! Writes the first line: Copilot refuses a file without a `session.start`.

use core_model::{Body, Event, LossKind, Output, Start, is_uuid, uuid_of_name};
use jsonl::{Raw, Scanner, Text, json_string};

use super::{SessionWriter, thread::put_type};
use crate::store::written_id;

impl SessionWriter {
    /// Writes the first line, unless the output has one.
    pub(super) fn write_start(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_start, true) {
            return;
        }
        let mut scanner = Scanner::default();
        let start = self.facts.start.as_deref().unwrap_or("null");
        let start = scanner.scan_slice(start.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        let (time, is_exact) = self.thread.start(start);
        if !is_exact {
            let is_there = self.facts.start.is_some();
            out.lose(if is_there { LossKind::Flattened } else { LossKind::Invented }, "timestamp");
        }
        let line = match &event.body {
            Body::Start(_) => self.thread.open_untyped(event, 0, out),
            _ => {
                let uuid = out.uuid(event, "start", 0);
                self.thread.open_derived(&uuid, out)
            }
        };
        let id = line.id;
        put_type(id, "session.start", out);
        let session_id = self.session_id(event, out);
        out.put_args(id, format_args!("\"sessionId\":\"{session_id}\",\"version\":1"));
        out.put(id, ",\"producer\":\"convert\",\"copilotVersion\":");
        match self.facts.version.as_deref().and_then(Text::new) {
            Some(version) => out.put_string(id, &version.decode()),
            None => {
                out.lose(LossKind::Invented, event.vocabulary.version);
                out.put(id, "\"0.0.0\"");
            }
        }
        out.put_args(id, format_args!(",\"startTime\":{time}"));
        if let Body::Start(Start { model: Some(model), .. }) = &event.body {
            self.note_model(Some(*model));
            out.put(id, ",\"selectedModel\":");
            out.put_string(id, &model.decode());
        }
        out.put(id, ",\"context\":{\"cwd\":");
        match self.facts.cwd.as_deref().and_then(Text::new) {
            Some(cwd) => out.put_string(id, &cwd.decode()),
            None => {
                out.lose(LossKind::Invented, event.vocabulary.cwd);
                out.put(id, "\".\"");
            }
        }
        if let Some(branch) = event.context.git_branch {
            out.put(id, ",\"branch\":");
            out.put(id, &json_string(&branch.decode()));
            self.git_branch = Some(branch.as_str().to_owned());
        }
        out.put(id, "}");
        self.emit(line, out);
    }

    /// Returns the id of the session, a UUID. A sub-agent's session has an id of its own.
    fn session_id(&self, event: &Event<'_>, out: &mut Output) -> String {
        let known = self.facts.session_id.as_deref().and_then(Text::new).map(|id| id.decode());
        let Some(id) = known else {
            out.lose(LossKind::Invented, "session_id");
            return out.uuid(event, "session", 0);
        };
        if let Some(agent) = &self.facts.agent {
            return uuid_of_name("copilot", &format!("{id}\0{agent}"));
        }
        if !is_uuid(&id) {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        written_id(&id)
    }
}
