//! A store that yields documents, as a place of files: each session of a database, or of a folder of small
//! files, has a path below the store.
//!
//! In: `opencode.db`, which has a session `ses_1`. Out: the file `opencode.db/ses_1.json`, whose bytes are
//! the document of the session.

#[cfg(feature = "sqlite")]
mod database;

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use core_model::{DocumentStore, FolderDocuments, PlaceKind, SafeName, StoredDocument};

use super::{Bytes, Stat};

/// The ending of the paths of documents.
const ENDING: &str = ".json";

/// A store of documents, as it was when it was opened.
pub struct Documents {
    place: PathBuf,
    reader: StoreReader,
    sessions: BTreeMap<String, StoredDocument>,
    /// The number of sessions whose ids are no safe names.
    n_unnamed: u64,
    state: State,
}

/// The functions that read a store, and its content.
enum StoreReader {
    Folder(FolderDocuments),
    #[cfg(feature = "sqlite")]
    Database(core_model::TableDocuments, Box<Mutex<database::Database>>),
}

/// The metadata of a store that show whether it has changed.
type State = Vec<Option<Stat>>;

/// The stores that are open, so that a database is copied once.
static OPEN: LazyLock<Mutex<Vec<Weak<Documents>>>> = LazyLock::new(Mutex::default);

impl Documents {
    /// Opens the store at a place of a client, and lists its sessions. A store that is open and has not
    /// changed is not opened again.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or if it is a database and the program was built
    /// without the feature `sqlite`.
    pub fn open(place: &Path, kind: PlaceKind, store: &DocumentStore) -> io::Result<Arc<Self>> {
        let state = match kind {
            PlaceKind::Database => state_of(place),
            // Any of its files may have changed.
            PlaceKind::Folder => State::new(),
        };
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|documents| documents.strong_count() > 0);
        let is_it = |documents: &Arc<Self>| {
            kind == PlaceKind::Database && documents.place == place && documents.state == state
        };
        if let Some(found) = open.iter().filter_map(Weak::upgrade).find(is_it) {
            return Ok(found);
        }
        let documents = Arc::new(Self::read(place, kind, store, state)?);
        open.push(Arc::downgrade(&documents));
        Ok(documents)
    }

    fn read(
        place: &Path,
        kind: PlaceKind,
        store: &DocumentStore,
        state: State,
    ) -> io::Result<Self> {
        let no_reader = || io::Error::from(io::ErrorKind::Unsupported);
        let reader = match kind {
            PlaceKind::Folder => StoreReader::Folder(store.folder.ok_or_else(no_reader)?),
            #[cfg(feature = "sqlite")]
            PlaceKind::Database => {
                let database = Mutex::new(database::Database::open_copy(place)?);
                StoreReader::Database(store.database.ok_or_else(no_reader)?, Box::new(database))
            }
            #[cfg(not(feature = "sqlite"))]
            PlaceKind::Database => return Err(without_sqlite()),
        };
        let (mut sessions, mut n_unnamed) = (BTreeMap::new(), 0);
        reader.list(place, &mut |session| {
            match SafeName::new(&session.id) {
                Some(_) => _ = sessions.entry(session.id.clone()).or_insert(session),
                None => n_unnamed += 1,
            }
            Ok(())
        })?;
        Ok(Self { place: place.to_owned(), reader, sessions, n_unnamed, state })
    }

    /// Returns the path of the database or folder.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the sessions, sorted by id.
    pub fn sessions(&self) -> impl Iterator<Item = &StoredDocument> {
        self.sessions.values()
    }

    /// Returns the number of sessions that are left out, because their ids are no safe names.
    pub fn n_unnamed(&self) -> u64 {
        self.n_unnamed
    }

    /// Returns the path of the session with this id, which no file has.
    pub fn path(&self, id: &str) -> PathBuf {
        self.place.join(format!("{id}{ENDING}"))
    }

    /// Returns the session with this path.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the store has no such session.
    pub fn session(&self, path: &Path) -> io::Result<&StoredDocument> {
        let name = path.strip_prefix(&self.place).ok().and_then(Path::to_str);
        let id = name.and_then(|name| name.strip_suffix(ENDING)).unwrap_or_default();
        let none = || io::Error::new(io::ErrorKind::NotFound, "the store has no such session");
        self.sessions.get(id).ok_or_else(none)
    }

    /// Returns the metadata of a session. The size is that of the store, not of the document.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the store has no such session.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Stat> {
        let StoredDocument { size, updated, .. } = self.session(path)?;
        let modified = i128::from(*updated).saturating_mul(1_000_000);
        Ok(Stat { length: *size, modified, ..Stat::default() })
    }

    /// Writes the document of a session to a temporary file, and opens it.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the store has no such session, or an error if it cannot be read.
    pub fn document(&self, path: &Path) -> io::Result<Document> {
        let stat = self.stat(path)?;
        let mut out = BufWriter::new(tempfile::tempfile()?);
        self.reader.write(&self.place, &self.session(path)?.id, &mut out)?;
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let length = file.stream_position()?;
        file.rewind()?;
        Ok(Document { file, stat, length })
    }
}

