//! A file that is created when its first byte is written.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use storage::{AtomicFile, Finished};

use super::Outputs;

/// A sink whose file is created with the first byte.
pub(crate) struct LazyFile<'o> {
    outputs: &'o Outputs,
    path: PathBuf,
    mode: u32,
    file: Option<AtomicFile>,
}

impl<'o> LazyFile<'o> {
    /// Creates a sink without a file.
    pub(crate) fn new(outputs: &'o Outputs, path: PathBuf, mode: u32) -> Self {
        Self { outputs, path, mode, file: None }
    }

    /// Flushes all bytes to the system; returns `None` if there were none.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(crate) fn finish(self) -> io::Result<Option<Finished>> {
        self.file.map(AtomicFile::finish).transpose()
    }
}

impl Write for LazyFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.outputs.create(&self.path, self.mode)?),
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}
