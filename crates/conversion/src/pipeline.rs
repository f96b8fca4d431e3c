//! One conversion: a source, a target, and the way between them.

pub(crate) mod agents;
mod copy;
pub(crate) mod damage;
mod deferred;
pub(crate) mod derived;
pub(crate) mod engine;
pub(crate) mod history;
mod parallel;
pub(crate) mod recovery;
pub(crate) mod report;
mod second_pass;
mod sidechains;
pub(crate) mod source;
pub(crate) mod survey;
mod target;

use std::io::{self, Read, Seek, Write};

use core_model::{Facts, Format, Formats, Options};

use crate::{
    carry::{Manifest, ManifestEntry, ManifestEntryKind, sidecar::Sidecar},
    detect::{Ballot, Detected},
    pipeline::{
        agents::Agents,
        copy::copy,
        damage::first_damage,
        engine::{CarryMode, Engine},
        history::{ConversionHistory, conversion_history},
        report::Report,
        second_pass::{OtherSink, SecondPass},
        sidechains::Attributed,
        source::Source,
        survey::{Events, Survey, survey},
    },
};

/// Where the target goes.
pub struct Target<'w> {
    /// The main file.
    pub sink: &'w mut dyn Write,
    /// What gets the sidecar, if there is one; without it, there is none.
    pub sidecar: Option<&'w mut dyn Write>,
    /// What the first carry says of the files of the source.
    pub contents: Option<Manifest>,
    /// The id of the sub-agent whose transcript it is, if it is not the session's own.
    pub agent: Option<String>,
    /// The other files that the source is restored to.
    pub others: Vec<OtherTarget<'w>>,
    /// What takes the bytes that cannot be read, if no carry keeps them: each piece on a line of its
    /// own.
    pub residue: Option<&'w mut dyn Write>,
    /// Where sub-agents may be written to files of their own, from the same source: what takes those
    /// that there are.
    pub derived: Option<&'w mut Agents>,
    /// How many bytes may be restored, however little is read.
    pub max_restored: u64,
}

impl<'w> Target<'w> {
    /// Creates the target of a session of one file.
    pub fn of(sink: &'w mut dyn Write) -> Self {
        let (sidecar, contents, agent, others, residue, max_restored) = Default::default();
        Self { sink, sidecar, contents, agent, others, residue, derived: None, max_restored }
    }
}

/// A file beside the main one that a source is restored to.
pub struct OtherTarget<'w> {
    /// Its entry in the manifest.
    pub volume: ManifestEntry,
    /// The id of the sub-agent whose transcript it is.
    pub agent: Option<String>,
    /// None, if there is no place for it.
    pub sink: Option<&'w mut dyn Write>,
}

/// What to convert into what, and how.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The formats that a source may have been converted from.
    pub formats: Formats,
    /// The format of the source.
    pub from: &'static Format,
    /// The format of the target.
    pub to: &'static Format,
    /// Where to put what the target does not say.
    pub carry: CarryMode,
    /// What the writers are asked for.
    pub options: Options,
}

/// Finds the format of a source.
///
/// # Errors
///
/// The reader's own.
pub fn detect<R: Read + Seek + Send>(
    formats: Formats,
    source: &mut Source<R>,
) -> io::Result<Detected> {
    let mut ballot = Ballot::new(formats);
    source.for_each_piece(&formats, &mut |line, value| ballot.push(line, value.ok()))?;
    Ok(ballot.result())
}

