//! Queries over the words of a transcript: key messages, plans, empty and warm-up sessions.

use std::collections::HashSet;

use core_model::{Content, Role};

use super::{Entry, Transcript, entry::plain};

/// A text block of a message, or a message that is a string.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyMessage {
    /// The index of its entry.
    pub idx: usize,
    /// The type of the entry.
    pub kind: String,
    /// The text, trimmed.
    pub text: String,
    /// The time as written, without quotes: the message's, else the entry's.
    pub timestamp: Option<String>,
}

/// How to treat content that is a string instead of blocks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StringContent {
    /// Treat it as one text.
    #[default]
    Include,
    /// Skip it.
    Skip,
}

/// Returns an estimate of the tokens of a text: its characters divided by 4.
///
/// ```
/// assert_eq!(format_claude_code::estimate_tokens("你好，世界！ok"), 2);
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    text.chars().count() / 4
}

impl Transcript<'_> {
    /// Returns the texts of the user and of the assistant.
    ///
    /// ```
    /// use format_claude_code::{StringContent, Transcript};
    ///
    /// let file = br#"{"type":"user","message":{"content":[{"type":"text","text":" Run pytest tests "}],"timestamp":1700000000.0}}
    /// {"type":"summary","message":{"content":[{"type":"text","text":"x"}]}}
    /// {"type":"user","message":{"content":"A string"}}"#;
    /// let transcript = Transcript::from_slice(file);
    /// let messages = transcript.key_messages(StringContent::Skip);
    /// assert_eq!((messages.len(), messages[0].text.as_str()), (1, "Run pytest tests"));
    /// assert_eq!(messages[0].timestamp.as_deref(), Some("1700000000.0"));
    /// assert_eq!(transcript.key_messages(StringContent::Include).len(), 2);
    /// ```
    pub fn key_messages(&self, strings: StringContent) -> Vec<KeyMessage> {
        let mut messages = Vec::new();
        self.for_each(|entry| {
            let kind = entry.kind();
            if matches!(&*kind, "summary" | "file-history-snapshot" | "system") {
                return;
            }
            let message = entry.value.get("message");
            let time = message.and_then(|message| message.get("timestamp")).map(|time| time.raw());
            let timestamp = time.or(entry.timestamp()).map(plain);
            let mut add = |text: &str| {
                let text = text.trim();
                if !text.is_empty() {
                    let (kind, timestamp) = (kind.clone().into_owned(), timestamp.clone());
                    let text = text.to_owned();
                    messages.push(KeyMessage { idx: entry.idx, kind, text, timestamp });
                }
            };
            let content = message.and_then(|message| message.get("content")?.text());
            if let (Some(content), StringContent::Include) = (content, strings) {
                add(&content.decode());
            }
            for block in entry.raw_blocks() {
                let text = |name: &str| block.get(name).and_then(|value| value.text());
                if text("type").is_some_and(|kind| kind.is("text"))
                    && let Some(text) = text("text")
                {
                    add(&text.decode());
                }
            }
        });
        messages
    }

    /// Returns the distinct names of the plans (`~/.claude/plans/<slug>.md`), in order.
    pub fn slugs(&self) -> Vec<String> {
        self.distinct("slug")
    }

    /// Returns the distinct session ids of the entries, in order.
    pub fn session_ids(&self) -> Vec<String> {
        self.distinct("sessionId")
    }

    /// Returns the distinct strings that a member has, in order.
    fn distinct(&self, name: &str) -> Vec<String> {
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        self.for_each(|entry| {
            let Some(text) = entry.value.get(name).and_then(|value| value.text()) else { return };
            let text = text.decode();
            if !known.contains(&*text) {
                known.insert(text.clone().into_owned());
                found.push(text.into_owned());
            }
        });
        found
    }

    /// Returns whether the session is empty: it has fewer than three entries, no words of the user,
    /// or no words of the assistant. A tool call is not a word.
    pub fn is_empty(&self) -> bool {
        let (mut user, mut assistant) = (false, false);
        self.for_each(|entry| {
            let Some(message) = entry.event.message() else { return };
            if has_words(&message.content) {
                let said = if message.role == Role::User { &mut user } else { &mut assistant };
                *said = true;
            }
        });
        self.n_entries() < 3 || !user || !assistant
    }

    /// Returns whether the text of the first user's entry contains `warmup`, in any case.
    pub fn is_warmup(&self) -> bool {
        let mut entries = self.entries();
        while let Some(entry) = entries.next() {
            if entry.kind() == "user" {
                return is_warmup(&entry);
            }
        }
        false
    }
}

fn is_warmup(entry: &Entry<'_>) -> bool {
    let message = entry.event.message();
    message.is_some_and(|message| message.content.joined().to_lowercase().contains("warmup"))
}

fn has_words(content: &Content<'_>) -> bool {
    !matches!(content, Content::Other(_)) && !content.joined().trim().is_empty()
}
