//! Lists the sessions of Copilot's folder.
//!
//! In: a folder with a session of two messages. Out: a [`SessionSummary`] with `n_messages` 2 and
//! the first prompt.

use std::{cmp::Reverse, fs, io, path::Path, time::UNIX_EPOCH};

use core_model::{Body, Event, ReadError, subfolders};

use super::{EVENTS, SESSIONS, workspace};
use crate::Reader;

/// A session in a list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SessionSummary {
    /// The id in the first line.
    pub id: String,
    /// The folder that Copilot was started in; empty if the session has none.
    pub cwd: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The number of messages, without the messages of sub-agents.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The title in `workspace.yaml`, or else the last one in the session.
    pub name: Option<String>,
}

/// Lists the sessions in Copilot's folder, the most recently modified first. Files whose first record
/// is no `session.start` are left out, because Copilot refuses them.
///
/// `copilot_dir` is the client's folder, such as `/home/u/.copilot`: the folder that contains the [`sessions_dir`](crate::sessions_dir).
///
/// # Errors
///
/// Returns an error if a folder or a file cannot be read. A missing folder has no sessions.
///
/// ```no_run
/// for session in format_copilot::list_sessions("/home/u/.copilot")? {
///     println!("{} {}", session.id, session.first_prompt);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(copilot_dir: impl AsRef<Path>) -> io::Result<Vec<SessionSummary>> {
    let mut sessions = Vec::new();
    for folder in subfolders(&copilot_dir.as_ref().join(SESSIONS))? {
        let path = folder.join(EVENTS);
        if !path.is_file() {
            continue;
        }
        if let Some(summary) = summary(&path)? {
            let beside = fs::read(folder.join(workspace::FILE)).ok();
            let title = beside.and_then(|bytes| workspace::read_title(&bytes));
            let name = title.map(|(_, title)| title).or(summary.name);
            sessions.push(SessionSummary { name, ..summary });
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
            // Copilot drops lines that are not JSON.
            Err(_) => continue,
        };
        let event = record.event();
        match &mut found {
            Some(summary) => summary.add(&event),
            None => {
                let (Body::Start(_), Some(id)) = (&event.body, event.context.session_id) else {
                    return Ok(None);
                };
                let owned = |text: jsonl::Text<'_>| text.decode().into_owned();
                let modified = path.metadata()?.modified()?.duration_since(UNIX_EPOCH);
                found = Some(SessionSummary {
                    id: owned(id),
                    cwd: event.context.cwd.map(owned).unwrap_or_default(),
                    modified_nanos: modified.map(|it| it.as_nanos()).unwrap_or_default(),
                    ..SessionSummary::default()
                });
            }
        }
    }
    Ok(found)
}

impl SessionSummary {
    fn add(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Message(message) if !event.is_sub_agent() => {
                self.n_messages = self.n_messages.saturating_add(1);
                if self.first_prompt.is_empty() && event.is_prompt() {
                    self.first_prompt = message.content.joined().into_owned();
                }
            }
            Body::Title(title) => self.name = Some(title.text.decode().into_owned()),
            _ => {}
        }
    }
}
