//! Prints a session as text for a terminal.

use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, Write},
    mem,
};

use archive::is_harmful;
use core_model::{ByHash, Event, IdHasher, NoticeKind, Role, event_millis};
use jiff::tz::TimeZone;
use jsonl::{Scanner, Text};
use sessions::{Part, PartKind};

use super::{
    Args, Nesting, Page, Wanted,
    flow::{Flow, FlowId},
};
use crate::{
    reading::moments::printed,
    terminal::{
        Terminal,
        escape::{escape_for_terminal, escape_lines, push_escaped_lines, write_escaped},
        painted,
        wrap::wrap,
    },
};

/// Limit on the printed lines of a tool's input or result.
const MAX_LINES: usize = 12;

/// Limit on the printed characters of such a line.
const MAX_CHARS: usize = 400;

/// Minimum number of columns for text, however deep its sub-agent is.
const MIN_ROOM: usize = 20;

/// The text form of events.
pub(super) struct TextPage {
    has_color: bool,
    is_full: bool,
    with_thinking: bool,
    with_tools: bool,
    scanner: Scanner,
    flow: Flow,
    /// Whether no text waits for a result, since the file is followed.
    is_live: bool,
    /// The places beneath calls, by the hashes of their ids.
    calls: ByHash<FlowId>,
    hasher: IdHasher,
    /// The conversation, and conversations of sub-agents beneath calls.
    threads: HashMap<FlowId, Thread>,
    /// The columns of the terminal; `None` if the output goes elsewhere, where lines stay whole.
    columns: Option<usize>,
    /// Whether a heading said that the time is unknown.
    is_unknown_said: bool,
    zone: TimeZone,
}

/// A conversation.
#[derive(Debug, Default)]
struct Thread {
    /// The heading of the last event.
    head: String,
    /// The hash of the id of the last response; 0 without one.
    response: u64,
    /// The hashes of the ids of calls since then.
    calls: Vec<u64>,
}

impl TextPage {
    /// Creates a page.
    pub(super) fn new(args: &Args, terminal: Terminal) -> Self {
        Self {
            has_color: terminal.has_color,
            is_full: args.full,
            with_thinking: !args.no_thinking,
            with_tools: !args.no_tools,
            scanner: Scanner::default(),
            flow: Flow::default(),
            is_live: args.follow,
            calls: ByHash::default(),
            hasher: IdHasher::default(),
            threads: HashMap::new(),
            columns: terminal.is_terminal.then_some(terminal.columns),
            is_unknown_said: false,
            zone: args.filter.period.clock.zone(),
        }
    }

    fn shows(&self, part: &Part<'_>) -> bool {
        match part {
            Part::Thinking(text) => self.with_thinking && !text.is_empty(),
            Part::ToolResult(_) => self.with_tools,
            // Notices for information are for the client's own log.
            Part::Notice(notice) if notice.kind == NoticeKind::Info => {
                self.is_full
                    || notice.about.is_some()
                    || notice.text.is_some_and(|text| !text.is_null())
            }
            _ => true,
        }
    }

    fn paint(&self, color: &str, text: &str) -> String {
        painted(self.has_color, color, text)
    }

