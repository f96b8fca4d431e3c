//! Writes the `meta` line, and a placeholder prompt for a session without one.

use core_model::{Body, Event, LossKind, Output};
use jsonl::{Scanner, Text};

use super::SessionWriter;

/// Start time of a session without a time.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// Placeholder prompt: clido deletes sessions without a prompt.
const NO_PROMPT: &str = "[no prompt recorded]";

impl SessionWriter {
    /// Writes the `meta` line, and a placeholder prompt if the session has none.
    pub(super) fn write_header(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.has_header {
            return;
        }
        self.has_header = true;
        self.has_written = true;
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        out.put(line, "{\"type\":\"meta\",\"session_id\":");
        match self.facts.session_id.as_deref().and_then(Text::new) {
            Some(id) => out.put_string(line, &id.decode()),
            None => {
                let id = out.uuid(event, "session", 0);
                out.put_string(line, &id);
                out.lose(LossKind::Invented, "session_id");
            }
        }
        out.put(line, ",\"schema_version\":1,\"start_time\":");
        let start = self.start_time(out);
        out.put_string(line, &start);
        out.put(line, ",\"project_path\":");
        match self.facts.cwd.as_deref().and_then(Text::new) {
            Some(cwd) => out.put_string(line, &cwd.decode()),
            None => {
                out.put(line, "\"\"");
                out.lose(LossKind::Invented, "cwd");
            }
        }
        out.put(line, "}");
        out.emit(line);
        if !self.facts.has_prompt() {
            let line = out.open_derived();
            out.put(line, "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":");
            out.put_string(line, NO_PROMPT);
            out.put(line, ",\"type\":\"text\"}]}");
            out.emit(line);
            out.lose(LossKind::Invented, "prompt");
        }
    }

    fn start_time(&self, out: &mut Output) -> String {
        let start = self.facts.start.as_deref().unwrap_or("null");
        if let Some(text) = Text::new(start) {
            let start = text.decode();
            // clido cuts the time at fixed bytes when it lists sessions (FORMAT.md, "Listing and
            // keeping").
            if start.is_ascii() {
                return start.into_owned();
            }
        } else if let Ok(number) = Scanner::default().scan_slice(start.as_bytes(), 0)
            && let Some(millis) = core_model::millis(number.raw())
        {
            out.lose(LossKind::Flattened, "timestamp");
            return core_model::iso_millis(millis);
        }
        // A text that is not a time is replaced.
        let kind = self.facts.start.as_ref().map_or(LossKind::Invented, |_| LossKind::Flattened);
        out.lose(kind, "timestamp");
        NO_TIME.to_owned()
    }
}
