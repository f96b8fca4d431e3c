//! Prints a session as Markdown, with sub-agents as nested quotes.

mod pretty;

use std::fmt::{self, Write};

use self::pretty::write_pretty;
use super::event_millis;
use crate::{
    Block, Body, Content, Event, Message, Notice, NoticeKind, Role, ToolResult,
    time::{in_its_zone, shown_clock},
};

/// Printer of events as Markdown.
///
/// ```
/// use core_model::quoted;
///
/// assert_eq!(quoted("Line 1\nLine 2", 1), "> Line 1\n> Line 2");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Markdown<'m> {
    /// The name of the assistant.
    pub assistant: &'m str,
    /// Whether thinking is printed.
    pub with_thinking: bool,
    /// Whether inputs and results of tools are printed; else only the name of the tool.
    pub with_tools: bool,
}

impl Default for Markdown<'_> {
    fn default() -> Self {
        Self { assistant: "Claude", with_thinking: true, with_tools: true }
    }
}

/// Returns a text as a quote of some depth: `> ` repeated before each line.
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
    millis.and_then(shown_clock).unwrap_or_else(|| "Unknown time".to_owned())
}

impl Markdown<'_> {
    /// Appends an event with visible content: a header, the text, and an empty line.
    ///
    /// `mode` is the name of a sub-agent, such as `Plan Mode`.
    pub fn event(&self, event: &Event<'_>, depth: usize, mode: Option<&str>, out: &mut String) {
        // Writing to a string cannot fail.
        _ = self.write_event(event, depth, mode, out);
    }

    /// Returns whether an event has visible content.
    pub fn shows(&self, event: &Event<'_>) -> bool {
        match &event.body {
            Body::Message(message) => self.shows_message(message),
            Body::Notice(notice) => notice.kind == NoticeKind::Compaction || notice.about.is_some(),
            _ => false,
        }
    }

    /// Writes an event as [`Markdown::event`] does, in pieces, so that a long one is never in
    /// memory as a whole.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` returns one.
    pub fn write_event(
        &self,
        event: &Event<'_>,
        depth: usize,
        mode: Option<&str>,
        out: &mut dyn Write,
    ) -> fmt::Result {
        if !self.shows(event) {
            return Ok(());
        }
        {
            let out = &mut Quoter::new(out, depth)?;
            match &event.body {
                Body::Message(message) => self.write_message(event, message, depth, mode, out)?,
                Body::Notice(notice) => write_notice(event, notice, depth, out)?,
                _ => {}
            }
        }
        out.write_str("\n\n")
    }

    fn shows_message(&self, message: &Message<'_>) -> bool {
        match message.content {
            Content::Absent | Content::Other(_) => true,
            Content::Text(_) | Content::Blocks(_) => {
                let mut blocks = message.blocks().peekable();
                blocks.peek().is_none() || blocks.any(|(block, _)| self.shows_block(&block))
            }
        }
    }

    fn write_message(
        &self,
        event: &Event<'_>,
        message: &Message<'_>,
        depth: usize,
        mode: Option<&str>,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let speaker = match (message.role, mode) {
            _ if message.is_by_client() => "Client".to_owned(),
            (Role::User, _) => "User".to_owned(),
            (Role::Assistant, None) => self.assistant.to_owned(),
            (Role::Assistant, Some(mode)) => format!("{} ({mode})", self.assistant),
        };
        writeln!(out, "{}", header(&speaker, event, depth))?;
        match message.content {
            Content::Absent => out.write_str("(Empty)"),
            Content::Other(raw) if raw.is_null() => out.write_str("(Empty)"),
            Content::Other(raw) => write_fenced("json", raw.as_str(), out),
            Content::Text(_) | Content::Blocks(_) => {
                let mut blocks = message.blocks().peekable();
                if blocks.peek().is_none() {
                    return out.write_str("(No content)");
                }
                let mut is_first = true;
                for (block, _) in blocks.filter(|(block, _)| self.shows_block(block)) {
                    if !std::mem::take(&mut is_first) {
                        out.write_str("\n\n")?;
                    }
                    self.write_block(block, out)?;
                }
                Ok(())
            }
        }
    }

    fn shows_block(&self, block: &Block<'_>) -> bool {
        match block {
            Block::Text(text) => !text.is_empty(),
            Block::Thinking { text, .. } => self.with_thinking && !text.is_empty(),
            Block::ToolResult(_) => self.with_tools,
            Block::RedactedThinking { .. } => self.with_thinking,
            Block::ToolUse(_) | Block::Image { .. } | Block::Other { .. } => true,
        }
    }

    fn write_block(&self, block: Block<'_>, out: &mut dyn Write) -> fmt::Result {
        match block {
            Block::Text(text) => out.write_str(&text.decode()),
            Block::Thinking { text, .. } => {
                let out = &mut Quoter::new(out, 1)?;
                out.write_str("[!NOTE] Thinking Process\n")?;
                out.write_str(&text.decode())
            }
            Block::RedactedThinking { .. } => out.write_str("(Redacted thinking)"),
            Block::ToolUse(tool) if self.with_tools => {
                let (id, name) = (code(&tool.id.decode()), code(&tool.name.decode()));
                writeln!(out, "**Tool Use**: {name} (ID: {id})")?;
                write_fenced("json", tool.input.json().raw().as_str(), out)
            }
            Block::ToolUse(tool) => write!(out, "**Tool**: {}", code(&tool.name.decode())),
            Block::ToolResult(result) => write_tool_result(&result, out),
            Block::Image { media_type, .. } => {
                write!(out, "(Image: {})", code(&media_type.decode()))
            }
            Block::Other { raw, .. } => write_fenced("json", raw.as_str(), out),
        }
    }
}

