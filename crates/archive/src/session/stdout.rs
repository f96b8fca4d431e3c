//! Converts a session of several files to standard output, with a warning about files that have no
//! place there.

use std::{
    io::{self, Seek, Write},
    path::Path,
};

use conversion::{CarryMode, Sink, Source, Target};
use sessions::{Change, SessionFiles, run_session};
use storage::{Limits, MAX_IN_MEMORY, Opened, unwritten};
use tempfile::SpooledTempFile;

use super::{
    files::Direction,
    restored::{Staged, verify},
};
use crate::{error::ConvertError, file_report::FileReport, job::Job, warning::Warning};

impl Job {
    /// Converts a session to a stream: with all its files if the target has sub-agents among its
    /// messages, otherwise its main file alone.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read or converted, or the stream cannot be written.
    pub fn stream_session(
        &self,
        unit: &SessionFiles,
        stream: &mut dyn Write,
    ) -> Result<FileReport, ConvertError> {
        let stream = &mut Stdout(stream);
        if unit.others.is_empty() {
            return self.stream_file(&unit.main, stream);
        }
        // An error of opening the main file is reported when it is converted alone.
        if let Ok((from, Direction::Convert { .. })) = self.direction_of(unit)
            && unit.format.is_some_and(|format| format.name == from.name)
            && self.is_whole()
        {
            return self.whole_to_stream(unit, from, stream);
        }
        self.warnings.push(Warning::OtherFiles { label: unit.main.label() });
        self.stream_file(&unit.main, stream)
    }

    fn whole_to_stream(
        &self,
        unit: &SessionFiles,
        from: &'static core_model::Format,
        stream: &mut dyn Write,
    ) -> Result<FileReport, ConvertError> {
        let place = unit.place(self.config.limits);
        let tree = unit.tree(from, &place)?;
        let Staged { session, redactions, .. } =
            &self.staged(self.session(&tree, from, &place, true)?.0)?;
        self.check_damage(session, from)?;
        let conversion = self.conversion(from);
        if self.config.verify && self.config.carry != CarryMode::None {
            let mut written = SpooledTempFile::new(MAX_IN_MEMORY);
            let mut sidecar = SpooledTempFile::new(MAX_IN_MEMORY);
            let to =
                Target { sidecar: Some(Sink::Final(&mut sidecar)), ..Target::of(&mut written) };
            let report = run_session(&conversion, session, to)?;
            sidecar.rewind()?;
            let sidecar = (report.bytes_sidecar > 0).then_some(sidecar);
            let mut written = Source::new(Opened::new(written, Limits::NONE)?);
            verify(&conversion, session, &mut written, sidecar)?;
        }
        let mut sink = self.outputs.sink(stream)?;
        let mut unplaced = io::sink();
        let to = Target { sidecar: Some(Sink::Final(&mut unplaced)), ..Target::of(&mut sink) };
        let mut report = run_session(&conversion, session, to)?;
        report.redactions.clone_from(redactions);
        sink.finish()?.flush()?;
        if report.bytes_sidecar > 0 {
            return Err(ConvertError::NothingShows(self.config.to.name));
        }
        report.tell_of(&tree);
        let mut done = self.done(&unit.main, None, from, report);
        done.name_files(session);
        done.is_changing = session.change()? != Change::None;
        Ok(FileReport::converted(done))
    }
}

/// A stream whose errors say that standard output could not be written, and not the source.
struct Stdout<'s>(&'s mut dyn Write);

impl Stdout<'_> {
    fn named(error: io::Error) -> io::Error {
        unwritten(error, Path::new("standard output"))
    }
}

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(Self::named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(Self::named)
    }
}
