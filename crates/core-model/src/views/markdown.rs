//! A session as Markdown, sub-agents as quotes in quotes (seed 004).

mod pretty;

use std::fmt::Write;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use self::pretty::pretty;
use super::event_millis;
use crate::{Block, Body, Content, Event, Message, NoticeKind, Role, ToolResult};

/// Prints events as Markdown.
///
/// ```
/// use core_model::quoted;
///
/// assert_eq!(quoted("Line 1\nLine 2", 1), "> Line 1\n> Line 2");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Markdown<'m> {
    /// What the assistant is called.
    pub assistant: &'m str,
    /// Whether reasoning is printed.
    pub with_thinking: bool,
    /// Whether tools' inputs and results are printed; else the name of the tool alone.
    pub with_tools: bool,
}

impl Default for Markdown<'_> {
    fn default() -> Self {
        Self { assistant: "Claude", with_thinking: true, with_tools: true }
    }
}

/// Returns a text as a quote of some depth (seed 004): `"> " * depth` before each line.
pub fn quoted(text: &str, depth: usize) -> String {
    let prefix = "> ".repeat(depth);
    format!("{prefix}{}", text.replace('\n', &format!("\n{prefix}")))
}

/// Returns a time as `2026-01-17 20:32:00`, in UTC; `Unknown time` if there is none.
///
/// ```
/// assert_eq!(core_model::shown_time(Some(1_768_681_919_197)), "2026-01-17 20:31:59");
/// ```
pub fn shown_time(millis: Option<i64>) -> String {
    let time = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(
        || "Unknown time".to_owned(),
        |time| time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// Returns a time with an offset from UTC as its own clock shows it.
fn in_its_zone(time: &str) -> Option<String> {
    let is_offset = !time.ends_with(['Z', 'z']) && time.parse::<Timestamp>().is_ok();
    let time = is_offset.then(|| time.parse::<DateTime>().ok()).flatten()?;
    Some(time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

impl Markdown<'_> {
    /// Appends an event, if there is anything to show of it: a header, the words, and an empty line.
    ///
    /// `mode` is what a sub-agent is called, such as `Plan Mode`.
    pub fn event(&self, event: &Event<'_>, depth: usize, mode: Option<&str>, out: &mut String) {
        let text = match &event.body {
            Body::Message(message) => self.message(event, message, depth, mode),
            Body::Notice(notice) if notice.kind == NoticeKind::Compaction => {
                let line = "─".repeat(40);
                Some(format!("{line}\n*The context was compacted here.*"))
            }
            // What the client tells the model of a file, or the plan.
            Body::Notice(notice) => notice.about.map(|about| {
                let subtype = notice.subtype.map(|subtype| subtype.decode().into_owned());
                let told = format!("*{}* {}", subtype.unwrap_or_default(), code(&about.decode()));
                let words = notice.text.map(|raw| match raw.as_text() {
                    Some(text) => fenced("text", &text.decode()),
                    None => fenced("json", &pretty(raw.as_str())),
                });
                let header = header("Client", event, depth);
                [Some(header), Some(told), words]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n")
            }),
            _ => None,
        };
        if let Some(text) = text {
            out.push_str(&quoted(&text, depth));
            out.push_str("\n\n");
        }
    }

    fn message(
        &self,
        event: &Event<'_>,
        message: &Message<'_>,
        depth: usize,
        mode: Option<&str>,
    ) -> Option<String> {
        let mut parts = Vec::new();
        match message.content {
            Content::Absent => parts.push("(Empty)".to_owned()),
            Content::Other(raw) if raw.is_null() => parts.push("(Empty)".to_owned()),
            Content::Other(raw) => parts.push(fenced("json", &pretty(raw.as_str()))),
            Content::Text(_) | Content::Blocks(_) => {
                let blocks = message.blocks();
                parts.extend(blocks.map(|(block, _)| self.block(block)));
                if parts.is_empty() {
                    parts.push("(No content)".to_owned());
                }
                parts.retain(|part| !part.is_empty());
            }
        }
        if parts.is_empty() {
            return None;
        }
        let speaker = match (message.role, mode) {
            _ if message.is_by_client() => "Client".to_owned(),
            (Role::User, _) => "User".to_owned(),
            (Role::Assistant, None) => self.assistant.to_owned(),
            (Role::Assistant, Some(mode)) => format!("{} ({mode})", self.assistant),
        };
        Some(format!("{}\n{}", header(&speaker, event, depth), parts.join("\n\n")))
    }

    /// Returns a block; nothing, if it is not to be shown.
    fn block(&self, block: Block<'_>) -> String {
        match block {
            Block::Text(text) => text.decode().into_owned(),
            Block::Thinking { text, .. } if self.with_thinking && !text.is_empty() => {
                quoted(&format!("[!NOTE] Thinking Process\n{}", text.decode()), 1)
            }
            Block::Thinking { .. } => String::new(),
            Block::ToolUse(tool) if self.with_tools => {
                let (id, name) = (code(&tool.id.decode()), code(&tool.name.decode()));
                let input = fenced("json", &pretty(tool.input.as_str()));
                format!("**Tool Use**: {name} (ID: {id})\n{input}")
            }
            Block::ToolUse(tool) => format!("**Tool**: {}", code(&tool.name.decode())),
            Block::ToolResult(result) if self.with_tools => tool_result(&result),
            Block::ToolResult(_) => String::new(),
            Block::Image { media_type, .. } => format!("(Image: {})", code(&media_type.decode())),
            Block::Other { raw, .. } => fenced("json", &pretty(raw.as_str())),
        }
    }
}

/// Returns who speaks, and when.
fn header(speaker: &str, event: &Event<'_>, depth: usize) -> String {
    let written = event.context.time.and_then(|time| time.as_text());
    let own = written.and_then(|time| in_its_zone(&time.decode()));
    let time = own.unwrap_or_else(|| shown_time(event_millis(event)));
    if depth == 0 { format!("## {speaker} ({time})") } else { format!("**{speaker}** ({time})") }
}

fn tool_result(result: &ToolResult<'_>) -> String {
    let id = code(&result.tool_use_id.decode());
    let error = if result.is_error.value() == Some(true) { " (error)" } else { "" };
    let mut text = String::new();
    match result.content {
        Content::Text(_) | Content::Other(_) | Content::Absent => {
            text = result.content.joined();
        }
        Content::Blocks(blocks) => {
            for (block, raw) in blocks {
                if !text.is_empty() {
                    text.push('\n');
                }
                match block {
                    Block::Text(words) => text.push_str(&words.decode()),
                    Block::Image { media_type, .. } => {
                        _ = write!(text, "(Image: {})", media_type.decode());
                    }
                    _ => text.push_str(&pretty(raw.as_str())),
                }
            }
        }
    }
    let text = if text.is_empty() { "(No content)".to_owned() } else { text };
    format!("**Tool Result** ({id}){error}:\n{}", fenced("text", &text))
}

/// Returns a text between fences that are longer than any run of backticks in it.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns a text as code within a line.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    match longest_run(&text) {
        0 => format!("`{text}`"),
        longest => {
            let ticks = "`".repeat(longest + 1);
            format!("{ticks} {text} {ticks}")
        }
    }
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r004_20_quotes_to_the_character() {
        assert_eq!(quoted("a\n\nb", 1), "> a\n> \n> b");
        assert_eq!(quoted("", 1), "> ");
        assert_eq!(quoted("a\r\nb", 1), "> a\r\n> b");
        assert_eq!(quoted("a\n", 1), "> a\n> ");
        assert_eq!(quoted("a\nb", 0), "a\nb");
        assert_eq!(quoted("a\nb", 2), "> > a\n> > b");
    }

    #[test]
    fn r004_12_times_and_r004_16_without() {
        assert_eq!(shown_time(Some(1768681919197)), "2026-01-17 20:31:59");
        assert_eq!(shown_time(None), "Unknown time");
        assert_eq!(shown_time(Some(i64::MAX)), "Unknown time");
        let own = in_its_zone("2026-01-17T20:31:59.197+02:00");
        assert_eq!(own.as_deref(), Some("2026-01-17 20:31:59"));
        assert_eq!((in_its_zone("2026-01-17T20:31:59Z"), in_its_zone("soon")), (None, None));
    }

    #[test]
    fn r004_22_fences_are_longer_than_any_inside() {
        assert_eq!(fenced("text", "a"), "```text\na\n```");
        assert_eq!(fenced("text", "````\na"), "`````text\n````\na\n`````");
        assert_eq!((code("a").as_str(), code("a`b").as_str()), ("`a`", "`` a`b ``"));
    }
}
