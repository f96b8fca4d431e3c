//! Compares a file in a client's folder with the session that a draft was converted from.
//!
//! In: a session of two turns, and its copy at the client, to which the client has added a third one. Out: the
//! copy, converted back, is longer.

use std::{
    fmt,
    io::{self, Read},
};

use conversion::{Source, conversion_history};
use core_model::{Format, Framing};
use sessions::{Converted, Input, SessionFiles};
use storage::{Opened, Scratch};

use super::{
    DRAFT,
    relation::{Relation, relation, relation_of_documents},
};
use crate::{
    error::{ConvertError, NotInstalled},
    job::{Extra, Job},
};

/// The session that a draft was converted from.
pub(super) struct Origin<'u> {
    pub(super) unit: &'u SessionFiles,
    /// Its format; `None` if the draft is a copy.
    pub(super) from: Option<&'static Format>,
    /// Whether the session was converted from the target's format.
    pub(super) is_home: bool,
}

impl fmt::Debug for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("is_home", &self.is_home).finish_non_exhaustive()
    }
}

impl Job {
    /// Returns how a file in the client's folder is related to the source of a draft, if the file is
    /// converted back to the format of the source.
    pub(super) fn relation_by_restoring(
        &self,
        there: &Input,
        origin: &Origin<'_>,
    ) -> Result<Relation, ConvertError> {
        let copy = Converted::read(self.config.formats, there).unwrap_or(Converted::No);
        let is_copy = copy != Converted::No;
        let restored = match origin.from.filter(|_| is_copy) {
            Some(from) => match self.restored_relation(there, origin, from)? {
                None | Some(Relation::Differ) => self.relation_of_copies(there, origin, from)?,
                related => related,
            },
            None => None,
        };
        match restored {
            Some(related) if related != Relation::Differ => Ok(related),
            _ if is_copy || origin.is_home => Err(NotInstalled::Diverged {
                there: there.label(),
                converted: origin.unit.main.label(),
            }
            .into()),
            _ => Err(NotInstalled::Exists(there.label()).into()),
        }
    }

    /// Converts a file in the client's folder back to the format of the source, and compares both. Returns
    /// `None` if the file does not come back whole.
    ///
    /// # Errors
    ///
    /// Returns an error of the system: whether the file comes back is then unknown.
    fn restored_relation(
        &self,
        there: &Input,
        origin: &Origin<'_>,
        from: &'static Format,
    ) -> Result<Option<Relation>, ConvertError> {
        let Some(back) = self.restored(there, self.config.to, from)? else { return Ok(None) };
        let source = origin.unit.main.open(self.config.limits)?;
        related_in(from, source, back.open()?)
    }

    /// Compares two copies of one session: both are converted back to a format that both come from. Returns `None` if
    /// there is no such format, or if a copy does not come back whole.
    ///
    /// ```text
    /// Claude Code: 1 2 3 -> pi:    1 2 3           the file in the client's folder
    ///              1 2 3 -> Codex: 1 2 3 4 5       the source of the draft; 4 and 5 were added there
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error of the system: whether the copies come back is then unknown.
    fn relation_of_copies(
        &self,
        there: &Input,
        origin: &Origin<'_>,
        from: &'static Format,
    ) -> Result<Option<Relation>, ConvertError> {
        let source = &origin.unit.main;
        let (ours, theirs) =
            (self.formats_before(source, from)?, self.formats_before(there, self.config.to)?);
        let is_theirs = |format: &&&Format| theirs.iter().any(|other| other.name == format.name);
        for format in ours.iter().filter(is_theirs) {
            let source = self.restored(source, from, format)?;
            let there = self.restored(there, self.config.to, format)?;
            let (Some(source), Some(there)) = (source, there) else { continue };
            match related_in(format, source.open()?, there.open()?)? {
                None | Some(Relation::Differ) => {}
                related => return Ok(related),
            }
        }
        Ok(None)
    }

    /// Returns the formats that a file was converted from, the latest first; none if its carries cannot be read.
    ///
    /// # Errors
    ///
    /// Returns an error of the system.
    fn formats_before(
        &self,
        file: &Input,
        format: &'static Format,
    ) -> Result<Vec<&'static Format>, ConvertError> {
        let read = || {
            let mut source = Source::new(file.open(self.config.limits)?);
            let mut sidecar = file.sidecar()?;
            conversion_history(self.config.formats, format, &mut source, sidecar.as_mut())
        };
        match read().map_err(ConvertError::from) {
            Ok(history) => Ok(history.formats),
            Err(error) if error.is_of_system() => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Converts a file back to a format that it comes from; `None` if it does not come back whole.
    ///
    /// # Errors
    ///
    /// Returns an error of the system: whether the file comes back is then unknown.
    fn restored(
        &self,
        file: &Input,
        from: &'static Format,
        to: &'static Format,
    ) -> Result<Option<Restored>, ConvertError> {
        let scratch = Scratch::new()?;
        let back = scratch.path().join(DRAFT);
        let mut job = self.for_scratch(&scratch, &back)?;
        // The restored session is only compared.
        job.config.restore_files = None;
        job.config.to = to;
        job.config.from = Some(from);
        let report = match job.convert_file(file, &back, &Extra::default()) {
            Ok(report) => report,
            Err(error) if error.is_of_system() => return Err(error),
            Err(_) => return Ok(None),
        };
        // The records that a client added must be in the restored file, or they are not known to be in the
        // other one.
        let is_whole = report.conversion().is_some_and(|done| done.report.n_left_out == 0);
        Ok(is_whole.then(|| Restored { _scratch: scratch, file: Input::file(back) }))
    }
}

/// A restored file in a temporary folder.
struct Restored {
    /// Keeps the file.
    _scratch: Scratch,
    file: Input,
}

impl Restored {
    fn open(&self) -> io::Result<Opened> {
        self.file.open_as_it_is()
    }
}

/// Compares a source with an existing file of the same format; `None` if they cannot be compared.
///
/// # Errors
///
/// Returns an error of the system.
fn related_in(
    format: &Format,
    source: impl Read,
    existing: impl Read,
) -> Result<Option<Relation>, ConvertError> {
    let related = match format.framing {
        Framing::Lines => relation(source, existing),
        // A client that stored and exported a document has spelled it anew.
        Framing::Document(paths) => relation_of_documents(source, existing, paths),
    };
    match related.map_err(ConvertError::from) {
        Err(error) if error.is_of_system() => Err(error),
        related => Ok(related.ok()),
    }
}
