//! Reads the parts of Google's messages, which Gemini CLI and Qwen Code write.
//!
//! In: `{"functionCall":{"id":"c1","name":"read_file","args":{"path":"a"}}}`. Out: a [`Block`] with
//! the tool use `c1`.

use core_model::{Block, Content, Field, Input, Tokens, ToolResult, ToolUse};
use jsonl::{Raw, Text, Value};

/// Reads a part.
///
/// ```
/// use format_gemini::core_model::Block;
///
/// let mut scanner = jsonl::Scanner::default();
/// let part = scanner.scan_slice(br#"{"text":"Hm.","thought":true}"#, 0)?;
/// assert!(matches!(format_gemini::read_part(part), Block::Thinking { .. }));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn read_part(part: Value<'_>) -> Block<'_> {
    if let Some(text) = part.text() {
        return Block::Text(text);
    }
    let [words, thought, call, response, inline] =
        part.get_all(["text", "thought", "functionCall", "functionResponse", "inlineData"]);
    let block = if let Some(call) = call {
        read_call(call)
    } else if let Some(response) = response {
        read_response(response)
    } else if let Some(inline) = inline {
        read_inline(inline)
    } else {
        words.and_then(|words| words.text()).map(|text| {
            match thought.and_then(|thought| thought.bool()) {
                Some(true) => Block::Thinking { text, signature: member(part, "thoughtSignature") },
                _ => Block::Text(text),
            }
        })
    };
    block.unwrap_or(Block::Other { kind: None, raw: part.raw() })
}

/// Reads a part of a message whose call failed, if only the message says so.
pub(crate) fn read_failed_part(part: Value<'_>) -> Block<'_> {
    match read_part(part) {
        Block::ToolResult(result) => {
            Block::ToolResult(ToolResult { is_error: Field::Value(true), ..result })
        }
        block => block,
    }
}

fn read_call(call: Value<'_>) -> Option<Block<'_>> {
    let [id, name, args] = call.get_all(["id", "name", "args"]);
    let (id, name) = (id?.text()?, name?.text()?);
    let input = Input::Json(args.map_or(Raw::EMPTY_OBJECT, |args| args.raw()));
    Some(Block::ToolUse(ToolUse { id, name: name.into(), input, is_server: false }))
}

fn read_response(response: Value<'_>) -> Option<Block<'_>> {
    let [id, inner, parts] = response.get_all(["id", "response", "parts"]);
    let id = id?.text()?;
    let [output, error] = match inner {
        Some(inner) => inner.get_all(["output", "error"]),
        None => [None, None],
    };
    let content = match (error.or(output).or(inner), parts.filter(|parts| parts.is_array())) {
        (Some(words), Some(parts)) => Content::after((words, read_words), parts, read_part),
        (None, Some(parts)) => Content::new(Some(parts), read_part),
        (words, None) => Content::new(words, read_part),
    };
    let is_error = match (error, output) {
        (Some(_), _) => Field::Value(true),
        (None, Some(_)) => Field::Value(false),
        (None, None) => Field::Absent,
    };
    Some(Block::ToolResult(ToolResult::new(id, content, is_error)))
}

/// Reads the words of a result before its pictures.
fn read_words(words: Value<'_>) -> Block<'_> {
    match words.text() {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: words.raw() },
    }
}

fn read_inline(inline: Value<'_>) -> Option<Block<'_>> {
    let [media_type, data] = inline.get_all(["mimeType", "data"]);
    let (media_type, data) = (media_type?.text()?, data?.text()?);
    if !media_type.body().starts_with("image/") {
        return None;
    }
    Some(Block::Image { media_type: media_type.into(), data: data.into() })
}

/// Returns the string in a member of an object.
pub(crate) fn member<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

/// Reads the tokens of a response as Google's API counts them: the input contains the cache. Of some
/// models the output contains the thoughts, which the total tells.
pub(crate) fn read_usage(usage: Value<'_>) -> Tokens {
    let count = |name| usage.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let (prompt, cached) = (count("promptTokenCount"), count("cachedContentTokenCount"));
    let (said, thought) = (count("candidatesTokenCount"), count("thoughtsTokenCount"));
    let is_beside = prompt.saturating_add(said).saturating_add(thought) <= count("totalTokenCount");
    Tokens {
        input: prompt.saturating_sub(cached),
        output: if is_beside { said.saturating_add(thought) } else { said },
        cache_read: cached,
        cache_creation: 0,
    }
}
