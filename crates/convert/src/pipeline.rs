//! One conversion: a source, a target, and the way between them.

use std::io::{self, Read, Seek, Write};

use core_model::{Format, Options};

use crate::{
    damage::first_damage,
    detect::{Ballot, Detected},
    engine::{CarryMode, Engine},
    report::Report,
    second_pass::SecondPass,
    sidecar::Sidecar,
    source::Source,
    stack::stack,
    survey::survey,
};

/// What to convert into what, and how.
#[derive(Clone, Debug)]
pub struct Conversion {
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
pub fn detect<R: Read + Seek + Send>(source: &mut Source<R>) -> io::Result<Detected> {
    let mut ballot = Ballot::default();
    source.for_each_piece(None, &mut |line, value| ballot.push(line, value.ok()))?;
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
        self.run_apart(source, sidecar, sink, None)
    }

    /// Converts a source as [`Conversion::run`] does, and writes what cannot be read of it to
    /// `residue` if no carry keeps it, each piece on a line of its own.
    pub(crate) fn run_apart<'w, R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        sidecar: Option<Sidecar>,
        sink: &'w mut dyn Write,
        residue: Option<&'w mut dyn Write>,
    ) -> io::Result<(Report, Option<Vec<u8>>)> {
        let residue = residue.filter(|_| self.carry == CarryMode::None);
        if self.options.is_strict
            && let Some(damage) = first_damage(source)?
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, damage));
        }
        let stack = stack(self.from, source, sidecar.as_ref())?;
        let depth = stack.iter().position(|format| format.name == self.to.name);
        if self.from.name == self.to.name {
            return copy(source, sink);
        }
        let unwound = depth.map_or(&[][..], |depth| &stack[..=depth]);
        source.with_events(self.from, |events| {
            let mut survey = survey(events, self.from, self.to, &self.options)?;
            let engine =
                Engine::new(self.from, self.to, &self.options, self.carry, &mut survey, sink)?;
            let mut pass =
                SecondPass::new(engine, survey, self.from, unwound, sidecar).with_residue(residue);
            let mut result = Ok(());
            events.for_each(&mut |line, event| {
                result = pass.line(line, event);
                result.is_ok()
            })?;
            result?;
            pass.finish()
        })
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

/// Copies a source: the same format in and out is a copy of bytes.
fn copy<R: Read + Seek + Send>(
    source: &mut Source<R>,
    sink: &mut dyn Write,
) -> io::Result<(Report, Option<Vec<u8>>)> {
    let bytes = source.copy_to(sink)?;
    Ok((Report { bytes_in: bytes, bytes_out: bytes, ..Report::default() }, None))
}
