//! What tasks that run other programs share: a folder for their time, a Python in it, a build, and a
//! call that must succeed.

#![expect(clippy::print_stderr, reason = "a task talks to a terminal")]

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

/// Builds what the tests of the workspace need and returns the folder of all that is built: a gate
/// that asks for less would build it anew, with fewer features.
pub(crate) fn built_by_tests(root: &Path) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tests = ["test", "--workspace", "--locked", "--no-run", "--quiet"];
    call(Command::new(cargo).current_dir(root).args(tests))?;
    Ok(target(root))
}

/// Returns the folder of all that is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from))
}

/// Makes an environment of Python's own below a folder, installs what pip is told to, and returns
/// its Python.
pub(crate) fn python(scratch: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let venv = scratch.join("venv");
    call(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    call(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(packages))?;
    Ok(python)
}

/// Writes a script to where Python finds it.
pub(crate) fn script(scratch: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = scratch.join(name);
    fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok(path)
}

/// Does a task in a folder of its own, which is gone afterwards; says what failed, and returns
/// whether nothing did.
pub(crate) fn in_scratch(task: &str, run: impl FnOnce(&Path) -> Result<(), String>) -> bool {
    let folder = env::temp_dir().join(format!("convert-{task}-{}", std::process::id()));
    let scratch = Scratch(folder);
    let made = fs::create_dir_all(&scratch.0).map_err(|error| error.to_string());
    let result = made.and_then(|()| run(&scratch.0));
    if let Err(what) = &result {
        eprintln!("{what}");
    }
    result.is_ok()
}

/// A folder for the time of a task.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        _ = fs::remove_dir_all(&self.0);
    }
}
