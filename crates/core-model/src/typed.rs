//! Structs for the parts of records that come from the API: messages, usage, blocks.
//!
//! In: `{"role":"user","content":"Hi"}`. Out: a [`TypedMessage`] with `role` and `content`, which
//! serializes to the same bytes.

use jsonl::{Item, Member, Number, RawBuf, serde, typed_record};

typed_record! {
    /// A message of the API.
    pub struct TypedMessage {
        id: String = "id",
        kind: String = "type",
        role: String = "role",
        model: String = "model",
        content: TypedContent = "content",
        stop_reason: String = "stop_reason",
        stop_sequence: String = "stop_sequence",
        usage: TypedUsage = "usage",
    }
}

typed_record! {
    /// The tokens of a response.
    pub struct TypedUsage {
        input_tokens: Number = "input_tokens",
        output_tokens: Number = "output_tokens",
        cache_creation_input_tokens: Number = "cache_creation_input_tokens",
        cache_read_input_tokens: Number = "cache_read_input_tokens",
        service_tier: String = "service_tier",
    }
}

typed_record! {
    /// A block of a message, of any type. Members of other types are `None`.
    pub struct TypedBlock {
        kind: String = "type",
        text: String = "text",
        thinking: String = "thinking",
        signature: String = "signature",
        id: String = "id",
        name: String = "name",
        input: RawBuf = "input",
        tool_use_id: String = "tool_use_id",
        content: RawBuf = "content",
        is_error: bool = "is_error",
        source: RawBuf = "source",
        data: String = "data",
    }
}

/// The content of a message: a text, or blocks of the API or of another format.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedContent<B = TypedBlock> {
    /// A text.
    Text(String),
    /// Blocks. An item that is not an object is kept as written.
    Blocks(Vec<Item<B>>),
}

impl<B> TypedContent<B> {
    /// Returns the blocks. A text has none.
    pub fn blocks(&self) -> impl Iterator<Item = &B> {
        let blocks = match self {
            TypedContent::Text(_) => &[],
            TypedContent::Blocks(blocks) => blocks.as_slice(),
        };
        blocks.iter().filter_map(Item::typed)
    }
}

impl<B: Member> Member for TypedContent<B> {
    fn from_text(text: &str) -> Option<Self> {
        Some(TypedContent::Text(text.to_owned()))
    }

    fn from_seq<'de, A: serde::de::SeqAccess<'de>>(
        seq: A,
    ) -> Result<Result<Self, RawBuf>, A::Error> {
        Ok(Vec::from_seq(seq)?.map(TypedContent::Blocks))
    }
}

impl<B: Member + serde::Serialize> serde::Serialize for TypedContent<B> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TypedContent::Text(text) => text.serialize(serializer),
            TypedContent::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}
