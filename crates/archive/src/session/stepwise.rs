//! Restores a session of several files in steps, through the format that it was converted from
//! last.

use std::{
    collections::HashMap,
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::CarryMode;
use core_model::{Evidence, FileRole, Format, Missing};
use sessions::{Companion, Input, Redact, SessionFiles, UnknownFormat};
use storage::Scratch;

use super::{all_refused, names::beside, paths::name_of, refused_for};
use crate::{
    config::JobConfig,
    error::ConvertError,
    file_report::{FileReport, Results},
    job::{Job, check_target},
    journal::Salt,
    outputs::restored::{HashedSource, RestoredFrom},
    report::ConvertedFile,
    status::FileStatus,
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
        match self.stepwise(&unit, path, last, self.config.carry).into_iter().next() {
            Some((_, result)) => result,
            None => Err(ConvertError::NotAlone),
        }
    }

    /// Restores or converts a session of several files through the format that it was converted from last. `carry` is the
    /// place of the carries of records that were added, in the files between the steps.
    pub(super) fn stepwise<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        last: &'static Format,
        carry: CarryMode,
    ) -> Results<'u> {
        let (job, folder, main) = match self.first_step(unit, path, last, carry) {
            Ok(step) => step,
            // Without their main file, the sub-agents would be taken for sessions.
            Err(refusal) => return refused_for(unit, refusal),
        };
        // A source that changes after this differs from what the journal says.
        let sources = match self.sources_of(unit) {
            Ok(sources) => sources,
            Err(refusal) => return refused_for(unit, refusal),
        };
        let mut results = job.convert_session(unit, &main, false);
        if results.iter().any(|(_, result)| result.is_err()) {
            return all_refused(unit, results);
        }
        let between = SessionFiles::of_file(self.config.formats, main.clone(), &mut |warning| {
            self.warnings.push(warning);
        });
        let between = match between {
            Ok(between) => between,
            Err(error) => return refused_for(unit, error.into()),
        };
        let places = places_of(unit, &main, &results);
        self.outputs.add_restored(restored_from(&between, &places, &sources, path));
        // The files between the steps are ours: their secrets are removed, and their format is
        // known.
        let redact = Redact { is_wanted: false, ..self.config.redact };
        let config = JobConfig { from: Some(last), redact, ..self.config.clone() };
        let job = Job { config, ..self.clone() };
        let mut inside = Vec::new();
        for (input, second) in job.convert_session(&between, path, false) {
            let file_idx = places.get(&input.label()).copied();
            if let Some((source, result)) = results.get_mut(file_idx.unwrap_or(0)) {
                let first = mem::replace(result, Err(ConvertError::NotAlone));
                *result = first.and_then(|first| match file_idx {
                    Some(_) => {
                        let second = second?;
                        if second.status.is_in_session() {
                            inside.extend(first.into_conversion());
                            return Ok(second);
                        }
                        Ok(both_steps(source, first, second))
                    }
                    None => Ok(with_further(first, second?)),
                });
            }
        }
        self.outputs.remove_restored(folder.path());
        if let Some((_, Ok(main))) = results.first_mut() {
            inside.into_iter().for_each(|agent| add_inside(main, agent));
        }
        results
    }

    /// Returns the job that restores a session to a new temporary folder, the folder, and the path of the main
    /// file there.
    fn first_step(
        &self,
        unit: &SessionFiles,
        path: &Path,
        last: &'static Format,
        carry: CarryMode,
    ) -> Result<(Job, Scratch, PathBuf), ConvertError> {
        check_target(&unit.main, path)?;
        let folder = Scratch::new()?;
        let main = folder.path().join(path.file_name().ok_or(ConvertError::NoName)?);
        let outputs = Arc::new(self.outputs.in_scratch(&folder, &main, path)?);
        let config = JobConfig { to: last, carry, verify: false, ..self.config.clone() };
        Ok((Job { config, outputs, ..self.clone() }, folder, main))
    }

    /// Returns the source of each file of a session, with a hash of all of them and their sidecars: each
    /// output depends on all.
    fn sources_of(&self, unit: &SessionFiles) -> Result<Vec<RestoredFrom>, ConvertError> {
        let (mut sources, mut contents) = (Vec::new(), Vec::new());
        for input in unit.files() {
            // The second step may have two steps itself.
            if let Some(from) = self.outputs.restored_from(input) {
                sources.push(from);
                continue;
            }
            let mut source = None;
            if self.outputs.has_journal() && input.absolute()?.is_some() {
                source = HashedSource::of(input, &mut input.open_as_it_is()?)?;
                let name = input.path().zip(unit.main.path());
                let name = name.and_then(|(path, main)| name_of(path, main)).unwrap_or_default();
                contents.extend(source.as_ref().map(|source| (name.clone(), source.hash)));
                if let Some(hash) = self.sidecar_hash(input)? {
                    contents.push((name, hash));
                }
            }
            sources.push(RestoredFrom {
                label: input.label(),
                source,
                salt: Salt::default(),
                reported_as: None,
                shares_source: false,
            });
        }
        if !contents.is_empty() {
            let salt = Salt::of_contents(contents.iter().map(|(name, hash)| (&**name, *hash)));
            sources.iter_mut().for_each(|source| source.salt = salt);
        }
        Ok(sources)
    }
}

