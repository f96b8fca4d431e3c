//! Writes compactions: the boundary and the summary on one line.
//!
//! In: a notice of a compaction, then a message with the summary. Out:
//! `{"type":"session.compaction_complete","data":{"success":true,"summaryContent":..},..}`.

use core_model::{Event, LossKind, Message, Notice, Output};
use jsonl::{Raw, json_string};

use super::{
    SessionWriter,
    thread::{Line, put_type},
};

/// The open line of a compaction's boundary. Its type is not written yet.
#[derive(Debug)]
pub(super) struct Boundary {
    line: Line,
    /// The members of a notice, should no summary follow: `"infoType":".."`.
    notice: String,
    /// The tokens before the compaction, as written.
    pre_tokens: Option<String>,
    trigger: Option<String>,
}

/// The triggers that Copilot knows (1.0.102). It refuses a file with another one.
pub(crate) const TRIGGERS: [&str; 5] =
    ["threshold", "context_limit_retry", "manual", "memory_pressure", "model_switch"];

impl SessionWriter {
    /// Opens the line of a boundary.
    pub(super) fn hold_boundary(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        let line = self.thread.open_untyped(event, 0, out);
        let is_text = |text: Raw<'_>| text.is_null() || text.as_text().is_some();
        if !notice.text.is_none_or(is_text) {
            out.lose(LossKind::Flattened, "system.content");
        }
        let written = |text: Option<Raw<'_>>| match text.filter(|text| !text.is_null()) {
            Some(text) => match text.as_text() {
                Some(text) => json_string(&text.decode()),
                None => json_string(text.as_str()),
            },
            None => "\"\"".to_owned(),
        };
        let mut members = String::from("\"infoType\":");
        members.push_str(
            &notice.subtype.map_or_else(
                || "\"compaction\"".to_owned(),
                |subtype| json_string(&subtype.decode()),
            ),
        );
        members.push_str(&format!(",\"kind\":\"compaction\",\"message\":{}", written(notice.text)));
        if let Some(about) = notice.about {
            members.push_str(&format!(",\"about\":{}", json_string(&about.decode())));
        }
        let number = notice.pre_token_count();
        self.boundary = Some(Boundary {
            line,
            notice: members,
            pre_tokens: number.map(|tokens| tokens.as_str().to_owned()),
            trigger: notice.trigger.map(|trigger| trigger.decode().into_owned()),
        });
    }

    /// Writes a summary. Copilot sends it with the user's earlier messages, in place of all that is
    /// before it.
    pub(super) fn write_summary(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) {
        let (line, pre_tokens, trigger, notice) = match self.boundary.take() {
            Some(Boundary { line, pre_tokens, trigger, notice }) => {
                // The line has the id and the time of the boundary.
                out.drop_ids(event);
                out.drop_time(event);
                (line, pre_tokens, trigger, Some(notice))
            }
            None => (self.thread.open_untyped(event, n, out), None, None, None),
        };
        let id = line.id;
        put_type(id, "session.compaction_complete", out);
        out.put(id, "\"success\":true");
        if let Some(tokens) = pre_tokens.filter(|tokens| is_count(tokens)) {
            out.put_args(id, format_args!(",\"preCompactionTokens\":{tokens}"));
        }
        if let Some(trigger) = trigger {
            match TRIGGERS.contains(&trigger.as_str()) {
                true => out.put_args(id, format_args!(",\"trigger\":\"{trigger}\"")),
                // Copilot's own words for it are others.
                false => out.put_args(id, format_args!(",\"cause\":{}", json_string(&trigger))),
            }
        }
        out.put(id, ",\"summaryContent\":");
        out.copy_joined(id, &message.content);
        self.n_compactions = self.n_compactions.saturating_add(1);
        out.put_args(id, format_args!(",\"checkpointNumber\":{}", self.n_compactions));
        if let Some(notice) = notice {
            out.put_args(id, format_args!(",\"boundary\":{{{notice}}}"));
        }
        self.emit(line, out);
    }

    /// Writes a boundary that no summary followed, as a notice.
    pub(super) fn flush_boundary(&mut self, out: &mut Output) {
        let Some(Boundary { line, notice, pre_tokens, trigger }) = self.boundary.take() else {
            return;
        };
        put_type(line.id, "session.info", out);
        out.put(line.id, &notice);
        if let Some(trigger) = trigger {
            out.put_args(line.id, format_args!(",\"trigger\":{}", json_string(&trigger)));
        }
        if let Some(tokens) = pre_tokens {
            out.put_args(line.id, format_args!(",\"preTokens\":{tokens}"));
        }
        self.emit(line, out);
    }
}

/// Returns whether a number is a whole one, which Copilot's counts are.
fn is_count(number: &str) -> bool {
    number.len() < 16 && number.bytes().all(|byte| byte.is_ascii_digit())
}
