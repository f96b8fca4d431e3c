//! The text of a content.
//!
//! In: `[{"type":"text","text":"a"},{"type":"image",..},{"type":"text","text":"b"}]`. Out: `a\nb`.

use crate::{Block, Content};

impl Content<'_> {
    /// Returns the texts, joined by newlines. A value without blocks is returned as written.
    pub fn joined(&self) -> String {
        if let Content::Other(raw) = self {
            return if raw.is_null() { String::new() } else { raw.as_str().to_owned() };
        }
        let mut joined = String::new();
        let mut is_first = true;
        for (block, _) in self.blocks() {
            let Block::Text(text) = block else { continue };
            if !std::mem::take(&mut is_first) {
                joined.push('\n');
            }
            joined.push_str(&text.decode());
        }
        joined
    }
}
