//! Reads a fork with the lines of the session that it starts with, and checks a file in its folder.
//!
//! In: a file whose first line has `"history_base":{"thread_id":"A","end_byte_offset":900,..}`.
//! Out: the first 900 bytes of the file of A, then the file.

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Check, Place, Problem, Severity};
use jsonl::Scanner;

use super::{
    ARCHIVE,
    compressed::{read, rollouts, stem},
    rollout_id, session_folders,
};
use crate::{
    record::{Entry, Record},
    validate::checker,
};

/// Limit for forks of forks. Codex itself writes few; a circle must end.
const MAX_FORKS: usize = 64;

/// Returns the bytes of a session, after the lines of the sessions that its history starts
/// with (`history_base`). `home` is Codex's folder, in which the other sessions are.
///
/// # Errors
///
/// Returns an error if a file cannot be read, the file of a session is missing, or a session forks
/// from itself.
pub fn read_lineage(home: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let mut parts = vec![read(path)?];
    let mut base = base_of(parts.last().map_or(&[], Vec::as_slice));
    while let Some(Base { thread_id, end_offset, end_ordinal }) = base {
        if parts.len() > MAX_FORKS {
            return Err(io::Error::other("the session forks from itself"));
        }
        let found = find_session(home, &thread_id)?;
        let found = found.ok_or_else(|| {
            let message =
                format!("the history starts with session {thread_id}, whose file is missing");
            io::Error::new(io::ErrorKind::NotFound, message)
        })?;
        let mut bytes = read(&found)?;
        let end = match (end_offset, end_ordinal) {
            (Some(end), _) => usize::try_from(end).unwrap_or(usize::MAX),
            (None, Some(end)) => end_of_ordinals(&bytes, end),
            (None, None) => bytes.len(),
        };
        base = base_of(&bytes);
        bytes.truncate(end);
        if !bytes.ends_with(b"\n") && !bytes.is_empty() {
            bytes.push(b'\n');
        }
        parts.push(bytes);
    }
    parts.reverse();
    Ok(parts.concat())
}

/// The end of the part of another session that a history starts with.
struct Base {
    thread_id: String,
    end_offset: Option<u64>,
    end_ordinal: Option<u64>,
}

fn base_of(bytes: &[u8]) -> Option<Base> {
    let first = jsonl::lines(bytes).next()?;
    let mut scanner = Scanner::default();
    let value = scanner.scan(&first).ok()?;
    let Entry::SessionMeta(meta) = Record::decode(value).entry else { return None };
    let base = meta.history_base?;
    Some(Base {
        thread_id: base.thread_id.decode().into_owned(),
        end_offset: base.end_offset,
        end_ordinal: base.end_ordinal,
    })
}

/// Returns the offset of the first line whose ordinal is not below a limit.
fn end_of_ordinals(bytes: &[u8], end: u64) -> usize {
    let mut scanner = Scanner::default();
    let is_past = |line: &jsonl::Line<'_>| {
        let ordinal = scanner.scan(line).ok().and_then(|value| Record::decode(value).ordinal);
        ordinal.is_some_and(|ordinal| ordinal >= end)
    };
    let past = jsonl::lines(bytes).find(is_past);
    past.and_then(|line| usize::try_from(line.offset()).ok()).unwrap_or(bytes.len())
}

/// Returns the file of a session, by the id in its name.
fn find_session(home: &Path, id: &str) -> io::Result<Option<PathBuf>> {
    for folder in session_folders(home)? {
        let is_it = |path: &PathBuf| {
            let found = stem(path).and_then(rollout_id);
            found.is_some_and(|found| found.eq_ignore_ascii_case(id))
        };
        if let Some(found) = rollouts(&folder)?.into_iter().find(is_it) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the problems of a session's file: problems of its lines, its name and its folder. `home` is
/// Codex's folder.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn validate_file(home: &Path, path: &Path) -> io::Result<Vec<Problem>> {
    let bytes = read(path)?;
    let mut problems = Vec::new();
    let mut check = Check::new(checker());
    if let Some(stem) = stem(path) {
        check.name(stem, &mut |problem| problems.push(problem));
    }
    let mut scanner = Scanner::default();
    for line in jsonl::lines(&bytes) {
        check.line(&line, scanner.scan(&line), &mut |problem| problems.push(problem));
    }
    check.finish(&mut |problem| problems.push(problem));
    let place = Place { line: 1, offset: 0 };
    let mut add = |severity, rule, message: String| {
        let Place { line, offset } = place;
        problems.push(Problem { offset, line, severity, rule, message: message.into() });
    };
    if path.parent().and_then(|it| it.file_name()).is_some_and(|it| it == ARCHIVE) {
        let message = "the session is archived: `codex unarchive` first".to_owned();
        add(Severity::Stops, "archived", message);
    } else if !is_in_a_day(home, path) {
        let message = "not in a folder `sessions/YYYY/MM/DD`: Codex does not list the session";
        add(Severity::Warns, "folder", message.to_owned());
    }
    if base_of(&bytes).is_some()
        && let Err(error) = read_lineage(home, path)
    {
        add(Severity::Stops, "history-base", error.to_string());
    }
    Ok(problems)
}

/// Returns whether a file is in the folder of a day.
fn is_in_a_day(home: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(home.join("sessions")) else { return false };
    let parts: Vec<_> = below.components().collect();
    let is_number = |part: &std::path::Component<'_>| {
        let part = part.as_os_str().as_encoded_bytes();
        !part.is_empty() && part.iter().all(u8::is_ascii_digit)
    };
    match parts.as_slice() {
        [date @ .., _] => date.len() == 3 && date.iter().all(is_number),
        [] => false,
    }
}
