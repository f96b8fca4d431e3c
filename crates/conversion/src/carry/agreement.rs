//! Checks that a written record shows the same messages as its carry restores.
//!
//! A carry may be forged: its guard and its checks fit, and it restores other words than the record
//! shows. In: the event of the written record, and the events of the restored records. Out: whether
//! both have the same messages: texts, thinking, tool uses and tool results.
//!
//! The comparison goes line by line and ignores blanks, because writers join texts and change
//! blanks. Each line of a message must be on the other side. Notices, results of runs, and
//! placeholders for unknown blocks may match a line of a message, and need no match themselves. A tool
//! result without its call may be a notice, which does not show its id.
//!
//! Shown `{"text":"Delete it."}`, restored `{"content":"Keep it."}`: they differ. Shown
//! `{"text":"[server_tool_use web_search {\"query\":\"rust\"}]"}`, restored a block of that type with that name and
//! input: they agree.

use std::{
    borrow::Cow,
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use core_model::{
    Block, Body, Content, Event, Format, ToolResult, is_accepted_tool_id, is_replacement_tool_id,
};
use jsonl::{Raw, Scanner, Style, Value, respell};

use super::{
    MemberOrders,
    compared::{ComparedLine, compared, compared_lines, hash},
    portions::each_event,
    respelt_numbers::each_equal,
    said::{Kind, accepted_name, each_piece, spelled},
};

/// The hashes of a tool use's block, in the form that is compared.
#[derive(Debug)]
struct CallBlock {
    /// As written; `None` if it is long.
    block: Option<u64>,
    /// In JavaScript's spelling, without needless escapes; `None` if that is as written.
    respelt: Option<u64>,
    /// The words in its place in a message that has no tool uses, such as one that failed.
    placeholder: u64,
    input: Option<u64>,
}

impl CallBlock {
    /// Returns whether a side has the block as plain JSON, or the words in its place.
    fn is_words_of(&self, side: &Sayings) -> bool {
        let mut hashes = [self.block, self.respelt, Some(self.placeholder)].into_iter().flatten();
        hashes.any(|hash| side.others.contains(&hash))
            || side.lines.contains(&(Kind::Assistant, self.placeholder))
    }
}

/// The id of a tool use, or the id that a tool result names, in the form that is compared.
#[derive(Clone, Debug, Eq, PartialEq)]
struct ToolId {
    id: String,
    /// The name of the tool; `None` for a tool result.
    tool: Option<String>,
}

impl ToolId {
    /// Returns the kind and the text of its line.
    fn line(&self) -> (Kind, String) {
        match &self.tool {
            Some(tool) => (Kind::Call, [self.id.as_str(), tool].concat()),
            None => (Kind::Answer, self.id.clone()),
        }
    }
}

/// The ids that a writer replaced, because an API refuses them or two tool uses have the same one.
///
/// ```text
/// shown    {"type":"tool_use","id":"toolu_9b0fc70b6bde5cba86230929","name":"Bash",..}
/// restored {"type":"function_call","call_id":"call:1","name":"Bash",..}
/// ```
///
/// Each replacement is paired with one restored id for the whole file. Otherwise a carry could swap the
/// results of two tool uses.
#[derive(Debug, Default)]
pub(super) struct ReplacedIds {
    /// The hash of the restored id, by the hash of its replacement.
    restored: HashMap<u64, u64>,
}

impl ReplacedIds {
    /// Returns the ids of written records that replace ids of restored records.
    ///
    /// Shown `a`, `toolu_1..`, `toolu_2..`; restored `a`, `x:1`, `x:2`: `a` is in both, and the others are pairs in
    /// order. A notice shows no id, so a restored id may have no partner.
    fn find(&mut self, shown: &Sayings, said: &Sayings) -> Vec<(ToolId, ToolId)> {
        let mut pairs = Vec::new();
        // Some formats have the results behind all calls of a response, and others behind each call.
        for is_call in [true, false] {
            let is_of_kind = |id: &&ToolId| id.tool.is_some() == is_call;
            let new = shown.ids.iter().filter(is_of_kind).collect();
            let old = said.ids.iter().filter(is_of_kind).collect();
            self.pair(new, old, &mut pairs);
        }
        pairs
    }

    /// Adds pairs of replacements and of the ids that they replace: the pairs that are known from records before, and
    /// the others in order.
    fn pair(&mut self, new: Vec<&ToolId>, old: Vec<&ToolId>, pairs: &mut Vec<(ToolId, ToolId)>) {
        let by_hash: HashMap<u64, &ToolId> = old.iter().map(|id| (hash(&id.id), *id)).collect();
        let mut others = without(&old, &new);
        let mut new = without(&new, &old);
        new.retain(|id| is_replacement_tool_id(&id.id));
        let known: HashSet<u64> =
            new.iter().filter_map(|id| self.restored.get(&hash(&id.id)).copied()).collect();
        others.retain(|id| !known.contains(&hash(&id.id)));
        let is_unknown = |id: &&&ToolId| !self.restored.contains_key(&hash(&id.id));
        if new.iter().filter(is_unknown).count() < others.len() {
            // The other ones that an API accepts are in notices, because another tool use has the same id.
            others.retain(|id| !is_accepted_tool_id(&id.id));
        }
        let mut others = others.into_iter();
        for new in new {
            let old = match self.restored.get(&hash(&new.id)) {
                Some(old) => by_hash.get(old).copied(),
                None => others.by_ref().find(|old| old.tool == new.tool),
            };
            if let Some(old) = old.filter(|old| old.tool == new.tool) {
                self.restored.insert(hash(&new.id), hash(&old.id));
                pairs.push((new.clone(), old.clone()));
            }
        }
    }

    /// Puts the restored ids into the texts of written records.
    pub(super) fn undo(&mut self, shown: [&mut Sayings; 2], said: &Sayings) {
        let [all, some] = shown;
        for (new, old) in self.find(all, said) {
            all.rename(&new, &old);
            some.rename(&new, &old);
        }
    }
}

/// Returns the ids that other ids do not have, in order. Of an id that is twice in `ids` and once in `others`, the second
/// one is returned.
fn without<'i>(ids: &[&'i ToolId], others: &[&ToolId]) -> Vec<&'i ToolId> {
    let mut counts = HashMap::<&str, usize>::new();
    for other in others {
        *counts.entry(&other.id).or_default() += 1;
    }
    let mut is_left = |id: &&ToolId| match counts.get_mut(&*id.id) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    ids.iter().copied().filter(|id| is_left(id)).collect()
}

