//! Computes the history that Codex sends when it continues a session.
//!
//! In: the lines of a session. Out: the items of the API, in order: without the turns that were
//! rolled back, after the last compaction, and with each call paired with its output (FORMAT.md,
//! "History").

use std::collections::{HashMap, HashSet};

use jsonl::{RawBuf, Scanner, Style, Value, push_string};

use crate::record::{Compacted, Entry, Item, ItemKind, Record};

/// Returns the items of the history that Codex 0.169 sends when it continues a session. The messages
/// that it adds then are not among them.
///
/// A line that is not JSON, or lacks a member, is skipped, as Codex does.
///
/// ```
/// let session = concat!(
///     r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","#,
///     r#""content":[{"type":"input_text","text":"Hi"}]}}"#,
///     "\n",
///     r#"{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"Hi"}}"#,
///     "\n",
/// );
/// assert_eq!(format_codex::history(session.as_bytes()).len(), 1);
/// ```
pub fn history(session: &[u8]) -> Vec<RawBuf> {
    let mut entries = Vec::new();
    let mut scanner = Scanner::default();
    for line in jsonl::lines(session) {
        let Ok(value) = scanner.scan(&line) else { continue };
        let record = Record::decode(value);
        if record.timestamp.is_none() || record.payload.is_none() {
            continue;
        }
        match record.entry {
            Entry::Item(item) if is_readable(&item) => entries.push(HistoryItem::of(&item)),
            Entry::Compacted(compacted) => compact(&mut entries, &compacted),
            Entry::Event(Some(kind), payload) if kind.is("thread_rolled_back") => {
                let n_turns = payload.get("num_turns").and_then(|it| it.raw().as_u64());
                roll_back(&mut entries, n_turns.unwrap_or(0));
            }
            _ => {}
        }
    }
    paired(entries)
}

/// An item of the history.
#[derive(Debug)]
struct HistoryItem {
    json: RawBuf,
    kind: ItemKind,
    is_turn: bool,
    /// The id of a call, or of the call that an output answers.
    call_id: Option<String>,
}

impl HistoryItem {
    fn of(item: &Item<'_>) -> Self {
        let own_id = || item.text("id").filter(|_| item.kind == ItemKind::LocalShellCall);
        Self {
            json: item.value.raw().into(),
            kind: item.kind,
            is_turn: item.is_user_turn(),
            call_id: item.call_id().or_else(own_id).map(|id| id.decode().into_owned()),
        }
    }

    /// Creates a user's message.
    fn of_text(text: &str) -> Self {
        let mut json =
            br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"#.to_vec();
        push_string(&mut json, text, Style::Compact);
        json.extend_from_slice(b"}]}");
        Self { json: made(json), kind: ItemKind::Message, is_turn: true, call_id: None }
    }

    /// Creates the output of a call that has none.
    fn aborted(call: &HistoryItem) -> Self {
        let kind = match call.kind {
            ItemKind::CustomToolCall => ItemKind::CustomToolCallOutput,
            _ => ItemKind::FunctionCallOutput,
        };
        let name = match kind {
            ItemKind::CustomToolCallOutput => "custom_tool_call_output",
            _ => "function_call_output",
        };
        let mut json = format!("{{\"type\":\"{name}\",\"call_id\":").into_bytes();
        match &call.call_id {
            Some(id) => push_string(&mut json, id, Style::Compact),
            None => json.extend_from_slice(b"null"),
        }
        json.extend_from_slice(b",\"output\":\"aborted\"}");
        Self { json: made(json), kind, is_turn: false, call_id: call.call_id.clone() }
    }

    /// Returns the texts of a message.
    fn text(&self) -> String {
        let mut scanner = Scanner::default();
        let Ok(value) = scanner.scan_raw(self.json.as_raw()) else { return String::new() };
        Item::decode(value).texts().map(|text| text.decode().into_owned()).collect()
    }
}

fn made(json: Vec<u8>) -> RawBuf {
    let json = String::from_utf8(json).unwrap_or_default();
    RawBuf::new(json).unwrap_or_else(|_| jsonl::Raw::NULL.into())
}

fn compact(entries: &mut Vec<HistoryItem>, compacted: &Compacted<'_>) {
    let Some(message) = compacted.message else { return };
    let Some(history) = compacted.replacement_history else {
        let turns = entries.iter().filter(|entry| entry.is_turn);
        let mut kept: Vec<_> = turns.map(|turn| HistoryItem::of_text(&turn.text())).collect();
        let summary = message.decode();
        let summary = if summary.is_empty() { "(no summary available)" } else { &summary };
        kept.push(HistoryItem::of_text(summary));
        *entries = kept;
        return;
    };
    let mut kept = Vec::new();
    for item in history.items().map(Item::decode) {
        let is_known = !matches!(item.kind, ItemKind::Other | ItemKind::GhostSnapshot);
        if is_readable(&item) {
            kept.push(HistoryItem::of(&item));
        } else if is_known || !item.value.is_object() {
            // Codex skips the whole line.
            return;
        }
    }
    *entries = kept;
}

