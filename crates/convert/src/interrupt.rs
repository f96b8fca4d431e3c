//! Ctrl-C: the first asks everything to stop and clean up, the second stops at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use storage::{Interruption, remove_temporary_files};

/// Whether the program was asked to stop.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the program was asked to stop, as the crates below it take it.
pub(crate) const INTERRUPTION: Interruption = Interruption::of(&IS_INTERRUPTED);

/// Returns whether the program was asked to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTION.is_requested()
}

/// The exit status of a run that was interrupted.
pub(crate) const STATUS: u8 = 130;

/// How long a run may take to stop by itself.
const GRACE: Duration = Duration::from_millis(700);

/// Ends the process as an interrupted one ends.
#[expect(clippy::disallowed_methods, reason = "an interrupted process has no caller to return to")]
fn exit() -> ! {
    std::process::exit(i32::from(STATUS))
}

/// Listens for Ctrl-C and for whoever ends the process, and makes files that grow too large an
/// error of the write instead of the end.
pub(crate) fn listen() {
    let too_large = Arc::new(AtomicBool::new(false));
    // Without a handler the process ends, and the temporary files stay for the next run.
    _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large);
    // Without a handler Ctrl-C still ends the process; only temporary files stay.
    _ = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            exit();
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            remove_temporary_files(|| exit());
        });
    });
}
