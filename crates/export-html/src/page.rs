//! Writes a page: its head, the conversation line by line, its foot.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use core_model::{Block, Body, Event, Message, Role, event_millis};
use jsonl::{Scanner, Text};

use crate::{
    Figures, Survey,
    calls::Calls,
    casts::Cast,
    code::Marker,
    flow::{FlowId, Flows},
    head::{push_foot, push_head},
    html::Html,
    spent::{Spent, push_spent},
    threads::{Thread, Threads},
    words::{MAX_PEEK, counted, first_line, lasting, push_time},
};

/// Limit for the nesting of sub-agents. Deeper ones are written beside the conversation.
const MAX_DEPTH: usize = 8;

/// A page that is written to its end.
#[derive(Clone, Debug)]
pub struct FinishedPage<W> {
    /// The sink.
    pub sink: W,
    /// The figures of the session.
    pub figures: Box<Figures>,
}

/// Writer of the page of a session: the second pass.
///
/// It must get the same lines as its [`Survey`]. A call is written with its result below it. The
/// lines between them wait, up to some megabytes; beyond that, the result is written at its own
/// line.
#[derive(Debug)]
pub struct Page<W> {
    sink: W,
    pub(crate) survey: Survey,
    pub(crate) flows: Flows,
    threads: Threads,
    /// The open conversations.
    scenes: HashMap<Thread, Scene>,
    /// The last speaker in each part of the page.
    speakers: HashMap<FlowId, Role>,
    pub(crate) calls: Calls,
    pub(crate) scanner: Scanner,
    pub(crate) marker: Marker,
    /// The time that other times are relative to.
    pub(crate) start: i64,
    /// The number of events and unread lines so far, which anchors have.
    pub(crate) n_lines: u64,
    /// The number of events that are not the first of their records.
    n_later: u64,
    /// The last line with an anchor on the page.
    anchored: u64,
    /// The last line that cannot be read.
    unreadable: u64,
    n_unshown: u64,
    n_skipped: u64,
    /// The open branch that is left out, and the hashes of the ids of its calls.
    left_out: Option<(FlowId, Vec<u64>)>,
    /// The figures after the first pass.
    figures: Box<Figures>,
}

/// The place of a conversation on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) flow: FlowId,
    pub(crate) depth: usize,
    /// Whether it is beside the main conversation instead of in a call.
    is_lone: bool,
}

impl Scene {
    pub(crate) fn new(flow: FlowId, depth: usize) -> Self {
        Self { flow, depth, is_lone: false }
    }
}

impl<W: Write> Page<W> {
    /// Starts the page of a session. `name` is its title if the session has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink returns one. This is so for all functions of the page.
    pub fn new(mut sink: W, mut survey: Survey, name: &str) -> io::Result<Self> {
        let mut head = Html::default();
        push_head(&mut head, &survey, name);
        sink.write_all(head.as_str().as_bytes())?;
        let figures = Box::new(survey.figures());
        // The second pass finds the conversations again, so the survey need not keep them.
        let threads = Threads::of_second_pass(&survey.threads);
        survey.threads = Threads::default();
        Ok(Self {
            sink,
            flows: Flows::default(),
            threads,
            scenes: HashMap::from([(Thread::Main, Scene::new(FlowId::PAGE, 0))]),
            speakers: HashMap::new(),
            calls: Calls::new(std::mem::take(&mut survey.runs)),
            scanner: Scanner::default(),
            marker: Marker::default(),
            start: survey.span.earliest().unwrap_or_default(),
            survey,
            n_lines: 0,
            n_later: 0,
            anchored: 0,
            unreadable: 0,
            n_unshown: 0,
            n_skipped: 0,
            left_out: None,
            figures,
        })
    }

