//! Ctrl-C: the first asks everything to stop and clean up, the second stops at once.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// The exit status of a run that was interrupted.
pub(crate) const STATUS: u8 = 130;

/// How long a run may take to stop by itself.
const GRACE: Duration = Duration::from_millis(700);

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the process as an interrupted one ends.
#[expect(clippy::disallowed_methods, reason = "an interrupted process has no caller to return to")]
fn exit() -> ! {
    std::process::exit(i32::from(STATUS))
}

/// Listens for Ctrl-C.
pub(crate) fn listen() {
    // Without a handler Ctrl-C still ends the process; only temporary files stay.
    _ = ctrlc::set_handler(|| {
        if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
            exit();
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            if let Ok(paths) = TEMPORARY.lock() {
                for path in paths.iter() {
                    _ = std::fs::remove_file(path);
                }
            }
            exit();
        });
    });
}

/// Returns whether the run was asked to stop.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Remembers a temporary file for as long as the value lives.
#[derive(Debug)]
pub(crate) struct Remembered(PathBuf);

impl Remembered {
    pub(crate) fn new(path: &Path) -> Self {
        if let Ok(mut paths) = TEMPORARY.lock() {
            paths.push(path.to_owned());
        }
        Self(path.to_owned())
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        if let Ok(mut paths) = TEMPORARY.lock() {
            paths.retain(|path| *path != self.0);
        }
    }
}

/// A sink that fails once the run was asked to stop.
pub(crate) struct Interruptible<W>(pub(crate) W);

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_interrupted() {
            return Err(io::Error::other("interrupted"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
