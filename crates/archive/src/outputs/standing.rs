//! Finds whether an output is up to date.

use std::{io, path::Path};

use sessions::Input;
use storage::{Opened, Replace};

use super::Outputs;
use crate::{
    journal::{Origin, Salt, Standing},
    status::FileStatus,
};

impl Outputs {
    /// Returns how the output at a path stands to an input that is open; `salt` is a hash of what it
    /// depends on beside that and the options.
    ///
    /// # Errors
    ///
    /// The system's own, of reading the input.
    pub(crate) fn standing(
        &self,
        path: &Path,
        input: &Input,
        opened: &mut Opened,
        salt: Salt,
    ) -> io::Result<Standing> {
        let default = Standing::Open(self.write_options.replace());
        let (Some(root), Some(source)) = (&self.root, input.absolute()?) else {
            return Ok(default);
        };
        let Some(snapshot) = opened.snapshot() else { return Ok(default) };
        let standing = root.standing(path, &mut Origin::open(&source, snapshot, salt))?;
        Ok(match standing {
            Standing::UpToDate(_) | Standing::Open(Replace::Own) if self.write_options.force => {
                // What we wrote is not kept aside: an older file of the user's may be there.
                Standing::Open(Replace::Own)
            }
            Standing::Open(_) if self.write_options.force => default,
            standing => standing,
        })
    }

    /// Returns whether the output at a path is up to date, as [`Outputs::standing`] does, if that is
    /// known of an input that nobody opened: of an object, whose content its store has a name for.
    ///
    /// # Errors
    ///
    /// Those of asking for the output.
    pub(crate) fn unread(
        &self,
        path: &Path,
        input: &Input,
        salt: Salt,
    ) -> io::Result<Option<FileStatus>> {
        let Input::File { storage, path: source, .. } = input else { return Ok(None) };
        let (Some(root), false) = (&self.root, storage.is_disk() || self.write_options.force)
        else {
            return Ok(None);
        };
        // What cannot be asked for cannot be opened either, which is told then.
        let Ok(stat) = storage.stat(source) else { return Ok(None) };
        match root.standing(path, &mut Origin::listed(source, stat, salt))? {
            Standing::UpToDate(status) => Ok(Some(status)),
            Standing::Open(_) => Ok(None),
        }
    }
}
