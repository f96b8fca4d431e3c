//! A session of several files through the format that it came from last, one step at a time.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use core_model::Format;
use storage::Scratch;

use super::Unit;
use crate::{
    account::describe::Done,
    by_name,
    conversions::{Outcome, Results},
    input::Input,
    job::{Order, Refusal},
    outputs::Outputs,
};

impl Order {
    /// Converts a file that holds several by way of the format that it came from last.
    pub(crate) fn file_stepwise(
        &self,
        input: &Input,
        path: &Path,
        last: &str,
    ) -> Result<Outcome, Refusal> {
        let last = by_name(last).ok_or(Refusal::Unknown)?;
        let unit = Unit { main: input.clone(), others: Vec::new(), format: None };
        match self.stepwise(&unit, path, last).into_iter().next() {
            Some((_, result)) => result,
            None => Err(Refusal::NotAlone),
        }
    }

    /// Converts a session of several files by way of the format that it came from last.
    pub(super) fn stepwise<'u>(
        &self,
        unit: &'u Unit,
        path: &Path,
        last: &'static Format,
    ) -> Results<'u> {
        let step = || -> Result<(Order, Scratch, PathBuf), Refusal> {
            let folder = Scratch::new()?;
            let main = folder.path().join(path.file_name().ok_or(Refusal::NoName)?);
            let outputs = Arc::new(Outputs::below(folder.path(), false)?);
            let order = Order { to: last, outputs, verify: false, ..self.clone() };
            Ok((order, folder, main))
        };
        let (order, _folder, main) = match step() {
            Ok(step) => step,
            Err(refusal) => return self.each_alone(unit, path, Err(refusal)),
        };
        let mut results = order.unit_to_files(unit, &main, false);
        if results.iter().any(|(_, result)| result.is_err()) {
            return results;
        }
        let between = match Unit::of_file(main) {
            Ok(between) => between,
            Err(error) => return unit.refused_for(error.into()),
        };
        // What is between is ours: nothing in it is to be taken out, and its format is known.
        let order = Order { from: Some(last), redacts: false, ..self.clone() };
        let second = order.unit_to_files(&between, path, false);
        if let Some((_, main)) = results.first_mut() {
            for (n, (_, result)) in second.into_iter().enumerate() {
                match (&mut *main, result) {
                    (Ok(Outcome::Converted(done)), Ok(Outcome::Converted(next))) => {
                        done.goes_on(*next, n == 0);
                    }
                    (main, Err(refusal)) => *main = Err(refusal),
                    _ => {}
                }
            }
        }
        results
    }
}

impl Done {
    /// Takes up what the second step of a conversion did.
    fn goes_on(&mut self, next: Done, is_first: bool) {
        let report = &mut self.report;
        if is_first {
            (self.to, self.output) = (next.to, next.output);
            (report.bytes_out, report.lines_out) = (0, 0);
        }
        report.bytes_out += next.report.bytes_out;
        report.lines_out += next.report.lines_out;
        report.restored.add(&next.report.restored);
        report.losses.absorb(&next.report.losses);
        report.n_stranded += next.report.n_stranded;
    }
}
