//! Tells which lines of a source are one response.
//!
//! In: two lines with the message id `msg_1`. Out: equal keys.

use core_model::{Event, IdHasher, Message};
use jsonl::Text;

/// The property that all lines of a response share, as hashes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Key {
    /// The API's id of the response.
    Id(u64),
    /// The model and the sub-agent of consecutive lines, for streams without ids.
    Run(Option<u64>, Option<u64>),
    /// None: each line is a response.
    #[default]
    Alone,
}

impl Key {
    /// Returns the key of a line.
    pub(crate) fn of(event: &Event<'_>, message: &Message<'_>, hasher: &IdHasher) -> Self {
        let hash = |text: Option<Text<'_>>| text.map(|text| hasher.hash_text(text));
        match message.id {
            Some(id) => Key::Id(hasher.hash_text(id)),
            // Codex and old SDKs write a response as one line for each block, without an id.
            None if event.vocabulary.has_block_records => {
                Key::Run(hash(message.model), hash(event.context.parent_tool_use))
            }
            None => Key::Alone,
        }
    }

    /// Returns whether a line with this key continues a response with the key `of`, after which
    /// nothing was written if `is_last`.
    pub(crate) fn continues(self, of: Key, is_last: bool) -> bool {
        match self {
            Key::Id(_) => self == of,
            Key::Run(..) => self == of && is_last,
            Key::Alone => false,
        }
    }
}
