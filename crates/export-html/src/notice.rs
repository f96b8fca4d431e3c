//! Writes notices of the client: compactions, errors, starts and ends of runs.
//!
//! In: an outcome with the status `success` and a cost. Out: an element with both, in the order of
//! the lines.

use std::io::Write;

use core_model::{Event, Notice, NoticeKind, Outcome, Start, Status, event_millis};
use jsonl::Raw;

use crate::{
    html::Html,
    page::{Page, Scene},
    words::{dollars, first_line, grouped, lasting, push_long, push_time},
};

/// Limit in characters for a notice in its row.
const MAX_ROW: usize = 200;

impl<W: Write> Page<W> {
    /// Writes a notice, and returns whether it has content.
    pub(crate) fn notice(&mut self, scene: &Scene, event: &Event<'_>, notice: &Notice<'_>) -> bool {
        let text = notice.text.filter(|text| !text.is_null()).map(words).unwrap_or_default();
        if text.is_empty() && notice.about.is_none() && notice.kind == NoticeKind::Info {
            return false;
        }
        let (class, name) = match notice.kind {
            NoticeKind::Compaction => ("<article class=\"notice compaction\"", "Context compacted"),
            NoticeKind::Error => ("<article class=\"notice error\"", "Error"),
            NoticeKind::Warning => ("<article class=\"notice\"", "Warning"),
            _ => ("<article class=\"notice\"", "Notice"),
        };
        let mut html = self.begin_notice(class, name);
        if let (Some(subtype), true) = (notice.subtype, notice.kind != NoticeKind::Compaction) {
            html.markup("<span class=\"quiet\">").text(&subtype.decode()).markup("</span> ");
        }
        if let Some(about) = notice.about {
            html.markup("<code dir=\"auto\">").text(&about.decode()).markup("</code> ");
        }
        if let Some(trigger) = notice.trigger {
            html.markup("<span class=\"quiet\">").text(&trigger.decode()).markup("</span> ");
        }
        if let Some(tokens) = notice.pre_tokens.and_then(|tokens| tokens.as_u64()) {
            html.text(&grouped(tokens)).markup(" tokens before ");
        }
        self.end_notice(html, scene, event, &text);
        true
    }

    /// Writes the end of a run.
    pub(crate) fn outcome(
        &mut self,
        scene: &Scene,
        event: &Event<'_>,
        outcome: &Outcome<'_>,
    ) -> bool {
        let is_success = outcome.status == Status::Success;
        let (class, name) = match is_success {
            true => ("<article class=\"notice outcome\"", "Run ended"),
            false => ("<article class=\"notice outcome error\"", "Run failed"),
        };
        let mut html = self.begin_notice(class, name);
        if let Some(status) = outcome.status_text {
            html.text(&status.decode()).markup(" ");
        }
        html.markup("<span class=\"quiet\">");
        let number = |raw: Option<Raw<'_>>| raw.and_then(|raw| raw.as_f64());
        if let Some(turns) = outcome.turns.and_then(|turns| turns.as_u64()) {
            html.text(&grouped(turns)).markup(" turns ");
        }
        if let Some(millis) = number(outcome.duration_ms) {
            html.text(&lasting(millis as i64)).markup(" ");
        }
        if let Some(cost) = number(outcome.cost) {
            html.text(&dollars(cost)).markup(" ");
        }
        html.markup("</span>");
        let what = if is_success { None } else { outcome.errors.or(outcome.result) };
        let text = what.filter(|what| !what.is_null()).map(words).unwrap_or_default();
        self.end_notice(html, scene, event, &text);
        true
    }

    /// Writes the start of a session or of an interaction.
    pub(crate) fn session_start(
        &mut self,
        scene: &Scene,
        event: &Event<'_>,
        start: &Start<'_>,
    ) -> bool {
        let mut html = self.begin_notice("<article class=\"notice\"", "Session");
        if let Some(model) = start.model {
            html.text(&model.decode()).markup(" ");
        }
        if let Some(cwd) = event.context.cwd {
            html.markup("<code dir=\"auto\">").text(&cwd.decode()).markup("</code> ");
        }
        self.end_notice(html, scene, event, "");
        true
    }

    fn begin_notice(&mut self, class: &'static str, name: &'static str) -> Html {
        let mut html = Html::of(class);
        self.push_anchor(&mut html);
        html.markup("><p><strong>").markup(name);
        html.markup("</strong> ");
        html
    }

    fn end_notice(&mut self, mut html: Html, scene: &Scene, event: &Event<'_>, text: &str) {
        let row = first_line(text, MAX_ROW);
        let is_whole = row == text.trim();
        if is_whole {
            html.markup("<span dir=\"auto\">").text(&row).markup("</span> ");
        }
        if let Some(time) = event_millis(event) {
            push_time(&mut html, time, self.start);
        }
        html.markup("</p>");
        if !is_whole {
            push_long(&mut html, text);
        }
        html.markup("</article>\n");
        self.flows.append(scene.flow, html);
    }
}

/// Returns the text of a value, or the value as written.
fn words(raw: Raw<'_>) -> String {
    match raw.as_text() {
        Some(text) => text.decode().into_owned(),
        None => raw.as_str().to_owned(),
    }
}
