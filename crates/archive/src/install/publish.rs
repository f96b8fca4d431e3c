//! Publishes the files of a converted session in its client's folder. A killed installation is
//! finished by the same command.
//!
//! The session's own file is published last, so that the client sees the session only when it is
//! complete. Before the first file, an [`Intent`] lists all of them. The next run keeps files that
//! are equal, and replaces files in the list, because the session may have grown in the meantime.
//!
//! A file that is the start of the new one grows: it is replaced, unless another program has written
//! to it since it was compared. A file that starts with the new one stays as it is.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use conversion::Source;
use core_model::{Framing, Home};
use sessions::{Converted, Input, sidecar_path, walk};
use storage::{FILE_MODE, Finished, Folder, Identity, Replace, sweep_once, unwritten};

use super::{
    Change, exists,
    intent::Intent,
    relation::{Relation, is_start_of, relation},
};
use crate::{
    error::{ConvertError, NotInstalled},
    job::Job,
    outputs::{PublishSet, RunOutputs},
    session::moved,
};

/// A file of the draft, and its path.
#[derive(Debug)]
struct Placed {
    file: Input,
    place: PathBuf,
    existing: Existing,
}

/// The file that is there already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Existing {
    /// There is none.
    None,
    /// A killed run wrote it.
    Ours,
    /// It is the start of the new file, or the new file has all that it restores.
    Older(Seen),
}

/// The state of a file when it was compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Seen {
    identity: Identity,
    length: u64,
    modified: SystemTime,
}

impl Seen {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (length, modified) = (metadata.len(), metadata.modified()?);
        Ok(Self { identity: Identity::of(file)?, length, modified })
    }
}

/// Compares an existing file with the source of the draft, after converting it back.
pub(super) type ByRestoring<'r> = dyn Fn(&Path) -> Result<Relation, ConvertError> + 'r;

/// The files to write to the client's folder.
#[derive(Debug)]
pub(super) struct Changes {
    home: Home,
    path: PathBuf,
    files: Vec<Placed>,
    intent: Intent,
    times: Times,
    change: Change,
}

impl Changes {
    /// Finds the files of a draft that the client's folder lacks. Writes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if an existing file is neither equal, nor a start of the new one or the other
    /// way round, nor of a killed run.
    pub(super) fn find(
        job: &Job,
        draft: &Path,
        main: &Path,
        home: Home,
        by_restoring: &ByRestoring<'_>,
    ) -> Result<Self, ConvertError> {
        let path = home.path();
        let mut drafts = Vec::new();
        walk(draft, Path::new(""), &mut drafts, &mut |warning| job.warnings.push(warning));
        // A copy of a session has a sidecar if the session has one.
        let sidecar = sidecar_path(main);
        drafts.extend(sidecar.exists().then(|| Input::file(sidecar.clone())));
        // The session's own file is compared first, and written last.
        drafts.sort_by_key(|file| file.path() != Some(main));
        let above = path.parent().and_then(|folder| Folder::open_found(folder).ok());
        let intent = above.map(|above| Intent::of_the_dead(&above, &path)).unwrap_or_default();
        let is_begun = path.symlink_metadata().is_err();
        let (mut change, mut is_replaced) = (Change::UpToDate, false);
        let (mut files, mut times) = (Vec::new(), Times::default());
        for file in drafts {
            let place = match file.path() {
                Some(file) if file == sidecar => Some(sidecar_path(&path)),
                file => file.and_then(|file| moved(file, main, &path)),
            };
            let place = place.ok_or(ConvertError::NoName)?;
            let is_main = place == path;
            let Some(there) = there(&place)? else {
                if is_main || change == Change::UpToDate {
                    change = Change::New;
                }
                files.push(Placed { file, place, existing: Existing::None });
                continue;
            };
            let mut related = relation(file.open_as_it_is()?, there.reopened()?)?;
            if related == Relation::Differ {
                if is_begun && intent.knows(below(&place, &path), &mut there.reopened()?)? {
                    files.push(Placed { file, place, existing: Existing::Ours });
                    continue;
                }
                let is_untouched = || {
                    let copy = Converted::read(job.config.formats, &Input::file(place.clone()));
                    is_replaced && copy.is_ok_and(Converted::is_untouched)
                };
                let is_lines = job.config.to.framing == Framing::Lines;
                let (old, new) = (there.reopened()?, file.open_as_it_is()?);
                related = match is_main {
                    true if is_lines && is_start_of(old, new, job.config.to)? => Relation::Shorter,
                    true => by_restoring(&place)?,
                    false if is_untouched() => Relation::Shorter,
                    false => return Err(exists(&place)),
                };
                is_replaced |= is_main && related == Relation::Shorter;
            }
            match related {
                Relation::Equal => times.note(there.modified, is_main),
                Relation::Longer if is_main => change = Change::Ahead,
                Relation::Longer => times.note(there.modified, is_main),
                Relation::Shorter => {
                    let existing = Existing::Older(Seen::of(&there.reopened()?)?);
                    change = if is_main { Change::Grows } else { change };
                    files.push(Placed { file, place, existing });
                }
                Relation::Differ => return Err(exists(&place)),
            }
            if change == Change::Ahead {
                break;
            }
        }
        files.reverse();
        Ok(Self { home, path, files, intent, times, change })
    }

