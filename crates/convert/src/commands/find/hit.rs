//! Formats a hit, as a line or as a JSON object.

use core_model::{Event, Place, event_millis, iso_millis, thread};
use jsonl::Scanner;
use sessions::{Filter, Needle, Part};

use super::lines::PartLine;
use crate::{
    object::Object,
    terminal::{escape::escape_for_terminal, figures::short_duration, painted},
};

/// The colors of names of files, of numbers of lines, of tools, of errors, and of the words: those
/// of ripgrep and of `show`.
pub(super) const FILE: &str = "35";
const NUMBER: &str = "32";
const TOOL: &str = "33";
const ERROR: &str = "31";
const WORDS: &str = "1;31";

/// The characters of a hit before the words, and in all.
const BEFORE: usize = 40;
const SNIPPET: usize = 160;

/// The form of lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) has_color: bool,
    /// Whether a heading has the name of the file, so that lines do not.
    pub(super) has_heading: bool,
    pub(super) is_json: bool,
}

/// A part of a session, to be printed.
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
    /// Returns the part in a form. Between the place and the text of a hit stands `:`, of another
    /// part `-`.
    pub(super) fn print(
        &self,
        form: Form,
        filter: &Filter,
        is_hit: bool,
        scanner: &mut Scanner,
    ) -> PartLine {
        if form.is_json {
            let mut head = self.json(scanner);
            // A duration may be inserted before the end of the object.
            head.truncate(head.len().saturating_sub(2));
            return PartLine { head, tail: b"}\n".to_vec() };
        }
        let needle = filter.needle.as_ref().or(filter.command.as_ref());
        self.line(form, needle.filter(|_| is_hit), if is_hit { ':' } else { '-' }, scanner)
    }

    /// Returns a line with the place and an excerpt around the words.
    fn line(
        &self,
        form: Form,
        needle: Option<&Needle>,
        mark: char,
        scanner: &mut Scanner,
    ) -> PartLine {
        let Place { line, offset } = self.place;
        let paint = |color: &str, text: &str| painted(form.has_color, color, text);
        let mut text = String::new();
        if !form.has_heading {
            text.push_str(&paint(FILE, &escape_for_terminal(self.label)));
            text.push(mark);
        }
        text.push_str(&paint(NUMBER, &line.to_string()));
        text.push_str(&format!("{mark} byte {offset}{mark} {}", self.part.kind().name()));
        if let Some(name) = self.tool_name().or_else(|| self.kind_name()) {
            text.push(' ');
            text.push_str(&paint(TOOL, &escape_for_terminal(&name)));
        }
        if self.part.is_error() == Some(true) {
            text.push(' ');
            text.push_str(&paint(ERROR, "error"));
        }
        let words = self.part.words(scanner);
        // The words may be in a member of the input that its summary does not show.
        let found = needle.and_then(|needle| {
            let mut found = needle.find(&words).map(|at| (words.clone(), at));
            self.part.for_each_text(scanner, &mut |text| {
                if found.is_none() {
                    found = needle.find(text).map(|at| (text.to_owned().into(), at));
                }
            });
            found
        });
        let (words, at) = found.unwrap_or((words, 0));
        let mut excerpt = snippet(&words, at);
        if let (true, Some(needle)) = (form.has_color, needle) {
            excerpt = highlighted(&excerpt, needle);
        }
        let tail = format!(": {excerpt}\n").into_bytes();
        PartLine { head: text.into_bytes(), tail }
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
    fn json(&self, scanner: &mut Scanner) -> Vec<u8> {
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

/// Returns the duration of a call, as it is inserted in a line.
pub(super) fn inserted(form: Form, millis: i64) -> Vec<u8> {
    match form.is_json {
        true => format!(",\"duration_ms\":{millis}"),
        false => format!(" ({})", short_duration(millis.unsigned_abs())),
    }
    .into_bytes()
}

/// Returns a text with the words in a color.
fn highlighted(text: &str, needle: &Needle) -> String {
    let (mut colored, mut end) = (String::with_capacity(text.len()), 0);
    for range in needle.ranges(text) {
        colored.push_str(text.get(end..range.start).unwrap_or_default());
        end = range.end;
        colored.push_str(&painted(true, WORDS, text.get(range).unwrap_or_default()));
    }
    colored.push_str(text.get(end..).unwrap_or_default());
    colored
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
    fn words_have_a_color() {
        let needle = Needle::new("é", true);
        assert_eq!(highlighted("aÉé.", &needle), "a\u{1b}[1;31mÉ\u{1b}[0m\u{1b}[1;31mé\u{1b}[0m.");
        assert_eq!(highlighted("none", &needle), "none");
    }

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
