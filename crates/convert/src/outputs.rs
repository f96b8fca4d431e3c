//! The files that a run writes: where they go, and when they get their names.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    folder::Folder,
    job::Refusal,
    output::{Finished, Pending, Place, Replace},
};

/// Where the files of a run go.
#[derive(Debug)]
pub(crate) struct Outputs {
    /// The folder that a run writes to, and its path as it was asked for; none if that is a file.
    root: Option<(PathBuf, Arc<Folder>)>,
    /// Whether files that are there are overwritten.
    force: bool,
}

impl Outputs {
    /// Returns outputs that go where their paths say.
    pub(crate) fn anywhere(force: bool) -> Self {
        Self { root: None, force }
    }

    /// Returns outputs that go below a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made or opened.
    pub(crate) fn below(folder: &Path, force: bool) -> io::Result<Self> {
        Ok(Self { root: Some((folder.to_owned(), Folder::create(folder)?)), force })
    }

    /// Begins the file that will stand at a path, with at most the permissions of `mode`.
    ///
    /// # Errors
    ///
    /// If the path leads out of the folder of the run, or through a link in it; the system's own.
    pub(crate) fn create(&self, path: &Path, mode: u32) -> io::Result<Pending> {
        let place = match &self.root {
            Some((root, folder)) => {
                let below = path.strip_prefix(root).unwrap_or(path);
                Place::below(folder, below)?
            }
            None => Place::of(path)?,
        };
        Pending::create(place, mode, None)
    }

    /// Gives files that belong together their names, in this order, once their bytes are on the disk.
    ///
    /// # Errors
    ///
    /// [`Refusal::Exists`] if another file has a name, and is to stay; the system's own. Of several
    /// files, none has got its name then.
    pub(crate) fn publish(&self, files: Vec<Finished>) -> Result<(), Refusal> {
        let replace = if self.force { Replace::KeepOld } else { Replace::Never };
        for file in &files {
            file.sync()?;
        }
        let mut published: Vec<Place> = Vec::new();
        for file in files {
            let place = file.place().clone();
            match file.publish(replace) {
                Ok(true) => published.push(place),
                Ok(false) => {}
                Err(error) => {
                    if replace == Replace::Never {
                        take_back(&published);
                    }
                    return Err(refusal(error, &place));
                }
            }
        }
        for Place { folder, .. } in &published {
            folder.sync()?;
        }
        Ok(())
    }
}

/// Takes files away that make no sense without the one that failed.
fn take_back(published: &[Place]) {
    for Place { folder, name } in published {
        // What cannot be removed is equal to what the next run writes.
        _ = folder.remove(name);
    }
}

fn refusal(error: io::Error, place: &Place) -> Refusal {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Refusal::Exists(place.path().display().to_string()),
        _ => error.into(),
    }
}
