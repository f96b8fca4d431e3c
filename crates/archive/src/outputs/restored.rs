//! The sources of files that a session was restored to, before they are converted.
//!
//! In: `/tmp/.convert.tmp-14610-32b66833-1d4aac33/s1.jsonl`, restored from `/in/s1.jsonl`. Out: the
//! journal names `/in/s1.jsonl` as the source of the output. The temporary file is gone after the
//! run, so that no later run would know it.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{MutexGuard, PoisonError},
};

use sessions::Input;
use storage::{Opened, Stat};

use super::{PublishSet, RunOutputs, batch::Item};
use crate::{error::ConvertError, journal::Salt};

/// The restored files that are converted now, by path.
pub(super) type RestoredFiles = HashMap<PathBuf, RestoredFrom>;

/// The source of a restored file.
#[derive(Clone, Debug)]
pub(crate) struct RestoredFrom {
    /// The name of the source for messages.
    pub(crate) label: String,
    /// `None` if no journal can name the source, such as standard input.
    pub(crate) source: Option<HashedSource>,
    /// A hash of all files of its session.
    pub(crate) salt: Salt,
    /// The output whose report has the errors of this file; `None` for its own output.
    pub(crate) reported_as: Option<PathBuf>,
    /// Whether other sub-agents have outputs from this source, too. The journal cannot tell whether one of
    /// them is missing, so all are written again.
    pub(crate) shares_source: bool,
}

/// A source as it was when it was hashed.
#[derive(Clone, Debug)]
pub(crate) struct HashedSource {
    /// The absolute path.
    pub(crate) path: PathBuf,
    pub(crate) stat: Stat,
    /// The XXH3 of the content.
    pub(crate) hash: u64,
}

impl HashedSource {
    /// Hashes an open input; `None` if it is not a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read.
    pub(crate) fn of(input: &Input, opened: &mut Opened) -> io::Result<Option<Self>> {
        let Some(path) = input.absolute()? else { return Ok(None) };
        let Some(snapshot) = opened.snapshot() else { return Ok(None) };
        let hash = snapshot.hash()?;
        Ok(Some(Self { path, stat: snapshot.stat().clone(), hash }))
    }
}

impl RunOutputs {
    /// Adds restored files with their sources.
    pub(crate) fn add_restored(&self, files: impl IntoIterator<Item = (PathBuf, RestoredFrom)>) {
        self.restored_files().extend(files);
    }

    /// Removes the restored files below a folder.
    pub(crate) fn remove_restored(&self, folder: &Path) {
        self.restored_files().retain(|path, _| !path.starts_with(folder));
    }

    /// Returns the source of a restored file; `None` for any other input.
    pub(crate) fn restored_from(&self, input: &Input) -> Option<RestoredFrom> {
        let restored = self.restored_files();
        if restored.is_empty() {
            return None;
        }
        input.path().and_then(|path| restored.get(path)).cloned()
    }

    /// Returns the name of an input for messages: for a restored file, the name of its source.
    pub(crate) fn label_of(&self, input: &Input) -> String {
        self.restored_from(input).map_or_else(|| input.label(), |from| from.label)
    }

    /// Publishes the files that an input became. If they fail later, [`RunOutputs::close`] names the output
    /// whose report has the errors of the input.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::publish_set`].
    pub(crate) fn publish_from(
        &self,
        input: &Input,
        path: &Path,
        set: PublishSet,
    ) -> Result<(), ConvertError> {
        let reported_as = self.restored_from(input).and_then(|from| from.reported_as);
        let is_further = reported_as.is_some();
        let path = reported_as.unwrap_or_else(|| path.to_owned());
        self.publish_item(Item { path, set, is_further })
    }

    fn restored_files(&self) -> MutexGuard<'_, RestoredFiles> {
        self.restored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
