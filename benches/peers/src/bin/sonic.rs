//! The simpler job with sonic-rs: typed records of lazy values, whose bytes are copied.

use std::{borrow::Cow, io};

use serde::Deserialize;
use sonic_rs::{JsonValueTrait, LazyValue};

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow)]
    message: Option<Message<'l>>,
}

#[derive(Deserialize)]
struct Message<'l> {
    #[serde(borrow)]
    content: Option<LazyValue<'l>>,
}

#[derive(Deserialize)]
struct Block<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow)]
    text: Option<LazyValue<'l>>,
    #[serde(borrow)]
    thinking: Option<LazyValue<'l>>,
    #[serde(borrow)]
    id: Option<LazyValue<'l>>,
    #[serde(borrow)]
    name: Option<LazyValue<'l>>,
    #[serde(borrow)]
    input: Option<LazyValue<'l>>,
    #[serde(borrow)]
    tool_use_id: Option<LazyValue<'l>>,
    #[serde(borrow)]
    content: Option<LazyValue<'l>>,
    is_error: Option<bool>,
    #[serde(borrow)]
    source: Option<Source<'l>>,
}

#[derive(Deserialize)]
struct Source<'l> {
    #[serde(borrow)]
    media_type: Option<LazyValue<'l>>,
    #[serde(borrow)]
    data: Option<LazyValue<'l>>,
}

#[derive(Deserialize)]
struct TextBlock<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
    #[serde(borrow)]
    text: Option<Cow<'l, str>>,
}

fn main() -> io::Result<()> {
    peers::run(|line, out| {
        let record: Record = sonic_rs::from_slice(line).ok()?;
        let Some(content) = record.message.and_then(|message| message.content) else {
            return Some(());
        };
        match record.kind.as_deref() {
            Some("assistant") => assistant(&content, out),
            Some("user") => user(&content, out),
            _ => Some(()),
        }
    })
}

fn assistant(content: &LazyValue<'_>, out: &mut Vec<u8>) -> Option<()> {
    let blocks = blocks(content)?;
    out.extend_from_slice(b"{\"type\":\"assistant_message\",\"content\":[");
    push_blocks(out, content, &blocks);
    out.extend_from_slice(b"]}\n");
    for call in blocks.iter().filter(|block| block.kind.as_deref() == Some("tool_use")) {
        member(out, b"{\"type\":\"tool_call\",\"tool_use_id\":", &call.id);
        member(out, b",\"tool_name\":", &call.name);
        member(out, b",\"input\":", &call.input);
        out.extend_from_slice(b"}\n");
    }
    Some(())
}

fn user(content: &LazyValue<'_>, out: &mut Vec<u8>) -> Option<()> {
    let blocks = blocks(content)?;
    for result in blocks.iter().filter(|block| block.kind.as_deref() == Some("tool_result")) {
        member(out, b"{\"type\":\"tool_result\",\"tool_use_id\":", &result.tool_use_id);
        out.extend_from_slice(b",\"content\":");
        match &result.content {
            Some(content) if content.is_str() => push_raw(out, content),
            Some(content) if content.is_array() => push_flat(out, content)?,
            _ => out.extend_from_slice(b"\"\""),
        }
        let is_error = if result.is_error == Some(true) { "true" } else { "false" };
        out.extend_from_slice(b",\"is_error\":");
        out.extend_from_slice(is_error.as_bytes());
        out.extend_from_slice(b"}\n");
    }
    let start = out.len();
    out.extend_from_slice(b"{\"type\":\"user_message\",\"role\":\"user\",\"content\":[");
    if push_blocks(out, content, &blocks) {
        out.extend_from_slice(b"]}\n");
    } else {
        out.truncate(start);
    }
    Some(())
}

fn blocks<'v>(content: &'v LazyValue<'_>) -> Option<Vec<Block<'v>>> {
    if !content.is_array() {
        return Some(Vec::new());
    }
    sonic_rs::from_str(content.as_raw_str()).ok()
}

/// Writes the blocks that both formats have, and returns whether there was one.
fn push_blocks(out: &mut Vec<u8>, content: &LazyValue<'_>, blocks: &[Block<'_>]) -> bool {
    let start = out.len();
    if content.is_str() {
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        push_raw(out, content);
        out.extend_from_slice(b"},");
    }
    for block in blocks {
        match block.kind.as_deref() {
            Some("text") => member(out, b"{\"type\":\"text\",\"text\":", &block.text),
            Some("thinking") => {
                member(out, b"{\"type\":\"thinking\",\"thinking\":", &block.thinking);
            }
            Some("tool_use") => {
                member(out, b"{\"type\":\"tool_use\",\"id\":", &block.id);
                member(out, b",\"name\":", &block.name);
                member(out, b",\"input\":", &block.input);
            }
            Some("image") => {
                let Some(source) = &block.source else { continue };
                member(out, b"{\"type\":\"image\",\"media_type\":", &source.media_type);
                member(out, b",\"base64_data\":", &source.data);
            }
            _ => continue,
        }
        out.extend_from_slice(b"},");
    }
    if out.len() > start {
        out.pop();
    }
    out.len() > start
}

/// Writes the texts of a result as one text.
fn push_flat(out: &mut Vec<u8>, content: &LazyValue<'_>) -> Option<()> {
    let blocks: Vec<TextBlock<'_>> = sonic_rs::from_str(content.as_raw_str()).ok()?;
    let texts = blocks.into_iter().filter(|block| block.kind.as_deref() == Some("text"));
    let texts: Vec<_> = texts.filter_map(|block| block.text).collect();
    out.extend(sonic_rs::to_vec(&texts.join("\n")).ok()?);
    Some(())
}

fn member(out: &mut Vec<u8>, name: &[u8], value: &Option<LazyValue<'_>>) {
    out.extend_from_slice(name);
    match value {
        Some(value) => push_raw(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

fn push_raw(out: &mut Vec<u8>, value: &LazyValue<'_>) {
    out.extend_from_slice(value.as_raw_str().as_bytes());
}