/// Returns a header with the speaker and the time.
fn header(speaker: &str, event: &Event<'_>, depth: usize) -> String {
    let written = event.context.time.and_then(|time| time.as_text());
    let own = written.and_then(|time| in_its_zone(&time.decode()));
    let time = own.unwrap_or_else(|| shown_time(event_millis(event)));
    if depth == 0 { format!("## {speaker} ({time})") } else { format!("**{speaker}** ({time})") }
}

/// Writes the text of a notice: a context file, or the plan.
fn write_notice(
    event: &Event<'_>,
    notice: &Notice<'_>,
    depth: usize,
    out: &mut dyn Write,
) -> fmt::Result {
    if notice.kind == NoticeKind::Compaction {
        return write!(out, "{}\n*The context was compacted here.*", "─".repeat(40));
    }
    let Some(about) = notice.about else { return Ok(()) };
    let subtype = notice.subtype.map(|subtype| subtype.decode()).unwrap_or_default();
    writeln!(out, "{}", header("Client", event, depth))?;
    write!(out, "*{subtype}* {}", code(&about.decode()))?;
    let Some(words) = notice.text else { return Ok(()) };
    out.write_str("\n")?;
    match words.as_text() {
        Some(text) => {
            let text = text.decode();
            let fence = "`".repeat(longest_run(&text).max(2) + 1);
            write!(out, "{fence}text\n{text}\n{fence}")
        }
        None => write_fenced("json", words.as_str(), out),
    }
}

/// Writer that adds the prefix of a quote to each line.
struct Quoter<'o> {
    out: &'o mut dyn Write,
    prefix: String,
}

impl<'o> Quoter<'o> {
    fn new(out: &'o mut dyn Write, depth: usize) -> Result<Self, fmt::Error> {
        let prefix = "> ".repeat(depth);
        out.write_str(&prefix)?;
        Ok(Self { out, prefix })
    }
}

impl Write for Quoter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.prefix.is_empty() {
            return self.out.write_str(text);
        }
        let mut is_first = true;
        for line in text.split('\n') {
            if !std::mem::take(&mut is_first) {
                self.out.write_str("\n")?;
                self.out.write_str(&self.prefix)?;
            }
            self.out.write_str(line)?;
        }
        Ok(())
    }
}

