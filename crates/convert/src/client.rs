//! The command of a client that goes on with a session: printed for a shell, or run.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
};

use archive::Installed;
use core_model::system_words;

use crate::terminal::{message::complain, progress::say, shell::quoted};

/// Returns the commands as a line for a shell: the import, if there is something to import, and the one
/// that goes on.
pub(crate) fn command_line(installed: &Installed) -> String {
    let mut line = format!("cd {} && ", quoted(&installed.project));
    if let Some(mut words) = installed.import_command() {
        let file = words.pop().unwrap_or_default();
        line.push_str(&format!("{} {} && ", words.join(" "), quoted(&file)));
    }
    line + &installed.command().join(" ")
}

/// Prints the warning of the client's format if the session was written, and a warning if the folder to go
/// on in does not exist.
pub(crate) fn warn_of_client(installed: &Installed) {
    let Installed { project, is_project_there, change, note, .. } = installed;
    if let Some(note) = note.filter(|_| change.is_write()) {
        say(note);
    }
    if !is_project_there {
        complain(&format!("{project}: no such folder; create it before you resume the session"));
    }
}

/// Replaces this process with the client, in the folder of the session. Returns only if that fails. On
/// Windows, no process replaces another: the client runs, and then this process ends with its status.
///
/// No shell is involved: the words are passed as they are, and the program is the one on the `PATH`.
pub(crate) fn become_client(installed: &Installed) -> io::Error {
    let words = installed.command();
    let Some((program, words)) = words.split_first().filter(|_| !installed.resume.is_empty())
    else {
        return io::Error::other("this agent has no command that resumes a session");
    };
    if let Err(error) = import(installed) {
        return error;
    }
    let mut command = Command::new(program);
    command.args(words);
    command.current_dir(Path::new(&installed.project));
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = match command.status() {
        Ok(status) => crate::interrupt::exit_with(status.code().unwrap_or(1)),
        Err(error) => error,
    };
    not_started(program, &error, installed)
}

/// Imports the session into the store of its client, if there is something to import. The output of the
/// client goes to stderr.
fn import(installed: &Installed) -> io::Result<()> {
    let Some(words) = installed.import_command() else { return Ok(()) };
    let Some((program, words)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(words).current_dir(Path::new(&installed.project)).stdin(Stdio::null());
    command.stdout(io::stderr());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!(
            "{program} did not import the session ({status}); see its message above, or try: {}",
            command_line(installed)
        ))),
        Err(error) => Err(not_started(program, &error, installed)),
    }
}

/// Returns the error for a program that does not start, with the line to try.
fn not_started(program: &str, error: &io::Error, installed: &Installed) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => format!("{program} is not on the PATH; install it, or run"),
        _ => format!("{program} does not start ({}); try", system_words(error)),
    };
    io::Error::other(format!("{advice}: {}", command_line(installed)))
}
