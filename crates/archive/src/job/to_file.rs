//! Converts an input to a file, or to several that belong together.

use std::{collections::HashMap, fs, io, path::Path};

use conversion::{
    Agents, Carry, CarryMode, ConversionHistory, Manifest, Member, Report, Sidecar, Sink, Source,
    Target,
};
use core_model::{Evidence, Format, Formats, Missing};
use sessions::{Input, RedactedFile, residue_path, sidecar_path};
use storage::{Backend, Compression, Finished, Identity, Limits, Opened, Replace, Snapshot};

use super::{ConvertError, Job, images_beside::missing_images, verify};
use crate::{
    file_report::FileReport,
    journal::{JournalEntry, OutputState, Salt},
    outputs::{
        PublishSet,
        images::{Images, receiver},
        lazy::{LazyFile, SessionFile},
    },
    report::ConvertedFile,
    session::OtherFile,
    status::FileStatus,
    warning::Warning,
};

/// Limit on attempts to read an input that changes.
pub(crate) const MAX_ATTEMPTS: u32 = 3;

impl Job {
    /// Converts an input to a file, unless the output is up to date.
    ///
    /// An input that changes while it is read is read again. If it changes each time, but only
    /// grows, its first bytes are converted.
    pub(crate) fn convert_file(
        &self,
        input: &Input,
        path: &Path,
        extra: &Extra,
    ) -> Result<FileReport, ConvertError> {
        check_target(input, path)?;
        let has_journal = self.outputs.has_journal();
        let sidecar = if has_journal { self.sidecar_hash(input)? } else { None };
        let salt = extra.salt(sidecar);
        if let Some(status) = self.outputs.unread(path, input, salt)? {
            return Ok(FileReport::up_to_date(status));
        }
        for attempt in 1..=MAX_ATTEMPTS {
            let mut opened = input.open(self.config.limits)?;
            if !self.outputs.has_journal() && attempt < MAX_ATTEMPTS {
                opened.skip_hash();
            }
            let replace = match self.outputs.output_state(path, input, &mut opened, salt)? {
                OutputState::UpToDate(status) => return Ok(FileReport::up_to_date(status)),
                OutputState::Open(replace) => replace,
            };
            self.warn_if_shrunk(replace, input, path);
            let RedactedFile { file: opened, redactions } = self.redacted(opened)?;
            let mut source = self.source(opened);
            let prepared = self.prepare(input, path, &mut source, extra, salt);
            let is_changing = is_changing(&mut source)?;
            if is_changing && attempt < MAX_ATTEMPTS {
                continue;
            }
            if let Err(ConvertError::Stepwise(last)) = prepared {
                return self.file_stepwise(input, path, last);
            }
            let Prepared { mut done, files, images, mut records } = prepared?;
            if is_changing && !is_prefix(&mut source)? {
                break;
            }
            done.is_changing = is_changing;
            done.report.redactions.absorb(redactions);
            records.iter_mut().for_each(|record| record.tell(&done));
            self.outputs.publish_from(
                input,
                path,
                PublishSet { files, images, replace, records },
            )?;
            return Ok(FileReport::converted(done));
        }
        Err(ConvertError::Changing)
    }

    /// Warns that a source is smaller than when it was converted, and where its older output is.
    pub(crate) fn warn_if_shrunk(&self, replace: Replace, input: &Input, path: &Path) {
        if replace == Replace::KeepEach {
            let (label, output) = (self.outputs.label_of(input), path.to_owned());
            self.warnings.push(Warning::Shrunk { label, output });
        }
    }

