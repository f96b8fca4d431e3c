//! Restores a session of several files in steps, through the format that it was converted from
//! last.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use core_model::Format;
use sessions::{Input, Redact, SessionFiles, UnknownFormat};
use storage::Scratch;

use super::{collected, refused_for};
use crate::{
    config::JobConfig,
    error::ConvertError,
    file_report::{FileReport, Results},
    job::Job,
    outputs::RunOutputs,
    report::ConvertedFile,
};

impl Job {
    /// Restores a file that has several, through the format that it was converted from last.
    pub(crate) fn file_stepwise(
        &self,
        input: &Input,
        path: &Path,
        last: &str,
    ) -> Result<FileReport, ConvertError> {
        let last = self.config.formats.by_name(last).ok_or(UnknownFormat::Unknown)?;
        let unit = SessionFiles { main: input.clone(), others: Vec::new(), format: None };
        match self.stepwise(&unit, path, last).into_iter().next() {
            Some((_, result)) => result,
            None => Err(ConvertError::NotAlone),
        }
    }

    /// Restores a session of several files through the format that it was converted from last.
    pub(super) fn stepwise<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        last: &'static Format,
    ) -> Results<'u> {
        let step = || -> Result<(Job, Scratch, PathBuf), ConvertError> {
            let folder = Scratch::new()?;
            let main = folder.path().join(path.file_name().ok_or(ConvertError::NoName)?);
            let outputs = Arc::new(RunOutputs::below(
                folder.path(),
                false,
                self.outputs.write_options.interruption,
            )?);
            let config = JobConfig { to: last, verify: false, ..self.config.clone() };
            let job = Job { config, outputs, ..self.clone() };
            Ok((job, folder, main))
        };
        let (job, _folder, main) = match step() {
            Ok(step) => step,
            Err(refusal) => {
                return collected(|each| self.each_alone(unit, path, Err(refusal), each));
            }
        };
        let mut results = job.convert_session(unit, &main, false);
        if results.iter().any(|(_, result)| result.is_err()) {
            return results;
        }
        let between = match SessionFiles::of_file(self.config.formats, main, &mut |warning| {
            self.warnings.push(warning)
        }) {
            Ok(between) => between,
            Err(error) => return refused_for(unit, error.into()),
        };
        // The files between the steps are ours: their secrets are removed, and their format is
        // known.
        let redact = Redact { is_wanted: false, ..self.config.redact };
        let config = JobConfig { from: Some(last), redact, ..self.config.clone() };
        let job = Job { config, ..self.clone() };
        let second = job.convert_session(&between, path, false);
        if let Some((_, main)) = results.first_mut() {
            for (n, (_, result)) in second.into_iter().enumerate() {
                match (&mut *main, result.map(FileReport::into_conversion)) {
                    (Ok(report), Ok(Some(next))) => {
                        report.change_conversion(|done| done.goes_on(next, n == 0));
                    }
                    (main, Err(refusal)) => *main = Err(refusal),
                    _ => {}
                }
            }
        }
        results
    }
}

impl ConvertedFile {
    /// Adds the report of the second step.
    fn goes_on(&mut self, next: ConvertedFile, is_first: bool) {
        let report = &mut self.report;
        if is_first {
            (self.to, self.output) = (next.to, next.output);
            (report.bytes_out, report.lines_out) = (0, 0);
        }
        report.bytes_out += next.report.bytes_out;
        report.lines_out += next.report.lines_out;
        report.restored.add(&next.report.restored);
        report.losses.absorb(&next.report.losses);
        report.n_left_out += next.report.n_left_out;
        report.image_files.extend(next.report.image_files);
        for missing in next.report.missing {
            if !report.missing.contains(&missing) {
                report.missing.push(missing);
            }
        }
    }
}
