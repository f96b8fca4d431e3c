//! Lists the session files in a folder of a client, compressed or not, and reads where a session
//! was started.
//!
//! In: a folder with `a.jsonl`, `a.jsonl.zst`, `b.jsonl.gz` and `notes.txt`. Out: `a.jsonl` and
//! `b.jsonl.gz`.

use std::{
    cell::OnceCell,
    collections::HashSet,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::Source;
use core_model::{Format, Store, marked_path};
use jsonl::{Framing, Scanner, Value};
use storage::{Backend, Compression, Documents, Limits, list};

use crate::input::{Input, stem_of};

/// Limit on the bytes of a first record.
const MAX_FIRST: u64 = 4 * 1024 * 1024;

/// Limit on the records that are searched for the id of the session.
const MAX_HEAD_RECORDS: usize = 16;

/// Limit on the records that are searched for the first message.
const MAX_RECORDS: usize = 1024;

/// A session in a folder of its client.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The format whose client has the folder.
    pub format: &'static Format,
    /// The path of the file, or of the document in a store.
    pub path: PathBuf,
    /// The store that yields the document; `None` for a file.
    pub documents: Option<Arc<Documents>>,
    /// The id in the file, for a format whose names have only a part of it, once it was read.
    id_inside: OnceCell<Option<String>>,
}

impl Stored {
    /// Creates a session that is a file.
    pub fn file(format: &'static Format, path: PathBuf) -> Self {
        Self { format, path, documents: None, id_inside: OnceCell::new() }
    }

    /// Creates a session that a store yields as a document.
    pub fn document(format: &'static Format, path: PathBuf, documents: Arc<Documents>) -> Self {
        Self { format, path, documents: Some(documents), id_inside: OnceCell::new() }
    }

    /// Returns the id in the name of the file, or of its folder; `None` if the name is not UTF-8. If the
    /// client writes only a part of the id in the name, the id in the file is returned.
    pub fn id(&self) -> Option<&str> {
        let read = || id_inside(&self.path, self.format);
        let inside =
            self.format.has_ids_inside.then(|| self.id_inside.get_or_init(read).as_deref());
        inside.flatten().or_else(|| self.format.session_id(&self.path, stem_of(&self.path)?))
    }

    /// Returns the session as an input.
    pub fn input(&self) -> Input {
        match &self.documents {
            Some(documents) => {
                Input::stored(Backend::Documents(documents.clone()), self.path.clone())
            }
            None => Input::file(self.path.clone()),
        }
    }

    /// Returns the session as an input that the user did not name.
    pub(crate) fn found_input(&self) -> Input {
        match self.input() {
            Input::File { storage, path, name, .. } => {
                Input::File { storage, path, name, is_named: false }
            }
            other => other,
        }
    }

    /// Returns the folder that the session was started in, if its store has it; `None` for a file.
    pub(crate) fn project(&self) -> Option<&str> {
        self.documents.as_ref()?.session(&self.path).ok()?.project.as_deref()
    }
}

/// Returns the id in the first records of a session; `None` if they have none or cannot be read.
pub(crate) fn id_inside(file: &Path, format: &Format) -> Option<String> {
    let mut found = None;
    let read = for_first_records(file, format, MAX_HEAD_RECORDS, &mut |record| {
        let id = record.and_then(|record| format.first_event(record).context.session_id);
        found = id.map(|id| id.decode().into_owned());
        found.is_none()
    });
    read.ok().and(found)
}

