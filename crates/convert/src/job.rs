//! One input from opening it to its report.

pub(crate) mod settled;
mod to_file;
pub(crate) mod verdict;

use std::{
    io::{self, Read, Seek, Write},
    path::PathBuf,
    sync::Arc,
};

use conversion::{CarryMode, Conversion, ConversionHistory, Damage, Sidecar, Source, Target};
use core_model::{Format, Options};
use sessions::{Input, ReadError, UnknownFormat, single_format};
use storage::{Hashing, Limits, Opened};

use self::to_file::is_changing;
use crate::{
    FORMATS, account::describe::Done, cli::SubAgents, conversions::Outcome, formats::detect,
    install::NotInstalled, outputs::Outputs,
};

pub(crate) use self::to_file::{Extra, MAX_ATTEMPTS, check_target, tell_if_shrunk};

/// What all inputs of a run are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) to: &'static Format,
    pub(crate) from: Option<&'static Format>,
    pub(crate) carry: CarryMode,
    pub(crate) options: Options,
    pub(crate) outputs: Arc<Outputs>,
    pub(crate) verify: bool,
    /// What becomes of sub-agents.
    pub(crate) subagents: SubAgents,
    /// Whether what is written is for a client to go on with.
    pub(crate) is_for_client: bool,
    /// Whether secrets are taken out of what is read.
    pub(crate) redacts: bool,
    /// Whether keys of test environments are secrets too.
    pub(crate) test_keys: bool,
    /// Whether carries are not looked into.
    pub(crate) ignores_carry: bool,
    /// The folder for files of a carry that have no place beside the main file.
    pub(crate) restore_files: Option<PathBuf>,
    /// How much an input may hold.
    pub(crate) limits: Limits,
    /// How many threads scan one large source, beside the one that converts it.
    pub(crate) n_scanners: usize,
}

/// Why an input was not converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConvertError {
    /// Its format is not known.
    #[error("{0}")]
    Format(#[from] UnknownFormat),
    /// The output exists.
    #[error("{0} exists; --force overwrites it and keeps it as .bak")]
    Exists(String),
    /// It changed while it was read, each time that it was.
    #[error("changes while it is read; nothing was written")]
    Changing,
    /// There is no space left for what it would become.
    #[error("no space left on the file system of {0}")]
    NoSpace(String),
    /// We have a fault.
    #[error("a fault of convert itself; nothing was written. Please report it")]
    Fault,
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// An earlier input is written to the same name.
    #[error("another input goes to {0}; convert them apart")]
    SameName(String),
    /// Its name cannot be kept where it goes.
    #[error("its name is not one that could be kept beside its session")]
    NoName,
    /// The session that it belongs to was not converted.
    #[error("its session was not converted")]
    NotAlone,
    /// It was written from a source that its session's file carries, and is something else now.
    #[error("was made of its session's source, and is not what it was: convert it alone")]
    Derived,
    /// It holds several files, and goes back by way of the format that it came from last.
    #[error("comes from {0}")]
    Stepwise(&'static str),
    /// The output would be the source.
    #[error("the output would overwrite its source")]
    IsSource,
    /// The target shows nothing of the source, and standard output has no place for a sidecar.
    #[error("nothing of it shows in {0}; with -o it is kept in a sidecar")]
    NothingShows(&'static str),
    /// What was written does not lead back to the source.
    #[error("converting back does not give the source; nothing was written")]
    NotExact,
    /// It was converted, but not installed.
    #[error("{0}")]
    NotInstalled(#[from] NotInstalled),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<ReadError> for ConvertError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Format(error) => ConvertError::Format(error),
            ReadError::Interrupted => ConvertError::Interrupted,
            ReadError::Io(error) => ConvertError::Io(error),
        }
    }
}

impl ConvertError {
    /// Returns whether the input changed while it was read: another time it may not.
    pub(crate) fn is_of_change(&self) -> bool {
        match self {
            ConvertError::Changing => true,
            ConvertError::Io(error) => storage::is_changed(error),
            _ => false,
        }
    }

    /// Returns the damage because of which an input was refused.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        match self {
            ConvertError::Io(error) => error.get_ref()?.downcast_ref(),
            _ => None,
        }
    }
}