/// The texts of records, line by line.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    /// The hashes of lines that the other side must have too.
    lines: HashSet<(Kind, u64)>,
    /// The lines that begin with a bracket, by their hashes. A long one ends earlier.
    bracketed: HashMap<u64, Box<str>>,
    /// The inputs in an object that writers put around an input that is none: the hash without it, by the hash with it.
    wrapped: HashMap<u64, u64>,
    /// The hashes without these objects.
    unwrapped: HashSet<u64>,
    /// The hashes of lines that may match any line of the other side. A message may have more of these bytes than the
    /// other side shows: a long block, for which a format has a short placeholder.
    others: HashSet<u64>,
    /// The hashes of the words in place of tool uses, which a text of the other side may be.
    placeholders: HashSet<u64>,
    /// The first blocks that a target may not know: the start of their placeholder, and the block.
    marks: Vec<(String, String)>,
    /// The tool uses, by their lines in `lines`. Several tool uses may have one id.
    calls: HashMap<u64, Vec<CallBlock>>,
    /// The ids of tool uses and of tool results, in order.
    ids: Vec<ToolId>,
    /// The hashes of a tool result's id and of each line of its text.
    result_lines: Vec<(u64, u64)>,
    n_bytes: usize,
    has_message: bool,
    has_image: bool,
    /// Whether a tool's input has values that some programs change.
    has_odd_input: bool,
}

