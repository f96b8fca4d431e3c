//! Writes compactions: the boundary and the summary on one line.
//!
//! In: a notice of a compaction, then a message with the summary. Out: `{"timestamp":..,
//! "type":"compacted","payload":{"message":"","replacement_history":[{"type":"message",..}]}}`.

use core_model::{Event, LineId, Message, Notice, Output};
use jsonl::json_string;

use super::{SessionWriter, lines::put_type, part};

/// The open line of a compaction's boundary. Its type is not written yet.
#[derive(Debug)]
pub(super) struct Boundary {
    line: LineId,
    /// The members of a notice, should no summary follow: `,"subtype":".."`.
    notice: String,
    /// The members that both kinds of lines have.
    both: String,
}

impl SessionWriter {
    /// Opens the line of a boundary.
    pub(super) fn hold_boundary(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        self.flush(out);
        let line = self.open_untyped(event, 0, out);
        let mut boundary = Boundary { line, notice: String::new(), both: String::new() };
        for (name, text) in [("subtype", notice.subtype), ("about", notice.about)] {
            if let Some(text) = text {
                boundary.notice.push_str(&format!(",\"{name}\":{}", json_string(&text.decode())));
            }
        }
        if let Some(text) = notice.text.and_then(|text| text.as_text()) {
            boundary.notice.push_str(&format!(",\"text\":{}", json_string(&text.decode())));
        }
        if let Some(trigger) = notice.trigger {
            boundary.both.push_str(&format!(",\"trigger\":{}", json_string(&trigger.decode())));
        }
        if let Some(tokens) = notice.pre_token_count() {
            boundary.both.push_str(&format!(",\"pre_tokens\":{}", tokens.as_str()));
        }
        self.boundary = Some(boundary);
    }

    /// Writes a summary, which replaces the history before it.
    pub(super) fn write_summary(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) {
        let (line, members) = match self.boundary.take() {
            Some(Boundary { line, notice, both }) => {
                // The line has the time of the boundary.
                out.drop_time(event);
                (line, notice + &both)
            }
            None => (self.open_untyped(event, n, out), String::new()),
        };
        put_type(line, "compacted", out);
        out.put(line, "\"message\":\"\",\"replacement_history\":[{");
        out.put(line, "\"type\":\"message\",\"role\":\"user\",\"content\":");
        part::put_parts(out, line, &message.content);
        out.put(line, "}]");
        out.put(line, &members);
        self.close(line, out);
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"context_compacted\"");
        self.close(line, out);
    }

    /// Writes a boundary that no summary followed, as a notice.
    pub(super) fn flush_boundary(&mut self, out: &mut Output) {
        let Some(Boundary { line, notice, both }) = self.boundary.take() else { return };
        put_type(line, "notice", out);
        out.put(line, "\"kind\":\"compaction\"");
        out.put(line, &notice);
        out.put(line, &both);
        self.close(line, out);
    }
}