impl Job {
    /// Returns the format of an opened input.
    pub(crate) fn format_of(
        &self,
        source: &mut Source<Opened>,
    ) -> Result<&'static Format, ConvertError> {
        if let Some(format) = self.from {
            return Ok(format);
        }
        // Without a line it is in any format, but for the target's: then it is as it should be.
        let of_nothing = FORMATS[usize::from(FORMATS[0].name == self.to.name)];
        Ok(single_format(detect(source)?)?.unwrap_or(of_nothing))
    }

    /// Converts an input to standard output.
    pub(crate) fn to_stdout(&self, input: &Input) -> Result<Outcome, ConvertError> {
        let (opened, redactions) = self.open(input)?;
        let mut source = Source::new(opened).with_scanners(self.n_scanners);
        let from = self.format_of(&mut source)?;
        let conversion = self.conversion(from);
        if self.verify && self.carry != CarryMode::None {
            let mut written = tempfile::SpooledTempFile::new(8 * 1024 * 1024);
            let mut beside = tempfile::SpooledTempFile::new(8 * 1024 * 1024);
            let to = Target { sidecar: Some(&mut beside), ..Target::of(&mut written) };
            let report = self.run(&conversion, &mut source, input, to)?;
            beside.rewind()?;
            let beside = (report.bytes_sidecar > 0).then_some(beside);
            let mut written = Source::new(Opened::spooled(written, Limits::NONE)?);
            verify(&conversion, &mut source, &mut written, beside)?;
        }
        let mut sink = self.outputs.sink()?;
        let mut unplaced = io::sink();
        let to = Target { sidecar: Some(&mut unplaced), ..Target::of(&mut sink) };
        let mut report = self.run(&conversion, &mut source, input, to)?;
        report.redactions = redactions;
        sink.finish()?.flush()?;
        if report.bytes_sidecar > 0 {
            return Err(ConvertError::NothingShows(self.to.name));
        }
        let is_changing = is_changing(&mut source)?;
        let done = Done { is_changing, ..self.done(input, None, from, report) };
        Ok(Outcome::Converted(Box::new(done)))
    }

    fn run(
        &self,
        conversion: &Conversion,
        source: &mut Source<Opened>,
        input: &Input,
        target: Target<'_>,
    ) -> io::Result<crate::Report> {
        let mut sidecar = self.sidecar(input)?;
        let history = self.conversion_history(conversion, source, &mut sidecar)?;
        let max_restored = self.limits.expanded.unwrap_or_default();
        conversion.run_to(source, &history, sidecar, Target { max_restored, ..target })
    }

    /// Finds what a source was converted from; nothing, if its carries are not looked into.
    pub(crate) fn conversion_history(
        &self,
        conversion: &Conversion,
        source: &mut Source<Opened>,
        sidecar: &mut Option<Sidecar>,
    ) -> io::Result<ConversionHistory> {
        if self.ignores_carry {
            *sidecar = None;
            return Ok(ConversionHistory::default());
        }
        conversion.conversion_history(source, sidecar.as_mut())
    }

    pub(crate) fn conversion(&self, from: &'static Format) -> Conversion {
        Conversion {
            formats: FORMATS,
            from,
            to: self.to,
            carry: self.carry,
            options: self.options.clone(),
        }
    }

    pub(crate) fn done(
        &self,
        input: &Input,
        output: Option<String>,
        from: &'static Format,
        report: crate::Report,
    ) -> Done {
        let (from, to) = (from.name, self.to.name);
        Done {
            label: input.label(),
            output,
            from,
            to,
            carry: self.carry,
            report,
            is_changing: false,
            files: Vec::new(),
        }
    }
}

/// Converts what was written back, and compares it with the source.
pub(crate) fn verify(
    conversion: &Conversion,
    source: &mut Source<Opened>,
    written: &mut Source<Opened>,
    sidecar: Option<impl Read + Send + 'static>,
) -> Result<(), ConvertError> {
    let sidecar = sidecar.map(Sidecar::open).transpose()?;
    let back = Conversion { from: conversion.to, to: conversion.from, ..conversion.clone() };
    let mut restored = Hashing::new(io::sink());
    if back.from.name == back.to.name {
        return Ok(());
    }
    back.run(written, sidecar, &mut restored)?;
    let mut original = Hashing::new(io::sink());
    source.copy_to(&mut original)?;
    if restored.digest() == original.digest() { Ok(()) } else { Err(ConvertError::NotExact) }
}
