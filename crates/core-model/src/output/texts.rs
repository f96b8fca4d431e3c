//! Writes the texts of a message, and values as strings.
//!
//! In: the blocks `{"text":"a"}` and `{"text":"b"}`. Out: `"a\nb"`.

use jsonl::{Raw, Style, Text, respell};

use super::Output;
use crate::{Block, Content, LineId, LossKind, Outcome};

impl Output {
    /// Appends the texts of a content as one JSON string, joined by newlines. Other blocks count as dropped.
    pub fn copy_joined(&mut self, id: LineId, content: &Content<'_>) {
        self.touch(id);
        match content {
            Content::Text(text) => return self.copy_text(id, *text),
            Content::Other(raw) if !raw.is_null() => return self.put_string(id, raw.as_str()),
            _ => {}
        }
        self.put(id, "\"");
        let mut newline = "";
        for (block, _) in content.blocks() {
            match block {
                Block::Text(text) => {
                    self.put(id, newline);
                    self.copy_body(id, text.body());
                    newline = "\\n";
                }
                block => {
                    self.lose_named(LossKind::Dropped, &format!("block.{}", block.kind()));
                }
            }
        }
        self.put(id, "\"");
    }

    /// Appends the words of a notice or an outcome as one string: a text as it is, and any other value as
    /// [`put_lines`](Self::put_lines) does, which counts as flattened.
    pub fn copy_words(&mut self, id: LineId, words: Raw<'_>) {
        match words.as_text() {
            Some(text) => self.copy_text(id, text),
            None => {
                self.lose(LossKind::Flattened, "system.content");
                self.put_lines(id, words);
            }
        }
    }

    /// Appends each text that there is as a member behind another one: `,"about":"src/main.rs"`.
    pub fn copy_texts<'t>(
        &mut self,
        id: LineId,
        texts: impl IntoIterator<Item = (&'static str, Option<Text<'t>>)>,
    ) {
        for (name, text) in texts {
            if let Some(text) = text {
                self.put_args(id, format_args!(",\"{name}\":"));
                self.copy_text(id, text);
            }
        }
    }

    /// Appends the errors and the result of a run as members behind another one.
    pub fn copy_outcome_words(&mut self, id: LineId, outcome: &Outcome<'_>) {
        for (name, words) in outcome.words() {
            self.put_args(id, format_args!(",\"{name}\":"));
            self.copy(id, words);
        }
    }

    /// Appends a value as a string with its JSON, without blanks and needless escapes, which would hide words from
    /// searches.
    pub fn put_as_string(&mut self, id: LineId, value: Raw<'_>) {
        let mut written = Vec::new();
        respell(&mut written, value, Style::Compact);
        self.put_string(id, &String::from_utf8_lossy(&written));
        self.show(id, value);
    }
}
