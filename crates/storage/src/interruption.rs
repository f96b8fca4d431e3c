//! Stops writing and removes temporary files when the program is interrupted.
//!
//! The program owns its signals. Its handler sets a flag, which an [`Interruption`] reads, and
//! calls [`remove_temporary_files`] before it ends the process.

use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::folder::Folder;

/// A flag that the program's signal handler sets. By default, there is no flag and no interruption.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interruption(Option<&'static AtomicBool>);

impl Interruption {
    /// Creates an interruption with a flag.
    pub const fn of(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Returns whether the program was asked to stop.
    pub fn is_requested(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

static TEMPORARY: Mutex<Vec<(u64, Arc<Folder>, OsString)>> = Mutex::new(Vec::new());

/// Removes the temporary files that are being written, then calls `then`. No temporary files are
/// created until it returns.
pub fn remove_temporary_files(then: impl FnOnce()) {
    let files = TEMPORARY.lock();
    for (_, folder, name) in files.iter().flat_map(|files| files.iter()) {
        _ = folder.remove(name);
    }
    then();
}

/// Registers a temporary file for as long as it lives.
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

/// A sink whose writes fail after an interruption.
pub struct Interruptible<W> {
    sink: W,
    interruption: Interruption,
}

impl<W> Interruptible<W> {
    /// Wraps a sink.
    pub fn new(sink: W, interruption: Interruption) -> Self {
        Self { sink, interruption }
    }

    /// Returns the sink.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interruption.is_requested() {
            return Err(io::Error::other("interrupted"));
        }
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
