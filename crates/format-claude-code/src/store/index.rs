//! Reads `sessions-index.json`: a list of a project's sessions that some clients write.

use jsonl::{Scanner, Value};

/// A session in an index. A missing member, or one of another kind, is `None`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct IndexEntry {
    /// The id of the session.
    pub session_id: String,
    /// The path of its file. The text comes from a file: check it before you open it.
    pub full_path: Option<String>,
    /// The modification time of the file, in milliseconds since 1970.
    pub file_mtime: Option<i64>,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// The summary.
    pub summary: Option<String>,
    /// The number of messages.
    pub message_count: Option<u64>,
    /// The time of the first message, as written.
    pub created: Option<String>,
    /// The time of the last message, as written.
    pub modified: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// The path of the project.
    pub project_path: Option<String>,
    /// Whether the session is a sub-agent's.
    pub is_sidechain: bool,
}

/// Reads a `sessions-index.json`; `None` if it has no list of entries. Entries without an id are
/// left out.
///
/// ```
/// let index = br#"{
///   "version": 1,
///   "entries": [{"sessionId": "s1", "fileMtime": 1768681919197.5, "messageCount": 4}, {}]
/// }"#;
/// let entries = format_claude_code::sessions_index(index).expect("an index");
/// assert_eq!((entries.len(), entries[0].message_count), (1, Some(4)));
/// assert_eq!(entries[0].file_mtime, Some(1768681919197));
/// assert!(format_claude_code::sessions_index(b"[]").is_none());
/// ```
pub fn sessions_index(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    let mut scanner = Scanner::default();
    let index = scanner.scan_slice(bytes.trim_ascii(), 0).ok()?;
    let entries = index.get("entries").filter(Value::is_array)?;
    Some(entries.items().filter_map(entry).collect())
}

fn entry(value: Value<'_>) -> Option<IndexEntry> {
    let text = |name: &str| Some(value.get(name)?.text()?.decode().into_owned());
    let number = |name: &str| value.get(name).map(|number| number.raw());
    Some(IndexEntry {
        session_id: text("sessionId")?,
        full_path: text("fullPath"),
        file_mtime: number("fileMtime").and_then(|time| time.as_f64()).map(|time| time as i64),
        first_prompt: text("firstPrompt"),
        summary: text("summary"),
        message_count: number("messageCount").and_then(|count| count.as_u64()),
        created: text("created"),
        modified: text("modified"),
        git_branch: text("gitBranch"),
        project_path: text("projectPath"),
        is_sidechain: value.get("isSidechain").and_then(|flag| flag.bool()) == Some(true),
    })
}
