//! Writes a message: text, thinking, tool calls and results.

use std::io::Write;

use core_model::{Block, Content, Event, Message, Role, ToolResult, ToolUse, event_millis};
use jsonl::{Raw, Text};

use crate::{
    calls::Call,
    code::{self, Language, Marker},
    html::Html,
    input::{Family, argument, family, language, push_input},
    markdown::push_markdown,
    page::{Page, Scene},
    picture::push_picture,
    spent::push_spent,
    threads::Thread,
    words::{MAX_PEEK, counted, first_line, lasting, push_long, push_long_by, push_time},
};

/// Limit for the blocks of a message on the page.
const MAX_BLOCKS: usize = 5_000;

/// Limit in bytes, as in the session, for the blocks of a message on the page.
const MAX_BYTES: usize = 4 * 1024 * 1024;

impl<W: Write> Page<W> {
    /// Writes a message, and returns whether anything is visible.
    pub(crate) fn message(
        &mut self,
        scene: &Scene,
        event: &Event<'_>,
        message: &Message<'_>,
    ) -> bool {
        let mut html = Html::default();
        let mut is_begun = false;
        let (mut n_bytes, mut n_unshown) = (0, 0);
        for (block_idx, (block, raw)) in message.blocks().enumerate() {
            if block_idx >= MAX_BLOCKS || n_bytes >= MAX_BYTES {
                n_unshown += 1;
                continue;
            }
            n_bytes += raw.as_str().len();
            if let Block::ToolResult(result) = &block
                && self.result(scene, &mut html, result)
            {
                continue;
            }
            if !is_begun {
                self.begin(&mut html, scene, event, message);
                is_begun = true;
            }
            self.block(&mut html, scene, (event, message), (block, block_idx), raw);
        }
        if !is_begun
            && let Content::Other(raw) = message.content
            && !raw.is_null()
        {
            self.begin(&mut html, scene, event, message);
            push_long(&mut html, raw.as_str());
            is_begun = true;
        }
        if !is_begun && message.is_api_error {
            // The timeline links to errors.
            self.begin(&mut html, scene, event, message);
            is_begun = true;
        }
        if n_unshown > 0 {
            if !is_begun {
                self.begin(&mut html, scene, event, message);
                is_begun = true;
            }
            html.markup("<p class=\"quiet\">").text(&counted(
                n_unshown,
                "more block",
                "more blocks",
            ));
            html.markup(" of this message: in the session, and not on this page</p>");
        }
        if is_begun {
            html.markup("</article>\n");
            self.flows.append(scene.flow, html);
        }
        // A message with only results is visible in its calls.
        is_begun || message.tool_results().next().is_some()
    }

    /// Starts the element of a message.
    fn begin(&mut self, html: &mut Html, scene: &Scene, event: &Event<'_>, message: &Message<'_>) {
        let is_asked = self.is_asked(message);
        html.markup("<article class=\"");
        html.markup(match message.role {
            Role::User if message.is_meta || message.is_summary => "user meta",
            Role::User if is_asked => "user prompt",
            Role::User => "user",
            Role::Assistant if message.is_api_error => "assistant error",
            Role::Assistant if message.is_meta => "assistant meta",
            Role::Assistant => "assistant",
        });
        let is_failing = message.blocks().any(|(block, _)| match block {
            Block::ToolUse(tool) => self.is_failing(self.hash(tool.id)),
            _ => false,
        });
        html.markup(if is_failing { " failing\"" } else { "\"" });
        self.push_anchor(html);
        html.markup(">");
        self.push_speaker(html, event, scene, is_asked);
        if let Some(spent) = self.take_spent(event) {
            push_spent(html, spent);
        }
    }

