//! Standard output, to which writing fails if it was closed when the program started.
//!
//! The standard library opens `/dev/null` if standard output is closed, so that output would be lost
//! without an error.

use std::{
    fmt,
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use storage::unwritten;

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes each write to standard output fail, because it was closed when the program started.
pub fn refuse_stdout() {
    IS_CLOSED.store(true, Ordering::Relaxed);
}

/// Checks that standard output is open.
///
/// # Errors
///
/// Returns an error if it was closed when the program started.
pub(crate) fn check_stdout() -> io::Result<()> {
    match IS_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("standard output is closed; redirect it to a file or a pipe")),
        false => Ok(()),
    }
}

/// Returns standard output.
pub(crate) fn stdout() -> StandardOutput {
    StandardOutput(io::stdout())
}

/// Standard output. Its errors name it.
pub(crate) struct StandardOutput(io::Stdout);

fn named(error: io::Error) -> io::Error {
    unwritten(error, Path::new("standard output"))
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_stdout()?;
        self.0.write(bytes).map_err(named)
    }

    // Lines of several threads must not mix.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        check_stdout()?;
        self.0.write_all(bytes).map_err(named)
    }

    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        check_stdout()?;
        self.0.write_fmt(arguments).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(named)
    }
}