    /// Returns the file that the client imports, if importing it changes something. It replaces another one of
    /// an earlier run; an equal one stays. `there` is the session in the client's store.
    pub(super) fn to_import(
        file: Input,
        home: Home,
        change: Change,
        there: Option<PathBuf>,
    ) -> Result<Self, ConvertError> {
        let path = there.filter(|_| !change.is_write()).unwrap_or_else(|| home.path());
        let mut files = Vec::new();
        if change.is_write() {
            let existing = self::there(&path)?.map(|there| there.reopened()).transpose()?;
            let (existing, is_equal) = match existing {
                Some(there) => {
                    let related = relation(file.open_as_it_is()?, there)?;
                    (Existing::Ours, related == Relation::Equal)
                }
                None => (Existing::None, false),
            };
            if !is_equal {
                files.push(Placed { file, place: path.clone(), existing });
            }
        }
        let (intent, times) = (Intent::default(), Times::default());
        Ok(Self { home, path, files, intent, times, change })
    }

    /// Returns the path of the session's own file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of this file without its ending.
    pub(super) fn name(&self) -> &str {
        self.home.name.as_str()
    }

    /// Returns whether all files are there already.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the kind of the change.
    pub(super) fn change(&self) -> Change {
        self.change
    }

    /// Publishes the files.
    ///
    /// # Errors
    ///
    /// Returns an error if the files cannot be written, or if another program has written one of them
    /// in the meantime. Then nothing was changed, or the same command finishes the changes.
    pub(super) fn publish(self, job: &Job) -> Result<(), ConvertError> {
        let Self { home, path, files, mut intent, times, .. } = self;
        if files.is_empty() {
            // A run that was killed after its last file has left its list.
            if let Some(above) = path.parent().and_then(|it| Folder::open_found(it).ok()) {
                sweep_once(&above);
            }
            return Ok(());
        }
        let in_root = |error| unwritten(error, &home.root);
        let in_folder = |error| unwritten(error, &home.root.join(&home.folder));
        let root = Folder::create(&home.root).map_err(in_root)?;
        let above = root.create_below(&home.folder).map_err(in_folder)?;
        for Placed { file, place, .. } in &files {
            intent.add(below(place, &path), &mut file.open_as_it_is()?)?;
        }
        let kept = intent.keep(&above, &path).map_err(in_folder)?;
        sweep_once(&above);
        let interruption = job.outputs.write_options.interruption;
        let outputs = RunOutputs::below(&home.root, false, interruption).map_err(in_root)?;
        let mut sets = Sets::default();
        for Placed { file, place, existing } in files {
            let is_main = place == path;
            let mut target = outputs.create_shut(&place, FILE_MODE, 0)?;
            Source::new(file.open_as_it_is()?).copy_to(&mut target)?;
            let target = target.finish()?;
            let timed = target.set_modified(times.of(is_main));
            timed.map_err(|error| unwritten(error, &place))?;
            sets.push(target, place, existing, is_main);
        }
        sets.publish(&outputs, &path)?;
        drop(kept);
        Ok(())
    }
}

/// Writes the path of a project to a file in a folder, unless the file exists.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) fn write_marker(
    job: &Job,
    folder: &Path,
    name: &str,
    project: &str,
) -> Result<(), ConvertError> {
    let place = folder.join(name);
    if there(&place)?.is_some() {
        return Ok(());
    }
    let above = Folder::open(folder)?;
    sweep_once(&above);
    let outputs = RunOutputs::below(folder, false, job.outputs.write_options.interruption)?;
    let mut file = outputs.create_shut(&place, FILE_MODE, 0)?;
    file.write_all(project.as_bytes())?;
    match outputs.publish(vec![file.finish()?]) {
        // The client was faster.
        Err(ConvertError::Exists(_)) => Ok(()),
        result => result,
    }
}

