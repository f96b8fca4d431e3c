//! Copies values from a source line to the output, and replaces those that clido would refuse.

use core_model::{Event, LineId, LossKind, Output, TextBody, ToolName};
use jsonl::{Raw, Style, Text, json_string, loadable};

/// The output for one source line.
#[derive(Debug)]
pub(super) struct Pen<'o> {
    pub(super) out: &'o mut Output,
    /// Whether the source line may have a value that clido refuses. The test is cheap and nearly
    /// always false.
    is_odd: bool,
    /// The time of the source line, in milliseconds since 1970.
    pub(super) millis: Option<i64>,
}

impl<'o> Pen<'o> {
    pub(super) fn new(out: &'o mut Output, event: &Event<'_>) -> Self {
        Self {
            out,
            is_odd: event.may_be_unloadable(),
            millis: event.context.time.and_then(core_model::millis),
        }
    }

    /// Copies a string.
    pub(super) fn text(&mut self, line: LineId, text: Text<'_>, field: &'static str) {
        self.value(line, Raw::from(text), 0, field);
    }

    /// Copies the name of a tool.
    pub(super) fn tool_name(&mut self, line: LineId, name: ToolName<'_>) {
        match name.as_text() {
            Some(name) => self.text(line, name, "tool_use.name"),
            None => self.out.copy_tool_name(line, name),
        }
    }

    /// Copies a part of a string's body as a string.
    pub(super) fn part(&mut self, line: LineId, body: TextBody<'_>, field: &'static str) {
        let quoted = format!("\"{}\"", body.as_str());
        let text = Text::new(&quoted);
        match text.and_then(|text| self.mended(Raw::from(text), 0)) {
            Some(mended) => {
                self.out.touch(line);
                self.out.put(line, &mended);
                self.out.lose(LossKind::Flattened, field);
            }
            None => self.out.copy_quoted(line, body),
        }
    }

    /// Copies a value that may have `max_depth` levels.
    pub(super) fn value(
        &mut self,
        line: LineId,
        raw: Raw<'_>,
        max_depth: usize,
        field: &'static str,
    ) {
        match self.mended(raw, max_depth) {
            Some(mended) => {
                self.out.touch(line);
                self.out.put(line, &mended);
                self.out.lose(LossKind::Flattened, field);
            }
            None => self.out.copy(line, raw),
        }
    }

    /// Appends a value that another written line already copies, without counting it as copied.
    pub(super) fn repeat(&mut self, line: LineId, raw: Raw<'_>, max_depth: usize) {
        match self.mended(raw, max_depth) {
            Some(mended) => self.out.put(line, &mended),
            None => self.out.put_raw(line, raw),
        }
    }

    /// Copies the body of a string: the bytes between its quotes.
    pub(super) fn body(&mut self, line: LineId, text: Text<'_>, field: &'static str) {
        match self.mended(Raw::from(text), 0) {
            Some(mended) => {
                self.out.touch(line);
                self.out.put(line, inner(&mended));
                self.out.lose(LossKind::Flattened, field);
            }
            None => self.out.copy_body(line, text.body()),
        }
    }

    /// Appends a text of our own in place of a value of the source line.
    pub(super) fn stand_in(&mut self, line: LineId, words: &str) {
        self.out.touch(line);
        self.out.put_string(line, words);
    }

    /// Appends a text of our own inside a string.
    pub(super) fn own_body(&mut self, line: LineId, words: &str) {
        self.out.touch(line);
        self.out.put(line, inner(&json_string(words)));
    }

    fn mended(&self, raw: Raw<'_>, max_depth: usize) -> Option<String> {
        if !self.is_odd {
            return None;
        }
        let mended = loadable(raw.as_str(), max_depth)?;
        let mut spelled = Vec::new();
        jsonl::respell_str(&mut spelled, &mended, Style::Compact);
        String::from_utf8(spelled).ok()
    }
}

/// Returns the bytes between the quotes.
fn inner(quoted: &str) -> &str {
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default()
}
