//! Lists the sessions of a folder, as pi lists them.
//!
//! In: a folder with a session of two messages. Out: a [`SessionSummary`] with `n_messages` 2 and
//! the first prompt.

use std::{cmp::Reverse, io, path::Path, time::UNIX_EPOCH};

use core_model::{Body, Event, ReadError, Role, session_files};

use crate::{Entry, Reader};

/// A session in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionSummary {
    /// The id in the header.
    pub id: String,
    /// The name of the file.
    pub file_name: String,
    /// The folder that pi was started in; empty if the header has none.
    pub cwd: String,
    /// The file that the session was forked from.
    pub parent_session: Option<String>,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The number of messages.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The last name of the session.
    pub name: Option<String>,
}

/// Lists the sessions of a folder, the most recently modified first. Files whose first record is
/// not a header are left out, because pi refuses them.
///
/// # Errors
///
/// Returns an error if the folder or a file cannot be read. A missing folder has no sessions.
///
/// ```
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pi");
/// let sessions = format_pi::list_sessions(folder)?;
/// let found = sessions.iter().find(|session| session.file_name == "one-call.jsonl");
/// assert_eq!(found.expect("listed").first_prompt, "List the files");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<SessionSummary>> {
    let mut sessions = Vec::new();
    for path in session_files(folder.as_ref())? {
        sessions.extend(summary(&path)?);
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
            // pi skips lines that are not JSON.
            Err(_) => continue,
        };
        match &mut found {
            Some(summary) => summary.add(&record.event()),
            None => {
                let record = record.record();
                let (Entry::Session(header), Some(id)) = (record.entry, record.id) else {
                    return Ok(None);
                };
                let owned = |text: jsonl::Text<'_>| text.decode().into_owned();
                let modified = path.metadata()?.modified()?.duration_since(UNIX_EPOCH);
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                found = Some(SessionSummary {
                    id: owned(id),
                    file_name: name.into_owned(),
                    cwd: header.cwd.map(owned).unwrap_or_default(),
                    parent_session: header.parent_session.map(owned),
                    modified_nanos: modified.map(|it| it.as_nanos()).unwrap_or_default(),
                    n_messages: 0,
                    first_prompt: String::new(),
                    name: None,
                });
            }
        }
    }
    Ok(found)
}

impl SessionSummary {
    fn add(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) => {
                self.n_messages = self.n_messages.saturating_add(1);
                if self.first_prompt.is_empty() && message.role == Role::User && event.is_prompt() {
                    self.first_prompt = message.content.joined().into_owned();
                }
            }
            Body::Title(title) => self.name = Some(title.text.decode().into_owned()),
            _ => {}
        }
    }
}
