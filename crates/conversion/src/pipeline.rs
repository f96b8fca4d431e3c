//! Runs one conversion: detects the format, surveys the source, then writes the target.
//!
//! In: a [`Source`] and its sidecar. Out: the bytes of the target, its sidecar, and a [`Report`]. A
//! writer needs facts (title, model, sub-agents) before its first line. If a format's row says that
//! its files are linear, the facts of the first window are taken as the facts of the file, and the
//! file is read a second time only if that was wrong. Other files are read twice.
//!
//! ```text
//! source  one pass                  survey and convert one window after the other
//!
//! source  survey (first pass)       facts, plan, template
//! source  second pass               convert, restore or carry each record
//!         engine > writer           lines of the target
//!         engine > encoder          carries of these lines
//! ```

pub(crate) mod agents;
mod assembler;
mod copy;
pub(crate) mod damage;
mod deferred;
pub(crate) mod derived;
pub(crate) mod engine;
pub(crate) mod history;
mod one_pass;
mod parallel;
mod planners;
pub(crate) mod recovery;
pub(crate) mod report;
pub(crate) mod root;
mod second_pass;
mod sidechains;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod survey;
mod target;
mod units;

use std::io::{self, Read, Seek, Write};

use core_model::{Format, Formats, Options};

use crate::{
    carry::{
        CarriesOfOthers, MEMBER, Manifest, ManifestEntry, ManifestEntryKind, UnusedCarries,
        sidecar::Sidecar,
    },
    detect::{Ballot, Detected, MAX_HEAD},
    pipeline::{
        agents::Agents,
        copy::copy,
        damage::first_damage,
        engine::{CarryMode, EachImage, Engine},
        history::{ConversionHistory, conversion_history},
        one_pass::{Extras, OnePass, Sinks},
        report::Report,
        second_pass::{AgentEngines, AgentFile, OtherSink, SecondPass},
        sidechains::Attributed,
        sink::Sink,
        source::Source,
        survey::{Events, survey},
    },
};

/// The sinks of one conversion.
pub struct Target<'w> {
    /// The sink of the main file.
    pub sink: Sink<'w>,
    /// The sink of the sidecar. If `None`, no sidecar is written.
    pub sidecar: Option<Sink<'w>>,
    /// The manifest that the first carry gets, for a session of several files.
    pub manifest: Option<&'w Manifest>,
    /// The id of the sub-agent, if the source is a sub-agent's transcript.
    pub agent: Option<String>,
    /// The time at which the session of the sub-agent starts, a JSON value, if it is known.
    pub session_start: Option<String>,
    /// The files that are restored beside the main file.
    pub others: Vec<OtherTarget<'w>>,
    /// The sink of unreadable bytes that no carry keeps. Each piece is followed by a newline.
    pub residue: Option<Sink<'w>>,
    /// Receives the sub-agents that the target does not show, so that the caller can write each to
    /// a file of its own. If `None`, there are no such files.
    pub derived: Option<&'w mut Agents>,
    /// Receives the images of a target that has them in files ([`Format::has_image_files`]). If `None`,
    /// the writer puts a text such as `[image image/png, 300 bytes]` in place of each image.
    pub images: Option<EachImage<'w>>,
    /// The bytes that may be restored, if they are more than 1 MiB and 16 times the source. `--max-expanded`
    /// of the program; 0 leaves the limit at that.
    pub max_restored: u64,
}

impl<'w> Target<'w> {
    /// Creates the target of a session of one file, without a sidecar. The sink need not take bytes
    /// back.
    pub fn of(sink: &'w mut dyn Write) -> Self {
        Self::new(Sink::Final(sink))
    }

    /// Creates the target of a session of one file, without a sidecar.
    pub fn new(sink: Sink<'w>) -> Self {
        let (sidecar, manifest, agent, session_start) = Default::default();
        let (others, residue, max_restored) = Default::default();
        let (derived, images) = (None, None);
        Self {
            sink,
            sidecar,
            manifest,
            agent,
            session_start,
            others,
            residue,
            derived,
            images,
            max_restored,
        }
    }
}

/// A file that is restored beside the main file.
pub struct OtherTarget<'w> {
    /// The file's entry in the manifest.
    pub entry: ManifestEntry,
    /// The id of the sub-agent, if the file is a sub-agent's transcript.
    pub agent: Option<String>,
    /// `None` drops the file.
    pub sink: Option<&'w mut dyn Write>,
}

/// The sidecar of a source, in its role. There is at most one.
#[derive(Default)]
struct Sidecars {
    /// The sidecar from which the source of the source is restored, or whose carries go on.
    restored: Option<Sidecar>,
    /// The sidecar of records that were added to records with carries of their own. Its carries go on.
    added: Option<Sidecar>,
}

/// The formats and options of a conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The formats that a source may have been converted from.
    pub formats: Formats,
    /// The format of the source.
    pub from: &'static Format,
    /// The format of the target.
    pub to: &'static Format,
    /// The place of the carry.
    pub carry: CarryMode,
    /// The options of readers and writers.
    pub options: Options,
}

