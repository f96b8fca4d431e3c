//! Writes the first line: Codex refuses a file whose first line is another.

use core_model::{Body, Event, LossKind, Output, is_uuid, uuid_of_name};
use jsonl::{Raw, Scanner, Text, json_string};

use super::{SessionWriter, lines::put_type};
use crate::store::written_id;

impl SessionWriter {
    /// Writes the first line, unless the output has one.
    pub(super) fn write_meta(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_meta, true) {
            return;
        }
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        let mut scanner = Scanner::default();
        let start = self.facts.start.as_deref().unwrap_or("null");
        let start = scanner.scan_slice(start.as_bytes(), 0).map_or(Raw::NULL, |it| it.raw());
        if !self.clock.set(start) {
            let is_there = self.facts.start.is_some();
            out.lose(if is_there { LossKind::Flattened } else { LossKind::Invented }, "timestamp");
        }
        let time = self.clock.written();
        out.put(line, "{\"timestamp\":");
        out.put(line, &time);
        put_type(line, "session_meta", out);
        let session_id = self.session_id(event, out);
        self.thread_id = match &self.facts.agent {
            Some(agent) => uuid_of_name("codex", &format!("{session_id}\0{agent}")),
            None => session_id.clone(),
        };
        out.put_args(
            line,
            format_args!("\"session_id\":\"{session_id}\",\"id\":\"{}\"", self.thread_id),
        );
        out.put(line, ",\"timestamp\":");
        out.put(line, &time);
        out.put(line, ",\"cwd\":");
        match self.facts.cwd.as_deref().and_then(Text::new) {
            Some(cwd) => out.put_string(line, &cwd.decode()),
            None => {
                out.lose(LossKind::Invented, event.vocabulary.cwd);
                out.put(line, "\".\"");
            }
        }
        out.put(line, ",\"originator\":\"convert\",\"cli_version\":");
        match self.facts.version.as_deref().and_then(Text::new) {
            Some(version) => out.put_string(line, &version.decode()),
            None => {
                out.lose(LossKind::Invented, event.vocabulary.version);
                out.put(line, "\"0.0.0\"");
            }
        }
        // Without a provider, Codex goes on with any.
        match &self.facts.agent {
            None => out.put(line, ",\"source\":\"cli\",\"thread_source\":\"user\""),
            Some(_) => out.put_args(
                line,
                format_args!(
                    ",\"source\":{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\
                     \"{session_id}\",\"depth\":1,\"agent_path\":null,\"agent_nickname\":null,\
                     \"agent_role\":null}}}}}},\"thread_source\":\"subagent\",\
                     \"parent_thread_id\":\"{session_id}\""
                ),
            ),
        }
        out.put(line, ",\"history_mode\":\"legacy\"");
        if let Some(branch) = event.context.git_branch {
            let branch = json_string(&branch.decode());
            out.put_args(line, format_args!(",\"git\":{{\"branch\":{branch}}}"));
            self.git_branch = Some(branch);
        }
        self.is_dirty = true;
        self.close(line, out);
    }

    /// Returns the id of the session, a UUID.
    fn session_id(&self, event: &Event<'_>, out: &mut Output) -> String {
        let known = self.facts.session_id.as_deref().and_then(Text::new).map(|id| id.decode());
        let Some(id) = known else {
            out.lose(LossKind::Invented, "session_id");
            return out.uuid(event, "session", 0);
        };
        if !is_uuid(&id) {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        written_id(&id)
    }
}
