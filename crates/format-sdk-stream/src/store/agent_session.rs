//! Reads the orchestrator's sessions: a stream `<name>.jsonl` and its settings `<name>.meta.json`.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use core_model::{ReadError, folder_entries};

use super::{SessionMeta, is_session_name};
use crate::status::{Progress, result, status};

const META: &str = ".meta.json";

/// A session of the orchestrator.
#[derive(Debug)]
pub struct AgentSession {
    /// The name.
    pub name: String,
    /// The path of the stream. A session that is about to start has no stream yet.
    pub path: PathBuf,
    /// The settings, or the reason why they cannot be read. The orchestrator lists such a session
    /// too.
    pub meta: Result<SessionMeta, ReadError>,
    /// The progress of the last run.
    pub progress: Progress,
}

/// Returns the orchestrator's sessions in a folder, sorted by name. Each settings file is a
/// session, with or without a stream. Files whose name is not a session name are skipped.
///
/// # Errors
///
/// Returns an error if the folder cannot be read. A missing folder has no sessions.
pub fn agent_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<AgentSession>> {
    let folder = folder.as_ref();
    let entries = match folder_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.name.to_str().and_then(|name| name.strip_suffix(META));
        names.extend(name.filter(|name| is_session_name(name)).map(str::to_owned));
    }
    names.sort();
    let session = |name: String| {
        Ok(AgentSession {
            path: stream_of(folder, &name),
            meta: SessionMeta::read(folder, &name),
            progress: status_of(folder, &name)?.unwrap_or(Progress::Running),
            name,
        })
    };
    names.into_iter().map(session).collect()
}

/// Returns the progress of a session's run, from the last line of its stream; `None` if there is no
/// such session.
///
/// # Errors
///
/// Returns an error if the stream cannot be read.
pub fn status_of(folder: &Path, name: &str) -> io::Result<Option<Progress>> {
    if !is_session_name(name) || !folder.join(format!("{name}{META}")).exists() {
        return Ok(None);
    }
    Ok(Some(last_line(&stream_of(folder, name))?.map_or(Progress::Running, |line| status(&line))))
}

/// Returns the result in the last line of a session's stream; `None` if there is no result or no
/// such session.
///
/// # Errors
///
/// Returns an error if the stream cannot be read.
pub fn result_of(folder: &Path, name: &str) -> io::Result<Option<String>> {
    if !is_session_name(name) {
        return Ok(None);
    }
    Ok(last_line(&stream_of(folder, name))?.and_then(|line| result(&line)))
}

fn stream_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.jsonl"))
}

/// Returns the bytes after the last newline before the last byte, as the orchestrator does; `None`
/// if there is no file.
fn last_line(path: &Path) -> io::Result<Option<Vec<u8>>> {
    const STEP: u64 = 64 * 1024;
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut start = file.seek(SeekFrom::End(0))?;
    let mut tail = Vec::new();
    while start > 0 {
        let length = start.min(STEP);
        start = start.saturating_sub(STEP);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        // A newline at the end of the file does not count.
        let n_searched = if tail.is_empty() { bytes.len().saturating_sub(1) } else { bytes.len() };
        let searched = bytes.get(..n_searched).unwrap_or_default();
        let found = searched.iter().rposition(|byte| *byte == b'\n');
        let line = bytes.split_off(found.map_or(0, |at| at.saturating_add(1)));
        tail.push(line);
        if found.is_some() {
            break;
        }
    }
    tail.reverse();
    Ok(Some(tail.concat()))
}