/// Detects the format of a source from its first lines.
///
/// # Errors
///
/// Returns an error if the source cannot be read.
pub fn detect<R: Read + Seek + Send>(
    formats: Formats,
    source: &mut Source<R>,
) -> io::Result<Detected> {
    let mut ballot = Ballot::thrifty(formats);
    if let Some(n_lines) = source.n_lines()? {
        ballot.set_n_lines(n_lines);
    }
    source.for_each_piece(&formats, &mut |line, value| ballot.push(line, value.ok()))?;
    if !ballot.is_certain() {
        ballot = ballot.exact();
        source.for_each_piece(&formats, &mut |line, value| ballot.push(line, value.ok()))?;
    }
    if ballot.needs_head() {
        ballot.push_head(source.head(MAX_HEAD)?);
    }
    Ok(ballot.result())
}

/// A converted source, in memory.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The target.
    pub bytes: Vec<u8>,
    /// The sidecar of the target; `None` if it has none.
    pub sidecar: Option<Vec<u8>>,
    /// The counts of the conversion.
    pub report: Report,
}

/// The result of [`Conversion::run`], whose target is in a sink.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The counts of the conversion.
    pub report: Report,
    /// The sidecar of the target; `None` if it has none.
    pub sidecar: Option<Vec<u8>>,
}