/// Removes the last turns of the user with all that follows them.
fn roll_back(entries: &mut Vec<HistoryItem>, n_turns: u64) {
    let turns = entries.iter().enumerate().filter(|(_, entry)| entry.is_turn);
    let turns: Vec<usize> = turns.map(|(entry_idx, _)| entry_idx).collect();
    let n_turns = usize::try_from(n_turns).unwrap_or(usize::MAX);
    if n_turns == 0 {
        return;
    }
    if let Some(cut) = turns.get(turns.len().saturating_sub(n_turns)) {
        entries.truncate(*cut);
    }
}

/// The kind of a call, which the kind of its output must match.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum CallKind {
    Function,
    Custom,
}

impl CallKind {
    fn of_call(kind: ItemKind) -> Option<Self> {
        match kind {
            ItemKind::FunctionCall | ItemKind::LocalShellCall => Some(CallKind::Function),
            ItemKind::CustomToolCall => Some(CallKind::Custom),
            _ => None,
        }
    }

    fn of_output(kind: ItemKind) -> Option<Self> {
        match kind {
            ItemKind::FunctionCallOutput => Some(CallKind::Function),
            ItemKind::CustomToolCallOutput => Some(CallKind::Custom),
            _ => None,
        }
    }
}

/// Drops outputs without a call, and adds an output to calls without one.
fn paired(entries: Vec<HistoryItem>) -> Vec<RawBuf> {
    let mut calls: HashMap<String, CallKind> = HashMap::new();
    let mut answered: HashSet<(CallKind, String)> = HashSet::new();
    for entry in &entries {
        let Some(id) = &entry.call_id else { continue };
        if let Some(kind) = CallKind::of_call(entry.kind) {
            calls.insert(id.clone(), kind);
        }
        if let Some(kind) = CallKind::of_output(entry.kind) {
            answered.insert((kind, id.clone()));
        }
    }
    let mut items = Vec::new();
    for entry in entries {
        let id = entry.call_id.clone();
        if let Some(kind) = CallKind::of_output(entry.kind)
            && id.as_ref().and_then(|id| calls.get(id)) != Some(&kind)
        {
            continue;
        }
        let open = CallKind::of_call(entry.kind)
            .filter(|kind| id.is_none_or(|id| !answered.contains(&(*kind, id))));
        let answer = open.map(|_| HistoryItem::aborted(&entry).json);
        items.push(entry.json);
        items.extend(answer);
    }
    items
}

/// Returns whether Codex reads an item and sends it.
pub(crate) fn is_readable(item: &Item<'_>) -> bool {
    missing_member(item).is_none()
        && !matches!(item.kind, ItemKind::Other | ItemKind::GhostSnapshot)
}

/// Returns the member because of which Codex skips an item of a known type.
pub(crate) fn missing_member(item: &Item<'_>) -> Option<&'static str> {
    let lacks = |name: &&'static str| item.text(name).is_none();
    let lacks_any = |names: &[&'static str]| names.iter().copied().find(|name| lacks(name));
    let member = |name: &'static str, is_right: fn(Value<'_>) -> bool| {
        (!item.value.get(name).is_some_and(is_right)).then_some(name)
    };
    match item.kind {
        ItemKind::Message => lacks_any(&["role"]).or_else(|| member("content", are_parts)),
        ItemKind::Reasoning => member("summary", |it| it.is_array()),
        ItemKind::FunctionCall => lacks_any(&["name", "arguments", "call_id"]),
        ItemKind::CustomToolCall => lacks_any(&["name", "input", "call_id"]),
        ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput => {
            lacks_any(&["call_id"]).or_else(|| member("output", is_output))
        }
        ItemKind::LocalShellCall => {
            lacks_any(&["status"]).or_else(|| member("action", |it| it.is_object()))
        }
        _ => None,
    }
}

fn kind_of(part: Value<'_>) -> Option<std::borrow::Cow<'_, str>> {
    Some(part.get("type")?.text()?.decode())
}

fn are_parts(content: Value<'_>) -> bool {
    let is_text = |part: Value<'_>, name| part.get(name).is_some_and(|it| it.text().is_some());
    content.is_array()
        && content.items().all(|part| match kind_of(part).as_deref() {
            Some("input_text" | "output_text") => is_text(part, "text"),
            Some("input_image") => is_text(part, "image_url"),
            _ => false,
        })
}

fn is_output(output: Value<'_>) -> bool {
    let kinds = ["input_text", "input_image", "output_text", "encrypted_content"];
    let is_part = |part: Value<'_>| kind_of(part).is_some_and(|kind| kinds.contains(&&*kind));
    output.text().is_some() || output.is_array() && output.items().all(is_part)
}
