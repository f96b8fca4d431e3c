//! Writes a page, and replaces only pages of this program.
//!
//! An equal page stays, so that its time does not change.

use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    path::Path,
};

use archive::{ConvertError, PublishSet, RunOutputs};
use export_html::is_page;
use storage::{AtomicFile, FILE_MODE, Replace};

/// The number of bytes that show whether a file is a page of this program.
const HEAD: u64 = 1024;

/// A page that is being written and compared with the existing file.
pub(super) struct PageFile {
    file: AtomicFile,
    /// The rest of the existing file, as long as both are equal.
    there: Option<BufReader<File>>,
    is_own: bool,
    buffer: Vec<u8>,
}

impl PageFile {
    /// Creates the page for a path.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(super) fn create(outputs: &RunOutputs, path: &Path) -> io::Result<Self> {
        let is_own = is_own(path);
        let there = File::open(path).ok().filter(|_| is_own).map(BufReader::new);
        let file = outputs.create(path, FILE_MODE)?;
        Ok(Self { file, there, is_own, buffer: Vec::new() })
    }

    /// Publishes the page, unless an equal one exists. Returns whether it is new.
    ///
    /// # Errors
    ///
    /// Returns [`ConvertError::Exists`] if the existing file is not a page of this program, or an
    /// error of the system.
    pub(super) fn publish(
        mut self,
        outputs: &RunOutputs,
        path: &Path,
    ) -> Result<bool, ConvertError> {
        let rest = self.there.take().map(|mut there| there.read(&mut [0]));
        if matches!(rest, Some(Ok(0))) {
            return Ok(false);
        }
        let finished = self.file.finish()?;
        if !self.is_own {
            outputs.publish(vec![finished])?;
            return Ok(true);
        }
        outputs.publish_set(path, PublishSet::new(vec![finished], Replace::Own))?;
        Ok(true)
    }
}

impl Write for PageFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.file.write(bytes)?;
        if let Some(there) = &mut self.there {
            self.buffer.resize(n_written, 0);
            let is_same = there.read_exact(&mut self.buffer).is_ok()
                && bytes.get(..n_written) == Some(self.buffer.as_slice());
            if !is_same {
                self.there = None;
            }
        }
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns whether a path is a regular file, and no link, that starts as our pages do.
fn is_own(path: &Path) -> bool {
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && is_page(&head)
}
