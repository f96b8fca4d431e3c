//! Prints a session as Markdown, with sub-agents in quotes.

use std::io::{self, Write};

use core_model::{Event, Format, Markdown, quoted};
use jsonl::Text;

use super::{Args, Nesting, Page, Wanted};
use crate::terminal::escape::{ShownLines, escape_for_terminal, escape_lines};

/// The Markdown form of events.
pub(super) struct MarkdownPage {
    markdown: Markdown<'static>,
    /// The depth of the last event.
    depth: usize,
}

impl MarkdownPage {
    /// Creates a page.
    pub(super) fn new(args: &Args, format: &Format) -> Self {
        // The models of these clients are not always Claude.
        let is_any = matches!(format.family, "clido" | "codex" | "pi");
        let assistant = if is_any { "Assistant" } else { "Claude" };
        let is_whole = !args.interactions;
        let (with_thinking, with_tools) =
            (is_whole && !args.no_thinking, is_whole && !args.no_tools);
        Self { markdown: Markdown { assistant, with_thinking, with_tools }, depth: 0 }
    }

    fn write(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(escape_lines(text).as_bytes())
    }

    /// Prints a rule where a sub-agent starts and ends.
    fn ruler(&mut self, place: &Nesting, out: &mut dyn Write) -> io::Result<()> {
        let was = std::mem::replace(&mut self.depth, place.depth);
        if place.depth == was {
            return Ok(());
        }
        self.write(&format!("{}\n\n", quoted("---", place.depth.max(was))), out)
    }
}

impl Page for MarkdownPage {
    fn has(&self, event: &Event<'_>, _: &Wanted<'_, '_>) -> bool {
        self.markdown.shows(event)
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        _: &Wanted<'_, '_>,
        place: &Nesting,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.ruler(place, out)?;
        let mut lines = ShownLines::new(out);
        let written =
            self.markdown.write_event(event, place.depth, place.mode.as_deref(), &mut lines);
        match (written, lines.error) {
            (Err(_), Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn heading(&mut self, label: &str, out: &mut dyn Write) -> io::Result<()> {
        self.depth = 0;
        self.write(&format!("# {}\n\n", escape_for_terminal(label)), out)
    }

    fn title(&mut self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write(&format!("# {}\n\n", escape_for_terminal(title)), out)
    }

    fn note(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write(&format!("*({what})*\n\n"), out)
    }

    fn damage(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write(&format!("*({what})*\n\n"), out)
    }

    fn missing_agent(&mut self, _: Text<'_>, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        let text = quoted("(Sub-agent log file not found)", depth);
        self.write(&format!("{text}\n\n"), out)
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
