//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"title","title":"A","color":"red"}`. Out: `color`.

use core_model::{Event, Shape, Vocabulary, is_void};

/// The names that clido has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    time: "start_time",
    cwd: "project_path",
    status: "exit_status",
    shape,
    list,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line. Lines of one type have the same members.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if let Some(kind) = event.kind {
        shape.add_name(kind.body().as_bytes());
    }
    event.value.read_members(|key, value| {
        shape.add(key, &value);
        if TEXTS.iter().any(|name| key == name.as_bytes()) && value.text().is_none() {
            shape.add_name(b"no text");
        }
        true
    });
    shape
}

/// Members that events hold only if they are strings.
const TEXTS: &[&str] =
    &["session_id", "project_path", "subtype", "exit_status", "title", "path", "content_hash"];

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let kind = event.kind.map(|kind| kind.decode());
    let known: &[&str] = match kind.as_deref() {
        Some("meta") => &["session_id", "start_time", "project_path"],
        Some("user_message" | "assistant_message") => &["content", "role"],
        Some("tool_call") => &["tool_use_id", "tool_name", "input"],
        Some("tool_result") => &[
            "tool_use_id",
            "content",
            "is_error",
            "duration_ms",
            "path",
            "content_hash",
            "mtime_nanos",
        ],
        Some("system") => &["subtype", "message"],
        Some("result") => &["exit_status", "total_cost_usd", "num_turns", "duration_ms"],
        Some("title") => &["title"],
        _ => &[],
    };
    for (key, value) in event.value.members() {
        let key = key.decode();
        let is_odd = TEXTS.contains(&&*key) && value.text().is_none();
        if key != "type" && (is_odd || !known.contains(&&*key)) && !is_void(&value) {
            found(&key);
        }
    }
}
