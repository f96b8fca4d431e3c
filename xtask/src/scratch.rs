//! What tasks that run other programs share: a folder for their time, a build, and a call that must
//! succeed.

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

/// Builds something and returns the folder of all that is built.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    call(Command::new(cargo).current_dir(root).args(["build", "--quiet"]).args(arguments))?;
    Ok(target(root))
}

/// Returns the folder of all that is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from))
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
