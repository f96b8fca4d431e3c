//! Finds sessions in the folders of clients: by id, by the start of an id, by project, by
//! breadcrumb.
//!
//! In: `01ab`. Out: the path of the only session whose id starts with it.

mod candidates;

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use core_model::{Environment, Format, Formats, PlaceKind, Store, system_words};
use storage::{Compression, Documents};

use self::candidates::candidates;
use crate::{
    copies::{self, Converted},
    input::{Input, stem_of},
    session_files::is_of_a_session,
    stored::{Stored, first_folder, is_conversation, leave_out_packed, stored_files},
    walk::walk,
    warning::{MAKE_READABLE, Warning},
    worktrees::worktrees,
};

/// The word for the newest session.
pub const LATEST: &str = "latest";

/// Limit on the size of a breadcrumb in bytes.
const MAX_BREADCRUMB: u64 = 64 * 1024;

/// The formats and the project to search.
pub struct Lookup<'e> {
    environment: Environment<'e>,
    /// All formats, because a breadcrumb may be of any.
    all: Formats,
    /// The project whose sessions are searched.
    pub project: Option<String>,
    /// The other working trees of its repository.
    worktrees: Vec<String>,
    formats: Vec<&'static Format>,
    /// The stores of clients that yield documents, once they are asked for.
    stores: OnceLock<Vec<OpenStore>>,
}

/// A store of a format's client that yields documents, or the reason why it cannot be read.
struct OpenStore {
    format: &'static Format,
    place: PathBuf,
    documents: io::Result<Arc<Documents>>,
}

