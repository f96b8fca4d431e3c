//! Output through the user's pager, if it goes to a terminal.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::terminal::Terminal;

/// Where output goes: to a pager, or to standard output.
pub(crate) enum Pager {
    Child(Child, BufWriter<ChildStdin>),
    Stdout(BufWriter<io::Stdout>),
}

impl Pager {
    /// Starts `CONVERT_PAGER`, else `PAGER`, else `less`, which leaves what fits one screen to the
    /// terminal; none of them if one is set to nothing or to `cat`, or cannot be started.
    pub(crate) fn start(is_wanted: bool) -> Self {
        let is_wanted = is_wanted && Terminal::of_stdout().is_terminal;
        is_wanted.then(spawned).flatten().unwrap_or_else(Self::stdout)
    }

    fn stdout() -> Self {
        Pager::Stdout(BufWriter::with_capacity(64 * 1024, io::stdout()))
    }

    /// Ends the output, and waits until the user has read enough.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Pager::Stdout(mut stdout) => stdout.flush(),
            Pager::Child(mut child, stdin) => {
                // Whoever quits a pager leaves the rest unread.
                _ = stdin.into_inner().map(drop);
                child.wait().map(|_| ())
            }
        }
    }
}

fn spawned() -> Option<Pager> {
    let named = std::env::var_os("CONVERT_PAGER").or_else(|| std::env::var_os("PAGER"));
    let command = named.unwrap_or_else(|| OsString::from("less"));
    if command.is_empty() || command == "cat" {
        return None;
    }
    // A variable may hold arguments; the shell parts them as the user's other programs do.
    let mut pager = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
    pager.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(command);
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    let mut child = pager.stdin(Stdio::piped()).spawn().ok()?;
    let stdin = child.stdin.take()?;
    Some(Pager::Child(child, BufWriter::new(stdin)))
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Pager::Child(_, stdin) => stdin.write(bytes),
            Pager::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Pager::Child(_, stdin) => stdin.flush(),
            Pager::Stdout(stdout) => stdout.flush(),
        }
    }
}
