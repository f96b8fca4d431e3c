//! Private folders in the system's folder for temporary files.
//!
//! Each is called `.convert.tmp-PID-BOOT-RANDOM` and locked while it is in use. The name shows a
//! later run which folders are left over from killed runs, and it removes them.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use core_model::system_words;

use crate::{
    folder::{Entry, Folder},
    lock::Lock,
    output::unwritten,
    system::{FileKind, is_own},
    temporary::{is_of_the_dead, is_temporary, new_name},
};

/// The start of the names.
const NAME: &str = "convert";

/// Older folders belong to no running process, whatever their names say.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A private folder, which is removed with its content on drop.
#[derive(Debug)]
pub struct Scratch {
    above: Arc<Folder>,
    name: OsString,
    folder: Arc<Folder>,
}

impl Scratch {
    /// Creates a folder, and removes folders of dead runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does, with the path of the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        let above = tempfile::env::temp_dir();
        Self::below(&above).map_err(|error| {
            let advice = system_words(&error);
            let advice = format!("{advice}; TMPDIR names another folder for temporary files");
            unwritten(io::Error::new(error.kind(), advice), &above)
        })
    }

    fn below(above: &Path) -> io::Result<Self> {
        let above = Folder::open(above)?;
        remove_dead(&above);
        let (name, folder) = loop {
            let name = new_name(OsStr::new(NAME));
            match above.make_folder(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break (name, Arc::new(made?)),
            }
        };
        // On file systems without locks, only the process id shows that the folder is in use.
        _ = folder.lock();
        Ok(Self { above, name, folder })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let remove = || remove(&self.above, &self.name, self.folder.clone());
        // A call that fails once may succeed when it is repeated.
        if let Err(error) = remove().or_else(|_| remove()) {
            let unremoved = Unremoved { folder: self.path().to_owned(), error };
            UNREMOVED.lock().unwrap_or_else(PoisonError::into_inner).push(unremoved);
        }
    }
}

/// The private folders that could not be removed. A drop can return no error.
static UNREMOVED: Mutex<Vec<Unremoved>> = Mutex::new(Vec::new());

/// A private folder that could not be removed with all of its content.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: a folder for temporary files, with parts of sessions, could not be removed: {}; remove it",
    folder.display(),
    system_words(error)
)]
pub struct Unremoved {
    /// The path.
    pub folder: PathBuf,
    /// The first error.
    pub error: io::Error,
}

/// Returns the private folders that could not be removed since the last call.
pub fn take_unremoved() -> Vec<Unremoved> {
    std::mem::take(&mut *UNREMOVED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes folders of dead runs of the same user.
fn remove_dead(above: &Folder) {
    let Ok(entries) = above.entries() else { return };
    let start = format!(".{NAME}.tmp-");
    for Entry { name, kind } in entries {
        let is_ours = name.to_string_lossy().starts_with(&start) && is_temporary(&name);
        if kind == FileKind::Folder
            && is_ours
            && let Ok(folder) = above.enter(&name)
            && is_left(&folder, &name)
        {
            _ = remove(above, &name, Arc::new(folder));
        }
    }
}

fn is_left(folder: &Folder, name: &OsStr) -> bool {
    let Ok(metadata) = folder.metadata() else { return false };
    let modified = metadata.modified().ok();
    let age = modified.and_then(|it| it.elapsed().ok());
    let is_old = age.is_some_and(|age| age > MAX_AGE);
    // A process with this id may run in another container.
    let is_free = || folder.lock().is_ok_and(|it| matches!(it, Lock::Held | Lock::Unknown));
    is_own(&metadata) && (is_of_the_dead(folder, name, modified) || is_old) && is_free()
}

/// Removes a folder with its content, without following links. What cannot be removed does not keep the rest.
/// Returns the first error.
fn remove(above: &Folder, name: &OsStr, folder: Arc<Folder>) -> io::Result<()> {
    let (mut below, mut open, mut done) = (Vec::new(), vec![folder], Ok(()));
    while let Some(folder) = open.pop() {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => {
                done = done.and(Err(error));
                continue;
            }
        };
        for Entry { name, kind } in entries {
            let removed = match kind {
                FileKind::Folder => folder.enter(&name).map(|inner| {
                    open.push(Arc::new(inner));
                    below.push((folder.clone(), name));
                }),
                _ => folder.remove(&name),
            };
            done = done.and(removed);
        }
    }
    for (folder, name) in below.iter().rev() {
        done = done.and(folder.remove_folder(name));
    }
    done.and(above.remove_folder(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_in_a_scratch_folder_goes_with_it() {
        let scratch = Scratch::new().expect("a folder");
        let path = scratch.path().to_owned();
        fs::create_dir_all(path.join("a/b/c")).expect("made");
        fs::write(path.join("a/b/file"), "x").expect("written");
        #[cfg(unix)]
        assert_eq!(crate::system::mode(&fs::metadata(&path).expect("there")) & 0o777, 0o700);
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_dead_run_left_is_removed_and_what_is_in_use_is_not() {
        let root = tempfile::tempdir().expect("a folder");
        let above = Folder::open(root.path()).expect("a folder");
        let own = new_name(OsStr::new(NAME)).into_string().expect("text");
        let dead = own.replace(&std::process::id().to_string(), &i32::MAX.to_string());
        let other = dead.replace(NAME, "other");
        for name in [&own, &dead, &other] {
            fs::create_dir_all(root.path().join(name).join("session/subagents")).expect("made");
            fs::write(root.path().join(name).join("session/x"), "x").expect("written");
        }
        let in_use = above.enter(OsStr::new(&dead)).expect("a folder");
        assert_eq!(in_use.lock().expect("locked"), Lock::Held);
        remove_dead(&above);
        assert!(root.path().join(&dead).exists(), "it is locked");
        drop(in_use);
        remove_dead(&above);
        let left = [&own, &dead, &other].map(|name| root.path().join(name).exists());
        assert_eq!(left, [true, false, true]);
    }
}