    /// Converts an input to unpublished files.
    fn prepare(
        &self,
        input: &Input,
        path: &Path,
        source: &mut Source<Opened>,
        extra: &Extra,
        salt: Salt,
    ) -> Result<Prepared, ConvertError> {
        let mode = source.reader().mode();
        let from = self.format_of(source).map_err(|error| self.no_session(input, error))?;
        let conversion = self.conversion(from);
        let mut beside = self.sidecar(input)?;
        let history = self.conversion_history(&conversion, source, &mut beside)?;
        if let (true, Some(1..), Some(last)) =
            (history.is_several, history.depth(self.config.to), history.formats.first())
        {
            return Err(ConvertError::Stepwise(last.name));
        }
        let lost_carry = self.lost_carry(input, from, &history, source);
        let n_entries = || n_entries(self.config.formats, source, self.sidecar(input)?);
        let mut others = self.other_files(&history, path, n_entries)?;
        let may_derive = extra.agent.is_none() && self.may_derive(from, &history);
        let mut derived = Agents::default();
        let mut target = SessionFile::create(&self.outputs, path, mode)?;
        let mut residue = LazyFile::new(&self.outputs, residue_path(path), mode);
        let mut sidecar = LazyFile::new(&self.outputs, sidecar_path(path), mode);
        let mut images = Images::new(&self.outputs, path, mode);
        let mut each_image = images.writing();
        // A restored file of a session depends on more than its own source.
        let is_alone = others.is_empty() && (extra.agent.is_none() || extra.manifest.is_some());
        let to = Target {
            manifest: extra.manifest.as_ref(),
            agent: extra.agent.clone(),
            session_start: extra.session_start.clone(),
            others: others.iter_mut().map(OtherFile::target).collect(),
            residue: Some(Sink::Retractable(&mut residue)),
            sidecar: Some(Sink::Retractable(&mut sidecar)),
            derived: may_derive.then_some(&mut derived),
            images: receiver(self.config.to, &mut each_image),
            max_restored: self.config.limits.expanded.unwrap_or_default(),
            ..Target::new(Sink::Retractable(&mut target))
        };
        let mut report = conversion.run_to(source, &history, beside, to)?;
        drop(each_image);
        report.lost_carry = lost_carry;
        report.n_other_sidecars = u64::from(self.has_other_sidecar(input, &history));
        report.agent_alone = self.agent_alone(input, &history, extra);
        report.redactions.n_sidecars = self.n_sidecars_redacted(input, from)?;
        if from.name == self.config.to.name {
            self.copy_sidecar(input, &mut sidecar, &mut report)?;
        }
        let target = target.finish()?;
        let sidecar = sidecar.finish()?;
        if self.config.verify && self.config.carry != CarryMode::None && is_alone {
            let mut written =
                Source::new(Opened::new(Snapshot::new(target.reread()?)?, Limits::NONE)?);
            let sidecar = sidecar.as_ref().map(Finished::reread).transpose()?;
            verify(&conversion, &history, source, &mut written, sidecar)?;
        }
        let mut files: Vec<Finished> = residue.finish()?.into_iter().chain(sidecar).collect();
        let others = OtherFile::finish_all(others)?;
        files.extend(others.files);
        report.n_unplaced += others.n_unplaced;
        report.missing.extend(missing_agents(&history, self.config.to, extra));
        report.files_beside = others.names;
        // A file between two restorations has no images beside it.
        if let Some(document) = input.path().filter(|_| from.has_image_files)
            && !history.formats.is_empty()
            && self.outputs.restored_from(input).is_none()
        {
            report.images_missing = missing_images(source, from, document)?;
        }
        // The images of a restored document stayed in its folder.
        if self.config.to.has_image_files && history.depth(self.config.to).is_some() {
            let mut written =
                Source::new(Opened::new(Snapshot::new(target.reread()?)?, Limits::NONE)?);
            report.images_absent = missing_images(&mut written, self.config.to, path)?;
        }
        if !derived.is_empty() {
            let written = source.with_events(from, |events| {
                Ok(self.write_derived(
                    events,
                    from,
                    derived,
                    (path, mode),
                    &mut images,
                    &mut report,
                ))
            });
            files.extend(written??);
        }
        files.push(target);
        let (images, image_paths) = images.finish();
        report.images_absent.retain(|absent| !image_paths.contains(absent));
        report.image_files = image_paths;
        let records = self.outputs.records(input, source.reader(), (&files, &images), salt)?;
        let output = Some(path.display().to_string());
        let done = self.done(input, output, from, report);
        Ok(Prepared { done, files, images, records })
    }

    /// Copies the sidecar of a source that was copied, so that the copy has the same carry. With `--redact` it is only
    /// counted, because a carry may hold secrets.
    fn copy_sidecar(
        &self,
        input: &Input,
        sink: &mut impl io::Write,
        report: &mut Report,
    ) -> io::Result<()> {
        let Some((mut file, _)) = self.sidecar_file(input)? else { return Ok(()) };
        if self.config.redact.is_wanted {
            report.n_sidecars_unread += 1;
        } else {
            report.bytes_sidecar = io::copy(&mut file, sink)?;
        }
        Ok(())
    }

    /// Copies a file that belongs to a session, unless the copy is there and up to date.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or the copy cannot be written, or if another file has its name.
    pub fn copy(&self, input: &Input, path: &Path) -> Result<FileReport, ConvertError> {
        check_target(input, path)?;
        if let Some(status) = self.outputs.unread(path, input, Salt::default())? {
            return Ok(FileReport::up_to_date(status));
        }
        // The copy is decompressed if its name has no ending of compression.
        let was_packed = input.path().is_some_and(Compression::is_in_name);
        let is_expanded =
            self.config.redact.is_wanted || was_packed && !Compression::is_in_name(path);
        let mut opened = match is_expanded {
            true => input.open(self.config.limits)?,
            false => input.open_as_it_is()?,
        };
        let replace = match self.outputs.output_state(path, input, &mut opened, Salt::default())? {
            OutputState::UpToDate(status) => return Ok(FileReport::up_to_date(status)),
            OutputState::Open(replace) => replace,
        };
        self.warn_if_shrunk(replace, input, path);
        let mut target = self.outputs.create(path, opened.mode())?;
        let opened = self.redacted(opened)?.file;
        let mut source = Source::new(opened);
        source.copy_to(&mut target)?;
        if is_changing(&mut source)? && !is_prefix(&mut source)? {
            return Err(ConvertError::Changing);
        }
        let files = vec![target.finish()?];
        let records =
            self.outputs.records(input, source.reader(), (&files, &[]), Salt::default())?;
        let set = PublishSet { records, ..PublishSet::new(files, replace) };
        self.outputs.publish_from(input, path, set)?;
        Ok(FileReport::new(FileStatus::Copied))
    }
}

