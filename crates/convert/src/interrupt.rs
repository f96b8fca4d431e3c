//! Handles Ctrl-C: the first one stops the run and cleans up, the second ends the process at once.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use storage::{Interruption, remove_temporary_files};

/// The flag that the signal handler sets.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The flag for the crates below.
pub(crate) const INTERRUPTION: Interruption = Interruption::of(&IS_INTERRUPTED);

/// Returns whether the program was asked to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTION.is_requested()
}

/// The exit status of an interrupted run.
pub(crate) const STATUS: u8 = 130;

/// The time for a run to stop by itself, and the time to print that it did not.
const GRACE: Duration = Duration::from_millis(700);
const PRINTING: Duration = Duration::from_millis(200);

/// Ends the process as an interrupted one ends.
#[expect(clippy::disallowed_methods, reason = "an interrupted process has no caller to return to")]
fn exit() -> ! {
    std::process::exit(i32::from(STATUS))
}

/// Ends the process as a client ended that took its place.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the client has taken the place of this process")]
pub(crate) fn exit_with(status: i32) -> ! {
    std::process::exit(status)
}

/// Installs handlers for Ctrl-C and termination. A file that exceeds the size limit of the process
/// becomes an error of its write, and does not end the process. `words` are printed if a run does not stop by itself.
pub(crate) fn listen(words: Option<&'static str>) {
    #[cfg(unix)]
    {
        let too_large = std::sync::Arc::new(AtomicBool::new(false));
        // Without this handler the process ends, and the next run removes the temporary files.
        _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large);
    }
    // Without a handler Ctrl-C still ends the process; only temporary files stay.
    _ = ctrlc::set_handler(move || {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            exit();
        }
        // Without this thread, the run ends as soon as its files are done.
        _ = thread::Builder::new().spawn(move || {
            thread::sleep(GRACE);
            if let Some(words) = words {
                print(words);
            }
            remove_temporary_files(|| exit());
        });
    });
}

/// Prints words on standard error, below the progress if there is some. Another thread may wait there for the reader of a
/// pipe, so this waits no longer than [`PRINTING`].
fn print(words: &'static str) {
    let printed = thread::Builder::new().spawn(move || {
        let start = if io::stderr().is_terminal() { "\n" } else { "" };
        writeln!(io::stderr(), "{start}convert: {words}")
    });
    let is_printed = || printed.as_ref().map_or(true, thread::JoinHandle::is_finished);
    for _ in 0..20 {
        if is_printed() {
            return;
        }
        thread::sleep(PRINTING / 20);
    }
}
