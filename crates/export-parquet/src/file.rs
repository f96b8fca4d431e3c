//! A file that is written into the tables: facts that its rows need from other lines, and its own
//! row.

use std::collections::BTreeSet;

use core_model::{
    Block, Body, ByHash, Event, Field, IdHasher, Message, NoticeKind, ResponseUsage, Span,
    TitleRank, TokenTotals, Tokens, ToolUse, Usage,
};
use jsonl::{Line, Text};

use crate::columns::Cell;

/// Limit in characters for the first prompt where it replaces a title.
const TITLE: usize = 100;

/// A file that is written into the tables.
///
/// Each line is observed before its rows are pushed. There are two orders: all lines are observed and then pushed,
/// or each line is observed and pushed at once. The second order reads the file once, but the rows of the file
/// must stay in their [`Columns`](crate::Columns) until its last line is pushed, because a later line can take
/// tokens or a cost from them.
///
/// Example: two lines of response `m` have the usage `{"output_tokens":1}` and `{"output_tokens":9}`. The row of
/// the first line gets 1 token when it is pushed, and none as soon as the second line is observed and pushed. The
/// row of the second line has 9.
#[derive(Debug)]
pub struct SessionFile {
    name: String,
    format: &'static str,
    hasher: IdHasher,
    /// For each response, by its id, its last line with tokens.
    last_lines: ByHash<LastLine>,
    /// For each response of a sub-agent, by its id, its last progress line.
    last_progress_lines: ByHash<LastLine>,
    /// The rows whose tokens and costs later lines of their responses have.
    superseded: Vec<usize>,
    /// The rows with the cost of a response since the last outcome, with the offsets of their lines, ascending.
    costs: Vec<(u64, usize)>,
    /// The names of the tools by the ids of their uses.
    tools_by_id: ByHash<String>,
    summary: Summary,
}

/// The last line of a response with tokens.
#[derive(Debug, Default)]
struct LastLine {
    offset: u64,
    /// The rows that have the tokens of this line.
    rows: Vec<usize>,
}

/// The values of the row in `sessions`.
#[derive(Debug, Default)]
struct Summary {
    session_id: Option<String>,
    agent_id: Option<String>,
    has_main: bool,
    title: Option<(TitleRank, String)>,
    first_prompt: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
    span: Span,
    tokens: TokenTotals,
    cost: Option<f64>,
    models: BTreeSet<String>,
    tools: BTreeSet<String>,
    n_lines: u64,
    n_bad: u64,
    n_bytes: u64,
    n_prompts: u64,
    n_tool_uses: u64,
    n_tool_errors: u64,
    n_compactions: u64,
}