impl Conversion {
    /// Converts a source to `sink`. Returns the report and the new sidecar.
    ///
    /// `sidecar` is the sidecar of the source.
    ///
    /// If both formats are the same, the source is copied byte for byte: the report has only the
    /// bytes and lines, and there is no sidecar.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, if the target cannot be written, or, with
    /// [`Options::is_strict`], if a line is damaged. In the last case, the error has the kind
    /// [`InvalidData`](io::ErrorKind::InvalidData) and contains the first [`Damage`], and nothing is
    /// written. Otherwise damaged lines are counted in the report, unless both formats are the same.
    ///
    /// [`Damage`]: crate::Damage
    pub fn run<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        sidecar: Option<Sidecar>,
        sink: &mut dyn Write,
    ) -> io::Result<RunResult> {
        let (mut sidecar, mut written) = (sidecar, Vec::new());
        let history = self.conversion_history(source, sidecar.as_mut())?;
        let target = Target { sidecar: Some(Sink::Final(&mut written)), ..Target::of(sink) };
        let report = self.run_to(source, &history, sidecar, target)?;
        let has_sidecar = report.bytes_sidecar > 0;
        Ok(RunResult { report, sidecar: has_sidecar.then_some(written) })
    }

    /// Reads from the first carries which formats a source was converted from. The history is empty
    /// if the source and the target have the same format.
    ///
    /// # Errors
    ///
    /// Returns an error if the source or the sidecar cannot be read.
    pub fn conversion_history<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        sidecar: Option<&mut Sidecar>,
    ) -> io::Result<ConversionHistory> {
        if self.from.name == self.to.name {
            return Ok(ConversionHistory::default());
        }
        conversion_history(self.formats, self.from, source, sidecar)
    }

    /// Converts a source to the main file, the files beside it, and the sidecar.
    ///
    /// If both formats are the same, the source is copied to the main file, as by
    /// [`Conversion::run`].
    ///
    /// # Errors
    ///
    /// As for [`Conversion::run`]. After another error than of a damaged line, the sinks may have a
    /// part of the target.
    pub fn run_to<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        history: &ConversionHistory,
        sidecar: Option<Sidecar>,
        target: Target<'_>,
    ) -> io::Result<Report> {
        source.set_framing(self.from.framing);
        if self.options.is_strict
            && let Some(damage) = first_damage(source)?
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, damage));
        }
        if self.from.name == self.to.name {
            return copy(source, self.from.framing, target.sink.into_writer());
        }
        let sidecar = sidecar.filter(|_| !history.has_foreign_sidecar);
        let depth = history.depth(self.to);
        let restored_formats = depth.map_or(&[][..], |depth| &history.formats[..=depth]);
        let sidecars = match history.has_sidecar_of_added && depth.is_some() {
            true => Sidecars { restored: None, added: sidecar },
            false => Sidecars { restored: sidecar, added: None },
        };
        let late = UnusedCarries::late(None);
        let may_be_late = history.is_searched && history.formats.is_empty();
        // A late carry in the record itself is among the losses, so that no record is searched for one.
        let is_among_losses = self.from.carry_places.is_empty();
        let unused = match history.fault {
            Some(_) => UnusedCarries::Unreadable(self.formats),
            None if may_be_late && !is_among_losses => late.clone(),
            None => match history.formats.first() {
                Some(first) if depth.is_none() => {
                    UnusedCarries::late(Some(CarriesOfOthers::new(first)))
                }
                _ => UnusedCarries::Expected,
            },
        };
        source.set_root_first(self.from.rewrites.is_values() && depth.is_some());
        let mut report = source.with_events(self.from, |events| {
            self.pass(events, restored_formats, sidecars, target, unused)
        })?;
        report.n_sidecars_unread += u64::from(history.has_unread_sidecar);
        // Faults of the file itself may have been counted already.
        let is_unsaid = depth.is_none() && !report.restored.is_not_the_source();
        if is_unsaid && history.interruption.is_not_the_source() {
            report.restored.add_faults(&history.interruption);
        }
        let is_lost = || {
            let mut losses = report.losses.counts();
            report.has_carry_in_whole || losses.any(|(_, field, _)| field == MEMBER)
        };
        report.restored.cut += u64::from(history.has_empty_sidecar);
        if may_be_late && is_among_losses && history.fault.is_none() && is_lost() {
            let mut unused = late;
            source.for_each(&mut |line, value| {
                unused.count(line, value.ok(), self.from, &mut report.restored);
                true
            })?;
        }
        Ok(report)
    }

    /// Converts the events of a session of several files to one file.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or the target cannot be written.
    pub fn run_events(&self, events: &mut dyn Events, target: Target<'_>) -> io::Result<Report> {
        self.pass(events, &[], Sidecars::default(), target, UnusedCarries::Expected)
    }

    /// Surveys the events, then converts, restores or carries each record.
    fn pass(
        &self,
        events: &mut dyn Events,
        restored_formats: &[&'static Format],
        Sidecars { restored: sidecar, added }: Sidecars,
        target: Target<'_>,
        unused: UnusedCarries,
    ) -> io::Result<Report> {
        let Target {
            sink,
            sidecar: beside,
            manifest,
            agent,
            session_start,
            others,
            residue,
            derived,
            images,
            max_restored,
        } = target;
        let residue = residue.filter(|_| self.carry == CarryMode::None);
        let mut sinks = Sinks { main: sink, sidecar: beside, residue };
        let is_restored = !restored_formats.is_empty();
        let mut one_pass = OnePass::NotTried;
        if !is_restored && sidecar.is_none() && others.is_empty() {
            let agent = agent.as_deref();
            let session_start = session_start.as_deref();
            let unused = unused.clone();
            let extras = Extras { agent, session_start, manifest, unused };
            one_pass = self.one_pass(events, &mut sinks, &extras)?;
        }
        let mut survey = match one_pass {
            OnePass::Done(report) => return Ok(*report),
            OnePass::Failed(survey) => *survey,
            OnePass::NotTried => {
                survey(events, self, restored_formats.first().copied(), sidecar.is_some())?
            }
        };
        let Sinks { main: sink, sidecar: beside, residue } = sinks;
        // A title in a hidden line is none.
        let wins = survey.facts.title.as_ref().map(|(_, text)| text);
        if survey.title.as_ref().map(|title| &title.text) != wins {
            survey.title = None;
        }
        survey.facts.agent = agent;
        survey.facts.session_start = session_start;
        let mut derived_ids = Vec::new();
        if let Some(derived) = derived {
            *derived = survey.take_hidden_agents();
            derived_ids.extend(derived.list().iter().map(|agent| agent.id.clone()));
        }
        let mut restored = Vec::new();
        for OtherTarget { entry, agent, sink } in others {
            let sink = match (entry.kind, sink) {
                (ManifestEntryKind::Agent, Some(sink)) => {
                    OtherSink::Agent(Box::new(AgentFile::new(entry, agent, sink)))
                }
                (_, Some(sink)) => OtherSink::Side(sink, entry.size),
                (_, None) => OtherSink::Nowhere,
            };
            restored.push(sink);
        }
        let session_id = survey.facts.session_id.clone();
        let engines = AgentEngines::new(self, session_id);
        let attribution = survey.attribution.clone();
        let mut events = Attributed::new(events, &attribution);
        let mut engine = Engine::new(
            self.from,
            self.to,
            &self.options,
            self.carry,
            &mut survey,
            sink.into_writer(),
        );
        if let Some(beside) = beside {
            engine.set_sidecar(beside.into_writer());
        }
        if let Some(images) = images {
            engine.set_images(images);
        }
        if let Some(manifest) = manifest {
            engine.set_manifest(manifest);
        }
        if !derived_ids.is_empty() {
            engine.set_derived(&derived_ids);
        }
        let mut pass = SecondPass::new(
            engine,
            survey,
            self.from,
            restored_formats,
            sidecar,
            (restored, engines),
            manifest,
        )
        .with_max_restored(max_restored)
        .counting_carries(unused)
        .with_carries_of_added(added)
        .with_edited_start()?;
        pass.set_residue(residue.map(Sink::into_writer));
        let mut result = Ok(());
        events.for_each(&mut |line, event| {
            result = pass.line(line, event);
            result.is_ok()
        })?;
        result?;
        events.release();
        pass.finish()
    }

    /// Converts bytes to bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be written.
    pub fn convert(&self, source: &[u8], sidecar: Option<Sidecar>) -> io::Result<Converted> {
        let mut bytes = Vec::new();
        let mut source = Source::new(io::Cursor::new(source));
        let RunResult { report, sidecar } = self.run(&mut source, sidecar, &mut bytes)?;
        Ok(Converted { bytes, sidecar, report })
    }
}
