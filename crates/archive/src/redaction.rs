//! Opens inputs, with `--redact` without their secrets.

use std::io;

use conversion::Sidecar;
use core_model::Format;
use sessions::{Input, RedactedFile};
use storage::{Bytes, Opened};

use crate::{job::Job, journal::hash_of};

impl Job {
    /// Opens an input; with `--redact`, without its secrets.
    pub(crate) fn open(&self, input: &Input) -> io::Result<RedactedFile<Opened>> {
        self.redacted(input.open(self.config.limits)?)
    }

    /// Removes the secrets of an input, with `--redact`.
    pub(crate) fn redacted(&self, opened: Opened) -> io::Result<RedactedFile<Opened>> {
        self.config.redact.opened(self.config.formats, opened)
    }

    /// Returns the number of sidecars that a conversion from a format leaves out, because a carry may hold secrets. A
    /// copy counts its sidecar itself.
    pub(crate) fn n_sidecars_redacted(&self, input: &Input, from: &Format) -> io::Result<u64> {
        let is_converted = from.name != self.config.to.name;
        let is_left_out =
            self.config.redact.is_wanted && is_converted && self.sidecar_file(input)?.is_some();
        Ok(u64::from(is_left_out))
    }

    /// Opens the sidecar of an input to read its bytes as they are; `None` if it has none, and with `--ignore-carry` if
    /// the path of its sidecar has no file.
    pub(crate) fn sidecar_file(&self, input: &Input) -> io::Result<Option<(Box<dyn Bytes>, u64)>> {
        input.sidecar_file().or_else(|error| {
            let is_ignored =
                self.config.ignores_carry && error.kind() == io::ErrorKind::InvalidInput;
            if is_ignored { Ok(None) } else { Err(error) }
        })
    }

    /// Returns the hash of the sidecar of an input; `None` if it has none. A file that does not begin as a sidecar is an error,
    /// as for [`Job::sidecar`], before its bytes are read: it may be a sparse file of any size.
    pub(crate) fn sidecar_hash(&self, input: &Input) -> io::Result<Option<u64>> {
        let Some((sidecar, length)) = self.sidecar_file(input)? else { return Ok(None) };
        self.sidecar(input)?;
        hash_of(sidecar, length).map(Some)
    }

    /// Opens the sidecar of an input; `None` with `--redact`, because a carry may hold secrets, and with
    /// `--ignore-carry`, so that a damaged sidecar stops no conversion.
    pub(crate) fn sidecar(&self, input: &Input) -> io::Result<Option<Sidecar>> {
        let is_left_out = self.config.redact.is_wanted || self.config.ignores_carry;
        if is_left_out { Ok(None) } else { input.sidecar() }
    }
}
