//! Ctrl-C: the first asks everything to stop and clean up, the second stops at once.

use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::folder::Folder;

/// The exit status of a run that was interrupted.
pub(crate) const STATUS: u8 = 130;

/// How long a run may take to stop by itself.
const GRACE: Duration = Duration::from_millis(700);

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<(u64, Arc<Folder>, OsString)>> = Mutex::new(Vec::new());

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
            if let Ok(files) = TEMPORARY.lock() {
                for (_, folder, name) in files.iter() {
                    _ = folder.remove(name);
                }
                // While the list is locked no file is made that would stay.
                exit();
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
pub(crate) struct Remembered(u64);

impl Remembered {
    pub(crate) fn new(folder: Arc<Folder>, name: OsString) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut files) = TEMPORARY.lock() {
            files.push((id, folder, name));
        }
        Self(id)
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        if let Ok(mut files) = TEMPORARY.lock() {
            files.retain(|(id, ..)| *id != self.0);
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
