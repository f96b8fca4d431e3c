//! Lists the sessions in a folder of small files.
//!
//! In: the folder `~/.local/share/opencode/storage`. Out: a [`SessionSummary`] for each session in it.

use std::{cmp::Reverse, io, path::Path};

use core_model::Body;

use super::folder;
use crate::Reader;

/// A session in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionSummary {
    /// The id.
    pub id: String,
    /// The folder that the client was started in; empty if the session has none.
    pub cwd: String,
    /// The time of the last change, in milliseconds since 1970.
    pub updated_millis: i64,
    /// The number of messages.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The title, unless the client made it from the time.
    pub title: Option<String>,
}

/// Lists the sessions in a folder of small files, the most recently changed first.
///
/// # Errors
///
/// Returns an error if the folder or a file cannot be read. A missing folder has no sessions.
///
/// ```
/// let sessions = format_opencode::list_sessions("no such folder")?;
/// assert!(sessions.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(storage: impl AsRef<Path>) -> io::Result<Vec<SessionSummary>> {
    let storage = storage.as_ref();
    let mut sessions = Vec::new();
    folder::list(storage, &mut |stored| {
        let mut summary = SessionSummary {
            id: stored.id,
            cwd: stored.project.unwrap_or_default(),
            updated_millis: stored.updated,
            n_messages: 0,
            first_prompt: String::new(),
            title: None,
        };
        summary.read(storage)?;
        sessions.push(summary);
        Ok(())
    })?;
    sessions.sort_by_key(|session| Reverse(session.updated_millis));
    Ok(sessions)
}

impl SessionSummary {
    fn read(&mut self, storage: &Path) -> io::Result<()> {
        let document = folder::read_session(storage, &self.id)?;
        let mut reader = Reader::from_reader(&document[..]);
        while let Some(record) = reader.next_borrowed() {
            let Ok(record) = record else { continue };
            let mut is_message = false;
            record.for_each_event(|event| {
                match &event.body {
                    Body::Message(message) => {
                        is_message = true;
                        if self.first_prompt.is_empty() && event.is_prompt() {
                            self.first_prompt = message.content.joined().into_owned();
                        }
                    }
                    Body::Title(title) => self.title = Some(title.text.decode().into_owned()),
                    _ => {}
                }
                true
            });
            self.n_messages = self.n_messages.saturating_add(u64::from(is_message));
        }
        Ok(())
    }
}
