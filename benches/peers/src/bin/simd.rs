//! The simpler job with simd-json: typed records that borrow their texts, written with serde.

use std::{borrow::Cow, fmt, io};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{SeqAccess, Visitor},
};
use simd_json::OwnedValue;

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'l>>,
    #[serde(borrow)]
    message: Option<Message<'l>>,
}

#[derive(Deserialize)]
struct Message<'l> {
    #[serde(borrow)]
    content: Option<Content<'l>>,
}

#[derive(Deserialize)]
struct Block<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'l>>,
    #[serde(borrow)]
    text: Option<Str<'l>>,
    #[serde(borrow)]
    thinking: Option<Str<'l>>,
    #[serde(borrow)]
    id: Option<Str<'l>>,
    #[serde(borrow)]
    name: Option<Str<'l>>,
    input: Option<OwnedValue>,
    #[serde(borrow)]
    tool_use_id: Option<Str<'l>>,
    #[serde(borrow)]
    content: Option<Content<'l>>,
    is_error: Option<bool>,
    #[serde(borrow)]
    source: Option<Source<'l>>,
}

#[derive(Deserialize)]
struct Source<'l> {
    #[serde(borrow)]
    media_type: Option<Str<'l>>,
    #[serde(borrow)]
    data: Option<Str<'l>>,
}

/// A text that is copied only if it has escapes; serde would copy each `Option<Cow<str>>`.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct Str<'l>(#[serde(borrow)] Cow<'l, str>);

/// A text, or blocks.
enum Content<'l> {
    Text(Str<'l>),
    Blocks(Vec<Block<'l>>),
}

/// A line of clido.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'v> {
    AssistantMessage { content: Vec<Made<'v>> },
    UserMessage { role: &'static str, content: Vec<Made<'v>> },
    ToolCall { tool_use_id: Member<'v>, tool_name: Member<'v>, input: &'v Option<OwnedValue> },
    ToolResult { tool_use_id: Member<'v>, content: Cow<'v, str>, is_error: bool },
}

/// A block of a line of clido.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Made<'v> {
    Text { text: Option<&'v Str<'v>> },
    Thinking { thinking: Member<'v> },
    ToolUse { id: Member<'v>, name: Member<'v>, input: &'v Option<OwnedValue> },
    Image { media_type: Member<'v>, base64_data: Member<'v> },
}

type Member<'v> = &'v Option<Str<'v>>;

fn main() -> io::Result<()> {
    let mut buffers = simd_json::Buffers::new(1 << 20);
    peers::run(|line, out| {
        let record: Record = simd_json::serde::from_slice_with_buffers(line, &mut buffers).ok()?;
        let Some(content) = record.message.and_then(|message| message.content) else {
            return Some(());
        };
        match is(&record.kind) {
            "assistant" => assistant(&content, out),
            "user" => user(&content, out),
            _ => {}
        }
        Some(())
    })
}

fn assistant(content: &Content<'_>, out: &mut Vec<u8>) {
    push(out, &Line::AssistantMessage { content: made(content) });
    for call in blocks(content).iter().filter(|block| is(&block.kind) == "tool_use") {
        let (tool_use_id, tool_name, input) = (&call.id, &call.name, &call.input);
        push(out, &Line::ToolCall { tool_use_id, tool_name, input });
    }
}

fn user(content: &Content<'_>, out: &mut Vec<u8>) {
    for result in blocks(content).iter().filter(|block| is(&block.kind) == "tool_result") {
        let is_error = result.is_error.unwrap_or(false);
        let content = flat(&result.content);
        push(out, &Line::ToolResult { tool_use_id: &result.tool_use_id, content, is_error });
    }
    let content = made(content);
    if !content.is_empty() {
        push(out, &Line::UserMessage { role: "user", content });
    }
}

/// Returns the blocks that both formats have.
fn made<'v>(content: &'v Content<'v>) -> Vec<Made<'v>> {
    match content {
        Content::Text(text) => vec![Made::Text { text: Some(text) }],
        Content::Blocks(blocks) => blocks.iter().filter_map(made_block).collect(),
    }
}

fn made_block<'v>(block: &'v Block<'v>) -> Option<Made<'v>> {
    Some(match is(&block.kind) {
        "text" => Made::Text { text: block.text.as_ref() },
        "thinking" => Made::Thinking { thinking: &block.thinking },
        "tool_use" => Made::ToolUse { id: &block.id, name: &block.name, input: &block.input },
        "image" => {
            let source = block.source.as_ref()?;
            Made::Image { media_type: &source.media_type, base64_data: &source.data }
        }
        _ => return None,
    })
}

/// Returns the content of a result as one text.
fn flat<'v>(content: &'v Option<Content<'v>>) -> Cow<'v, str> {
    match content {
        Some(Content::Text(text)) => Cow::Borrowed(&text.0),
        Some(Content::Blocks(blocks)) => {
            let texts = blocks.iter().filter(|block| is(&block.kind) == "text");
            let texts: Vec<&str> = texts.map(|block| is(&block.text)).collect();
            Cow::Owned(texts.join("\n"))
        }
        None => Cow::Borrowed(""),
    }
}

fn blocks<'v>(content: &'v Content<'v>) -> &'v [Block<'v>] {
    match content {
        Content::Text(_) => &[],
        Content::Blocks(blocks) => blocks,
    }
}

/// Returns the text; an empty one if it is missing.
fn is<'v>(text: &'v Option<Str<'v>>) -> &'v str {
    text.as_ref().map_or("", |text| &text.0)
}

fn push(out: &mut Vec<u8>, line: &Line<'_>) {
    simd_json::serde::to_writer(&mut *out, line).expect("a vector can always be written");
    out.push(b'\n');
}

impl<'de: 'l, 'l> Deserialize<'de> for Content<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Str(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Str(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
}