impl Conversion {
    /// Converts a source, writes the target to `sink`, and returns the report and, if there is one,
    /// the bytes of the sidecar.
    ///
    /// `sidecar` is the one that stands beside the source.
    ///
    /// # Errors
    ///
    /// Those of reading the source and writing the target. What is wrong with lines is no error but
    /// in the report, unless [`Options::is_strict`] asks for it: then the first [`Damage`] is one,
    /// and nothing is written.
    ///
    /// [`Damage`]: crate::Damage
    pub fn run<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        sidecar: Option<Sidecar>,
        sink: &mut dyn Write,
    ) -> io::Result<(Report, Option<Vec<u8>>)> {
        let (mut sidecar, mut written) = (sidecar, Vec::new());
        let history = self.conversion_history(source, sidecar.as_mut())?;
        let target = Target { sidecar: Some(&mut written), ..Target::of(sink) };
        let report = self.run_to(source, &history, sidecar, target)?;
        let has_sidecar = report.bytes_sidecar > 0;
        Ok((report, has_sidecar.then_some(written)))
    }

    /// Finds what a source was converted from, if that matters.
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

    /// Converts a source to several files, if it is several, or says of what session it is one.
    pub fn run_to<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        history: &ConversionHistory,
        sidecar: Option<Sidecar>,
        target: Target<'_>,
    ) -> io::Result<Report> {
        if self.options.is_strict
            && let Some(damage) = first_damage(source)?
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, damage));
        }
        if self.from.name == self.to.name {
            return copy(source, target.sink);
        }
        let sidecar = sidecar.filter(|_| !history.has_foreign_sidecar);
        let depth = history.depth(self.to);
        let unwound = depth.map_or(&[][..], |depth| &history.formats[..=depth]);
        let counts_carries = history.fault.is_some();
        source.with_events(self.from, |events| {
            self.pass(events, unwound, sidecar, target, counts_carries)
        })
    }

    /// Converts the events of a session of several files to one file.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or the target cannot be written.
    pub fn run_events(&self, events: &mut dyn Events, target: Target<'_>) -> io::Result<Report> {
        self.pass(events, &[], None, target, false)
    }

    /// Reads events twice and writes what becomes of them.
    fn pass(
        &self,
        events: &mut dyn Events,
        unwound: &[&'static Format],
        sidecar: Option<Sidecar>,
        target: Target<'_>,
        counts_carries: bool,
    ) -> io::Result<Report> {
        let Target {
            sink,
            sidecar: beside,
            contents,
            agent,
            others,
            residue,
            derived,
            max_restored,
        } = target;
        let residue = residue.filter(|_| self.carry == CarryMode::None);
        let mut survey = survey(events, self, !unwound.is_empty(), sidecar.is_some())?;
        survey.facts.agent = agent;
        if let Some(derived) = derived {
            *derived = survey.take_hidden_agents();
        }
        let mut restored = Vec::new();
        for OtherTarget { volume, agent, sink } in others {
            let sink = match (volume.kind, sink) {
                (ManifestEntryKind::Agent, Some(sink)) => {
                    let engine = self.agent_engine(&mut survey, &volume, agent, sink);
                    OtherSink::Agent(Box::new(engine))
                }
                (_, Some(sink)) => OtherSink::Side(sink),
                (_, None) => OtherSink::Nowhere,
            };
            restored.push(sink);
        }
        let attribution = survey.attribution.clone();
        let mut events = Attributed::new(events, &attribution);
        let mut engine =
            Engine::new(self.from, self.to, &self.options, self.carry, &mut survey, sink);
        if let Some(beside) = beside {
            engine.set_sidecar(beside)?;
        }
        if let Some(contents) = &contents {
            engine.set_contents(contents);
        }
        let mut pass = SecondPass::new(
            engine,
            survey,
            self.from,
            unwound,
            sidecar,
            restored,
            contents.as_ref(),
        )
        .with_residue(residue)
        .with_max_restored(max_restored)
        .counting_carries(counts_carries.then_some(self.formats))
        .with_edited_start()?;
        let mut result = Ok(());
        events.for_each(&mut |line, event| {
            result = pass.line(line, event);
            result.is_ok()
        })?;
        result?;
        pass.finish()
    }

    /// Creates what writes a sub-agent's file; lines that were added to it carry their source in any
    /// case, since there is no sidecar of its own.
    fn agent_engine<'w>(
        &self,
        survey: &mut Survey,
        volume: &ManifestEntry,
        agent: Option<String>,
        sink: &'w mut dyn Write,
    ) -> Engine<'w> {
        let facts = match survey.agents.place(&volume.tool_use) {
            Some(place) => survey.agents.list()[place].facts.clone(),
            None => Facts::of_session(survey.facts.session_id.clone()),
        };
        let mut survey = Survey { facts, ..Survey::default() };
        survey.facts.agent = agent;
        let mode = match self.carry {
            CarryMode::Sidecar => CarryMode::Inline,
            mode => mode,
        };
        Engine::new(self.from, self.to, &self.options, mode, &mut survey, sink)
    }

    /// Converts bytes to bytes.
    ///
    /// # Errors
    ///
    /// If a sidecar cannot be written.
    pub fn convert(
        &self,
        source: &[u8],
        sidecar: Option<Sidecar>,
    ) -> io::Result<(Vec<u8>, Option<Vec<u8>>, Report)> {
        let mut target = Vec::new();
        let mut source = Source::new(io::Cursor::new(source));
        let (report, sidecar) = self.run(&mut source, sidecar, &mut target)?;
        Ok((target, sidecar, report))
    }
}