impl SessionFile {
    /// Creates a file from its name in the tables and its format.
    pub fn new(name: &str, format: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            format,
            hasher: IdHasher::default(),
            last_lines: ByHash::default(),
            last_progress_lines: ByHash::default(),
            superseded: Vec::new(),
            costs: Vec::new(),
            tools_by_id: ByHash::default(),
            summary: Summary::default(),
        }
    }

    /// Returns the name in the tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn format(&self) -> &'static str {
        self.format
    }

    /// Observes a line. The event of an unreadable line is `None`.
    pub fn observe(&mut self, line: &Line<'_>, event: Option<&Event<'_>>) {
        if event.is_none_or(|event| event.nth == 0) {
            self.summary.n_lines += u64::from(!line.is_blank());
            self.summary.n_bytes += line.bytes().len() as u64;
        }
        let Some(event) = event else {
            self.summary.n_bad += u64::from(!line.is_blank());
            return;
        };
        self.observe_response(line, event);
        self.summary.observe(event);
    }

    /// Observes an event as [`SessionFile::observe`] does, but for the rows in `events` alone: the row in `sessions`
    /// has its name and its format then, and counts nothing.
    pub fn observe_response(&mut self, line: &Line<'_>, event: &Event<'_>) {
        let (lines, id) = match &event.body {
            Body::Message(message) if usage_of(message).is_some() => {
                (&mut self.last_lines, message.id)
            }
            Body::Usage(usage) => (&mut self.last_progress_lines, usage.message_id),
            _ => return,
        };
        let Some(id) = id else { return };
        let id = self.hasher.hash_text(id);
        let last = lines.entry(id).or_default();
        if last.offset != line.offset() {
            last.offset = line.offset();
            self.superseded.append(&mut last.rows);
        }
        let is_message = matches!(event.body, Body::Message(_));
        if is_message && let Some(progress) = self.last_progress_lines.get_mut(&id) {
            self.superseded.append(&mut progress.rows);
        }
    }

    /// Returns the tokens of the line at an offset that count for the session, and notes that a row has them. `known`
    /// are the tokens of a message, if they were read. A response counts at its last line, and a progress line only for a response without lines of its own.
    pub(crate) fn tokens(
        &mut self,
        event: &Event<'_>,
        known: Option<Tokens>,
        offset: u64,
        row_idx: usize,
    ) -> Option<Tokens> {
        let (lines, id, usage) = match &event.body {
            Body::Message(message) => (&mut self.last_lines, message.id, usage_of(message)?),
            Body::Usage(ResponseUsage { message_id, usage, .. }) => {
                let has_lines =
                    |id: &Text<'_>| self.last_lines.contains_key(&self.hasher.hash_text(*id));
                if message_id.as_ref().is_some_and(has_lines) {
                    return None;
                }
                (&mut self.last_progress_lines, *message_id, *usage)
            }
            _ => return None,
        };
        if let Some(id) = id {
            let last = lines.get_mut(&self.hasher.hash_text(id));
            last.filter(|last| last.offset == offset)?.rows.push(row_idx);
        }
        let is_message = matches!(event.body, Body::Message(_));
        Some(known.filter(|_| is_message).unwrap_or_else(|| usage.tokens()))
    }

    /// Notes that a row has the cost of the response at an offset.
    pub(crate) fn note_cost(&mut self, offset: u64, row_idx: usize) {
        self.costs.push((offset, row_idx));
    }

    /// Removes and returns the rows whose tokens and costs later lines have.
    pub(crate) fn superseded(&mut self) -> std::vec::Drain<'_, usize> {
        self.superseded.drain(..)
    }

    /// Removes the costs of the responses up to an outcome, and returns the rows at these offsets.
    pub(crate) fn covered(&mut self, offsets: &[u64]) -> Vec<usize> {
        let costs = std::mem::take(&mut self.costs);
        let is_covered = |offset: &u64| offsets.binary_search(offset).is_ok();
        costs.into_iter().filter(|(offset, _)| is_covered(offset)).map(|(_, row)| row).collect()
    }

    /// Notes the name of a tool use for its result.
    pub(crate) fn note_tool(&mut self, tool: &ToolUse<'_>) {
        self.tools_by_id.insert(self.hasher.hash_text(tool.id), tool.name.decode().into_owned());
    }

    /// Returns the name of the tool use with an id, if it is in an earlier line.
    pub(crate) fn tool_of(&self, id: Text<'_>) -> Option<&str> {
        self.tools_by_id.get(&self.hasher.hash_text(id)).map(String::as_str)
    }

    /// Calls `then` with the cells of the file's row in `sessions`.
    pub(crate) fn row<T>(&self, then: impl FnOnce(&[Cell<'_>]) -> T) -> T {
        let summary = &self.summary;
        let title = summary.title.as_ref().map(|(_, title)| title.as_str());
        let tokens = summary.tokens.total();
        let [models, tools] = [&summary.models, &summary.tools]
            .map(|names| names.iter().cloned().collect::<Vec<_>>());
        then(&[
            Cell::Text(&self.name),
            Cell::Text(self.format),
            Cell::text(summary.session_id.as_deref()),
            Cell::text(summary.agent_id.as_deref().filter(|_| !summary.has_main)),
            Cell::text(title.or(summary.first_prompt.as_deref())),
            Cell::text(summary.cwd.as_deref()),
            Cell::text(summary.git_branch.as_deref()),
            Cell::text(summary.version.as_deref()),
            Cell::time(summary.span.earliest()),
            Cell::time(summary.span.latest()),
            Cell::count(summary.n_lines),
            Cell::count(summary.n_bad),
            Cell::count(summary.n_bytes),
            Cell::count(summary.n_prompts),
            Cell::count(summary.n_tool_uses),
            Cell::count(summary.n_tool_errors),
            Cell::count(summary.n_compactions),
            Cell::count(tokens.input),
            Cell::count(tokens.output),
            Cell::count(tokens.cache_read),
            Cell::count(tokens.cache_creation),
            summary.cost.map_or(Cell::Null, Cell::Float),
            Cell::Texts(&models),
            Cell::Texts(&tools),
        ])
    }
}

fn usage_of<'l>(message: &Message<'l>) -> Option<Usage<'l>> {
    message.usage.filter(|usage| !usage.is_null())
}

impl Summary {
    fn observe(&mut self, event: &Event<'_>) {
        let context = &event.context;
        note(&mut self.session_id, context.session_id);
        note(&mut self.agent_id, context.agent_id);
        note(&mut self.cwd, context.cwd);
        note(&mut self.git_branch, context.git_branch);
        note(&mut self.version, context.version);
        self.span.push(event);
        self.tokens.push(event);
        match &event.body {
            Body::Message(message) => {
                self.has_main |= !event.is_sub_agent();
                if let Some(model) = message.model {
                    add(&mut self.models, &model.decode());
                }
                if event.is_prompt() {
                    self.n_prompts += 1;
                    self.first_prompt.get_or_insert_with(|| {
                        message.content.joined().trim().chars().take(TITLE).collect()
                    });
                }
                for (block, _) in message.blocks() {
                    match block {
                        Block::ToolUse(tool) => {
                            self.n_tool_uses += 1;
                            add(&mut self.tools, &tool.name.decode());
                        }
                        Block::ToolResult(result) => {
                            self.n_tool_errors += u64::from(result.is_error == Field::Value(true));
                        }
                        _ => {}
                    }
                }
            }
            Body::Notice(notice) => {
                self.n_compactions += u64::from(notice.kind == NoticeKind::Compaction);
            }
            Body::Outcome(outcome) => {
                if let Some(cost) = outcome.cost.and_then(|cost| cost.as_f64()) {
                    *self.cost.get_or_insert(0.0) += cost;
                }
            }
            Body::Title(title)
                if self.title.as_ref().is_none_or(|(rank, _)| *rank <= title.rank) =>
            {
                self.title = Some((title.rank, title.text.decode().into_owned()));
            }
            _ => {}
        }
    }
}

fn note(slot: &mut Option<String>, text: Option<Text<'_>>) {
    if let (None, Some(text)) = (&slot, text) {
        *slot = Some(text.decode().into_owned());
    }
}

fn add(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
}
