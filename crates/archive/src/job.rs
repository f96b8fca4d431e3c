//! A job: converts one input, from opening it to its report.

mod images_beside;
mod to_file;

use std::{
    io::{self, Read, Seek, Write},
    sync::Arc,
};

use conversion::{
    Carry, CarryMode, Conversion, ConversionHistory, Manifest, Report, Sidecar, Sink, Source,
    Target, detect_format,
};
use core_model::Format;
use sessions::{Input, RedactedFile, single_format};
use storage::{Hashing, Limits, Opened};

use self::to_file::is_changing;
use crate::{
    config::JobConfig, error::ConvertError, file_report::FileReport, outputs::RunOutputs,
    report::ConvertedFile, warning::Warnings,
};

pub use self::to_file::check_target;
pub(crate) use self::to_file::{Extra, MAX_ATTEMPTS};

/// The configuration and the outputs of a run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The formats and options.
    pub config: JobConfig,
    /// The output folder or file.
    pub outputs: Arc<RunOutputs>,
    /// The number of threads that scan one large source, beside the converting thread.
    pub n_scanners: usize,
    /// The receiver of warnings.
    pub warnings: Warnings,
}

impl Job {
    /// Returns the format of an open input.
    pub(crate) fn format_of(
        &self,
        source: &mut Source<Opened>,
    ) -> Result<&'static Format, ConvertError> {
        if let Some(format) = self.config.from {
            return Ok(format);
        }
        // An input without lines has any format except the target's, so that it is converted and
        // not copied.
        let formats = self.config.formats;
        let is_other = |format: &&&'static Format| format.name != self.config.to.name;
        let of_nothing = formats.iter().find(is_other).copied().unwrap_or(self.config.to);
        Ok(single_format(detect_format(formats, source)?)?.unwrap_or(of_nothing))
    }

    /// Creates a source. Without carries, a conversion that has to start again has lost little, so small
    /// sources are read by windows too.
    pub(crate) fn source<R: Read + Seek + Send>(&self, reader: R) -> Source<R> {
        let source = Source::new(reader).with_scanners(self.n_scanners);
        let is_plain = self.config.carry == CarryMode::None && self.config.to.learns;
        if is_plain { source.with_windows() } else { source }
    }

    /// Converts an input to a stream, such as standard output.
    pub(crate) fn stream_file(
        &self,
        input: &Input,
        stream: &mut dyn Write,
    ) -> Result<FileReport, ConvertError> {
        let RedactedFile { file: opened, redactions } = self.open(input)?;
        let mut source = self.source(opened);
        let from = self.format_of(&mut source)?;
        let conversion = self.conversion(from);
        if self.config.verify && self.config.carry != CarryMode::None {
            let mut written = tempfile::SpooledTempFile::new(8 * 1024 * 1024);
            let mut beside = tempfile::SpooledTempFile::new(8 * 1024 * 1024);
            let to = Target { sidecar: Some(Sink::Final(&mut beside)), ..Target::of(&mut written) };
            let (report, history) = self.run(&conversion, &mut source, input, to)?;
            beside.rewind()?;
            let beside = (report.bytes_sidecar > 0).then_some(beside);
            let mut written = Source::new(Opened::new(written, Limits::NONE)?);
            verify(&conversion, &history, &mut source, &mut written, beside)?;
        }
        let mut sink = self.outputs.sink(stream)?;
        let mut unplaced = io::sink();
        let to = Target { sidecar: Some(Sink::Final(&mut unplaced)), ..Target::of(&mut sink) };
        let (mut report, _) = self.run(&conversion, &mut source, input, to)?;
        report.redactions = redactions;
        report.redactions.n_sidecars = self.n_sidecars_redacted(input, from)?;
        if from.name == self.config.to.name && self.sidecar_file(input)?.is_some() {
            report.n_sidecars_unread += 1;
        }
        sink.finish()?.flush()?;
        if report.bytes_sidecar > 0 {
            return Err(ConvertError::NothingShows(self.config.to.name));
        }
        let is_changing = is_changing(&mut source)?;
        let done = ConvertedFile { is_changing, ..self.done(input, None, from, report) };
        Ok(FileReport::converted(done))
    }

    fn run(
        &self,
        conversion: &Conversion,
        source: &mut Source<Opened>,
        input: &Input,
        target: Target<'_>,
    ) -> Result<(Report, ConversionHistory), ConvertError> {
        let mut sidecar = self.sidecar(input)?;
        let history = self.conversion_history(conversion, source, &mut sidecar)?;
        let lost_carry = self.lost_carry(input, conversion.from, &history, source);
        let max_restored = self.config.limits.expanded.unwrap_or_default();
        let target = Target { max_restored, ..target };
        let report = conversion.run_to(source, &history, sidecar, target)?;
        let report = Report { lost_carry, ..report };
        Ok((report, history))
    }

    /// Returns the history of a source; an empty one with `--ignore-carry`. Returns
    /// [`ConvertError::ReadOnly`] if the target is only read and the source does not come from it, and
    /// [`ConvertError::Nothing`] if an empty source may come from several formats.
    pub(crate) fn conversion_history(
        &self,
        conversion: &Conversion,
        source: &mut Source<Opened>,
        sidecar: &mut Option<Sidecar>,
    ) -> Result<ConversionHistory, ConvertError> {
        let history = if self.config.ignores_carry {
            *sidecar = None;
            ConversionHistory::default()
        } else {
            conversion.conversion_history(source, sidecar.as_mut())?
        };
        let to = conversion.to;
        if to.is_read_only && conversion.from.name != to.name && history.depth(to).is_none() {
            return Err(ConvertError::ReadOnly(to.name));
        }
        if let (None, Some(beside), None) = (self.config.from, sidecar, history.depth(to))
            && source.size()? == 0
            && let Some(carry) = beside.peek()?.and_then(|carry| Carry::parse(carry).ok())
            && let Some(format) = carry.format.of(self.config.formats)
        {
            return Err(ConvertError::Nothing(format.name));
        }
        Ok(history)
    }

    pub(crate) fn conversion(&self, from: &'static Format) -> Conversion {
        Conversion {
            formats: self.config.formats,
            from,
            to: self.config.to,
            carry: self.config.carry,
            options: self.config.options.clone(),
        }
    }

    pub(crate) fn done(
        &self,
        input: &Input,
        output: Option<String>,
        from: &'static Format,
        report: Report,
    ) -> ConvertedFile {
        let (from, to) = (from.name, self.config.to.name);
        ConvertedFile {
            label: input.label(),
            output,
            from,
            to,
            carry: self.config.carry,
            has_agent_files: report.n_agents > 0,
            report,
            is_changing: false,
            files: Vec::new(),
        }
    }
}