impl StoreReader {
    fn list(&self, place: &Path, each: &mut core_model::EachDocument<'_>) -> io::Result<()> {
        match self {
            StoreReader::Folder(folder) => (folder.list)(place, each),
            #[cfg(feature = "sqlite")]
            StoreReader::Database(tables, database) => {
                (tables.list)(&*database.lock().unwrap_or_else(PoisonError::into_inner), each)
            }
        }
    }

    fn write(&self, place: &Path, id: &str, out: &mut dyn Write) -> io::Result<()> {
        match self {
            StoreReader::Folder(folder) => (folder.write)(place, id, out),
            #[cfg(feature = "sqlite")]
            StoreReader::Database(tables, database) => {
                (tables.write)(&*database.lock().unwrap_or_else(PoisonError::into_inner), id, out)
            }
        }
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_sessions = self.sessions.len();
        let mut shown = f.debug_struct("Documents");
        shown.field("place", &self.place).field("n_sessions", &n_sessions).finish_non_exhaustive()
    }
}

/// The document of a session, in a temporary file that has no name.
pub struct Document {
    file: File,
    /// The metadata of the session in its store.
    pub(crate) stat: Stat,
    /// The length of the document in bytes.
    pub(crate) length: u64,
}

impl Read for Document {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Document {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Bytes for Document {
    /// The document is of one state of the store.
    fn is_unchanged(&self, _stat: &Stat) -> io::Result<bool> {
        Ok(true)
    }

    fn may_change(&self) -> bool {
        false
    }
}

/// The endings of the names of a database's files: the database itself, its log, and the index of the
/// log.
pub(crate) const DATABASE_FILES: [&str; 3] = ["", "-wal", "-shm"];

/// Returns whether a file is the log of a database, or the index of one: the client keeps them beside
/// the database.
pub fn is_database_log(path: &Path) -> bool {
    let name = path.file_name().map_or(&[][..], |name| name.as_encoded_bytes());
    name.ends_with(b".db-wal") || name.ends_with(b".db-shm") || name.ends_with(b".db-journal")
}

/// Returns the path of a file of a database.
pub(crate) fn database_file(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Returns the metadata of a database and its log.
pub(crate) fn state_of(place: &Path) -> State {
    let [database, log, _] = DATABASE_FILES;
    let files = [database, log].map(|ending| database_file(place, ending));
    files.iter().map(|path| fs::metadata(path).ok().map(|it| Stat::of(&it))).collect()
}

/// Returns whether a file begins as every database of SQLite does.
pub fn is_sqlite(path: &Path) -> bool {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut head = [0; MAGIC.len()];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let read = |head: &mut [u8]| File::open(path).and_then(|mut file| file.read_exact(head));
    is_file && read(&mut head).is_ok() && head == *MAGIC
}

/// Returns the error for a database in a program without the feature `sqlite`.
#[cfg(not(feature = "sqlite"))]
pub fn without_sqlite() -> io::Error {
    let how = "cargo install --path crates/convert --features sqlite";
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this program was built without databases: {how}"),
    )
}
