//! Prints through the user's pager, if standard output is a terminal.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::terminal::{
    Terminal,
    stdout::{StandardOutput, stdout},
};

/// The sink of output: a pager, or standard output.
pub(crate) enum Pager {
    Child(Child, BufWriter<ChildStdin>),
    Stdout(BufWriter<StandardOutput>),
}

impl Pager {
    /// Starts `CONVERT_PAGER`, else `PAGER`, else `less`, which exits at once if the text fits the
    /// screen. Writes to standard output if the variable is empty or `cat`, or if the pager cannot
    /// be started.
    pub(crate) fn start(is_wanted: bool) -> Self {
        let is_wanted = is_wanted && Terminal::of_stdout().is_terminal;
        is_wanted.then(spawned).flatten().unwrap_or_else(Self::stdout)
    }

    /// Prints through a pager if it is wanted. That the user leaves it early is no error.
    pub(crate) fn print(
        is_wanted: bool,
        print: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = Self::start(is_wanted);
        let printed = print(&mut out);
        let ended = out.finish();
        match printed {
            Err(error)
                if Terminal::of_stdout().is_terminal
                    && error.kind() == io::ErrorKind::BrokenPipe =>
            {
                ended
            }
            printed => printed.and(ended),
        }
    }

    fn stdout() -> Self {
        Pager::Stdout(BufWriter::with_capacity(64 * 1024, stdout()))
    }

    /// Ends the output, and waits until the user quits the pager.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Pager::Stdout(mut stdout) => stdout.flush(),
            Pager::Child(mut child, stdin) => {
                // If the user quits early, the rest of the output is dropped.
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
    // A variable may hold arguments; the shell splits them as it does for other programs.
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