    fn block(
        &mut self,
        html: &mut Html,
        scene: &Scene,
        (event, message): (&Event<'_>, &Message<'_>),
        (block, block_idx): (Block<'_>, usize),
        raw: Raw<'_>,
    ) {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => self.words(html, &text.decode(), message),
            Block::Thinking { text, .. } if text.is_empty() => {
                html.markup("<p class=\"thinking quiet\">Thought, without words in the log</p>");
            }
            Block::Thinking { text, .. } => {
                let text = text.decode();
                html.markup("<details class=\"thinking\"><summary>Thinking <span class=\"peek\">");
                html.text(&first_line(&text, MAX_PEEK)).markup("</span></summary>");
                html.markup("<div class=\"words\" dir=\"auto\">");
                push_markdown(html, &text, &mut self.marker);
                html.markup("</div></details>");
            }
            Block::ToolUse(tool) => self.call(html, scene, event, &tool, block_idx),
            Block::ToolResult(result) => {
                html.markup("<details class=\"call\"><summary><b>Result</b> <code>");
                html.text(&result.tool_use_id.decode()).markup("</code></summary>");
                push_result(html.markup("<div"), &result, &mut self.marker, None);
                html.markup("</details>");
            }
            Block::Image { media_type, data } => push_picture(html, media_type, data),
            Block::Other { kind, .. } => push_other(html, kind, raw),
            _ => push_other(html, None, raw),
        }
    }

    /// Returns whether a person wrote the message.
    fn is_asked(&self, message: &Message<'_>) -> bool {
        let asks = |block: Block<'_>| match block {
            Block::Text(text) => self.survey.prompt_preview(&text.decode()).is_some(),
            _ => true,
        };
        message.is_prompt() && message.blocks().any(|(block, _)| asks(block))
    }

    /// Writes a text of a person, the client, or the assistant.
    fn words(&mut self, html: &mut Html, text: &str, message: &Message<'_>) {
        let is_own = |text| message.is_by_client() || self.survey.prompt_preview(text).is_none();
        match message.role {
            Role::User if message.is_summary || is_own(text) => {
                let name = if message.is_summary { "Summary" } else { "Written by the client" };
                html.markup("<details class=\"meta\"><summary>").markup(name);
                html.markup(" <span class=\"peek\">").text(&first_line(text, MAX_PEEK));
                html.markup("</span></summary>");
                push_long(html, text);
                html.markup("</details>");
            }
            Role::User => {
                html.markup("<div class=\"words\" dir=\"auto\">");
                push_long(html, text);
                html.markup("</div>");
            }
            Role::Assistant if message.is_by_client() => {
                html.markup("<div class=\"words\" dir=\"auto\">");
                push_long(html, text);
                html.markup("</div>");
            }
            Role::Assistant => {
                html.markup("<div class=\"words\" dir=\"auto\">");
                push_markdown(html, text, &mut self.marker);
                html.markup("</div>");
            }
        }
    }

    /// Writes a tool call, and opens a part for its result.
    fn call(
        &mut self,
        html: &mut Html,
        scene: &Scene,
        event: &Event<'_>,
        tool: &ToolUse<'_>,
        block_idx: usize,
    ) {
        let id = self.hash(tool.id);
        let is_failing = self.is_failing(id);
        // The first pass skips branches that are left out, so their results are not known yet.
        let is_left_out = self.note_left_out_call(id);
        let run = if is_left_out { None } else { self.calls.next_run(id) };
        let answered = run.and_then(|run| run.answered());
        let is_error = run.is_some_and(|run| run.is_error);
        let family = family(&tool.name.decode());
        html.markup("<details class=\"call ").markup(family.name());
        html.markup(if is_failing { " failing" } else { "" });
        html.markup(if is_error { " error" } else { "" }).markup("\" id=\"e");
        html.show(self.n_lines).markup("-").show(block_idx).markup("\"><summary><b>");
        html.text(&tool.name.decode()).markup("</b> ");
        let json = tool.input.json();
        let input = self.scanner.scan_raw(json.raw()).ok();
        let language = input.filter(|_| family == Family::Read).and_then(language);
        if let Some(argument) = input.and_then(argument) {
            html.markup("<code>").text(&argument).markup("</code>");
        }
        if is_error {
            html.markup(" <em class=\"failed\">error</em>");
        } else if answered.is_none() && !is_left_out {
            html.markup(" <em class=\"open\">no result</em>");
        }
        let millis = run.and_then(|run| run.duration_ms);
        if let Some(millis) = millis.filter(|millis| *millis >= 100) {
            html.markup(" <span class=\"took\">").text(&lasting(millis)).markup("</span>");
        }
        if let Some(time) = event_millis(event) {
            push_time(html, time, self.start);
        }
        html.markup("</summary><div class=\"input\">");
        match input {
            Some(input) => push_input(html, input, &mut self.marker),
            None => push_long(html, json.raw().as_str()),
        }
        let missing = &self.survey.missing;
        if !missing.is_empty() && missing.contains(&*tool.id.decode()) {
            html.markup("<p class=\"quiet\">What its sub-agent said is in no file.</p>");
        }
        html.markup("</div>");
        let is_waiting = is_left_out || answered.is_some_and(|answered| answered >= self.n_lines);
        if self.calls.get(id).is_none() {
            self.flows.append(scene.flow, html.take());
            let flow = self.flows.open(scene.flow);
            let call = Call { flow, depth: scene.depth, language, is_answered: !is_waiting };
            self.calls.start(id, call);
            self.close_if_done(id);
        }
        html.markup("</details>");
    }

    /// Returns whether a call fails, or an event of its sub-agent.
    fn is_failing(&self, id: u64) -> bool {
        let cast = self.survey.casts.get(Thread::Call(id));
        self.calls.fails(id) || cast.is_some_and(|cast| cast.n_errors() > 0)
    }

    /// Writes a result into its call. Returns `false` if the call is not open.
    ///
    /// Earlier blocks of the same line are written first.
    fn result(&mut self, scene: &Scene, html: &mut Html, result: &ToolResult<'_>) -> bool {
        let id = self.hash(result.tool_use_id);
        let Some(Call { flow, language, .. }) = self.calls.get(id) else { return false };
        if !self.flows.is_open(flow) {
            return false;
        }
        let mut inner = Html::of("<div");
        self.push_anchor(&mut inner);
        push_result(&mut inner, result, &mut self.marker, language);
        self.flows.append(scene.flow, html.take());
        self.flows.append(flow, inner);
        self.calls.answer(id);
        self.close_if_done(id);
        true
    }
}