impl<'e> Lookup<'e> {
    /// Creates a lookup among the sessions of one format, or of all formats except the target's.
    pub fn new(
        all: Formats,
        environment: Environment<'e>,
        project: Option<&Path>,
        from: Option<&'static Format>,
        to: Option<&'static Format>,
    ) -> Self {
        let is_wanted = |format: &&'static Format| match (from, to) {
            (Some(from), _) => format.name == from.name,
            (None, Some(to)) => format.family != to.family,
            (None, None) => true,
        };
        let formats = all.iter().copied().filter(is_wanted).collect();
        let project = project.map(absolute);
        let mut worktrees = project.as_deref().map(worktrees).unwrap_or_default();
        worktrees.retain(|tree| Some(tree) != project.as_ref());
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let (project, worktrees) = (project.map(text), worktrees.into_iter().map(text).collect());
        Self { environment, all, project, worktrees, formats, stores: OnceLock::new() }
    }

    /// Returns all sessions of the project, sorted by path.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be read, or if there is no session.
    pub fn all(&self) -> io::Result<Vec<Input>> {
        let mut found = self.sessions()?;
        found.retain(|session| self.is_wanted(session));
        found.sort_by(|one, other| one.path.cmp(&other.path));
        let found: Vec<Input> = found.iter().map(Stored::input).collect();
        if found.is_empty() { Err(self.nothing()) } else { Ok(found) }
    }

    /// Returns all files in the folders of clients, sorted by folder and name: the sessions of the
    /// project, or of all projects, and the files beside them. A client whose folders cannot be listed has
    /// none, and `warn` gets the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no session.
    pub fn inputs(&self, warn: &mut dyn FnMut(Warning)) -> io::Result<Vec<Input>> {
        let mut inputs = Vec::new();
        let places = self.places(&mut |error| {
            warn(Warning::FolderUnread(system_words(&error)));
            Ok(())
        })?;
        for Folder { path, format } in places {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let reason = format!("{}: {}", path.display(), system_words(&error));
                    warn(Warning::FolderUnread(reason));
                    continue;
                }
                _ => continue,
            }
            let mut found = Vec::new();
            walk(&path, Path::new(""), &mut found, warn);
            leave_out_packed(&mut found, |input| input.path());
            // The other files of a session's own folder are the client's.
            found.retain(|input| input.path().is_none_or(|file| is_session(file, format)));
            found.retain(|input| {
                let stored = |path: &Path| Stored::file(format, path.to_owned());
                input.path().is_none_or(|path| self.is_wanted(&stored(path)))
            });
            inputs.append(&mut found);
        }
        self.warn_of_stores(warn);
        let documents = self.documents().into_iter().filter(|session| self.is_wanted(session));
        inputs.extend(documents.map(|session| session.found_input()));
        inputs.retain(|input| !input.is_side_file());
        if inputs.is_empty() { Err(self.nothing()) } else { Ok(inputs) }
    }

    /// Returns the sessions in the folders and stores of clients, each with its id. A store that cannot be
    /// read has none.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be read.
    pub fn sessions(&self) -> io::Result<Vec<Stored>> {
        let mut sessions = self.files_with(&mut |error| {
            let message = format!("{}{MAKE_READABLE}", system_words(&error));
            Err(io::Error::new(error.kind(), message))
        })?;
        sessions.extend(self.documents());
        Ok(sessions)
    }

    /// Returns the sessions that are files in the folders of clients, each with its id. `warn` gets each folder
    /// that cannot be read.
    pub fn session_files(&self, warn: &mut dyn FnMut(Warning)) -> Vec<Stored> {
        let found = self.files_with(&mut |error| {
            warn(Warning::FolderUnread(system_words(&error)));
            Ok(())
        });
        // No error ends the search.
        found.unwrap_or_default()
    }

    /// Returns the sessions in the folders and stores of clients, each with its id. `warn` gets each folder and
    /// store that cannot be read.
    fn readable_sessions(&self, warn: &mut dyn FnMut(Warning)) -> Vec<Stored> {
        let mut sessions = self.session_files(warn);
        self.warn_of_stores(&mut |warning| {
            if matches!(warning, Warning::StoreUnread(..)) {
                warn(warning);
            }
        });
        sessions.extend(self.documents());
        sessions
    }

    /// Returns the sessions that are files in the folders of clients. Calls `unread` with the error of each
    /// folder that cannot be read; the others follow if it returns no error.
    fn files_with(&self, unread: &mut Unread<'_>) -> io::Result<Vec<Stored>> {
        let mut sessions = Vec::new();
        for folder in self.places(unread)? {
            let format = folder.format;
            match folder.files() {
                Ok(files) => {
                    sessions.extend(files.into_iter().map(|path| Stored::file(format, path)));
                }
                Err(error) => unread(error)?,
            }
        }
        Ok(sessions)
    }

    /// Returns the sessions in the stores of clients. If several stores of a client have a session, that
    /// of the first one counts.
    fn documents(&self) -> Vec<Stored> {
        let (mut sessions, mut known) = (Vec::new(), HashSet::new());
        for OpenStore { format, documents, .. } in self.stores() {
            let Ok(documents) = documents else { continue };
            for session in documents.sessions() {
                if known.insert((format.name, session.id.clone())) {
                    let (path, documents) = (documents.path(&session.id), documents.clone());
                    sessions.push(Stored::document(format, path, documents));
                }
            }
        }
        sessions
    }

    /// Opens the stores of clients that yield documents, once.
    fn stores(&self) -> &[OpenStore] {
        self.stores.get_or_init(|| {
            let mut open = Vec::new();
            for format in self.formats.iter().copied() {
                let Some(store) = format.documents else { continue };
                for place in (store.places)(&self.environment) {
                    let kind = match fs::metadata(&place) {
                        Ok(metadata) if metadata.is_file() => PlaceKind::Database,
                        Ok(metadata) if metadata.is_dir() => PlaceKind::Folder,
                        _ => continue,
                    };
                    let documents = Documents::open(&place, kind, &store);
                    open.push(OpenStore { format, place, documents });
                }
            }
            open
        })
    }

    /// Calls `warn` for each store that cannot be read, and for sessions of stores that are left out.
    pub fn warn_of_stores(&self, warn: &mut dyn FnMut(Warning)) {
        for OpenStore { place, documents, .. } in self.stores() {
            match documents {
                Ok(documents) if documents.n_unnamed() > 0 => {
                    warn(Warning::OddIds(place.clone(), documents.n_unnamed()));
                }
                Ok(_) => {}
                Err(error) => warn(Warning::StoreUnread(place.clone(), system_words(error))),
            }
        }
    }

    /// Returns why folders and stores could not be read, for an error: `; not read: REASON` and `; PLACE is
    /// not read: REASON`. Empty if all were read.
    fn unread(&self) -> String {
        let mut folders = String::new();
        // Only the errors count.
        _ = self.files_with(&mut |error| {
            folders.push_str(&format!("; not read: {}", system_words(&error)));
            Ok(())
        });
        let reason = |store: &OpenStore| {
            let error = store.documents.as_ref().err()?;
            Some(format!("; {} is not read: {}", store.place.display(), system_words(error)))
        };
        folders.extend(self.stores().iter().filter_map(reason));
        folders
    }

    /// Returns the folders that may have sessions of the project, or of all projects, sorted by
    /// path. Calls `unread` with the error of each client whose folders cannot be listed.
    fn places(&self, unread: &mut Unread<'_>) -> io::Result<Vec<Folder>> {
        let mut folders = Vec::new();
        for format in self.formats.iter().copied() {
            let folder = |path| Folder { path, format };
            match self.folders_of(format) {
                Ok(found) => folders.extend(found.into_iter().map(folder)),
                Err(error) => unread(error)?,
            }
        }
        folders.sort_by(|one, other| one.path.cmp(&other.path));
        // Two dialects of a format share their folder.
        folders.dedup_by(|one, other| one.path == other.path);
        Ok(folders)
    }

    /// Returns whether a session is of the project, or no project is asked for. A file that cannot be read
    /// is wanted, so that the error is reported.
    fn is_wanted(&self, session: &Stored) -> bool {
        let is_shared = session.format.store.is_some_and(|store| store.is_shared);
        let Some(project) = self.project.as_ref().filter(|_| is_shared) else { return true };
        let started_in = match &session.documents {
            Some(_) => session.project().map(PathBuf::from),
            None => match first_folder(&session.path, session.format) {
                Ok(started_in) => started_in,
                Err(_) => return true,
            },
        };
        let is_it = |project: &String| started_in.as_deref() == Some(Path::new(project));
        is_it(project) || self.worktrees.iter().any(is_it)
    }

    /// Returns the folders in which the client of a format may keep sessions of the project.
    fn folders_of(&self, format: &Format) -> io::Result<Vec<PathBuf>> {
        let Some(store) = format.store else { return Ok(Vec::new()) };
        let mut folders = (store.folders)(&self.environment, self.project.as_deref())?;
        for tree in &self.worktrees {
            folders.extend((store.folders)(&self.environment, Some(tree))?);
        }
        Ok(folders)
    }

    /// Returns the error for an empty result.
    pub fn nothing(&self) -> io::Error {
        io::Error::other(match &self.project {
            Some(project) => {
                let unread = self.unread();
                format!(
                    "{project}: no session of this project; `convert list` prints all sessions{unread}"
                )
            }
            None => {
                let unread = self.unread();
                format!("no session in the folders of the clients; name a file or a folder{unread}")
            }
        })
    }

    /// Returns the file for an argument: the file itself, the session that a breadcrumb names, or
    /// the session with this id or start of an id.
    ///
    /// The word `latest` is the newest session, unless a file has this name.
    /// A session with the whole id wins over others whose ids start with it. If all that are found are copies of one session in different clients, the one
    /// with the newest turns is returned. A folder that cannot be read has none, and `warn` gets the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file and no such session, or if several sessions have the id.
    /// A path that is no id is returned as it is, existing or not.
    pub fn find(&self, path: &Path, warn: &mut dyn FnMut(Warning)) -> io::Result<Input> {
        let at = |path: &Path| Input::at(self.all, path.to_owned());
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_BREADCRUMB => {
                return Ok(self.follow(path)?.map_or_else(|| at(path), |path| at(&path)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return Ok(at(path)),
        }
        if path.as_os_str() == LATEST {
            return self.latest(warn);
        }
        let Some(id) = path.to_str().filter(|id| is_id(id)) else { return Ok(at(path)) };
        let mut unread = Vec::new();
        let sessions = self.by_id(id, &mut |warning| unread.push(warning));
        // The error for an empty result has them.
        if !sessions.is_empty() {
            unread.into_iter().for_each(warn);
        }
        if let Some(newest) = newest_of_one(self.all, &sessions) {
            return Ok(newest);
        }
        match sessions.as_slice() {
            [session] => Ok(session.input()),
            [] => Err(io::Error::other(format!(
                "no such file, and no session with this id; `convert list` prints ids{}",
                self.unread(),
            ))),
            sessions => Err(io::Error::other(format!(
                "may be {}; choose with a longer id, --from or --project",
                candidates(sessions),
            ))),
        }
    }

    /// Returns the session that was changed last, of the project or of all projects.
    ///
    /// Sub-agents' transcripts and files without a message are no sessions to go on with. A converted
    /// copy without turns of its own is returned only if there is nothing else. A folder, a store or a session
    /// that cannot be read is left out, and `warn` gets the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no session.
    fn latest(&self, warn: &mut dyn FnMut(Warning)) -> io::Result<Input> {
        let mut unread = Vec::new();
        let mut found: Vec<(i128, Stored)> = self
            .readable_sessions(&mut |warning| unread.push(warning))
            .into_iter()
            .map(|session| (copies::changed(&session.input()), session))
            .collect();
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.path.cmp(&other.1.path)));
        let mut untouched = None;
        for (_, session) in found {
            let input = session.input();
            if !self.is_wanted(&session) {
                continue;
            }
            match is_conversation(&input, session.format) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    warn(Warning::SessionUnread(session.path, system_words(&error)));
                    continue;
                }
            }
            if !Converted::read(self.all, &input).is_ok_and(Converted::is_untouched) {
                untouched = Some(input);
                break;
            }
            untouched = untouched.or(Some(input));
        }
        // The error for an empty result has the folders and stores.
        if untouched.is_some() {
            unread.into_iter().for_each(warn);
        }
        untouched.ok_or_else(|| self.nothing())
    }

    /// Returns the sessions with an id in the folders of clients, however the clients spell it: a session
    /// and its copies in other clients. A client that refuses the id has its copy under an id made from
    /// it.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be read.
    pub fn same_session(&self, id: &str) -> io::Result<Vec<Stored>> {
        Ok(self.same_among(self.sessions()?, id))
    }

    /// Returns the sessions that [`Lookup::same_session`] returns, of these.
    fn same_among(&self, mut sessions: Vec<Stored>, id: &str) -> Vec<Stored> {
        let (plain, ids) = (copies::plain_id(id), self.ids_in_clients(id));
        sessions.retain(|session| {
            session.id().is_some_and(|it| {
                let other = copies::plain_id(it);
                self.is_made_from(it, id)
                    || other == plain
                    || ids.contains(&other)
                    || self.ids_in_clients(it).contains(&plain)
            })
        });
        sessions.sort_by(|one, other| one.path.cmp(&other.path));
        sessions
    }

    /// Returns whether a client has made one of two ids from the other one.
    fn is_made_from(&self, one: &str, other: &str) -> bool {
        let mut stores = self.all.iter().filter_map(|format| format.documents);
        stores.any(|it| (it.is_made_from)(one, other) || (it.is_made_from)(other, one))
    }

    /// Returns the plain ids under which clients look for the session with an id.
    fn ids_in_clients(&self, id: &str) -> HashSet<String> {
        let stores = self.all.iter().filter_map(|format| format.store);
        let id_in = |store: Store| {
            let home = store.place?(&self.environment, "/", id).ok().flatten()?;
            // The name may also have a time.
            Some(copies::plain_id((store.session_id)(home.name.as_str())))
        };
        stores.filter_map(id_in).collect()
    }

    /// Returns a file in a folder of a client, and the files of the same session in others; none if the
    /// file is in no such folder. A folder or store that cannot be read has none, and `warn` gets the reason.
    pub fn versions(&self, file: &Path, warn: &mut dyn FnMut(Warning)) -> Vec<Stored> {
        let file = absolute(file);
        let is_it = |session: &&Stored| {
            session.path.file_name() == file.file_name() && absolute(&session.path) == file
        };
        let sessions = self.readable_sessions(warn);
        match sessions.iter().find(is_it).and_then(Stored::id).map(str::to_owned) {
            Some(id) => self.same_among(sessions, &id),
            None => Vec::new(),
        }
    }

    /// Returns the session that a file names; `None` if the file is not a breadcrumb.
    fn follow(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let mut bytes = Vec::new();
        let is_regular = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_file());
        let Some(file) = File::open(path).ok().filter(is_regular) else { return Ok(None) };
        if file.take(MAX_BREADCRUMB).read_to_end(&mut bytes).is_err() {
            // Opening the file later reports this error.
            return Ok(None);
        }
        for store in self.all.iter().filter_map(|format| format.store) {
            let Some(named) = store.breadcrumb.and_then(|read| read(&bytes)) else { continue };
            for folder in (store.folders)(&self.environment, Some(&named.project))? {
                let file = stored_files(&folder, Some(&store))?
                    .into_iter()
                    .find(|file| stem_of(file).is_some_and(|stem| stem == named.name.as_str()));
                if file.is_some() {
                    return Ok(file);
                }
            }
            return Err(io::Error::other(format!(
                "names session {} of {}, which does not exist",
                named.name, named.project,
            )));
        }
        Ok(None)
    }

    /// Returns the sessions with an id. If there is none, returns sessions whose ids start with it. A folder
    /// that cannot be read has none, and `warn` gets the reason. The id of a sub-agent's
    /// file may start with the id of its session: `7f3c_a1.jsonl` beside `7f3c.jsonl`. Such a file is left out, unless there are
    /// no others.
    fn by_id(&self, id: &str, warn: &mut dyn FnMut(Warning)) -> Vec<Stored> {
        let (mut exact, mut starting) = (Vec::new(), Vec::new());
        let mut add = |stored: Stored| {
            let Some(found) = stored.id() else { return false };
            let is_exact = found == id;
            let is_start = found.starts_with(id) && !id.is_empty();
            if (is_exact || is_start) && self.is_wanted(&stored) {
                if is_exact { exact.push(stored) } else { starting.push(stored) }
            }
            is_exact
        };
        let mut is_found = false;
        for stored in self.session_files(warn) {
            is_found |= add(stored);
        }
        // To open a database takes time.
        if !is_found {
            self.documents().into_iter().for_each(|stored| _ = add(stored));
        }
        let is_main = |stored: &Stored| !is_of_a_session(self.all, &stored.input());
        if starting.len() > 1 && starting.iter().any(is_main) {
            starting.retain(is_main);
        }
        let mut found = if exact.is_empty() { starting } else { exact };
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }
}