/// Returns the index of each file of a session, by the label of the file that it was restored to.
fn places_of(unit: &SessionFiles, main: &Path, results: &Results<'_>) -> HashMap<String, usize> {
    let mut places = HashMap::from([(main.display().to_string(), 0)]);
    for (file_idx, (input, result)) in results.iter().enumerate().skip(1) {
        let done = result.as_ref().ok().and_then(FileReport::conversion);
        let converted = done.and_then(|done| done.output.clone());
        let copied = || beside(unit, input, main).map(|path| path.display().to_string());
        if let Some(place) = converted.or_else(copied) {
            places.insert(place, file_idx);
        }
    }
    places
}

/// Returns the source of each restored file. A file that is in no place comes from the main file.
fn restored_from(
    restored: &SessionFiles,
    places: &HashMap<String, usize>,
    sources: &[RestoredFrom],
    path: &Path,
) -> Vec<(PathBuf, RestoredFrom)> {
    let is_further = |it: &Companion| {
        matches!(it.role, FileRole::Agent(_)) && !places.contains_key(&it.input.label())
    };
    let shares_source = restored.others.iter().any(is_further);
    let from = |input: &Input| {
        let file_idx = places.get(&input.label()).copied();
        let mut from = sources.get(file_idx.unwrap_or(0))?.clone();
        if file_idx.is_none() {
            from.reported_as.get_or_insert_with(|| path.to_owned());
        }
        from.shares_source |= shares_source && matches!(file_idx, None | Some(0));
        Some((input.path()?.to_owned(), from))
    };
    restored.files().filter_map(from).collect()
}

/// Returns the report on a file after both steps.
fn both_steps(source: &Input, mut first: FileReport, second: FileReport) -> FileReport {
    let status = first.status;
    if second.is_up_to_date {
        // What the first step found is not in the journal.
        return match status {
            FileStatus::DoneWithDamage => FileReport::up_to_date(status),
            FileStatus::DoneWithLoss if second.status == FileStatus::Done => {
                FileReport::up_to_date(status)
            }
            _ => second,
        };
    }
    if first.conversion().is_none() || second.conversion().is_none() {
        let mut report = second;
        report.change_conversion(|done| done.label = source.label());
        return report;
    }
    if let Some(next) = second.into_conversion() {
        first.change_conversion(|done| done.goes_on(next, true));
    }
    first
}

/// Adds the report on the first step of a file that is in the output of the main file.
fn add_inside(main: &mut FileReport, mut agent: ConvertedFile) {
    (agent.report.bytes_out, agent.report.lines_out) = (0, 0);
    if main.is_up_to_date && agent.status() == FileStatus::DoneWithDamage {
        // What the first step found is not in the journal.
        *main = FileReport::up_to_date(agent.status());
    }
    main.change_conversion(|done| done.goes_on(agent, false));
}

/// Adds the report on a further file of the second step, which was restored from the main file's source.
fn with_further(mut main: FileReport, further: FileReport) -> FileReport {
    if let Some(next) = further.into_conversion() {
        main.change_conversion(|done| done.goes_on(next, false));
    }
    main
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
        report.n_hidden += next.report.n_hidden;
        report.n_sidecars_unread += next.report.n_sidecars_unread;
        report.image_files.extend(next.report.image_files);
        report.images_missing.extend(next.report.images_missing);
        // A document between two steps is in a temporary folder.
        report.images_absent = next.report.images_absent;
        for missing in next.report.missing {
            // The first step does not know that the source has the messages.
            let is_same = |known: &Missing| known.id == missing.id && known.evidence.is_carry();
            if missing.evidence == Evidence::CarryWithMessages {
                report.missing.retain(|known| !is_same(known));
            }
            if !report.missing.contains(&missing) {
                report.missing.push(missing);
            }
        }
    }
}
