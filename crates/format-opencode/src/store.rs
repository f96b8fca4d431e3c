//! Finds OpenCode's sessions: in its database, and in the folders of small files of older versions.
//!
//! In: the folder `~/.local/share/opencode`. Out: the sessions of `opencode.db` and of `storage`.
//! Each is read as the document that `opencode export` prints. Nothing is written there: `opencode
//! import` stores a document.

mod document;
mod folder;
mod listing;
mod tables;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{
    DocumentStore, Environment, FolderDocuments, Home, PlaceKind, SafeName, Store, TableDocuments,
};

pub use self::{
    folder::{read_session, write_session},
    listing::{SessionSummary, list_sessions},
};
use crate::writer::{is_session_id, is_session_of};

/// The place of documents to import, and the command that continues a session.
pub(crate) const STORE: Store = Store {
    folders: |_, _| Ok(Vec::new()),
    is_shared: true,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id: |stem| stem,
    resume: &["opencode", "--session"],
    older: None,
    breadcrumb: None,
    titles: None,
};

/// The stores of the client's sessions.
pub(crate) const DOCUMENTS: DocumentStore = DocumentStore {
    places,
    kind,
    is_made_from: is_session_of,
    folder: Some(FolderDocuments { list: folder::list, write: folder::write }),
    database: Some(TableDocuments { list: tables::list, write: tables::write }),
    import: &["opencode", "import"],
};

/// The names of the folder of small files, and of the database.
const FOLDER: &str = "storage";
const DATABASE: &str = "opencode.db";

/// Returns the folder of OpenCode's data: `$XDG_DATA_HOME/opencode`, or `~/.local/share/opencode`.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let folder = format_opencode::opencode_dir(&Environment::new(System::Unix, &variable));
/// assert_eq!(folder, Some("/home/u/.local/share/opencode".into()));
/// ```
pub fn opencode_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    Some(data_dir(environment)?.join("opencode"))
}

/// Returns the folder in which programs keep data, as the client computes it on every system.
fn data_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let named = environment.path("XDG_DATA_HOME");
    named.or_else(|| Some(environment.home()?.join(".local").join("share")))
}

/// Returns the folder of the small files of all projects, for [`list_sessions`]. It need not exist. The
/// client moves sessions from it to the database and leaves the files.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "XDG_DATA_HOME").then(|| "/d".into());
/// let environment = Environment::new(System::Unix, &variable);
/// assert_eq!(format_opencode::sessions_dir(&environment), Some("/d/opencode/storage".into()));
/// assert_eq!(format_opencode::database(&environment), Some("/d/opencode/opencode.db".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    Some(opencode_dir(environment)?.join(FOLDER))
}

/// Returns the path of the database: `OPENCODE_DB`, or `opencode.db`. It need not exist.
pub fn database(environment: &Environment<'_>) -> Option<PathBuf> {
    let named = environment.path("OPENCODE_DB");
    Some(opencode_dir(environment)?.join(named.unwrap_or_else(|| DATABASE.into())))
}

fn places(environment: &Environment<'_>) -> Vec<PathBuf> {
    database(environment).into_iter().chain(sessions_dir(environment)).collect()
}

/// Returns the kind of a place. A database is one by its name, such as `opencode.db` or
/// `opencode-dev.db`, and a folder by the folders in it.
fn kind(path: &Path) -> Option<PlaceKind> {
    let name = path.file_name()?.to_str()?;
    if name.starts_with("opencode") && name.ends_with(".db") {
        return path.is_file().then_some(PlaceKind::Database);
    }
    folder::is_store(path).then_some(PlaceKind::Folder)
}

/// Returns the place of a document to import. The client reads it once.
fn home_of(environment: &Environment<'_>, _project: &str, id: &str) -> Option<Home> {
    let name = SafeName::new(id).filter(|_| is_session_id(id))?;
    let folder = Path::new("convert").join("opencode");
    Some(Home { root: data_dir(environment)?, folder, name, file: None, ending: ".json" })
}

/// Returns the error for a value of a store that is not as the client writes it.
fn odd(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    #[test]
    fn a_document_has_its_place_by_its_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let home = home_of(&environment, "/p", "ses_dfb2a611fffevKPdAGI6pFTmva").expect("a place");
        let expected = "/home/u/.local/share/convert/opencode/ses_dfb2a611fffevKPdAGI6pFTmva.json";
        assert_eq!(home.path(), Path::new(expected));
        for odd in ["../x", "2a86484a", "ses_", "ses_../x"] {
            assert_eq!(home_of(&environment, "/p", odd), None, "{odd}");
        }
    }

    #[test]
    fn places_are_known_by_their_names() {
        let variable = |name: &str| match name {
            "XDG_DATA_HOME" => Some("/d".into()),
            "OPENCODE_DB" => Some("other.db".into()),
            _ => None,
        };
        let found = places(&Environment::new(System::Unix, &variable));
        assert_eq!(found, ["/d/opencode/other.db", "/d/opencode/storage"].map(PathBuf::from));
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("opencode.db"), "").expect("written");
        std::fs::write(path("other.db"), "").expect("written");
        std::fs::create_dir_all(path("storage/session")).expect("made");
        assert_eq!(kind(&path("opencode.db")), Some(PlaceKind::Database));
        assert_eq!((kind(&path("other.db")), kind(&path("storage"))), (None, None));
        std::fs::create_dir_all(path("storage/message")).expect("made");
        assert_eq!(kind(&path("storage")), Some(PlaceKind::Folder));
    }
}