    /// Writes an event.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn push(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.end_left_out();
        self.n_lines += 1;
        self.n_later += u64::from(event.nth > 0);
        let thread = self.threads.of(event);
        let scene = self.scene(thread);
        let is_shown = match &event.body {
            Body::Message(message) => self.message(&scene, event, message),
            Body::Notice(notice) => self.notice(&scene, event, notice),
            Body::Outcome(outcome) => self.outcome(&scene, event, outcome),
            Body::Start(start) => self.session_start(&scene, event, start),
            Body::Usage(_) => self.usage(&scene, event),
            _ => false,
        };
        self.n_unshown += u64::from(!is_shown);
        self.leave(thread, scene);
        self.flows.write(&mut self.sink)
    }

    /// Writes a note about a line that cannot be read. `what` has the place and the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn push_unreadable(&mut self, what: &str) -> io::Result<()> {
        self.count_unreadable();
        self.note_unreadable(what, 1)
    }

    /// Counts a line that cannot be read. [`Page::note_unreadable`] writes a note about it.
    pub fn count_unreadable(&mut self) {
        self.n_lines += 1;
        self.unreadable = self.n_lines;
    }

    /// Writes a note about counted lines that cannot be read. `what` has their places and a reason.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn note_unreadable(&mut self, what: &str, n_lines: u64) -> io::Result<()> {
        let mut html = Html::of("<article class=\"notice error\"");
        self.push_anchor_of(&mut html, self.unreadable);
        let these = if n_lines == 1 { "This line" } else { "These lines" };
        html.markup("><p><strong>").markup(these).markup(" cannot be read</strong> ");
        html.text(what).markup("</p></article>\n");
        self.flows.append(FlowId::PAGE, html);
        self.flows.write(&mut self.sink)
    }

    /// Writes a message of a branch that is not the conversation. Such messages are folded, and their
    /// lines are skipped in the survey.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn push_left_out(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.n_lines += 1;
        let Some(message) = event.message() else {
            self.n_skipped += 1;
            return Ok(());
        };
        let flow = match self.left_out {
            Some((flow, _)) => flow,
            None => self.open_left_out(message),
        };
        let scene = Scene::new(flow, 0);
        self.message(&scene, event, message);
        self.flows.write(&mut self.sink)
    }

    fn open_left_out(&mut self, message: &Message<'_>) -> FlowId {
        let mut html =
            Html::of("<details class=\"branch\"><summary>Left-out branch <span class=\"peek\">");
        let text = message.blocks().find_map(|(block, _)| match block {
            Block::Text(text) => Some(first_line(&text.decode(), MAX_PEEK)),
            _ => None,
        });
        html.text(text.as_deref().unwrap_or("its client would not resume it"));
        self.flows.append(FlowId::PAGE, html.markup("</span></summary>\n").take());
        let flow = self.flows.open(FlowId::PAGE);
        self.flows.append(FlowId::PAGE, Html::of("</details>\n"));
        self.left_out = Some((flow, Vec::new()));
        flow
    }

    /// Ends the branch that is left out: its calls wait for no more results.
    fn end_left_out(&mut self) {
        let Some((flow, calls)) = self.left_out.take() else { return };
        for id in calls {
            self.calls.answer(id);
            self.close_if_done(id);
        }
        self.speakers.remove(&flow);
        self.flows.close(flow);
    }

    /// Notes a call of a branch that is left out; returns whether there is such a branch.
    pub(crate) fn note_left_out_call(&mut self, id: u64) -> bool {
        let Some((_, calls)) = &mut self.left_out else { return false };
        calls.push(id);
        true
    }

    /// Counts a line that is not shown.
    pub fn skip(&mut self) {
        self.n_lines += 1;
        self.n_skipped += 1;
    }

    /// Ends the page, and returns the sink and the figures of the session.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink does.
    pub fn finish(mut self) -> io::Result<FinishedPage<W>> {
        self.end_left_out();
        self.flows.finish(&mut self.sink)?;
        let mut foot = Html::default();
        push_foot(&mut foot, self.n_lines - self.n_later, self.n_unshown, self.n_skipped);
        self.sink.write_all(foot.as_str().as_bytes())?;
        self.sink.flush()?;
        Ok(FinishedPage { sink: self.sink, figures: self.figures })
    }

    /// Returns the place of a conversation: in the call that started it while the call is open,
    /// else in a part of its own.
    fn scene(&mut self, thread: Thread) -> Scene {
        if let Some(scene) = self.scenes.get(&thread).filter(|scene| self.flows.is_open(scene.flow))
        {
            return *scene;
        }
        let scene = self.call_scene(thread).unwrap_or_else(|| {
            let mut html = Html::of("<details class=\"agent lone\" open><summary>");
            self.push_cast(&mut html, thread);
            self.flows.append(FlowId::PAGE, html.markup("</summary>").take());
            let flow = self.flows.open(FlowId::PAGE);
            self.flows.append(FlowId::PAGE, Html::of("</details>\n"));
            Scene { is_lone: true, ..Scene::new(flow, 1) }
        });
        self.scenes.insert(thread, scene);
        scene
    }

    /// Opens the conversation of a sub-agent in the call that started it.
    fn call_scene(&mut self, thread: Thread) -> Option<Scene> {
        let Thread::Call(id) = thread else { return None };
        let call = self.calls.get(id).filter(|call| self.flows.is_open(call.flow))?;
        let (flow, depth) = (call.flow, call.depth + 1);
        if depth > MAX_DEPTH {
            return None;
        }
        let mut html = Html::of("<section class=\"agent\"><p class=\"cast\">");
        self.push_cast(&mut html, thread);
        self.flows.append(flow, html.markup("</p>").take());
        let scene = Scene::new(self.flows.open(flow), depth);
        self.flows.append(flow, Html::of("</section>\n"));
        Some(scene)
    }

    /// Closes the parts that the last event of a conversation completes.
    fn leave(&mut self, thread: Thread, scene: Scene) {
        if thread == Thread::Main || self.survey.casts.write_one(thread) > 0 {
            return;
        }
        self.flows.close(scene.flow);
        self.scenes.remove(&thread);
        self.speakers.remove(&scene.flow);
        self.threads.end(thread);
        if let (Thread::Call(id), false) = (thread, scene.is_lone) {
            self.close_if_done(id);
        }
    }

    /// Writes the tokens and the cost of a response whose client counts them in a record of their own.
    fn usage(&mut self, scene: &Scene, event: &Event<'_>) -> bool {
        let Some(spent) = self.take_spent(event) else { return false };
        let mut html = Html::of("<article class=\"usage\">");
        push_spent(&mut html, spent);
        self.flows.append(scene.flow, html.markup("</article>\n").take());
        true
    }

    /// Returns the tokens and the cost of an event's response, once for each response.
    pub(crate) fn take_spent(&mut self, event: &Event<'_>) -> Option<Spent> {
        self.survey.responses.take(event, self.n_lines, self.threads.hasher())
    }

    /// Returns the hash of an id.
    pub(crate) fn hash(&self, id: Text<'_>) -> u64 {
        self.threads.hasher().hash_text(id)
    }

    /// Closes a call when its results and its sub-agent are written.
    pub(crate) fn close_if_done(&mut self, id: u64) {
        let n_left = self.survey.casts.get(Thread::Call(id)).map_or(0, Cast::n_left);
        if n_left == 0
            && let Some(flow) = self.calls.close(id)
        {
            self.flows.close(flow);
        }
    }

    /// Appends the name and the counts of a sub-agent's conversation.
    fn push_cast(&self, html: &mut Html, thread: Thread) {
        html.markup("<strong>Sub-agent</strong> ").text(self.threads.name(thread));
        let Some(cast) = self.survey.casts.get(thread) else { return };
        html.markup(" <span class=\"quiet\">").text(&counted(cast.n_events(), "line", "lines"));
        html.markup(", ").text(&counted(cast.n_calls(), "tool call", "tool calls"));
        if cast.n_errors() > 0 {
            html.markup(", ").text(&counted(cast.n_errors(), "error", "errors"));
        }
        if let Some(millis) = cast.millis() {
            html.markup(", ").text(&lasting(millis));
        }
        html.markup("</span>");
    }

    /// Appends the anchor of the current line as an attribute, at most once, because ids are
    /// unique.
    pub(crate) fn push_anchor(&mut self, html: &mut Html) {
        self.push_anchor_of(html, self.n_lines);
    }

    /// Appends the anchor of a line that is not before the last one with an anchor.
    fn push_anchor_of(&mut self, html: &mut Html, line: u64) {
        if self.anchored < line {
            self.anchored = line;
            html.markup(" id=\"e").show(line).markup("\"");
        }
    }

    /// Appends the speaker and the time, unless the speaker is the same as before.
    pub(crate) fn push_speaker(
        &mut self,
        html: &mut Html,
        event: &Event<'_>,
        scene: &Scene,
        is_asked: bool,
    ) {
        let Some(message) = event.message() else { return };
        let by_client = message.role == Role::Assistant && message.is_by_client();
        let role = if by_client { Role::User } else { message.role };
        let before = self.speakers.insert(scene.flow, role);
        if before == Some(role) && role == Role::Assistant {
            return;
        }
        let in_agent = scene.depth > 0;
        html.markup(if in_agent { "<h3 class=\"who\">" } else { "<h2 class=\"who\">" });
        html.markup(match (message.role, in_agent) {
            _ if by_client => "Client",
            (Role::User, _) if !is_asked => "Client",
            (Role::User, false) => "User",
            (Role::User, true) => "Task",
            (Role::Assistant, false) => "Assistant",
            (Role::Assistant, true) => "Sub-agent",
        });
        if let Some(model) = message.model {
            html.markup(" <span class=\"quiet\">").text(&model.decode()).markup("</span>");
        }
        if let Some(time) = event_millis(event) {
            html.markup(" ");
            push_time(html, time, self.start);
        }
        html.markup(" <a class=\"here\" href=\"#e").show(self.n_lines);
        html.markup("\" aria-label=\"Link to this line\">#</a>");
        html.markup(if in_agent { "</h3>" } else { "</h2>" });
    }
}

/// Returns whether a file starts like a page or an index of this crate.
///
/// ```
/// let mut index = Vec::new();
/// export_html::write_index(&mut index, "Sessions", &[])?;
/// assert!(export_html::is_page(&index));
/// assert!(!export_html::is_page(b"<!doctype html>\n<html lang=\"en\">\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_page(bytes: &[u8]) -> bool {
    bytes.starts_with(
        b"<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n\
          <meta charset=\"utf-8\">\n\
          <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
          img-src data:; style-src 'sha256-",
    )
}