impl Sayings {
    /// Adds the texts of a record; if `is_whole`, also the texts in lists that are not indexed.
    pub(super) fn add_record(&mut self, format: &Format, record: Value<'_>, is_whole: bool) {
        each_event(format, record, is_whole, &mut |event| {
            self.add(event);
            true
        });
    }

    /// Adds the texts of an event.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                self.has_message = true;
                each_piece(event, &mut |kind, piece| self.add_lines(kind, &piece.text()));
                self.add_unknown(&message.content);
                self.add_ids(&message.content);
            }
            Body::Notice(notice) => {
                self.add_raw(notice.text);
                // Some notices of results without a call name the call.
                self.add_raw(notice.about.map(Raw::from));
            }
            Body::Outcome(outcome) => self.add_raw(outcome.result),
            _ => {}
        }
    }

    fn add_ids(&mut self, content: &Content<'_>) {
        for (block, _) in content.blocks() {
            let (id, tool) = match block {
                Block::ToolUse(tool) if !tool.is_server => (tool.id, Some(tool.name)),
                Block::ToolResult(result) => {
                    self.add_result(&result);
                    (result.tool_use_id, None)
                }
                _ => continue,
            };
            let tool = tool.map(|tool| compared(&accepted_name(tool)));
            self.ids.push(ToolId { id: compared(&id.decode()), tool });
        }
    }

    fn add_result(&mut self, result: &ToolResult<'_>) {
        let id = hash(&compared(&result.tool_use_id.decode()));
        let text = result.content.joined();
        self.result_lines.extend(compared_lines(&text).map(|line| (id, line.hash)));
    }

    /// Returns the hashes of the ids of tool results that the other side has as notices, which do not say
    /// the id. Formats show a result without its call so.
    fn flattened_by(&self, other: &Self) -> HashSet<u64> {
        let mut ids: HashSet<u64> = self.result_lines.iter().map(|(id, _)| *id).collect();
        for (id, line) in &self.result_lines {
            if !other.others.contains(line) {
                ids.remove(id);
            }
        }
        ids
    }

    /// Replaces an id in the compared lines.
    fn rename(&mut self, new: &ToolId, old: &ToolId) {
        let ((kind, new), (old_kind, old)) = (new.line(), old.line());
        if self.lines.remove(&(kind, hash(&new))) {
            self.insert(old_kind, ComparedLine::of_compared(&old));
        }
        if let Some(blocks) = self.calls.remove(&hash(&new)) {
            self.calls.entry(hash(&old)).or_default().extend(blocks);
        }
    }

    fn add_lines(&mut self, kind: Kind, text: &str) {
        if kind == Kind::Input {
            self.has_odd_input |= is_odd(text);
            if let Some(sorted) = input_line(text) {
                self.add_line(kind, sorted);
                return;
            }
        }
        if matches!(kind, Kind::Call | Kind::Answer) {
            // An id with a newline is one line, and an empty one, too, as in `ToolId::line`.
            let line = ComparedLine::of(text);
            self.n_bytes += line.n_bytes;
            self.insert(kind, line);
            return;
        }
        for line in compared_lines(text) {
            self.add_line(kind, line);
        }
    }

    /// Adds a line, unless it is empty.
    fn add_line(&mut self, kind: Kind, line: ComparedLine) {
        if line.n_bytes > 0 {
            self.n_bytes += line.n_bytes;
            self.insert(kind, line);
        }
    }

    fn insert(&mut self, kind: Kind, line: ComparedLine) {
        let ComparedLine { hash, bracketed, inner, .. } = line;
        self.lines.insert((kind, hash));
        self.bracketed.extend(bracketed.map(|text| (hash, text)));
        if let Some(inner) = inner.filter(|_| kind == Kind::Input) {
            self.wrapped.insert(hash, inner);
            self.unwrapped.insert(inner);
        }
    }

    fn add_raw(&mut self, raw: Option<Raw<'_>>) {
        let Some(raw) = raw else { return };
        match raw.as_text() {
            Some(text) => self.add_other(&text.decode()),
            None => self.add_other(raw.as_str()),
        }
    }

    fn add_other(&mut self, text: &str) {
        for line in compared_lines(text) {
            self.n_bytes += size_of::<u64>();
            self.others.insert(line.hash);
        }
    }

    /// Adds the placeholders that writers use for content that a target does not know.
    fn add_unknown(&mut self, content: &Content<'_>) {
        if let Content::Other(raw) = content {
            return self.add_raw(Some(*raw));
        }
        let Content::Blocks(_) = content else { return };
        for (block, raw) in content.blocks() {
            let kind = match block {
                Block::Other { kind, .. } => {
                    if raw.as_str().len() <= MAX_MARK {
                        self.add_raw(Some(raw));
                    }
                    // The placeholders for a block without a type.
                    self.others.extend(["[unknown]", "[block]"].map(hash));
                    kind.map(|kind| kind.decode())
                }
                Block::ToolUse(tool) if tool.is_server => {
                    self.add_other(&block.placeholder());
                    // Version 0.1.0 wrote neither name nor input.
                    Some(Cow::Borrowed("server_tool_use"))
                }
                Block::ToolUse(tool) => {
                    let placeholder = block.placeholder();
                    self.placeholders.extend(compared_lines(&placeholder).map(|line| line.hash));
                    let call = [&*tool.id.decode(), &*accepted_name(tool.name)].concat();
                    let input = input_line(&spelled(tool.input.json().raw(), Style::Python));
                    let mut call_block = CallBlock {
                        block: None,
                        respelt: None,
                        placeholder: ComparedLine::of(&placeholder).hash,
                        input: input.map(|input| input.hash),
                    };
                    if raw.as_str().len() <= MAX_MARK {
                        let spellings = [raw.as_str(), &spelled(raw, Style::Compact)];
                        let [block, respelt] = spellings.map(|it| ComparedLine::of(it).hash);
                        call_block.respelt = Some(respelt).filter(|respelt| *respelt != block);
                        call_block.block = Some(block);
                    }
                    // Nearly all ids have one tool use, and a line may have tens of thousands.
                    let calls = self.calls.entry(ComparedLine::of(&call).hash).or_default();
                    calls.reserve_exact(1);
                    calls.push(call_block);
                    Some(Cow::Borrowed("tool_use"))
                }
                Block::Thinking { .. } => Some(Cow::Borrowed("thinking")),
                Block::RedactedThinking { .. } => Some(Cow::Borrowed("redacted_thinking")),
                Block::ToolResult(result) => {
                    self.add_unknown(&result.content);
                    Some(Cow::Borrowed("tool_result"))
                }
                Block::Image { .. } => {
                    self.has_image = true;
                    None
                }
                // A string instead of a block.
                _ => {
                    self.add_raw(raw.as_text().map(Raw::from));
                    None
                }
            };
            if let Some(kind) = kind
                && self.marks.len() < MAX_MARKS
            {
                // A placeholder such as `[tool_reference WebFetch]` repeats words of the block.
                let start = raw.as_str().floor_char_boundary(MAX_MARK);
                let [mark, block] = [&kind, &raw.as_str()[..start]].map(compared);
                self.n_bytes += block.len();
                self.marks.push((format!("[{mark}"), block));
            }
        }
    }

    /// Returns whether a line that begins with a bracket is a placeholder for a block that the target does not know.
    fn stands_in(&self, line: &str) -> bool {
        let is_of = |(mark, block): &(String, String)| {
            let words = line.strip_prefix(mark.as_str()).and_then(|it| it.strip_suffix(']'));
            words.is_some_and(|words| block.contains(words))
        };
        self.has_image && line.starts_with("[image") || self.marks.iter().any(is_of)
    }

    /// Returns whether the other side has the block of a tool use as plain JSON, or the words in its place:
    /// formats differ in the members that a tool use must have, and in the messages that may have one.
    fn is_unread_by(&self, call: u64, other: &Self) -> bool {
        self.calls.get(&call).is_some_and(|blocks| blocks.iter().any(|it| it.is_words_of(other)))
    }

    /// Returns whether an input is in the block of a tool use that the other side has as plain JSON.
    fn is_input_unread_by(&self, line: u64, other: &Self) -> bool {
        let is_null = line == hash("null");
        let is_of = |call: &&CallBlock| is_null || call.input == Some(line);
        self.calls.values().flatten().filter(is_of).any(|call| call.is_words_of(other))
    }

    /// Returns whether the sides have an input with and without the object that writers put around
    /// an input that is none: `{"value":[1]}` or `{"input":[1]}`, and `[1]`.
    fn is_wrapped_by(&self, line: u64, other: &Self) -> bool {
        let inner = self.wrapped.get(&line);
        other.unwrapped.contains(&line)
            || inner.is_some_and(|inner| other.lines.contains(&(Kind::Input, *inner)))
    }

    /// Returns the number of compared bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns whether the other side has all required lines.
    pub(super) fn is_said_by(&self, other: &Self) -> bool {
        // Once for all lines, because a record may have many results.
        let flattened = OnceCell::new();
        let is_flattened =
            |id: u64| flattened.get_or_init(|| self.flattened_by(other)).contains(&id);
        let empty = hash(EMPTY);
        self.lines.iter().all(|(kind, line)| {
            let line = *line;
            other.lines.contains(&(*kind, line))
                || other.others.contains(&line)
                || line == empty
                || other.placeholders.contains(&line)
                || self.bracketed.get(&line).is_some_and(|text| other.stands_in(text))
                || *kind == Kind::Answer && (!other.has_message || is_flattened(line))
                || *kind == Kind::Call && self.is_unread_by(line, other)
                || *kind == Kind::Input
                    && (self.is_input_unread_by(line, other) || self.is_wrapped_by(line, other))
                || *kind == Kind::Input && (self.has_odd_input || other.has_odd_input)
        })
    }
}

