//! What a target says that its source does not.

use convert::Report;
use core_model::LossKind;

use super::leaves::{Leaf, joined};

/// Words that a format wants in a place, whatever the session.
const WORDS: &[(&str, &[&str])] = &[
    ("schema_version", &["1"]),
    ("userType", &["external"]),
    ("level", &["info", "warning", "error"]),
    ("stop_reason", &["end_turn", "tool_use"]),
];

/// Members that a target makes up, and their names in the report.
const MADE_UP: &[(&str, &[&str])] = &[
    ("start_time", &["timestamp"]),
    ("timestamp", &["timestamp"]),
    ("sessionId", &["session_id"]),
    ("session_id", &["session_id"]),
    ("id", &["message_id", "message.id"]),
    ("message_id", &["message_id", "message.id"]),
    ("model", &["model"]),
    ("version", &["version"]),
    ("cwd", &["cwd"]),
    ("project_path", &["cwd"]),
    ("claude_code_version", &["init"]),
    ("permissionMode", &["permissionMode", "init"]),
    ("apiKeySource", &["init"]),
    ("output_style", &["init"]),
    ("content", &["prompt", "tool_result", "message.content", "block"]),
    ("text", &["prompt", "tool_result", "message.content", "block"]),
    ("duration_ms", &["duration_ms", "tool_result.duration_ms", "result"]),
    ("duration_api_ms", &["duration_api_ms", "result"]),
    ("num_turns", &["num_turns", "result"]),
    ("total_cost_usd", &["total_cost_usd", "result"]),
    ("exit_status", &["exit_status"]),
    ("usage", &["usage", "result"]),
];

/// Returns the strings of a target that its source does not hold, piece by piece, and that the
/// report does not tell of as made up.
pub(crate) fn made_up(
    bytes: &[u8],
    source: &[Leaf],
    target: &[Leaf],
    report: &Report,
) -> Vec<Leaf> {
    // A value with less structure is told as the text that it was.
    let held = joined(source) + &String::from_utf8_lossy(bytes);
    let is_held = |leaf: &Leaf| {
        let as_number =
            || leaf.number.is_some() && source.iter().any(|it| it.number == leaf.number);
        leaf.text.split('\n').all(|piece| held.contains(piece.trim())) || as_number()
    };
    let is_word = |leaf: &Leaf| {
        let word = WORDS.iter().find(|(key, _)| *key == leaf.key());
        word.is_some_and(|(_, words)| words.contains(&leaf.text.as_str()))
    };
    let is_told = |leaf: &Leaf| {
        // The tokens of a result are the sums over its messages.
        let key = if leaf.path.starts_with("usage.") { "usage" } else { leaf.key() };
        let fields = MADE_UP.iter().find(|(of, _)| *of == key);
        fields.is_some_and(|(_, fields)| {
            let is_it = |field: &str| fields.iter().any(|start| field.starts_with(start));
            report.losses.iter().any(|(kind, field, _)| kind != LossKind::Dropped && is_it(field))
        })
    };
    let is_open = |leaf: &&Leaf| {
        !leaf.is_tag() && !is_id(leaf) && !is_held(leaf) && !is_word(leaf) && !is_told(leaf)
    };
    target.iter().filter(is_open).cloned().collect()
}

/// Returns whether it is an id of ours: a UUIDv5, or what follows from one.
fn is_id(leaf: &Leaf) -> bool {
    let is_uuid = leaf.text.len() == 36 && leaf.text.as_bytes().get(14) == Some(&b'5');
    let is_place = ["uuid", "parentUuid", "sourceToolAssistantUUID"].contains(&leaf.key());
    is_uuid && is_place
}
