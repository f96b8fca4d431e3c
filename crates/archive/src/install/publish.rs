//! The files of a converted session get their names among those of their client: all of them, whenever
//! the command is killed and run again.
//!
//! The session's own file gets its name last: whoever sees that one sees the others. Before the first
//! name is given, an [`Intent`] says which files are ours. The same command finishes what a run began
//! that was killed: files that are equal stay, and files that the intent knows are replaced, since the
//! session may have grown meanwhile.

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

/// A file of the draft, and its place.
struct Placed {
    file: Input,
    place: PathBuf,
    /// Whether a run that was killed wrote what is there.
    is_ours: bool,
}

/// Gives the files of a draft their names among those of their client.
///
/// # Errors
///
/// Returns an error if a file has one of the names that is neither equal nor of a run that was killed,
/// or if the files cannot be written; then nothing was changed, or what was is finished by the same
/// command.
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

/// Returns the name of a file relative to the folder of the session's own.
fn below<'p>(place: &'p Path, main: &Path) -> &'p Path {
    main.parent().and_then(|folder| place.strip_prefix(folder).ok()).unwrap_or(place)
}

/// A file that has one of the names.
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

/// Returns what has a name; no link is followed.
///
/// # Errors
///
/// [`ConvertError::NotInstalled`] if it is no regular file; the system's own.
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

/// When the files of a session are said to have been changed: a client goes on with the newest in a
/// folder, which is to be the session's own.
#[derive(Debug, Default)]
struct Times {
    /// Of the session's own file, if that is there.
    main: Option<SystemTime>,
    /// Of the newest of the others that are there.
    newest: Option<SystemTime>,
}

impl Times {
    /// How much older the other files are; some file systems count in steps of two seconds.
    const STEP: Duration = Duration::from_secs(2);

    fn note(&mut self, time: SystemTime, is_main: bool) {
        let slot = if is_main { &mut self.main } else { &mut self.newest };
        *slot = (*slot).max(Some(time));
    }

    /// Returns what a file that is written now says.
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
