//! The orchestrator's sessions: a stream, and a file of settings beside it.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use core_model::ReadError;

use super::{SessionMeta, is_session_name};
use crate::status::{Progress, result, status};

const META: &str = ".meta.json";

/// A session of the orchestrator.
#[derive(Debug)]
pub struct AgentSession {
    /// The name.
    pub name: String,
    /// The stream; a session that is about to start has none yet.
    pub path: PathBuf,
    /// The settings, or why they cannot be read: the orchestrator lists such a session too.
    pub meta: Result<SessionMeta, ReadError>,
    /// How far the last run is.
    pub progress: Progress,
}

/// Returns the orchestrator's sessions in a folder, in the order of their names: each file of
/// settings is one, with or without a stream. What is no name of a session is passed over.
///
/// # Errors
///
/// Those of reading the folder; a folder that is not there has no sessions.
pub fn agent_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<AgentSession>> {
    let folder = folder.as_ref();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(META));
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

/// Returns how far the run of a session is, from the last line of its stream alone; `None` if there
/// is no session of this name.
///
/// # Errors
///
/// Those of reading the stream.
pub fn status_of(folder: &Path, name: &str) -> io::Result<Option<Progress>> {
    if !is_session_name(name) || !folder.join(format!("{name}{META}")).exists() {
        return Ok(None);
    }
    Ok(Some(last_line(&stream_of(folder, name))?.map_or(Progress::Running, |line| status(&line))))
}

/// Returns the result in the last line of a session's stream, reading no other; `None` if there is
/// none, or no session of this name.
///
/// # Errors
///
/// Those of reading the stream.
pub fn result_of(folder: &Path, name: &str) -> io::Result<Option<String>> {
    if !is_session_name(name) {
        return Ok(None);
    }
    Ok(last_line(&stream_of(folder, name))?.and_then(|line| result(&line)))
}

fn stream_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.jsonl"))
}

/// Returns what follows the last newline before the last byte, as the orchestrator seeks it; `None`
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
        // The newline that ends the last line is not the one before it.
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
