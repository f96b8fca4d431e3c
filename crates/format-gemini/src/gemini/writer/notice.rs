//! Writes notices and outcomes as messages that the client shows and does not send, and titles.
//!
//! In: an informational line of Claude Code. Out: `{"id":..,"timestamp":..,"type":"info",
//! "content":"..","notice":{"subtype":"local_command"}}`.

use core_model::{Event, LineId, LossKind, Notice, NoticeKind, Outcome, Output, Status};
use jsonl::Text;

use super::{SessionWriter, open::Open};

impl SessionWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        let kind = match notice.kind {
            NoticeKind::Error => "error",
            NoticeKind::Warning => "warning",
            _ => "info",
        };
        let line = self.open_line(kind, event, 0, out);
        out.put(line, ",\"content\":");
        match notice.text.filter(|text| !text.is_null()) {
            Some(text) => match text.as_text() {
                Some(text) => out.copy_text(line, text),
                None => {
                    out.lose(LossKind::Flattened, "system.content");
                    out.put_lines(line, text);
                }
            },
            None => out.put(line, "\"\""),
        }
        let mut comma = ",\"notice\":{";
        if notice.kind == NoticeKind::Compaction {
            out.put_args(line, format_args!("{comma}\"kind\":\"compaction\""));
            comma = ",";
        }
        for (name, text) in
            [("subtype", notice.subtype), ("about", notice.about), ("trigger", notice.trigger)]
        {
            if let Some(text) = text {
                out.put_args(line, format_args!("{comma}\"{name}\":"));
                out.copy_text(line, text);
                comma = ",";
            }
        }
        if let Some(tokens) = notice.pre_tokens.filter(|tokens| tokens.as_f64().is_some()) {
            out.put_args(line, format_args!("{comma}\"preTokens\":"));
            out.put_raw(line, tokens);
            comma = ",";
        }
        out.put(line, if comma == "," { "}}" } else { "}" });
        self.push(Open::notice(line), out);
    }

    /// Writes why a run failed. A run that succeeded has no line.
    pub(super) fn write_outcome(
        &mut self,
        event: &Event<'_>,
        outcome: &Outcome<'_>,
        out: &mut Output,
    ) {
        if outcome.status == Status::Success {
            return out.lose_record(event);
        }
        out.flatten_outcome(outcome);
        let kind = if outcome.status == Status::Interrupted { "warning" } else { "error" };
        let line = self.open_line(kind, event, 0, out);
        let mut words = outcome.words().map(|(_, words)| words);
        let (first, second) = (words.next(), words.next());
        out.put(line, ",\"content\":");
        match first {
            Some(words) => match words.as_text() {
                Some(text) => out.copy_text(line, text),
                None => {
                    out.lose(LossKind::Flattened, "system.content");
                    out.put_lines(line, words);
                }
            },
            None => out.put(line, "\"\""),
        }
        let mut comma = ",\"notice\":{";
        if let Some(status) = outcome.status_text {
            out.put_args(line, format_args!("{comma}\"subtype\":"));
            out.copy_text(line, status);
            comma = ",";
        }
        if let Some(words) = second {
            out.put_args(line, format_args!("{comma}\"result\":"));
            out.copy(line, words);
            comma = ",";
        }
        out.put(line, if comma == "," { "}}" } else { "}" });
        self.push(Open::notice(line), out);
    }
}

/// Writes the title of a session: the client's summary.
pub(super) fn put_title(line: LineId, title: Text<'_>, out: &mut Output) {
    out.put(line, "{\"$set\":{\"summary\":");
    out.put_string(line, &title.decode());
    out.put(line, "}}");
}
