//! A session of several files to standard output: what has a place there, and a word about the rest.

use std::io::{self, Seek, Write};

use conversion::{CarryMode, Source, Target};
use sessions::{Change, SessionFiles, run_session};
use storage::{Limits, MAX_IN_MEMORY, Opened};
use tempfile::SpooledTempFile;

use super::{
    files::Way,
    restored::{Staged, verify},
};
use crate::{
    conversions::Outcome,
    job::{ConvertError, Job},
    run::complain,
    terminal::escape::escape_for_terminal,
};

impl Job {
    /// Converts a session to standard output: with all its files, if the target tells of sub-agents
    /// among the others, else its main file alone.
    pub(crate) fn unit_to_stdout(&self, unit: &SessionFiles) -> Result<Outcome, ConvertError> {
        if unit.others.is_empty() {
            return self.to_stdout(&unit.main);
        }
        // Whoever converts the main file alone says why it cannot be opened.
        if let Ok((from, Way::Forth)) = self.way_of(unit)
            && unit.format.is_some_and(|format| format.name == from.name)
            && self.is_whole()
        {
            return self.whole_to_stdout(unit, from);
        }
        let label = escape_for_terminal(&unit.main.label());
        complain(&format!("{label}: the other files of the session are written with -o only"));
        self.to_stdout(&unit.main)
    }

    fn whole_to_stdout(
        &self,
        unit: &SessionFiles,
        from: &'static core_model::Format,
    ) -> Result<Outcome, ConvertError> {
        let place = unit.place(self.limits);
        let bundle = unit.bundle(from, &place)?;
        let Staged { session, redactions, .. } =
            &self.staged(self.session(&bundle, from, &place, true)?)?;
        self.check_damage(session)?;
        let conversion = self.conversion(from);
        if self.verify && self.carry != CarryMode::None {
            let mut written = SpooledTempFile::new(MAX_IN_MEMORY);
            let mut sidecar = SpooledTempFile::new(MAX_IN_MEMORY);
            let to = Target { sidecar: Some(&mut sidecar), ..Target::of(&mut written) };
            let report = run_session(&conversion, session, to)?;
            sidecar.rewind()?;
            let sidecar = (report.bytes_sidecar > 0).then_some(sidecar);
            let mut written = Source::new(Opened::spooled(written, Limits::NONE)?);
            verify(&conversion, session, &mut written, sidecar)?;
        }
        let mut sink = self.outputs.sink()?;
        let mut unplaced = io::sink();
        let to = Target { sidecar: Some(&mut unplaced), ..Target::of(&mut sink) };
        let mut report = run_session(&conversion, session, to)?;
        report.redactions.clone_from(redactions);
        sink.finish()?.flush()?;
        if report.bytes_sidecar > 0 {
            return Err(ConvertError::NothingShows(self.to.name));
        }
        report.tell_of(&bundle);
        let mut done = self.done(&unit.main, None, from, report);
        done.files = session.labels();
        done.is_changing = session.change()? != Change::None;
        Ok(Outcome::Converted(Box::new(done)))
    }
}
