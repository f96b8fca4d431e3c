//! Tells which records of a source are one response.
//!
//! In: two records with the message id `msg_1`. Out: equal keys.

use jsonl::Text;

use crate::{Event, IdHasher, Message};

/// The property that all records of a response share, as hashes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ResponseKey {
    /// The API's id of the response.
    Id(u64),
    /// The model and the sub-agent of consecutive records, for formats without ids.
    Run(Option<u64>, Option<u64>),
    /// None: each record is a response.
    #[default]
    Alone,
}

impl ResponseKey {
    /// Returns the key of a record; `hasher` computes the hashes.
    pub fn new(event: &Event<'_>, message: &Message<'_>, hasher: &IdHasher) -> Self {
        let hash = |text: Option<Text<'_>>| text.map(|text| hasher.hash_text(text));
        match message.id {
            Some(id) => Self::Id(hasher.hash_text(id)),
            // Codex and old SDKs write a response as one record for each block, without an id. Other formats without
            // ids (clido, old transcripts) have one record for a whole response.
            None if event.vocabulary.has_block_records => {
                Self::Run(hash(message.model), hash(event.context.parent_tool_use))
            }
            None => Self::Alone,
        }
    }

    /// Returns whether a record with this key continues a response with the key `of`, after which the output has
    /// nothing if `is_last`.
    ///
    /// ```
    /// use core_model::ResponseKey;
    ///
    /// let (id, run) = (ResponseKey::Id(1), ResponseKey::Run(Some(2), None));
    /// assert!(id.continues(id, false) && run.continues(run, true));
    /// assert!(!run.continues(run, false) && !run.continues(id, true));
    /// assert!(!ResponseKey::Alone.continues(ResponseKey::Alone, true));
    /// ```
    pub fn continues(self, of: Self, is_last: bool) -> bool {
        match self {
            Self::Id(_) => self == of,
            Self::Run(..) => self == of && is_last,
            Self::Alone => false,
        }
    }
}
