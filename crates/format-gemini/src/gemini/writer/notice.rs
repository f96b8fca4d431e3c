//! Writes notices and outcomes as messages that the client shows and does not send, and titles.
//!
//! In: an informational line of Claude Code. Out: `{"id":..,"timestamp":..,"type":"info",
//! "content":"..","notice":{"subtype":"local_command"}}`.

use core_model::{Event, LineId, Notice, NoticeKind, Outcome, Output};
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
            NoticeKind::Compaction => NoticeKind::Info,
            kind => kind,
        };
        let line = self.open_line(kind.name(), event, 0, out);
        out.put(line, ",\"content\":");
        match notice.words() {
            Some(text) => out.copy_words(line, text),
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
        if let Some(tokens) = notice.pre_token_count() {
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
        let Some(kind) = outcome.notice_kind() else { return out.lose_record(event) };
        out.flatten_outcome(outcome);
        let line = self.open_line(kind.name(), event, 0, out);
        let mut words = outcome.words().map(|(_, words)| words);
        let (first, second) = (words.next(), words.next());
        out.put(line, ",\"content\":");
        match first {
            Some(words) => out.copy_words(line, words),
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