/// Written files, by the rule for the file that is there. The session's own file comes last.
#[derive(Default)]
struct Sets {
    ours: Vec<Finished>,
    older: Vec<Finished>,
    new: Vec<Finished>,
    /// The files that grow, as they were.
    seen: Vec<(PathBuf, Seen)>,
    is_main_older: bool,
}

impl Sets {
    fn push(&mut self, file: Finished, place: PathBuf, existing: Existing, is_main: bool) {
        match existing {
            Existing::None => self.new.push(file),
            Existing::Ours => self.ours.push(file),
            Existing::Older(seen) => {
                self.older.push(file);
                self.seen.push((place, seen));
                self.is_main_older = is_main;
            }
        }
    }

    fn publish(self, outputs: &RunOutputs, path: &Path) -> Result<(), ConvertError> {
        let Self { ours, older, new, seen, is_main_older } = self;
        let replace = |files: Vec<Finished>| match files.is_empty() {
            true => Ok(()),
            false => outputs.publish_set(path, PublishSet::new(files, Replace::Own)),
        };
        replace(ours)?;
        let grow = |older| {
            for (place, seen) in &seen {
                let now = there(place)?.and_then(|there| Seen::of(&there.reopened().ok()?).ok());
                if now != Some(*seen) {
                    return Err(NotInstalled::Meanwhile(place.display().to_string()).into());
                }
            }
            replace(older)
        };
        if is_main_older {
            publish_new(outputs, new, path)?;
            grow(older)
        } else {
            grow(older)?;
            publish_new(outputs, new, path)
        }
    }
}

/// Returns the path of a file relative to the folder of the session's own.
fn below<'p>(place: &'p Path, main: &Path) -> &'p Path {
    main.parent().and_then(|folder| place.strip_prefix(folder).ok()).unwrap_or(place)
}

/// An existing file.
struct There {
    folder: Arc<Folder>,
    name: OsString,
    modified: SystemTime,
}

impl There {
    fn reopened(&self) -> io::Result<File> {
        self.folder.read(&self.name)
    }
}

/// Returns the existing file of a name, without following links; `None` if the name is free.
///
/// # Errors
///
/// Returns [`ConvertError::NotInstalled`] if it is not a regular file, or an error of the system.
fn there(place: &Path) -> Result<Option<There>, ConvertError> {
    match place.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if !metadata.is_file() => return Err(exists(place)),
        // An error is that of the folder, which is opened next.
        _ => {}
    }
    let parent = place.parent().zip(place.file_name());
    let (folder, name) = parent.ok_or(ConvertError::NoName)?;
    let folder = Folder::open(folder).map_err(|error| unwritten(error, folder))?;
    let file = folder.read(name).map_err(|error| unwritten(error, place))?;
    let modified = file.metadata()?.modified()?;
    Ok(Some(There { folder, name: name.to_owned(), modified }))
}

fn publish_new(
    outputs: &RunOutputs,
    files: Vec<Finished>,
    path: &Path,
) -> Result<(), ConvertError> {
    if files.is_empty() {
        return Ok(());
    }
    match outputs.publish(files) {
        Err(ConvertError::Exists(_)) => Err(exists(path)),
        result => result,
    }
}

/// The modification times of the files of a session. A client resumes the newest file in a folder,
/// which must be the session's own.
#[derive(Debug, Default)]
struct Times {
    /// The time of the session's own file, if it exists.
    main: Option<SystemTime>,
    /// The time of the newest other file.
    newest: Option<SystemTime>,
}

impl Times {
    /// The age difference of the other files. Some file systems count in steps of two seconds.
    const STEP: Duration = Duration::from_secs(2);

    fn note(&mut self, time: SystemTime, is_main: bool) {
        let slot = if is_main { &mut self.main } else { &mut self.newest };
        *slot = (*slot).max(Some(time));
    }

    /// Returns the time for a new file.
    #[expect(
        clippy::disallowed_methods,
        reason = "`clido --continue` takes the newest file, and the bytes do not depend on it"
    )]
    fn of(&self, is_main: bool) -> SystemTime {
        let after = self.newest.and_then(|newest| newest.checked_add(Self::STEP));
        let now = after.max(Some(SystemTime::now()));
        let main = self.main.or(now).unwrap_or(UNIX_EPOCH);
        if is_main { main } else { main.checked_sub(Self::STEP).unwrap_or(main) }
    }
}
