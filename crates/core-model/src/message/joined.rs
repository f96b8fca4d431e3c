//! The text of a content.
//!
//! In: `[{"type":"text","text":"a"},{"type":"image",..},{"type":"text","text":"b"}]`. Out: `a\nb`.

use std::borrow::Cow;

use crate::{Block, Content};

impl<'l> Content<'l> {
    /// Returns the texts, joined by newlines. A value without blocks is returned as written. A single text without
    /// escapes is borrowed.
    pub fn joined(&self) -> Cow<'l, str> {
        if let Content::Other(raw) = self {
            return Cow::Borrowed(if raw.is_null() { "" } else { raw.as_str() });
        }
        let texts = self.blocks().filter_map(|(block, _)| match block {
            Block::Text(text) => Some(text.decode()),
            _ => None,
        });
        texts
            .reduce(|mut joined, text| {
                let all = joined.to_mut();
                all.push('\n');
                all.push_str(&text);
                joined
            })
            .unwrap_or_default()
    }
}
