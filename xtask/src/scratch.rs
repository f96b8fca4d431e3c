//! What tasks that run other programs share: a folder for their time, and a call that must succeed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a command; what it failed with is the error.
pub(crate) fn call(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", command.get_program().display())),
        Err(error) => Err(format!("{}: {error}", command.get_program().display())),
    }
}

/// A folder for the time of a task.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Returns the folder of a task; whoever writes into it makes it.
    pub(crate) fn new(task: &str) -> Self {
        Self(env::temp_dir().join(format!("convert-{task}-{}", std::process::id())))
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        _ = fs::remove_dir_all(&self.0);
    }
}
