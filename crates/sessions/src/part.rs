//! The parts of an event, for display and search: blocks of a message, notices, titles.

use std::borrow::Cow;

use core_model::{
    Block, Body, Content, Event, Message, Notice, NoticeKind, Role, TextBody, Title, ToolResult,
    ToolUse,
};
use jsonl::{Raw, Scanner, Text, Value};

/// The kind of a part.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PartKind {
    /// Text of the user
    User,
    /// Text of the assistant
    Assistant,
    /// Thinking of the assistant
    Thinking,
    /// The use of a tool
    ToolUse,
    /// The result of a tool
    ToolResult,
    /// A picture
    Image,
    /// Text of the client, also in messages of the user or the assistant
    Notice,
    /// A title of the session, or a summary
    Title,
    /// Any other content
    Other,
}

impl PartKind {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PartKind::User => "user",
            PartKind::Assistant => "assistant",
            PartKind::Thinking => "thinking",
            PartKind::ToolUse => "tool-use",
            PartKind::ToolResult => "tool-result",
            PartKind::Image => "image",
            PartKind::Notice => "notice",
            PartKind::Title => "title",
            PartKind::Other => "other",
        }
    }
}

/// A part of a session.
#[derive(Clone, Copy, Debug)]
pub enum Part<'l> {
    /// Text of a message.
    Text(Role, Text<'l>),
    /// Text of the client in a message of the user or the assistant.
    Client(Text<'l>),
    /// The model's reasoning.
    Thinking(Text<'l>),
    /// The use of a tool.
    ToolUse(ToolUse<'l>),
    /// A tool result.
    ToolResult(ToolResult<'l>),
    /// A picture, by its media type.
    Image(TextBody<'l>),
    /// A notice of the client.
    Notice(Notice<'l>),
    /// A title.
    Title(Title<'l>),
    /// Another value, and its type.
    Other(Option<Text<'l>>, Raw<'l>),
}

/// Returns the parts of an event in their order.
pub fn parts<'e, 'l>(event: &'e Event<'l>) -> impl Iterator<Item = Part<'l>> + use<'e, 'l> {
    let alone = match event.body {
        Body::Notice(notice) => Some(Part::Notice(notice)),
        Body::Title(title) => Some(Part::Title(title)),
        Body::Message(message) => match message.content {
            Content::Other(raw) if !raw.is_null() => Some(Part::Other(None, raw)),
            _ => None,
        },
        _ => None,
    };
    let blocks = event.message().into_iter().flat_map(|message| {
        message.blocks().map(move |(block, raw)| Part::of(message, block, raw))
    });
    alone.into_iter().chain(blocks)
}

impl<'l> Part<'l> {
    fn of(message: &Message<'l>, block: Block<'l>, raw: Raw<'l>) -> Self {
        match block {
            Block::Text(text) if message.is_by_client() => Part::Client(text),
            Block::Text(text) => Part::Text(message.role, text),
            Block::Thinking { text, .. } => Part::Thinking(text),
            Block::ToolUse(tool) => Part::ToolUse(tool),
            Block::ToolResult(result) => Part::ToolResult(result),
            Block::Image { media_type, .. } => Part::Image(media_type),
            Block::Other { kind, raw } => Part::Other(kind, raw),
            _ => Part::Other(None, raw),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> PartKind {
        match self {
            Part::Text(Role::User, _) => PartKind::User,
            Part::Text(Role::Assistant, _) => PartKind::Assistant,
            Part::Thinking(_) => PartKind::Thinking,
            Part::ToolUse(_) => PartKind::ToolUse,
            Part::ToolResult(_) => PartKind::ToolResult,
            Part::Image(_) => PartKind::Image,
            Part::Notice(_) | Part::Client(_) => PartKind::Notice,
            Part::Title(_) => PartKind::Title,
            Part::Other(..) => PartKind::Other,
        }
    }

    /// Returns the tool result; `None` for other parts.
    pub fn result(&self) -> Option<&ToolResult<'l>> {
        match self {
            Part::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Returns whether a result is marked as an error; `None` without a mark.
    pub fn is_error(&self) -> Option<bool> {
        match self {
            Part::ToolResult(result) => result.is_error.value(),
            Part::Notice(notice) => (notice.kind == NoticeKind::Error).then_some(true),
            _ => None,
        }
    }

    /// Calls `each` with the decoded texts of the part, in order.
    pub fn for_each_text(&self, scanner: &mut Scanner, each: &mut dyn FnMut(&str)) {
        match self {
            Part::Text(_, text) | Part::Client(text) | Part::Thinking(text) => each(&text.decode()),
            Part::ToolUse(tool) => {
                each(&tool.name.decode());
                for_each_string(tool.input.json().raw(), scanner, each);
            }
            Part::ToolResult(result) => match result.content {
                Content::Other(raw) => for_each_string(raw, scanner, each),
                content => {
                    for (block, _) in content.blocks() {
                        match block {
                            Block::Text(text) => each(&text.decode()),
                            Block::Other { raw, .. } => for_each_string(raw, scanner, each),
                            _ => {}
                        }
                    }
                }
            },
            Part::Notice(notice) => {
                if let Some(about) = notice.about {
                    each(&about.decode());
                }
                if let Some(text) = notice.text {
                    for_each_string(text, scanner, each);
                }
            }
            Part::Title(title) => each(&title.text.decode()),
            Part::Other(_, raw) => for_each_string(*raw, scanner, each),
            Part::Image(_) => {}
        }
    }

    /// Returns the text of the part; for a tool use, its main argument.
    pub fn words(&self, scanner: &mut Scanner) -> Cow<'l, str> {
        match self {
            Part::ToolUse(tool) => {
                return argument(tool, scanner)
                    .map_or_else(|| tool.input.json().into(), Cow::Owned);
            }
            Part::Image(media_type) => return media_type.decode().into_owned().into(),
            // An unknown value is shown as JSON.
            Part::Other(_, raw) => return raw.as_str().into(),
            _ => {}
        }
        let mut words = String::new();
        self.for_each_text(scanner, &mut |text| {
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(text);
        });
        words.into()
    }
}

/// Returns the main argument of a tool: the first one with a known name, or else the first string.
fn argument(tool: &ToolUse<'_>, scanner: &mut Scanner) -> Option<String> {
    const TELLING: [&str; 12] = [
        "command",
        "cmd",
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "query",
        "url",
        "description",
        "skill",
        "subject",
        "prompt",
    ];
    let input = tool.input.json();
    let input = scanner.scan_raw(input.raw()).ok()?;
    // For a search, the pattern is more useful than the path.
    let is_search = tool.name.is("Grep") || tool.name.is("Glob");
    let pattern = if is_search { input.get("pattern") } else { None };
    let known = || TELLING.iter().find_map(|name| input.get(name)?.text());
    let first = || input.members().find_map(|(_, value)| value.text());
    let text = pattern.and_then(|pattern| pattern.text()).or_else(known).or_else(first)?;
    Some(text.decode().into_owned())
}

/// Calls `each` with the decoded strings of a value, in order, without keys.
fn for_each_string(raw: Raw<'_>, scanner: &mut Scanner, each: &mut dyn FnMut(&str)) {
    if let Some(text) = raw.as_text() {
        return each(&text.decode());
    }
    let Ok(value) = scanner.scan_slice(raw.as_str().as_bytes(), 0) else { return };
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match text_of(value) {
            Some(text) => each(&text),
            None => {
                let start = open.len();
                open.extend(value.items());
                open.extend(value.members().map(|(_, value)| value));
                if let Some(inner) = open.get_mut(start..) {
                    inner.reverse();
                }
            }
        }
    }
}

/// Returns a string; for a value that is too deep to be indexed, its JSON.
fn text_of<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    let is_container = value.is_object() || value.is_array();
    let is_opaque = is_container
        && value.raw().as_str().len() > 2
        && value.items().next().is_none()
        && value.members().next().is_none();
    match value.text() {
        Some(text) => Some(text.decode()),
        None if is_opaque => Some(Cow::Borrowed(value.raw().as_str())),
        None => None,
    }
}
