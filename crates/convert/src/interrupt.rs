//! Handles Ctrl-C: the first one stops the run and cleans up, the second ends the process at once.

use std::{
    sync::atomic::{AtomicBool, Ordering},
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

/// The time for a run to stop by itself.
const GRACE: Duration = Duration::from_millis(700);

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
/// becomes an error of its write, and does not end the process.
pub(crate) fn listen() {
    #[cfg(unix)]
    {
        let too_large = std::sync::Arc::new(AtomicBool::new(false));
        // Without this handler the process ends, and the next run removes the temporary files.
        _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large);
    }
    // Without a handler Ctrl-C still ends the process; only temporary files stay.
    _ = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            exit();
        }
        // Without this thread, the run ends as soon as its files are done.
        _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(GRACE);
            remove_temporary_files(|| exit());
        });
    });
}
