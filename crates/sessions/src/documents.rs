//! Finds sessions in stores that yield documents, and replaces the files of such stores by their sessions.
//!
//! In: the inputs `opencode.db` and `opencode.db-wal`. Out: the inputs `opencode.db/ses_1.json` and
//! `opencode.db/ses_2.json`, if the database has these two sessions.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use core_model::{Format, Formats, PlaceKind};
use storage::{Backend, Documents, is_database_log, is_sqlite};

use crate::{input::Input, warning::Warning};

/// Opens the store at a path, and returns it with the format of its client; `None` if there is no store.
fn open(
    formats: Formats,
    path: &Path,
    is_named: bool,
) -> Option<(&'static Format, io::Result<Arc<Documents>>)> {
    let with_stores = || formats.iter().filter_map(|&format| Some((format, format.documents?)));
    let known =
        with_stores().find_map(|(format, store)| Some((format, store, (store.kind)(path)?)));
    if let Some((format, store, kind)) = known {
        return Some((format, Documents::open(path, kind, &store)));
    }
    if !is_named || !may_be_database(path) || !is_sqlite(path) {
        return None;
    }
    // A database with another name is of the client whose tables it has.
    let mut refused = None;
    for (format, store) in with_stores().filter(|(_, store)| store.database.is_some()) {
        match Documents::open(path, PlaceKind::Database, &store) {
            Ok(documents) => return Some((format, Ok(documents))),
            Err(error) => refused = refused.or(Some((format, Err(error)))),
        }
    }
    refused
}

/// Returns whether a file is named like a database: `.db` or `.sqlite`.
fn may_be_database(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "db" || it == "sqlite")
}

/// Returns the sessions of the store at a path, as inputs; `None` if there is no store. A store that
/// cannot be read is an input that cannot be opened.
pub fn documents_at(
    formats: Formats,
    path: &Path,
    name: &Path,
    warn: &mut dyn FnMut(Warning),
) -> Option<Vec<Input>> {
    found_at(formats, path, name, true, warn)
}

fn found_at(
    formats: Formats,
    path: &Path,
    name: &Path,
    is_named: bool,
    warn: &mut dyn FnMut(Warning),
) -> Option<Vec<Input>> {
    let (_, documents) = open(formats, path, is_named)?;
    Some(match documents {
        Ok(documents) => inputs_of(&documents, name, warn),
        Err(error) => vec![Input::missing(path, &error)],
    })
}

/// Returns the sessions of a store as inputs. Their names are below the name of the store.
pub(crate) fn inputs_of(
    documents: &Arc<Documents>,
    name: &Path,
    warn: &mut dyn FnMut(Warning),
) -> Vec<Input> {
    if documents.n_unnamed() > 0 {
        warn(Warning::OddIds(documents.place().to_owned(), documents.n_unnamed()));
    }
    let input = |id: &str| {
        let path = documents.path(id);
        let name = name.join(path.file_name().unwrap_or_default());
        Input::File { storage: Backend::Documents(documents.clone()), path, name, is_named: false }
    };
    documents.sessions().map(|session| input(&session.id)).collect()
}

/// Replaces the files of stores among the files of a folder by the sessions of the stores.
pub fn expand_documents(
    formats: Formats,
    inputs: Vec<Input>,
    warn: &mut dyn FnMut(Warning),
) -> Vec<Input> {
    if formats.iter().all(|format| format.documents.is_none()) {
        return inputs;
    }
    let mut expanded = Vec::new();
    // Whether a folder is in a store, so that each is looked at once.
    let mut folders: HashMap<PathBuf, bool> = HashMap::new();
    for input in inputs {
        let Input::File { storage: Backend::Disk, path, name, is_named: false } = &input else {
            expanded.push(input);
            continue;
        };
        if is_database_log(path) {
            continue;
        }
        let mut place = path.parent().zip(name.parent());
        let mut is_in_store = false;
        while let Some((folder, below)) = place.filter(|_| !is_in_store) {
            is_in_store = match folders.get(folder) {
                Some(known) => *known,
                None => {
                    let found = found_at(formats, folder, below, false, warn);
                    folders.insert(folder.to_owned(), found.is_some());
                    expanded.extend(found.iter().flatten().cloned());
                    found.is_some()
                }
            };
            place = folder.parent().zip(below.parent());
        }
        if is_in_store {
            continue;
        }
        let found = may_be_database(path).then(|| found_at(formats, path, name, false, warn));
        match found.flatten() {
            Some(found) => expanded.extend(found),
            None => expanded.push(input),
        }
    }
    expanded
}

/// Returns the store that has a document with this path, which is below the store; `None` if it is not of
/// a store, or if a file has the path.
pub(crate) fn store_of(formats: Formats, path: &Path) -> Option<io::Result<Arc<Documents>>> {
    let place =
        path.parent().filter(|_| path.extension().is_some_and(|ending| ending == "json"))?;
    let may_be_there = place.is_file() || place.is_dir() && !path.exists();
    let (_, documents) = open(formats, place, true).filter(|_| may_be_there)?;
    Some(documents)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    static FORMATS: Formats = Formats::new(&[&format_opencode::FORMAT]);

    /// Makes a store of small files with two sessions, and a file beside it.
    fn store(folder: &Path) {
        let sessions = folder.join("storage/session/global");
        fs::create_dir_all(&sessions).expect("made");
        fs::create_dir_all(folder.join("storage/message/ses_1")).expect("made");
        fs::write(sessions.join("ses_1.json"), r#"{"id":"ses_1"}"#).expect("written");
        fs::write(sessions.join("ses_2.json"), r#"{"id":"ses_2"}"#).expect("written");
        fs::write(folder.join("storage/message/ses_1/msg_1.json"), "{}").expect("written");
        fs::write(folder.join("other.jsonl"), "{}\n").expect("written");
    }

    #[test]
    fn the_files_of_a_store_are_its_sessions() {
        let folder = tempfile::tempdir().expect("a folder");
        store(folder.path());
        let mut inputs = Vec::new();
        crate::walk(folder.path(), Path::new("in"), &mut inputs, &mut |_| {});
        let inputs = expand_documents(FORMATS, inputs, &mut |warning| panic!("{warning}"));
        let names: Vec<String> = inputs
            .iter()
            .map(|input| match input {
                Input::File { name, .. } => name.display().to_string(),
                other => other.label(),
            })
            .collect();
        assert_eq!(names, ["in/other.jsonl", "in/storage/ses_1.json", "in/storage/ses_2.json"]);
        let mut document = String::new();
        let first = &inputs[1];
        io::Read::read_to_string(
            &mut first.open(storage::Limits::default()).expect("opened"),
            &mut document,
        )
        .expect("read");
        assert!(document.starts_with("{\n  \"info\": {\n    \"id\": \"ses_1\""), "{document}");
    }

    #[test]
    fn a_path_below_a_store_is_a_session() {
        let folder = tempfile::tempdir().expect("a folder");
        store(folder.path());
        let at = |name: &str| Input::at(FORMATS, folder.path().join(name));
        assert!(matches!(at("storage/ses_1.json").storage(), Backend::Documents(_)));
        assert!(at("storage/ses_1.json").open(storage::Limits::default()).is_ok());
        assert!(at("storage/ses_3.json").open(storage::Limits::default()).is_err());
        assert_eq!(*at("other.jsonl").storage(), Backend::Disk);
        assert_eq!(*at("storage/session/global/ses_1.json").storage(), Backend::Disk);
    }
}