/// Converts the output back, and compares it with the source, which has this history.
pub(crate) fn verify(
    conversion: &Conversion,
    history: &ConversionHistory,
    source: &mut Source<Opened>,
    written: &mut Source<Opened>,
    sidecar: Option<impl Read + Send + 'static>,
) -> Result<(), ConvertError> {
    let mut sidecar = sidecar.map(Sidecar::open).transpose()?;
    let back = Conversion { from: conversion.to, to: conversion.from, ..conversion.clone() };
    let (mut restored, mut unplaced) = (Hashing::new(io::sink()), io::sink());
    if back.from.name == back.to.name {
        return Ok(());
    }
    // The carry of a session also lists sub-agents, which have files of their own.
    let of_source = history.manifest.as_ref().filter(|_| history.depth(conversion.to) == Some(0));
    let manifest = of_source.map(|it| Manifest {
        entries: Vec::new(),
        agents: it.agents.clone(),
        derived: it.derived.clone(),
        derived_from: None,
    });
    let target = Target {
        sidecar: Some(Sink::Final(&mut unplaced)),
        manifest: manifest.as_ref(),
        ..Target::of(&mut restored)
    };
    let history = back.conversion_history(written, sidecar.as_mut())?;
    back.run_to(written, &history, sidecar, target)?;
    let mut original = Hashing::new(io::sink());
    source.copy_to(&mut original)?;
    if restored.digest() == original.digest() { Ok(()) } else { Err(ConvertError::NotExact) }
}