    /// Prints lines, each after the bars of its depth and an indent.
    fn lines(
        &self,
        text: &str,
        depth: usize,
        indent: &str,
        color: Option<&str>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let bars = self.paint(DIM, &"│ ".repeat(depth));
        let start = format!("{bars}{indent}");
        let color = color.filter(|_| self.has_color);
        if text.is_empty() {
            return Ok(());
        }
        // Text that ends with a newline has no line after it.
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            // After a color, trailing spaces would be visible.
            let line = line.strip_suffix('\r').unwrap_or(line);
            let line = line.trim_end_matches(is_blank);
            if line.is_empty() {
                writeln!(out, "{}", start.trim_end())?;
                continue;
            }
            let columns = self.columns.unwrap_or(usize::MAX);
            let room = columns.saturating_sub(2 * depth + indent.len()).max(MIN_ROOM);
            // A mark before the text, such as that of a result, is on the first line alone.
            let below = format!("{bars}{}", " ".repeat(indent.len()));
            for (line_idx, line) in wrap(line, room).enumerate() {
                out.write_all(if line_idx == 0 { &start } else { &below }.as_bytes())?;
                if let Some(color) = color {
                    write!(out, "\u{1b}[{color}m")?;
                }
                write_escaped(line, out)?;
                out.write_all(if color.is_some() { b"\x1b[0m\n" } else { b"\n" })?;
            }
        }
        Ok(())
    }

    /// Prints a remark in the conversation.
    fn remark(&mut self, color: &str, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.threads.entry(FlowId::MAIN).or_default().head.clear();
        self.put(FlowId::MAIN, out, &mut |page, out| {
            out.write_all(b"\n")?;
            page.lines(&format!("({what})"), 0, "", Some(color), out)
        })
    }

    /// Prints text at a place: at once, or when the text before it is complete.
    fn put(
        &mut self,
        place: FlowId,
        out: &mut dyn Write,
        print: &mut dyn FnMut(&mut Self, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.flow.is_front(place) {
            return print(self, out);
        }
        let mut text = Vec::new();
        print(self, &mut text)?;
        self.flow.push(place, &text);
        self.flow.write(out)
    }

    /// Returns the place of an event: beneath the call that started its sub-agent, or in the
    /// conversation.
    fn flow_of(&self, event: &Event<'_>) -> FlowId {
        let call = match event.context.parent_tool_use {
            Some(id) => self.calls.get(&self.hasher.hash_text(id)).copied(),
            // Old transcripts do not name the call, which is an open one.
            None if event.is_sub_agent() => {
                let open = self.threads.get(&FlowId::MAIN).and_then(|main| main.calls.last());
                open.and_then(|id| self.calls.get(id).copied())
            }
            None => None,
        };
        call.filter(|call| self.flow.is_open(*call)).unwrap_or(FlowId::MAIN)
    }

    /// Stops waiting for the results of calls that the conversation has left: a prompt or another
    /// response comes after all results.
    fn close_answered(&mut self, event: &Event<'_>, flow: FlowId) {
        let Some(message) = event.message() else { return };
        let Some(thread) = self.threads.get_mut(&flow) else { return };
        let is_over = match message.role {
            Role::User => event.is_prompt(),
            Role::Assistant => {
                let response = message.id.map_or(0, |id| self.hasher.hash_text(id));
                let was = mem::replace(&mut thread.response, response);
                let has_words = || {
                    let words = |kind| matches!(kind, PartKind::Assistant | PartKind::Thinking);
                    sessions::parts(event).any(|part| words(part.kind()))
                };
                if response == 0 || was == 0 { has_words() } else { response != was }
            }
        };
        if !is_over {
            return;
        }
        for id in mem::take(&mut thread.calls) {
            if let Some(call) = self.calls.remove(&id) {
                self.flow.close(call);
                self.threads.remove(&call);
            }
        }
    }

    fn head(
        &mut self,
        event: &Event<'_>,
        first: Option<&Part<'_>>,
        place: &Nesting,
        flow: FlowId,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let message = event.message();
        let speaker = match first.map(Part::kind) {
            _ if message.is_some_and(|message| message.is_by_client()) => "Client",
            Some(PartKind::User | PartKind::Image) => "User",
            Some(PartKind::Assistant | PartKind::Thinking | PartKind::ToolUse) => "Assistant",
            Some(PartKind::ToolResult) => "Tool",
            Some(PartKind::Notice) => "Notice",
            Some(PartKind::Title) => "Title",
            Some(PartKind::Other) | None => match message.map(|message| message.role) {
                Some(Role::User) => "User",
                Some(Role::Assistant) => "Assistant",
                None => "Other",
            },
        };
        let mut head = match &place.mode {
            Some(mode) => format!("{speaker} ({mode})"),
            None => speaker.to_owned(),
        };
        if message.is_some_and(|message| message.is_api_error) {
            head.push_str(", a failed request");
        }
        if message.is_some_and(|message| message.is_queued && !message.is_meta) {
            head.push_str(", while the agent worked");
        }
        if message.is_some_and(|message| message.is_summary) {
            head.push_str(", sums up what was before");
        }
        // The lines of one response, and adjacent results, get one heading.
        let id = message.and_then(|message| message.id).map(|id| id.as_str());
        let this = format!("{}{head}{}", place.depth, id.unwrap_or_default());
        let thread = self.threads.entry(flow).or_default();
        let is_same =
            this == thread.head && speaker != "User" && (id.is_some() || speaker == "Tool");
        thread.head = this;
        if is_same {
            return Ok(());
        }
        let time = event_millis(event).map(|time| printed(time, &self.zone));
        let time = time.filter(|time| !time.is_empty());
        // Once is enough for a format without times.
        let is_unknown = time.is_none() && std::mem::replace(&mut self.is_unknown_said, true);
        let color = if speaker == "User" { USER } else { BOLD };
        let bars = self.paint(DIM, &"│ ".repeat(place.depth));
        let head = self.paint(color, &escape_lines(&head).replace('\n', " "));
        if is_unknown {
            return writeln!(out, "{}\n{bars}{head}", bars.trim_end());
        }
        let time = self.paint(DIM, time.as_deref().unwrap_or("Unknown time"));
        writeln!(out, "{}\n{bars}{head}  {time}", bars.trim_end())
    }

    fn part(&mut self, part: &Part<'_>, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        let words = part.words(&mut self.scanner);
        match part {
            Part::Text(..) | Part::Client(_) | Part::Title(_) => {
                self.lines(&words, depth, "  ", None, out)
            }
            Part::Thinking(_) => self.lines(&words, depth, "  ~ ", Some(DIM), out),
            Part::Notice(notice) => {
                let subtype = notice.subtype.map(|subtype| subtype.decode().into_owned());
                let subtype = subtype.unwrap_or_default();
                let text = if words.is_empty() { subtype } else { format!("{subtype}: {words}") };
                let text = text.trim_start_matches(": ");
                match notice.about {
                    // The text may be a whole file.
                    Some(_) => self.cut_lines(text.lines(), depth, "  ", Some(DIM), out),
                    None => self.lines(text, depth, "  ", Some(DIM), out),
                }
            }
            Part::ToolUse(tool) => {
                let plain_name = escape_lines(&tool.name.decode()).replace('\n', " ");
                let name = self.paint(TOOL, &plain_name);
                let bars = self.paint(DIM, &"│ ".repeat(depth));
                let mut lines = words.lines();
                let first = cut(lines.next().unwrap_or_default(), self.is_full);
                let mut shown = format!("{plain_name} ");
                match self.is_full {
                    true => push_escaped_lines(&mut shown, &first),
                    false => shown.push_str(&cut(&escape_lines(&first), false)),
                }
                let columns = self.columns.unwrap_or(usize::MAX);
                let room = columns.saturating_sub(2 * depth + 4).max(MIN_ROOM);
                for (line_idx, line) in wrap(shown.trim_end(), room).enumerate() {
                    match line.strip_prefix(&*plain_name).filter(|_| line_idx == 0) {
                        Some(rest) => writeln!(out, "{bars}  > {name}{rest}")?,
                        None if line_idx == 0 => writeln!(out, "{bars}  > {line}")?,
                        None => writeln!(out, "{bars}    {line}")?,
                    }
                }
                if !self.with_tools {
                    return Ok(());
                }
                let json = self.is_full.then(|| tool.input.json());
                let input = json.as_ref().map_or("", |json| json.raw().as_str());
                self.cut_lines(lines, depth, "    ", None, out)?;
                self.lines(input, depth, "    ", Some(DIM), out)
            }
            Part::ToolResult(_) => {
                let (indent, color) = match part.is_error() {
                    Some(true) => ("  ! ", Some(ERROR)),
                    _ => ("  < ", None),
                };
                let words = if words.is_empty() { "(No content)" } else { &words };
                self.cut_lines(words.lines(), depth, indent, color, out)
            }
            Part::Image(_) => self.lines(&format!("(Image: {words})"), depth, "  ", None, out),
            Part::Other(kind, _) => {
                let kind = kind.map(|kind| kind.decode().into_owned()).unwrap_or_default();
                let text = format!("{kind} {words}");
                self.cut_lines(text.lines(), depth, "  ", Some(DIM), out)
            }
        }
    }

    /// Prints the first lines of a tool's text, or all with `--full`.
    fn cut_lines<'t>(
        &self,
        lines: impl Iterator<Item = &'t str>,
        depth: usize,
        indent: &str,
        color: Option<&str>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut n_more = 0;
        for (line_idx, line) in lines.enumerate() {
            if line_idx >= MAX_LINES && !self.is_full {
                n_more += 1;
                continue;
            }
            // The mark of a result is on its first line.
            let indent = if line_idx == 0 { indent } else { "    " };
            let line = cut(line, self.is_full);
            let line = if line.is_empty() { " " } else { &line };
            self.lines(line, depth, indent, color, out)?;
        }
        match n_more {
            0 => Ok(()),
            1 => self.lines("… 1 more line", depth, "    ", Some(DIM), out),
            n_more => self.lines(&format!("… {n_more} more lines"), depth, "    ", Some(DIM), out),
        }
    }
}

