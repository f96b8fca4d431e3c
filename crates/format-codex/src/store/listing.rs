//! Lists the sessions of Codex's folder.
//!
//! In: a folder with a session of two messages. Out: a [`SessionSummary`] with `n_messages` 2 and
//! the first prompt.

use std::{
    cmp::Reverse,
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use core_model::{Body, Event, ReadError};
use jsonl::{Scanner, Text, Value};

use super::{
    ARCHIVE,
    compressed::{open, rollouts},
    session_folders,
};
use crate::Reader;

/// A session in a list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SessionSummary {
    /// The id in the first line.
    pub id: String,
    /// The name of the file.
    pub file_name: String,
    /// The folder that Codex was started in; empty if the session has none.
    pub cwd: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The number of messages.
    pub n_messages: u64,
    /// The text of the first prompt.
    pub first_prompt: String,
    /// The title, from `session_index.jsonl`.
    pub name: Option<String>,
    /// Whether the session is archived, so that Codex does not continue it.
    pub is_archived: bool,
}

/// Lists the sessions in Codex's folder, the most recently modified first. Files whose first record
/// is no `session_meta` are left out, because Codex refuses them. Sessions that Codex compressed
/// (`.jsonl.zst`) are listed with the feature `zst`.
///
/// `codex_dir` is the client's folder, such as `/home/u/.codex`: the folder that contains the [`sessions_dir`](crate::sessions_dir).
///
/// # Errors
///
/// Returns an error if a folder or a file cannot be read. A missing folder has no sessions.
///
/// ```no_run
/// for session in format_codex::list_sessions("/home/u/.codex")? {
///     println!("{} {}", session.id, session.first_prompt);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(codex_dir: impl AsRef<Path>) -> io::Result<Vec<SessionSummary>> {
    let home = codex_dir.as_ref();
    let titles = titles(home)?;
    let archive = home.join(ARCHIVE);
    let mut sessions = Vec::new();
    for folder in session_folders(home)? {
        for path in rollouts(&folder)? {
            if let Some(summary) = summary(&path)? {
                let name = titles.get(&summary.id).cloned().or(summary.name);
                sessions.push(SessionSummary { name, is_archived: folder == archive, ..summary });
            }
        }
    }
    sessions.sort_by_key(|session| Reverse(session.modified_nanos));
    Ok(sessions)
}

/// The name of the file with the titles of sessions, in Codex's folder.
const INDEX: &str = "session_index.jsonl";

/// Returns the path of the file with the title of a session; `None` if the session is in no folder
/// of Codex.
pub(super) fn index_of(session: &Path) -> Option<PathBuf> {
    let is_store = |folder: &&Path| {
        let name = folder.file_name();
        name.is_some_and(|name| name == "sessions" || name == ARCHIVE)
    };
    let folder = session.ancestors().skip(1).find(is_store)?;
    Some(folder.parent()?.join(INDEX))
}

/// Reads the id of a session and its title from a line of the index.
pub(super) fn read_title(line: Value<'_>) -> Option<(Text<'_>, Text<'_>)> {
    let [id, name] = line.get_all(["id", "thread_name"]);
    Some((id?.text()?, name?.text()?))
}

/// Returns the titles by the ids of their sessions. The last line of an id wins.
fn titles(home: &Path) -> io::Result<HashMap<String, String>> {
    let bytes = match fs::read(home.join(INDEX)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        bytes => bytes?,
    };
    let mut scanner = Scanner::default();
    let mut titles = HashMap::new();
    for line in jsonl::lines(&bytes) {
        let Ok(value) = scanner.scan(&line) else { continue };
        if let Some((id, name)) = read_title(value) {
            titles.insert(id.decode().into_owned(), name.decode().into_owned());
        }
    }
    Ok(titles)
}

fn summary(path: &Path) -> io::Result<Option<SessionSummary>> {
    let mut found: Option<SessionSummary> = None;
    let mut reader = Reader::from_reader(open(path)?);
    while let Some(record) = reader.next_borrowed() {
        let record = match record {
            Ok(record) => record,
            Err(ReadError::Io(error)) => return Err(error),
            // Codex skips lines that are not JSON.
            Err(_) if found.is_some() => continue,
            Err(_) => return Ok(None),
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
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                found = Some(SessionSummary {
                    id: owned(id),
                    file_name: name.into_owned(),
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
            Body::Message(message) => {
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