/// The role of a file in a session of several files.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// The manifest for the first carry.
    pub manifest: Option<Manifest>,
    /// The id of the sub-agent, if the file is a sub-agent's transcript.
    pub agent: Option<String>,
    /// The time at which the session of the sub-agent starts, a JSON value, if it is known.
    pub session_start: Option<String>,
    /// The ids of the sub-agents whose files are restored beside this main file, sorted.
    pub agents_beside: Vec<String>,
    /// The ids of the sub-agents whose files beside this main file were derived from it, sorted.
    pub derived_beside: Vec<String>,
}

impl Extra {
    /// Returns a hash of the role of a file, and of the hash of its sidecar, on which its outputs depend.
    fn salt(&self, sidecar: Option<u64>) -> Salt {
        let salt = Salt::of_file(self.manifest.as_ref(), self.agent.as_deref());
        let beside: Vec<_> = [&self.agents_beside[..], &self.derived_beside].concat();
        salt.with_agents(&beside).with_sidecar(sidecar)
    }
}

/// A conversion with unpublished files.
struct Prepared {
    done: ConvertedFile,
    files: Vec<Finished>,
    images: Vec<Finished>,
    records: Vec<JournalEntry>,
}

/// Lists the sub-agents in the carries of a restored session that have no file beside it.
fn missing_agents(history: &ConversionHistory, to: &Format, extra: &Extra) -> Vec<Missing> {
    let count = |ids: &'_ [String]| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        ids.iter().for_each(|id| *counts.entry(id.clone()).or_default() += 1);
        counts
    };
    let (mut n_beside, mut n_derived) = (count(&extra.agents_beside), count(&extra.derived_beside));
    let (derived, carried) = (history.derived(to), history.agents(to));
    // A derived file may have been converted again, so that later carries list it as a file of its own.
    let of_derived = derived.iter().map(|id| (*id, Evidence::CarryWithMessages));
    let of_carried = carried.iter().filter(|id| !derived.contains(id));
    let mut missing = Vec::new();
    let take = |id: &str, counts: &mut HashMap<String, usize>| match counts.get_mut(id) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    };
    for (id, evidence) in of_derived.chain(of_carried.map(|id| (*id, Evidence::Carry))) {
        // A derived file has no entries, and is not the file of a sub-agent that was a file in the source.
        let is_derived = evidence == Evidence::CarryWithMessages;
        if !(take(id, &mut n_beside) || is_derived && take(id, &mut n_derived)) {
            missing.push(Missing { id: id.to_owned(), tool_use: String::new(), evidence });
        }
    }
    missing
}

/// Counts the entries in the carries of a source and its sidecar.
fn n_entries(
    formats: Formats,
    source: &mut Source<Opened>,
    sidecar: Option<Sidecar>,
) -> Result<u64, ConvertError> {
    let mut n = 0;
    let count = |carry: &str| Carry::parse(carry).map_or(0, |carry| carry.entries().count() as u64);
    source.for_each_piece(&formats, &mut |_, value| {
        let member = value.ok().and_then(|value| Member::find_any(value, formats));
        n += member.map_or(0, |member| count(&member.carry));
        true
    })?;
    if let Some(mut sidecar) = sidecar {
        while let Some(carry) = sidecar.next_left()? {
            n += count(&carry);
        }
    }
    Ok(n)
}

/// Returns whether a source has changed since it was opened.
pub(super) fn is_changing(source: &mut Source<Opened>) -> io::Result<bool> {
    let snapshot = source.reader().snapshot();
    Ok(!snapshot.map_or(Ok(true), |snapshot| snapshot.is_unchanged())?)
}

/// Returns whether the bytes that were read are still the start of the source.
fn is_prefix(source: &mut Source<Opened>) -> io::Result<bool> {
    source.reader().snapshot().map_or(Ok(true), |snapshot| snapshot.is_prefix())
}

/// Checks that an output is not its own source.
///
/// # Errors
///
/// Returns [`ConvertError::IsSource`] if both paths lead to one file.
pub fn check_target(input: &Input, path: &Path) -> Result<(), ConvertError> {
    match input {
        Input::File { path: source, storage, .. } if is_same_file(storage, source, path) => {
            Err(ConvertError::IsSource)
        }
        _ => Ok(()),
    }
}

fn is_same_file(storage: &Backend, one: &Path, other: &Path) -> bool {
    if !storage.is_disk() {
        return one == other;
    }
    let place = |path: &Path| Identity::of_path(path).ok();
    // The output rarely exists, so paths are compared last. Replacing a hard link of the source
    // leaves the source, so that is allowed.
    let canonical = |path: &Path| fs::canonicalize(path).ok();
    let is_alike = place(other).is_some_and(|other| place(one) == Some(other));
    is_alike && canonical(one).is_some_and(|one| canonical(other) == Some(one))
}