/// Returns the compared form of an input in Python's spelling, with its members sorted and its numbers in one
/// spelling, because another program may have changed both.
fn input_line(input: &str) -> Option<ComparedLine> {
    let sorted = MemberOrders::default().respelt(input, Style::Python)?;
    Some(ComparedLine::of_pieces(sorted.len(), &|each| each_equal(&sorted, each)))
}

/// Limit on the blocks that are searched for a placeholder.
const MAX_MARKS: usize = 64;

/// Limit on the bytes of a block that are searched, from its start.
const MAX_MARK: usize = 4096;

/// Claude Code's text for an empty result, without blanks.
const EMPTY: &str = "(nocontent)";

/// Limit on depth: some clients drop deeper values of a message.
const MAX_DEPTH: u32 = 64;

/// Returns whether a tool's input has a lone surrogate, a number beyond a double, or great depth,
/// which some writers drop.
fn is_odd(input: &str) -> bool {
    let mut scanner = Scanner::default();
    let Ok(value) = scanner.scan_slice(input.as_bytes(), 0) else { return true };
    let oddities = value.oddities();
    let is_number = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
    let is_infinite = |it: &str| it.parse::<f64>().is_ok_and(f64::is_infinite);
    let has_lone_surrogate = || {
        let mut compact = Vec::new();
        respell(&mut compact, value.raw(), Style::Compact);
        memchr::memmem::find(&compact, b"\\ud").is_some()
    };
    oddities.depth > MAX_DEPTH
        || oddities.wide_number && input.split(|it| !is_number(it)).any(is_infinite)
        || oddities.surrogate_escape && has_lone_surrogate()
}