const BOLD: &str = "1";
const DIM: &str = "2";
const ERROR: &str = "31";
const TOOL: &str = "33";
const USER: &str = "1;36";

/// Returns a line, cut if it is long and not all is wanted.
fn cut(line: &str, is_full: bool) -> Cow<'_, str> {
    match if is_full { None } else { line.char_indices().nth(MAX_CHARS) } {
        Some((end, _)) => Cow::Owned(format!("{}…", line.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(line),
    }
}

/// Returns whether a character is invisible at the end of a line.
fn is_blank(char: char) -> bool {
    char == '\t' || char.is_whitespace() && !is_harmful(char)
}

impl Page for TextPage {
    fn has(&self, event: &Event<'_>, wanted: &Wanted<'_, '_>) -> bool {
        wanted.parts().any(|part| self.shows(&part))
            || wanted.is_empty() && event.message().is_some()
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        wanted: &Wanted<'_, '_>,
        place: &Nesting,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let flow = self.flow_of(event);
        self.close_answered(event, flow);
        let mut has_head = false;
        for part in wanted.parts() {
            if !self.shows(&part) {
                continue;
            }
            if let Some(result) = part.result()
                && let Some(call) = self.calls.remove(&self.hasher.hash_text(result.tool_use_id))
                && self.flow.is_open(call)
            {
                self.put(call, out, &mut |page, out| page.part(&part, place.depth, out))?;
                self.flow.close(call);
                self.threads.remove(&call);
                self.flow.write(out)?;
                continue;
            }
            let with_head = !mem::replace(&mut has_head, true);
            self.put(flow, out, &mut |page, out| {
                if with_head {
                    page.head(event, Some(&part), place, flow, out)?;
                }
                page.part(&part, place.depth, out)
            })?;
            if let Part::ToolUse(tool) = part
                && !self.is_live
                && self.with_tools
            {
                let id = self.hasher.hash_text(tool.id);
                let call = self.flow.open(flow);
                self.calls.insert(id, call);
                self.threads.entry(flow).or_default().calls.push(id);
                self.flow.write(out)?;
            }
        }
        if wanted.parts().all(|part| !self.shows(&part)) {
            let is_absent = event
                .message()
                .is_some_and(|message| matches!(message.content, core_model::Content::Absent));
            let text = if is_absent { "(Empty)" } else { "(No content)" };
            self.put(flow, out, &mut |page, out| {
                page.head(event, None, place, flow, out)?;
                page.lines(text, place.depth, "  ", Some(DIM), out)
            })?;
        }
        Ok(())
    }

    fn heading(&mut self, label: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.paint(BOLD, &format!("==> {} <==", escape_for_terminal(label))))
    }

    fn title(&mut self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.paint(BOLD, "Title"))?;
        self.lines(title, 0, "  ", None, out)
    }

    fn note(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.remark(DIM, what, out)
    }

    fn damage(&mut self, what: &str, out: &mut dyn Write) -> io::Result<()> {
        self.remark(ERROR, what, out)
    }

    fn missing_agent(
        &mut self,
        tool_use: Text<'_>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let call = self.calls.get(&self.hasher.hash_text(tool_use)).copied();
        self.put(call.unwrap_or(FlowId::MAIN), out, &mut |page, out| {
            page.lines("(Sub-agent log file not found)", depth, "  ", Some(DIM), out)
        })
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.flow.finish(out)
    }
}
