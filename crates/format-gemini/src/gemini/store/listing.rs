//! Lists the sessions of a folder, as Gemini CLI lists them.
//!
//! In: a folder with a session of two messages. Out: a [`GeminiSummary`] with `n_messages` 2 and
//! the first prompt.

use std::{cmp::Reverse, io, path::Path, time::UNIX_EPOCH};

use core_model::{Body, Event, Options, Planner, ReadError, session_files};

use super::PREFIX;
use crate::gemini::{GeminiBranch, GeminiReader, GeminiRecord};

/// A session in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GeminiSummary {
    /// The id in the header.
    pub id: String,
    /// The name of the file.
    pub file_name: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The number of messages.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The last title of the session.
    pub title: Option<String>,
}

/// Lists the sessions of a folder, the most recently modified first. Files whose name does not begin with
/// `session-`, sub-agents and files without a message are left out, as the client does.
///
/// # Errors
///
/// Returns an error if the folder or a file cannot be read. A missing folder has no sessions.
///
/// ```
/// let sessions = format_gemini::list_gemini_sessions("no such folder")?;
/// assert!(sessions.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_gemini_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<GeminiSummary>> {
    let mut sessions = Vec::new();
    for path in session_files(folder.as_ref())? {
        let stem = path.file_stem().unwrap_or_default();
        if stem.to_str().is_some_and(|stem| stem.starts_with(PREFIX)) {
            sessions.extend(summary(&path)?);
        }
    }
    sessions.sort_by_key(|session| Reverse(session.modified_nanos));
    Ok(sessions)
}

fn summary(path: &Path) -> io::Result<Option<GeminiSummary>> {
    let mut planner = Box::new(GeminiBranch::new(&Options::default()));
    let (mut id, mut is_main) = (None, true);
    for_each_event(path, |offset, event| {
        planner.observe(offset, event);
        if let GeminiRecord::Header(header) = GeminiRecord::decode(event.value) {
            id = Some(header.session_id.decode().into_owned());
            is_main &= !header.kind.is_some_and(|kind| kind.is("subagent"));
        }
    })?;
    let Some(id) = id.filter(|_| is_main) else { return Ok(None) };
    let plan = planner.finish();
    let modified = path.metadata()?.modified()?.duration_since(UNIX_EPOCH);
    let mut found = GeminiSummary {
        id,
        file_name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        modified_nanos: modified.map(|it| it.as_nanos()).unwrap_or_default(),
        n_messages: 0,
        first_prompt: String::new(),
        title: None,
    };
    for_each_event(path, |offset, event| {
        if plan.hides(offset).is_none() {
            found.add(event);
        }
    })?;
    Ok((found.n_messages > 0).then_some(found))
}

/// Calls `each` with the events of a file. Lines that are not JSON are skipped, as the client does.
fn for_each_event(path: &Path, mut each: impl FnMut(u64, &Event<'_>)) -> io::Result<()> {
    let mut reader = GeminiReader::open(path)?;
    while let Some(record) = reader.next_borrowed() {
        match record {
            Ok(record) => {
                let offset = record.place().offset;
                record.for_each_event(|event| {
                    each(offset, event);
                    true
                });
            }
            Err(ReadError::Io(error)) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

impl GeminiSummary {
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
