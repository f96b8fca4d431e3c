//! Removes secrets from inputs before they are read.

use std::io::{self, Read, Seek};

use conversion::{Redactions, redact_with};
use core_model::Formats;
use secrets::Search;
use storage::Opened;
use tempfile::SpooledTempFile;

use crate::session::Bytes;

/// Limit in bytes on a copy without secrets in memory. A conversion needs the memory beside it.
const MAX_REDACTED: usize = 1024 * 1024;

/// The secrets to remove; by default none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Redact {
    /// Whether keys, tokens and passwords are removed.
    pub is_wanted: bool,
    /// Whether keys of test environments are removed too.
    pub test_keys: bool,
}

/// A file without secrets.
#[derive(Debug)]
pub struct RedactedFile<F> {
    /// The file.
    pub file: F,
    /// The secrets that were removed.
    pub redactions: Redactions,
}

impl<F> RedactedFile<F> {
    /// Returns a file from which nothing is removed.
    fn unchanged(file: F) -> Self {
        Self { file, redactions: Redactions::default() }
    }
}

impl Redact {
    /// Returns a search for these secrets; `None` if none are removed.
    pub fn search(self) -> Option<Search> {
        let search = if self.test_keys { Search::with_test_keys } else { Search::new };
        self.is_wanted.then(search)
    }

    /// Returns a copy of an input without secrets. Reads the input from its start, wherever it was read to.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read, or its copy cannot be written.
    pub fn opened(self, formats: Formats, mut opened: Opened) -> io::Result<RedactedFile<Opened>> {
        let Some(search) = self.search() else { return Ok(RedactedFile::unchanged(opened)) };
        opened.rewind()?;
        let mut redacted = SpooledTempFile::new(MAX_REDACTED);
        let redactions = redact_with(search, formats, &mut opened, &mut redacted)?;
        redacted.rewind()?;
        Ok(RedactedFile { file: opened.read_as(redacted), redactions })
    }

    /// Returns the bytes of a file beside a session without secrets.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or its copy cannot be written.
    pub fn bytes(
        self,
        formats: Formats,
        mut file: Box<dyn Bytes>,
    ) -> io::Result<RedactedFile<Box<dyn Bytes>>> {
        let Some(search) = self.search() else { return Ok(RedactedFile::unchanged(file)) };
        let mut redacted = SpooledTempFile::new(MAX_REDACTED);
        let redactions = redact_with(search, formats, &mut file, &mut redacted)?;
        redacted.rewind()?;
        Ok(RedactedFile { file: Box::new(redacted), redactions })
    }

    /// Returns a text without secrets.
    ///
    /// # Errors
    ///
    /// Returns an error if the text cannot be read.
    pub fn text(self, formats: Formats, text: String) -> io::Result<String> {
        let mut bytes = self.bytes(formats, Box::new(io::Cursor::new(text.into_bytes())))?.file;
        let mut text = String::new();
        bytes.read_to_string(&mut text)?;
        Ok(text)
    }
}
