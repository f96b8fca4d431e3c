//! The text of a content.
//!
//! In: `[{"type":"text","text":"a"},{"type":"image",..},{"type":"text","text":"b"}]`. Out: `a\nb`.

use std::borrow::Cow;

use jsonl::TextBuf;

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

    /// Returns what [`Content::joined`] does. A text with escapes, or several, are in `buf` then.
    pub fn joined_into<'b>(&self, buf: &'b mut TextBuf) -> &'b str
    where
        'l: 'b,
    {
        if let Content::Other(raw) = self {
            return if raw.is_null() { "" } else { raw.as_str() };
        }
        let mut texts = self.blocks().filter_map(|(block, _)| match block {
            Block::Text(text) => Some(text),
            _ => None,
        });
        let Some(first) = texts.next() else { return "" };
        let Some(second) = texts.next() else { return buf.decode(first) };
        buf.clear();
        buf.push_text(first);
        for text in [second].into_iter().chain(texts) {
            buf.push_str("\n");
            buf.push_text(text);
        }
        buf.as_str()
    }
}

#[cfg(test)]
mod tests {
    use jsonl::{Scanner, Value};

    use super::*;

    fn read(value: Value<'_>) -> Block<'_> {
        match value.get("text").and_then(|text| text.text()) {
            Some(text) => Block::Text(text),
            None => Block::Other { kind: None, raw: value.raw() },
        }
    }

    #[test]
    fn a_buffer_gets_the_joined_texts() {
        let (mut scanner, mut buf) = (Scanner::default(), TextBuf::default());
        for (written, expected) in [
            (r#""a\tb""#, "a\tb"),
            (r#"[{"text":"a"},{"x":1},{"text":"\u00e9"},{"text":""}]"#, "a\né\n"),
            (r#"[{"text":"a\n"}]"#, "a\n"),
            ("[]", ""),
            ("null", ""),
            ("{\"a\": 1}", "{\"a\": 1}"),
        ] {
            let value = scanner.scan_slice(written.as_bytes(), 0).expect("JSON");
            let content = Content::new(Some(value), read);
            assert_eq!(content.joined_into(&mut buf), expected);
            assert_eq!(content.joined(), expected);
        }
        assert_eq!(Content::Absent.joined_into(&mut buf), "");
    }
}
