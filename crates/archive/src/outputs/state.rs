//! Finds whether an output is up to date.

use std::{io, path::Path};

use sessions::Input;
use storage::{Opened, Replace};

use super::{RunOutputs, restored::HashedSource};
use crate::{
    journal::{Origin, OutputState, Salt},
    status::FileStatus,
};

impl RunOutputs {
    /// Returns the state of the output at a path for an open input. `salt` is a hash of the other
    /// files that the output depends on.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read.
    pub(crate) fn output_state(
        &self,
        path: &Path,
        input: &Input,
        opened: &mut Opened,
        salt: Salt,
    ) -> io::Result<OutputState> {
        let default = OutputState::Open(self.write_options.replace());
        let Some(root) = &self.root else { return Ok(default) };
        let restored_from = self.restored_from(input);
        let is_stale = restored_from.as_ref().is_some_and(|from| from.shares_source);
        let state = if let Some(from) = restored_from {
            let Some(HashedSource { path: source, stat, hash }) = from.source else {
                return Ok(default);
            };
            root.output_state(path, &mut Origin::hashed(&source, stat, hash, from.salt))?
        } else {
            let Some(source) = input.absolute()? else { return Ok(default) };
            let Some(snapshot) = opened.snapshot() else { return Ok(default) };
            let mut origin = Origin::open(&source, snapshot, salt);
            if let Input::File { storage, .. } = input {
                origin = origin.stored_in(storage);
            }
            root.output_state(path, &mut origin)?
        };
        Ok(match state {
            OutputState::UpToDate(_) if is_stale => OutputState::Open(Replace::Own),
            OutputState::UpToDate(_) | OutputState::Open(Replace::Own)
                if self.write_options.force =>
            {
                // Our own output is not kept as a backup: an older backup may be a file of the
                // user.
                OutputState::Open(Replace::Own)
            }
            OutputState::Open(_) if self.write_options.force => default,
            state => state,
        })
    }

    /// Returns whether the output of an unopened object is up to date, by the object's etag; `None`
    /// if that is unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the output cannot be checked.
    pub(crate) fn unread(
        &self,
        path: &Path,
        input: &Input,
        salt: Salt,
    ) -> io::Result<Option<FileStatus>> {
        let Input::File { storage, path: source, .. } = input else { return Ok(None) };
        let is_listed = !storage.is_disk() && storage.has_change_times();
        let (Some(root), true) = (&self.root, is_listed && !self.write_options.force) else {
            return Ok(None);
        };
        // If the metadata cannot be read, opening fails as well and reports the error.
        let Ok(stat) = storage.stat(source) else { return Ok(None) };
        match root.output_state(path, &mut Origin::listed(source, stat, salt))? {
            OutputState::UpToDate(status) => Ok(Some(status)),
            OutputState::Open(_) => Ok(None),
        }
    }
}