/// Calls `each` with at most `n` records at the start of a session, until it returns false. Damaged ones are
/// `None`.
fn for_first_records(
    file: &Path,
    format: &Format,
    n: usize,
    each: &mut dyn FnMut(Option<Value<'_>>) -> bool,
) -> io::Result<()> {
    let opened = Input::file(file.to_owned()).open(Limits::default())?;
    let framing = framing_of(file, format);
    if framing.is_document() {
        let (mut source, mut n_left) = (Source::new(opened), n);
        source.set_framing(framing);
        return source.for_each(&mut |_, record| {
            n_left = n_left.saturating_sub(1);
            each(record.ok()) && n_left > 0
        });
    }
    let mut stream = jsonl::Stream::new(opened.take(MAX_FIRST));
    let mut scanner = Scanner::default();
    for _ in 0..n {
        let Some(line) = stream.next()? else { break };
        if !each(scanner.scan(&line).ok()) {
            break;
        }
    }
    Ok(())
}

/// Returns the framing of a file in a folder of the client: the format's, or that of its older files.
fn framing_of(file: &Path, format: &Format) -> Framing {
    let older = format.store.and_then(|store| store.older);
    let older = older.filter(|older| has_ending(file, older.ending));
    older.map_or(format.framing, |older| older.framing)
}

/// Returns whether the name of a file, compressed or not, has an ending.
fn has_ending(file: &Path, ending: &str) -> bool {
    let name = Compression::bare(Path::new(file.file_name().unwrap_or_default()));
    name.extension().is_some_and(|it| it == ending)
}

/// Returns the session files in a folder, sorted by name; none if it does not exist. Links are not
/// followed.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
pub(crate) fn stored_files(folder: &Path, store: Option<&Store>) -> io::Result<Vec<PathBuf>> {
    let entries = match list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.into_iter().filter(|entry| entry.is_file).map(|entry| entry.name);
    let older = store.and_then(|store| store.older);
    let is_session = |name: &Path| {
        has_ending(name, "jsonl") || older.is_some_and(|older| has_ending(name, older.ending))
    };
    let mut files: Vec<PathBuf> =
        names.filter(|name| is_session(name.as_ref())).map(|name| folder.join(name)).collect();
    leave_out_packed(&mut files, |file| Some(file));
    files.sort();
    Ok(files)
}

/// Removes compressed files whose plain file is there too: clients read the plain one.
pub(crate) fn leave_out_packed<T>(files: &mut Vec<T>, path: impl Fn(&T) -> Option<&Path>) {
    let packed = files.iter().filter_map(&path).filter(|path| Compression::is_in_name(path));
    let packed: HashSet<PathBuf> = packed.map(Path::to_owned).collect();
    if packed.is_empty() {
        return;
    }
    let plain: HashSet<PathBuf> = files
        .iter()
        .filter_map(&path)
        .filter(|path| !packed.contains(*path))
        .map(Path::to_owned)
        .collect();
    let has_plain =
        |path: &Path| packed.contains(path) && plain.contains(&Compression::bare_path(path));
    files.retain(|file| path(file).is_none_or(|path| !has_plain(path)));
}

/// Returns the working directory in the first record of a session; `None` if the record has none.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(crate) fn first_folder(file: &Path, format: &Format) -> io::Result<Option<PathBuf>> {
    let mut found = None;
    for_first_records(file, format, 1, &mut |record| {
        let folder = record.and_then(|record| format.first_event(record).context.cwd);
        found = folder.map(|folder| PathBuf::from(&*folder.decode()));
        false
    })?;
    Ok(found)
}

/// Returns the project that the client's marker names, for a session whose first record has no working
/// directory; `None` if it has one, or if there is no marker.
pub fn marked_project(file: &Path, format: &Format) -> Option<PathBuf> {
    let project = project_in_marker(file, format)?;
    first_folder(file, format).ok()?.is_none().then(|| PathBuf::from(project))
}

/// Returns the project that the client's marker beside a session's folder names; `None` if there is no
/// marker.
///
/// In: the session `tmp/app/chats/session-1.jsonl`. Out: the text of `tmp/app/.project_root`.
pub fn project_in_marker(file: &Path, format: &Format) -> Option<String> {
    let marker = file.parent()?.parent()?.join(format.project_marker?);
    marked_path(&marker).ok().flatten().filter(|it| !it.is_empty())
}

/// Returns whether an input is a session with a message, and not the transcript of a sub-agent.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(crate) fn is_conversation(session: &Input, format: &Format) -> io::Result<bool> {
    let opened = session.open(Limits::default())?;
    let mut source = Source::new(opened);
    source.set_framing(framing_of(session.path().unwrap_or(Path::new("")), format));
    let (mut is_found, mut n_records) = (None, 0);
    source.for_each(&mut |_, value| {
        if let Ok(value) = value {
            format.for_each_event(value, |event| {
                if is_found.is_none() && event.message().is_some() {
                    is_found = Some(!event.is_sub_agent());
                }
                is_found.is_none()
            });
        }
        n_records += 1;
        is_found.is_none() && n_records < MAX_RECORDS
    })?;
    Ok(is_found.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_file_is_listed_unless_its_plain_one_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.jsonl", "a.jsonl.zst", "b.jsonl.gz", "c.jsonl.zst", "d.txt", "e.zst"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        std::fs::create_dir(folder.path().join("f.jsonl")).expect("made");
        let files = stored_files(folder.path(), None).expect("listed");
        let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
        assert_eq!(names, ["a.jsonl", "b.jsonl.gz", "c.jsonl.zst"]);
        let none = stored_files(&folder.path().join("none"), None).expect("listed");
        assert!(none.is_empty());
    }
}
