//! Finds records that the client of a format would refuse.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    marker::PhantomData,
    path::Path,
};

use jsonl::{Records, UnitScanner};

use super::RecordFormat;
use crate::{Check, Problem};

/// Finder of records that the client of a format would refuse or not load. Each fault is a [`Problem`].
///
/// Format crates export it as `Checker`:
///
/// ```
/// # use core_model::{RecordChecker, Problem};
/// # fn example<F: core_model::RecordFormat>() -> std::io::Result<()> {
/// # type Checker<F> = RecordChecker<F>;
/// let problems: Vec<Problem> = Checker::<F>::check("session.jsonl")?;
/// let is_refused = problems.iter().any(Problem::stops);
/// # Ok(())
/// # }
/// ```
pub struct RecordChecker<F> {
    check: Check,
    problems: Vec<Problem>,
    format: PhantomData<fn() -> F>,
}

impl<F: RecordFormat> RecordChecker<F> {
    /// Creates a checker for one file.
    pub fn new() -> Self {
        let check = Check::new((F::format().checker)());
        Self { check, problems: Vec::new(), format: PhantomData }
    }

    /// Checks a file, its name, and whether the files that it names are there. Returns the problems in
    /// order.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn check(path: impl AsRef<Path>) -> io::Result<Vec<Problem>> {
        let mut checker = Self::new();
        let folder = path.as_ref().parent().unwrap_or(Path::new(""));
        checker.check = checker.check.in_folder(folder);
        let stem = path.as_ref().file_stem().unwrap_or_default().to_string_lossy();
        checker.check.name(&stem, &mut |problem| checker.problems.push(problem));
        checker.read(File::open(path)?)
    }

    /// Checks the lines of a reader. Returns the problems in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails.
    pub fn check_reader(reader: impl Read) -> io::Result<Vec<Problem>> {
        Self::new().read(reader)
    }

    fn read(mut self, reader: impl Read) -> io::Result<Vec<Problem>> {
        let framing = F::format().framing;
        let (mut records, mut scanner) = (Records::new(reader, framing), UnitScanner::default());
        let problems = &mut self.problems;
        while let Some(line) = records.next()? {
            let (line, value) = scanner.scan(&line, framing.paths());
            self.check.line(&line, value, &mut |problem| problems.push(problem));
        }
        self.check.finish(&mut |problem| problems.push(problem));
        Ok(self.problems)
    }
}

impl<F: RecordFormat> Default for RecordChecker<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> fmt::Debug for RecordChecker<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordChecker").field("problems", &self.problems).finish_non_exhaustive()
    }
}