/// Appends the output of a tool, from the attributes of its element on. `language` is that of the file
/// that the tool read.
fn push_result(
    html: &mut Html,
    result: &ToolResult<'_>,
    marker: &mut Marker,
    language: Option<Language>,
) {
    html.markup(match result.is_error.value() {
        Some(true) => " class=\"result failed\"><p class=\"label\">Error</p>",
        _ => " class=\"result\"><p class=\"label\">Result</p>",
    });
    match result.content {
        Content::Absent => _ = html.markup("<p class=\"quiet\">empty</p>"),
        Content::Other(raw) => push_long(html, raw.as_str()),
        Content::Text(text) if text.is_empty() => _ = html.markup("<p class=\"quiet\">empty</p>"),
        Content::Text(_) | Content::Blocks(_) => {
            for (block, raw) in result.content.blocks() {
                match block {
                    Block::Text(text) => push_long_by(html, &text.decode(), &mut |html, text| {
                        marker.push_behind(html, text, language, &code::number);
                    }),
                    Block::Image { media_type, data } => push_picture(html, media_type, data),
                    Block::Other { kind, .. } => push_other(html, kind, raw),
                    _ => push_other(html, None, raw),
                }
            }
        }
    }
    html.markup("</div>");
}

/// Appends a block of an unknown kind.
fn push_other(html: &mut Html, kind: Option<Text<'_>>, raw: Raw<'_>) {
    html.markup("<details class=\"meta\"><summary>");
    match kind {
        Some(kind) => html.text(&kind.decode()),
        None => html.markup("Something else"),
    };
    html.markup("</summary>");
    push_long(html, raw.as_str());
    html.markup("</details>");
}
