//! Runs other programs for the tasks: in a temporary folder, with Python packages, after a build.

#![expect(clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a command. Returns an error with the name of the program and its exit status, or why it did not
/// start.
pub(crate) fn call(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", command.get_program().display())),
        Err(error) => Err(format!("{}: {error}", command.get_program().display())),
    }
}

/// Runs `cargo build` with the arguments and returns the folder of build outputs.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    call(Command::new(cargo).current_dir(root).args(["build", "--quiet"]).args(arguments))?;
    Ok(target(root))
}

/// Builds the tests of the workspace with their programs, and returns the folder of build outputs. A
/// gate that built one program would build it again, with fewer features.
pub(crate) fn built_by_tests(root: &Path) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tests = ["test", "--workspace", "--locked", "--no-run", "--quiet"];
    call(Command::new(cargo).current_dir(root).args(tests))?;
    Ok(target(root))
}

/// Returns the folder of build outputs: `CARGO_TARGET_DIR`, or `target`.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from))
}

/// Creates a virtual environment below `scratch`, installs `packages` with pip, and returns the path of
/// its Python.
pub(crate) fn python(scratch: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let venv = scratch.join("venv");
    call(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    call(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(packages))?;
    Ok(python)
}

/// Writes a script to a file in `scratch` and returns its path.
pub(crate) fn script(scratch: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = scratch.join(name);
    fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok(path)
}

/// Runs a task in a temporary folder, which is removed afterwards. Prints the error of the task, and
/// returns whether there was none.
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

/// A temporary folder, removed on drop.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system, which cleans its temporary folder.
        _ = fs::remove_dir_all(&self.0);
    }
}