/// Gets the error of a folder that cannot be read, and returns an error to end the search.
type Unread<'u> = dyn FnMut(io::Error) -> io::Result<()> + 'u;

/// A folder of sessions.
struct Folder {
    path: PathBuf,
    format: &'static Format,
}

impl Folder {
    /// Returns the files of sessions in the folder, sorted by name.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = stored_files(&self.path, self.format.store.as_ref())?;
        files.retain(|file| is_session(file, self.format));
        Ok(files)
    }
}

/// Returns whether a file may be a session of a format, by its name.
fn is_session(file: &Path, format: &Format) -> bool {
    format.session_folder.is_none_or(|folder| Compression::bare_path(file).ends_with(folder.file))
}

/// Returns the file with the newest turns, if all files are copies of one session in different
/// clients.
fn newest_of_one(formats: Formats, sessions: &[Stored]) -> Option<Input> {
    let id = |session: &Stored| session.id().map(copies::plain_id);
    let first = sessions.first()?;
    let is_one = sessions.iter().all(|session| id(session) == id(first));
    let clients: HashSet<_> = sessions.iter().map(|session| session.format.family).collect();
    if !is_one || sessions.len() < 2 || clients.len() < sessions.len() {
        return None;
    }
    let files: Vec<Input> = sessions.iter().map(Stored::input).collect();
    copies::newest(formats, &files).cloned()
}

/// Returns whether text may be a session id and not the path of a file.
fn is_id(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the absolute path, as a client that is started in this folder knows it.
pub fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
