//! Lists the sessions of a folder, as Qwen Code lists them.
//!
//! In: a folder with a session of two messages. Out: a [`SessionSummary`] with `n_messages` 2 and
//! the first prompt.

use std::{cmp::Reverse, io, path::Path, time::UNIX_EPOCH};

use core_model::{Body, Event, ReadError, session_files};

use super::is_uuid;
use crate::Reader;

/// A session in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionSummary {
    /// The id in the first line.
    pub id: String,
    /// The name of the file.
    pub file_name: String,
    /// The folder that the client was started in; empty if the first line has none.
    pub cwd: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The number of messages.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The last title of the session.
    pub title: Option<String>,
}

/// Lists the sessions of a folder, the most recently modified first. Files whose name is no UUID are
/// left out, as the client does.
///
/// # Errors
///
/// Returns an error if the folder or a file cannot be read. A missing folder has no sessions.
///
/// ```
/// let sessions = format_gemini::list_sessions("no such folder")?;
/// assert!(sessions.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<SessionSummary>> {
    let mut sessions = Vec::new();
    for path in session_files(folder.as_ref())? {
        let stem = path.file_stem().unwrap_or_default();
        if stem.to_str().is_some_and(is_uuid) {
            sessions.extend(summary(&path)?);
        }
    }
    sessions.sort_by_key(|session| Reverse(session.modified_nanos));
    Ok(sessions)
}

fn summary(path: &Path) -> io::Result<Option<SessionSummary>> {
    let mut found: Option<SessionSummary> = None;
    let mut reader = Reader::open(path)?;
    while let Some(record) = reader.next_borrowed() {
        let record = match record {
            Ok(record) => record,
            Err(ReadError::Io(error)) => return Err(error),
            // The client skips lines that are not JSON.
            Err(_) => continue,
        };
        if found.is_none() {
            let record = record.record();
            let Some(id) = record.session_id else { return Ok(None) };
            let modified = path.metadata()?.modified()?.duration_since(UNIX_EPOCH);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found = Some(SessionSummary {
                id: id.decode().into_owned(),
                file_name: name.into_owned(),
                cwd: record.cwd.map(|cwd| cwd.decode().into_owned()).unwrap_or_default(),
                modified_nanos: modified.map(|it| it.as_nanos()).unwrap_or_default(),
                n_messages: 0,
                first_prompt: String::new(),
                title: None,
            });
        }
        if let Some(summary) = &mut found {
            summary.add(&record.event());
        }
    }
    Ok(found)
}

impl SessionSummary {
    fn add(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                self.n_messages = self.n_messages.saturating_add(1);
                if self.first_prompt.is_empty() && event.is_prompt() {
                    self.first_prompt = message.content.joined().into_owned();
                }
            }
            Body::Title(title) => self.title = Some(title.text.decode().into_owned()),
            _ => {}
        }
    }
}
