//! `--redact`: opens inputs without their secrets.

use std::io::{self, Seek};

use conversion::{Redactions, Sidecar, redact_with};
use secrets::Search;
use sessions::{Bytes, Input};
use storage::{MAX_IN_MEMORY, Opened};
use tempfile::SpooledTempFile;

use crate::{FORMATS, cli::RedactArgs, job::Job};

impl RedactArgs {
    /// Returns a search for the secrets that are taken out, with `--redact`.
    pub(crate) fn search(self) -> Option<Search> {
        let search = if self.test_keys { Search::with_test_keys } else { Search::new };
        self.redact.then(search)
    }

    /// Takes the secrets out of an input.
    pub(crate) fn opened(self, mut opened: Opened) -> io::Result<(Opened, Redactions)> {
        let Some(search) = self.search() else { return Ok((opened, Redactions::default())) };
        let mut redacted = SpooledTempFile::new(MAX_IN_MEMORY);
        let redactions = redact_with(search, FORMATS, &mut opened, &mut redacted)?;
        redacted.rewind()?;
        Ok((opened.read_as(redacted), redactions))
    }

    /// Takes the secrets out of a file beside a session.
    pub(crate) fn bytes(
        self,
        mut file: Box<dyn Bytes>,
    ) -> io::Result<(Box<dyn Bytes>, Redactions)> {
        let Some(search) = self.search() else { return Ok((file, Redactions::default())) };
        let mut redacted = SpooledTempFile::new(MAX_IN_MEMORY);
        let redactions = redact_with(search, FORMATS, &mut file, &mut redacted)?;
        redacted.rewind()?;
        Ok((Box::new(redacted), redactions))
    }
}

impl Job {
    /// Opens an input; with `--redact`, what is read of it has no secrets.
    pub(crate) fn open(&self, input: &Input) -> io::Result<(Opened, Redactions)> {
        self.redacted(input.open_within(self.limits)?)
    }

    /// Takes the secrets out of an input, with `--redact`.
    pub(crate) fn redacted(&self, opened: Opened) -> io::Result<(Opened, Redactions)> {
        self.redact_args().opened(opened)
    }

    /// Returns which secrets are taken out.
    pub(crate) fn redact_args(&self) -> RedactArgs {
        RedactArgs { redact: self.redacts, test_keys: self.test_keys }
    }

    /// Reads the sidecar that stands beside an input; not with `--redact`: it is a carry.
    pub(crate) fn sidecar(&self, input: &Input) -> io::Result<Option<Sidecar>> {
        if self.redacts { Ok(None) } else { input.sidecar() }
    }
}
