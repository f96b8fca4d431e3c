//! A notice of the client.

use jsonl::{Raw, Text};

/// A notice of the client.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'l> {
    /// The kind of the notice.
    pub kind: NoticeKind,
    /// The format's own name for the kind.
    pub subtype: Option<Text<'l>>,
    /// The subject of the text, such as the path of a file.
    pub about: Option<Text<'l>>,
    /// The text, or another value in its place.
    pub text: Option<Raw<'l>>,
    /// The trigger of a compaction.
    pub trigger: Option<Text<'l>>,
    /// The tokens in the context before a compaction.
    pub pre_tokens: Option<Raw<'l>>,
}

impl<'l> Notice<'l> {
    /// Returns the text, or another value in its place, unless it is `null`.
    pub fn words(&self) -> Option<Raw<'l>> {
        self.text.filter(|text| !text.is_null())
    }

    /// Returns the tokens in the context before a compaction, if they are a number.
    pub fn pre_token_count(&self) -> Option<Raw<'l>> {
        self.pre_tokens.filter(|tokens| tokens.as_f64().is_some())
    }
}

/// The kind of a notice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NoticeKind {
    /// The context was compacted here.
    Compaction,
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// Any other notice.
    Info,
}

impl NoticeKind {
    /// Returns the name of the kind, as writers of notices have it.
    ///
    /// ```
    /// assert_eq!(core_model::NoticeKind::Compaction.name(), "compaction");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            NoticeKind::Compaction => "compaction",
            NoticeKind::Error => "error",
            NoticeKind::Warning => "warning",
            NoticeKind::Info => "info",
        }
    }
}
