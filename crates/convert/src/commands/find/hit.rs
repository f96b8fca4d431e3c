//! Formats a hit, as a line or as a JSON object.

use core_model::{Event, Place, event_millis, iso_millis, thread};
use jsonl::Scanner;
use sessions::{Needle, Part};

use crate::{object::Object, terminal::escape::escape_for_terminal};

/// The characters of a hit before the words, and in all.
const BEFORE: usize = 40;
const SNIPPET: usize = 160;

/// A part of a session that was found.
pub(super) struct Hit<'h> {
    pub(super) label: &'h str,
    pub(super) place: Place,
    /// The index among the parts of the line.
    pub(super) block_idx: usize,
    pub(super) event: &'h Event<'h>,
    pub(super) part: &'h Part<'h>,
    /// The tool of a result, if its use was read.
    pub(super) tool: Option<&'h String>,
}

impl Hit<'_> {
    /// Returns a line with the place and an excerpt around the words.
    pub(super) fn line(&self, needle: Option<&Needle>, scanner: &mut Scanner) -> Vec<u8> {
        let Place { line, offset } = self.place;
        let mut text = format!(
            "{}:{line}: byte {offset}: {}",
            escape_for_terminal(self.label),
            self.part.kind().name()
        );
        if let Some(name) = self.tool_name().or_else(|| self.kind_name()) {
            text.push(' ');
            text.push_str(&escape_for_terminal(&name));
        }
        if self.part.is_error() == Some(true) {
            text.push_str(" error");
        }
        let words = self.part.words(scanner);
        // The words may be in a member of the input that its summary does not show.
        let found = needle.and_then(|needle| {
            let mut found = needle.find(&words).map(|at| (words.clone(), at));
            self.part.for_each_text(scanner, &mut |text| {
                if found.is_none() {
                    found = needle.find(text).map(|at| (text.to_owned(), at));
                }
            });
            found
        });
        let (words, at) = found.unwrap_or((words, 0));
        text.push_str(": ");
        text.push_str(&snippet(&words, at));
        text.push('\n');
        text.into_bytes()
    }

    fn tool_name(&self) -> Option<String> {
        match self.part {
            Part::ToolUse(tool) => Some(tool.name.decode().into_owned()),
            _ => self.tool.cloned(),
        }
    }

    fn kind_name(&self) -> Option<String> {
        match self.part {
            Part::Other(kind, _) => kind.map(|kind| kind.decode().into_owned()),
            _ => None,
        }
    }

    /// Returns an object, as a line.
    pub(super) fn json(&self, scanner: &mut Scanner) -> Vec<u8> {
        let Place { line, offset } = self.place;
        let mut object = Object::new();
        object.string("file", self.label).string("format", self.event.format);
        object.plain("line", line).plain("offset", offset).plain("block", self.block_idx);
        if let Some(id) = self.event.context.session_id {
            object.string("session", &id.decode());
        }
        if let Some(thread) = thread(self.event) {
            object.string("thread", &thread);
        }
        if let Some(time) = event_millis(self.event) {
            object.string("time", &iso_millis(time));
        }
        object.string("kind", self.part.kind().name());
        if let Some(tool) = self.tool_name() {
            object.string("tool", &tool);
        }
        match self.part {
            Part::ToolUse(tool) => {
                object
                    .string("tool_use_id", &tool.id.decode())
                    .raw("input", tool.input.json().raw());
            }
            Part::ToolResult(result) => {
                object.string("tool_use_id", &result.tool_use_id.decode());
                if let Some(is_error) = result.is_error.value() {
                    object.plain("is_error", is_error);
                }
                object.string("text", &self.part.words(scanner));
            }
            Part::Other(_, raw) => _ = object.raw("value", *raw),
            part => _ = object.string("text", &part.words(scanner)),
        }
        object.line()
    }
}

/// Returns the words around a position in a text, on one line.
fn snippet(text: &str, at: usize) -> String {
    let (before, after) = text.split_at(text.floor_char_boundary(at));
    let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(start, _)| start);
    let mut snippet = String::from(if start > 0 { "…" } else { "" });
    let words = before.get(start..).unwrap_or_default().chars().chain(after.chars());
    let mut n_chars = 0;
    let mut was_space = true;
    for char in words {
        // Line breaks and indents would waste the width of the excerpt.
        let is_space = char.is_whitespace();
        if is_space && was_space {
            continue;
        }
        was_space = is_space;
        if n_chars == SNIPPET {
            snippet.push('…');
            break;
        }
        n_chars += 1;
        snippet.push(if is_space { ' ' } else { char });
    }
    escape_for_terminal(snippet.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_has_the_words_and_some_around_them() {
        assert_eq!(snippet("  one\n\n  two ", 0), "one two");
        assert_eq!(snippet("a\u{1b}[31mb", 0), "a\\u{1b}[31mb");
        let long = format!("{}needle{}", "é".repeat(100), "x".repeat(200));
        let found = snippet(&long, 200);
        assert!(found.starts_with(&format!("…{}needle", "é".repeat(BEFORE))), "{found}");
        assert_eq!(found.chars().count(), SNIPPET + 2);
        assert_eq!(snippet("", 7), "");
    }
}