fn write_tool_result(result: &ToolResult<'_>, out: &mut dyn Write) -> fmt::Result {
    let id = code(&result.tool_use_id.decode());
    let error = if result.is_error.value() == Some(true) { " (error)" } else { "" };
    writeln!(out, "**Tool Result** ({id}){error}:")?;
    let (mut longest, mut has_text) = (0, false);
    for_each_piece(&result.content, &mut |piece| {
        longest = longest.max(longest_run(piece));
        has_text |= !piece.is_empty();
        Ok(())
    })?;
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{fence}text")?;
    if !has_text {
        out.write_str("(No content)")?;
    }
    for_each_piece(&result.content, &mut |piece| out.write_str(piece))?;
    write!(out, "\n{fence}")
}

/// The callback for a piece of text.
type EachPiece<'e> = dyn FnMut(&str) -> fmt::Result + 'e;

/// Calls `each` with the text of a result in pieces, one line for each block.
fn for_each_piece(content: &Content<'_>, each: &mut EachPiece<'_>) -> fmt::Result {
    let Content::Blocks(blocks) = content else {
        return match content {
            Content::Text(text) => each(&text.decode()),
            _ => each(&content.joined()),
        };
    };
    let mut has_text = false;
    for (block, raw) in *blocks {
        if has_text {
            each("\n")?;
        }
        match block {
            Block::Text(words) => {
                has_text |= !words.is_empty();
                each(&words.decode())?;
            }
            Block::Image { media_type, .. } => {
                has_text = true;
                each(&format!("(Image: {})", media_type.decode()))?;
            }
            _ => {
                has_text = true;
                write_pretty(raw.as_str(), &mut Pieces(each))?;
            }
        }
    }
    Ok(())
}

/// A writer that passes its text to a function.
struct Pieces<'p, 'e>(&'p mut EachPiece<'e>);

impl Write for Pieces<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        (self.0)(text)
    }
}

/// Writes JSON with one line for each member and item, between fences longer than any run of
/// backticks in it.
fn write_fenced(language: &str, json: &str, out: &mut dyn Write) -> fmt::Result {
    // All backticks of JSON are in its strings, which are written unchanged.
    let fence = "`".repeat(longest_run(json).max(2) + 1);
    writeln!(out, "{fence}{language}")?;
    write_pretty(json, out)?;
    write!(out, "\n{fence}")
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
    fn quotes_to_the_character() {
        assert_eq!(quoted("a\n\nb", 1), "> a\n> \n> b");
        assert_eq!(quoted("", 1), "> ");
        assert_eq!(quoted("a\r\nb", 1), "> a\r\n> b");
        assert_eq!(quoted("a\n", 1), "> a\n> ");
        assert_eq!(quoted("a\nb", 0), "a\nb");
        assert_eq!(quoted("a\nb", 2), "> > a\n> > b");
    }

    #[test]
    fn headings_with_times_and_without() {
        assert_eq!(shown_time(Some(1768681919197)), "2026-01-17 20:31:59");
        assert_eq!(shown_time(None), "Unknown time");
        assert_eq!(shown_time(Some(i64::MAX)), "Unknown time");
        let own = in_its_zone("2026-01-17T20:31:59.197+02:00");
        assert_eq!(own.as_deref(), Some("2026-01-17 20:31:59"));
        assert_eq!((in_its_zone("2026-01-17T20:31:59Z"), in_its_zone("soon")), (None, None));
    }

    #[test]
    fn fences_are_longer_than_any_inside() {
        let fenced = |json| {
            let mut text = String::new();
            write_fenced("json", json, &mut text).expect("a string takes all");
            text
        };
        assert_eq!(fenced("\"a\""), "```json\n\"a\"\n```");
        assert_eq!(fenced("\"````\""), "`````json\n\"````\"\n`````");
        assert_eq!((code("a").as_str(), code("a`b").as_str()), ("`a`", "`` a`b ``"));
    }

    #[test]
    fn what_is_written_in_pieces_is_quoted_as_a_whole() {
        for depth in 0..3 {
            let mut text = String::new();
            let mut out = Quoter::new(&mut text, depth).expect("a string takes all");
            for piece in ["a\n", "", "\nb", "c", "\n"] {
                out.write_str(piece).expect("a string takes all");
            }
            assert_eq!(text, quoted("a\n\nbc\n", depth));
        }
    }
}
