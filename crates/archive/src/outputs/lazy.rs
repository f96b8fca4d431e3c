//! A file that is created when its first byte is written, and a file that is written anew.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use conversion::Retract;
use storage::{AtomicFile, Finished};

use super::RunOutputs;

/// A sink whose file is created with the first byte.
pub(crate) struct LazyFile<'o> {
    outputs: &'o RunOutputs,
    path: PathBuf,
    mode: u32,
    file: Option<AtomicFile>,
}

impl<'o> LazyFile<'o> {
    /// Creates a sink without a file.
    pub(crate) fn new(outputs: &'o RunOutputs, path: PathBuf, mode: u32) -> Self {
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

impl Retract for LazyFile<'_> {
    fn retract(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }
}

/// The file of a session, with the compression of the run.
pub(crate) struct SessionFile<'o> {
    outputs: &'o RunOutputs,
    path: PathBuf,
    mode: u32,
    file: AtomicFile,
}

impl<'o> SessionFile<'o> {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(crate) fn create(outputs: &'o RunOutputs, path: &Path, mode: u32) -> io::Result<Self> {
        let compression = outputs.write_options.compression;
        let file = outputs.create_packed(path, mode, compression)?;
        Ok(Self { outputs, path: path.to_owned(), mode, file })
    }

    /// Flushes all bytes to the system.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(crate) fn finish(self) -> io::Result<Finished> {
        self.file.finish()
    }
}

impl Write for SessionFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Retract for SessionFile<'_> {
    fn retract(&mut self) -> io::Result<()> {
        *self = Self::create(self.outputs, &self.path, self.mode)?;
        Ok(())
    }
}
