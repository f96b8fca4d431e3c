//! A content block that owns its data.
//!
//! In: `{"text":"Hi","type":"text"}`. Out: `ContentBlock::Text` with `Hi`, which encodes to the
//! same bytes.

use jsonl::{RawBuf, Scanner, json_string};

use crate::validate::is_resumable;

/// A content block of one of the five types that clido resumes with.
///
/// ```
/// use format_clido::ContentBlock;
///
/// let block = jsonl::RawBuf::new(r#"{"type":"text","text":"caf\u00e9"}"#)?;
/// let decoded = ContentBlock::decode(&block).expect("a block");
/// assert_eq!(decoded, ContentBlock::Text { text: "café".to_owned() });
/// assert_eq!(decoded.encode().as_str(), r#"{"text":"café","type":"text"}"#);
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ContentBlock {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A tool use.
    ToolUse {
        /// The id.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input of the tool.
        input: RawBuf,
    },
    /// A tool result.
    ToolResult {
        /// The id of the tool use.
        tool_use_id: String,
        /// The output of the tool.
        content: String,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// The model's reasoning.
    Thinking {
        /// The reasoning.
        thinking: String,
    },
    /// A picture.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The picture in base64.
        base64_data: String,
    },
}

impl ContentBlock {
    /// Decodes a block; `None` for a block that clido shows but does not resume with. Members that
    /// clido does not know are left out.
    pub fn decode(block: &RawBuf) -> Option<Self> {
        let mut scanner = Scanner::default();
        let value = scanner.scan_raw(block.as_raw()).ok()?;
        if !is_resumable(value) {
            return None;
        }
        let raw = |name| value.get(name).map(|member| RawBuf::from(member.raw()));
        let text = |name| Some(value.get(name)?.text()?.decode().into_owned());
        Some(match &*value.get("type")?.text()?.decode() {
            "text" => Self::Text { text: text("text")? },
            "tool_use" => {
                Self::ToolUse { id: text("id")?, name: text("name")?, input: raw("input")? }
            }
            "tool_result" => Self::ToolResult {
                tool_use_id: text("tool_use_id")?,
                content: text("content")?,
                is_error: value.get("is_error")?.bool()?,
            },
            "thinking" => Self::Thinking { thinking: text("thinking")? },
            "image" => {
                Self::Image { media_type: text("media_type")?, base64_data: text("base64_data")? }
            }
            _ => return None,
        })
    }

    /// Returns the block as clido writes it, with its members in alphabetical order.
    pub fn encode(&self) -> RawBuf {
        let written = match self {
            Self::Text { text } => {
                object(&[("text", json_string(text)), ("type", json_string("text"))])
            }
            Self::ToolUse { id, name, input } => object(&[
                ("id", json_string(id)),
                ("input", input.as_str().to_owned()),
                ("name", json_string(name)),
                ("type", json_string("tool_use")),
            ]),
            Self::ToolResult { tool_use_id, content, is_error } => object(&[
                ("content", json_string(content)),
                ("is_error", is_error.to_string()),
                ("tool_use_id", json_string(tool_use_id)),
                ("type", json_string("tool_result")),
            ]),
            Self::Thinking { thinking } => {
                object(&[("thinking", json_string(thinking)), ("type", json_string("thinking"))])
            }
            Self::Image { media_type, base64_data } => object(&[
                ("base64_data", json_string(base64_data)),
                ("media_type", json_string(media_type)),
                ("type", json_string("image")),
            ]),
        };
        RawBuf::new(written).expect("an object of strings and of one value that is JSON")
    }
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}
