//! Finds the title of a session.
//!
//! In: `{"type":"ai-title","aiTitle":"A",..}`, `{"type":"custom-title","customTitle":"B",..}`. Out:
//! `B`, [`TitleSource::Custom`].

use core_model::{Body, TitleRank};

use super::Transcript;
use crate::prompt::FirstPrompt;

/// The title of a session and its source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionTitle {
    /// The text.
    pub text: String,
    /// The source.
    pub source: TitleSource,
}

/// The source of a title. Earlier variants have precedence.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum TitleSource {
    /// The last `custom-title`, which the user gave.
    Custom,
    /// The last `ai-title`, which a model gave.
    Model,
    /// The last `last-prompt`.
    LastPrompt,
    /// The last `summary`.
    Summary,
    /// The first prompt.
    FirstPrompt,
}

impl Transcript<'_> {
    /// Returns the first prompt as lists show it, at most 200 characters.
    ///
    /// The rules are the SDK's, applied to the whole file instead of its first 64 KiB.
    ///
    /// ```
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"user","isMeta":true,"message":{"content":"Caveat"}}
    /// {"type":"user","message":{"content":"<command-name>/clear</command-name>"}}
    /// {"type":"user","message":{"content":"Fix the\nparser"}}"#;
    /// let prompt = Transcript::from_slice(file).first_prompt();
    /// assert_eq!(prompt.as_deref(), Some("Fix the parser"));
    /// ```
    pub fn first_prompt(&self) -> Option<String> {
        let mut first = FirstPrompt::default();
        for place in &self.entries {
            let bytes = self.bytes.get(place.range.clone()).unwrap_or_default();
            if let Ok(line) = str::from_utf8(bytes)
                && let Some(prompt) = first.line(line)
            {
                return Some(prompt);
            }
        }
        first.finish()
    }

    /// Returns the title of the session: the user's title, else a model's, else the last prompt,
    /// else a summary, else the first prompt.
    ///
    /// ```
    /// use format_claude_code::{TitleSource, Transcript};
    ///
    /// let file = br#"{"type":"custom-title","customTitle":"Mine","sessionId":"s"}
    /// {"type":"ai-title","aiTitle":"Its","sessionId":"s"}
    /// {"type":"custom-title","customTitle":"Mine, later","sessionId":"s"}"#;
    /// let title = Transcript::from_slice(file).title().expect("a title");
    /// assert_eq!((title.text.as_str(), title.source), ("Mine, later", TitleSource::Custom));
    /// ```
    pub fn title(&self) -> Option<SessionTitle> {
        let mut best: Option<SessionTitle> = None;
        self.for_each(|entry| {
            let (text, source) = match entry.event.body {
                Body::Title(title) => match title.rank {
                    TitleRank::User => (Some(title.text), TitleSource::Custom),
                    TitleRank::Model => (Some(title.text), TitleSource::Model),
                    TitleRank::Summary => (Some(title.text), TitleSource::Summary),
                },
                Body::Other if entry.kind() == "last-prompt" => {
                    let prompt = entry.value.get("lastPrompt").and_then(|prompt| prompt.text());
                    (prompt, TitleSource::LastPrompt)
                }
                _ => return,
            };
            let Some(text) = text.filter(|text| !text.is_empty()) else { return };
            if best.as_ref().is_none_or(|best| source <= best.source) {
                best = Some(SessionTitle { text: text.decode().into_owned(), source });
            }
        });
        best.or_else(|| {
            let text = self.first_prompt()?;
            Some(SessionTitle { text, source: TitleSource::FirstPrompt })
        })
    }
}
