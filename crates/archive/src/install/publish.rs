//! Publishes the files of a converted session in its client's folder. A killed installation is
//! finished by the same command.
//!
//! The session's own file is published last, so that the client sees the session only when it is
//! complete. Before the first file, an [`Intent`] lists all of them. The next run keeps files that
//! are equal, and replaces files in the list, because the session may have grown in the meantime.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use conversion::Source;
use core_model::Home;
use sessions::{Input, walk};
use storage::{FILE_MODE, Finished, Folder, Replace, are_equal, sweep_once};

use super::{exists, intent::Intent};
use crate::{
    error::ConvertError,
    job::Job,
    outputs::{Outputs, PublishSet},
    session::moved,
};

/// A file of the draft, and its path.
struct Placed {
    file: Input,
    place: PathBuf,
    /// Whether a killed run wrote the existing file.
    is_ours: bool,
}

/// Publishes the files of a draft in the client's folder.
///
/// # Errors
///
/// Returns an error if an existing file is neither equal nor of a killed run, or if the files
/// cannot be written. Then nothing was changed, or the same command finishes the changes.
pub(super) fn publish(
    job: &Job,
    draft: &Path,
    main: &Path,
    home: &Home,
) -> Result<(), ConvertError> {
    let path = home.path();
    let mut files = Vec::new();
    walk(draft, Path::new(""), &mut files, &mut |warning| job.warnings.push(warning));
    files.sort_by_key(|file| file.path() == Some(main));
    let above = Folder::create(&home.root)?.create_below(&home.folder)?;
    let mut intent = Intent::of_the_dead(&above, &path);
    let is_begun = path.symlink_metadata().is_err();
    let (mut missing, mut times) = (Vec::new(), Times::default());
    for file in files {
        let place = file.path().and_then(|file| moved(file, main, &path));
        let place = place.ok_or(ConvertError::NoName)?;
        let Some(there) = there(&place)? else {
            missing.push(Placed { file, place, is_ours: false });
            continue;
        };
        if are_equal(file.open_as_it_is()?, there.reopened()?)? {
            times.note(there.modified, place == path);
        } else if is_begun && intent.knows(below(&place, &path), &mut there.reopened()?)? {
            missing.push(Placed { file, place, is_ours: true });
        } else {
            return Err(exists(&place));
        }
    }
    for Placed { file, place, .. } in &missing {
        intent.add(below(place, &path), &mut file.open_as_it_is()?)?;
    }
    let kept = intent.keep(&above, &path)?;
    sweep_once(&above);
    let outputs = Outputs::below(&home.root, false, job.outputs.write_options.interruption)?;
    let (mut folders, mut ours, mut new) = (HashMap::new(), Vec::new(), Vec::new());
    for Placed { file, place, is_ours } in missing {
        let mut target = outputs.create_shut(&place, FILE_MODE, &mut folders)?;
        Source::new(file.open_as_it_is()?).copy_to(&mut target)?;
        let target = target.finish()?;
        target.set_modified(times.of(place == path))?;
        if is_ours { &mut ours } else { &mut new }.push(target);
    }
    if !ours.is_empty() {
        let replaced = PublishSet { files: ours, replace: Replace::Own, records: Vec::new() };
        outputs.publish_set(&path, replaced)?;
    }
    publish_new(&outputs, new, &path)?;
    drop(kept);
    Ok(())
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
    if place.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let parent = place.parent().zip(place.file_name());
    let (folder, name) = parent.ok_or(ConvertError::NoName)?;
    let folder = Folder::open(folder)?;
    let file = folder.read(name).map_err(|_| exists(place))?;
    let modified = file.metadata()?.modified()?;
    Ok(Some(There { folder, name: name.to_owned(), modified }))
}

fn publish_new(outputs: &Outputs, files: Vec<Finished>, path: &Path) -> Result<(), ConvertError> {
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
