//! `--redact`: opens inputs without their secrets.

use std::io;

use conversion::{Redactions, Sidecar};
use sessions::Input;
use storage::Opened;

use crate::job::Job;

impl Job {
    /// Opens an input; with `--redact`, what is read of it has no secrets.
    pub(crate) fn open(&self, input: &Input) -> io::Result<(Opened, Redactions)> {
        self.redacted(input.open(self.config.limits)?)
    }

    /// Takes the secrets out of an input, with `--redact`.
    pub(crate) fn redacted(&self, opened: Opened) -> io::Result<(Opened, Redactions)> {
        self.config.redact.opened(self.config.formats, opened)
    }

    /// Reads the sidecar that stands beside an input; not with `--redact`: it is a carry.
    pub(crate) fn sidecar(&self, input: &Input) -> io::Result<Option<Sidecar>> {
        if self.config.redact.is_wanted { Ok(None) } else { input.sidecar() }
    }
}
