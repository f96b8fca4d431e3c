//! Compares a file in a client's folder with the session that a draft was converted from.
//!
//! In: a session of two turns, and its copy at the client, to which the client has added a third one. Out: the
//! copy, converted back, is longer.

use std::fmt;

use core_model::{Format, Framing};
use sessions::{Converted, Input, SessionFiles};
use storage::Scratch;

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
            Some(from) => self.restored_relation(there, origin, from)?,
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
        let scratch = Scratch::new()?;
        let back = scratch.path().join(DRAFT);
        let mut job = self.for_scratch(&scratch)?;
        job.config.to = from;
        job.config.from = Some(self.config.to);
        let report = match job.convert_file(there, &back, &Extra::default()) {
            Ok(report) => report,
            Err(error) if error.is_of_system() => return Err(error),
            Err(_) => return Ok(None),
        };
        // The records that the client added must be in the restored file, or they are not known to be in the
        // source.
        if report.conversion().is_none_or(|done| done.report.n_left_out > 0) {
            return Ok(None);
        }
        let back = Input::file(back).open_as_it_is()?;
        let source = origin.unit.main.open(self.config.limits)?;
        let related = match from.framing {
            Framing::Lines => relation(source, back),
            // A client that stored and exported a document has spelled it anew.
            Framing::Document(paths) => relation_of_documents(source, back, paths),
        };
        match related.map_err(ConvertError::from) {
            Err(error) if error.is_of_system() => Err(error),
            related => Ok(related.ok()),
        }
    }
}
