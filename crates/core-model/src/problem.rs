//! Faults in a file that its client would refuse or skip, and the checker that finds them.
//!
//! In: a line that the client skips. Out: a [`Problem`] with its offset, line number, severity,
//! rule and message.

use std::{
    borrow::Cow,
    fmt,
    path::{Component, Path, PathBuf},
};

use jsonl::{Line, Records, Scanner, UnitScanner, Value};

use crate::{Format, Place};

/// A fault in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The offset from the start of the file, in bytes, after decompression: of the fault if it is a
    /// syntax error, else of the line.
    pub offset: u64,
    /// The number of the line, from 1.
    pub line: u64,
    /// The severity.
    pub severity: Severity,
    /// The name of the rule that is broken, such as `prompt-first`. FORMAT.md of the format's crate has
    /// the rules.
    pub rule: &'static str,
    /// The fault and its consequence.
    pub message: Cow<'static, str>,
}

impl Problem {
    /// Returns whether the client cannot load or continue the session because of the problem.
    pub fn stops(&self) -> bool {
        self.severity == Severity::Stops
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, line, severity, rule, message } = self;
        write!(f, "line {line}: byte {offset}: {} {rule}: {message}", severity.name())
    }
}

/// The rule of a session with messages that are later than the clock, which only [`Check::at`] finds.
pub const FUTURE: &str = "future";

/// The severity of a problem. The same fault may have one severity in one format and the other in another: a
/// line that is not JSON stops clido, the Agent SDK and the import of OpenCode, while Claude Code, Codex, Copilot,
/// Gemini CLI, Qwen Code and pi skip the line, so that it warns.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// The client loads a part of the session, or an older version refuses it.
    Warns,
    /// The client refuses the session, or cannot continue it.
    Stops,
}

impl Severity {
    /// Returns the name of the severity for reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warns => "warns",
            Severity::Stops => "stops",
        }
    }
}

/// The receiver of a checker's findings.
pub struct Findings<'f> {
    /// The line that is checked, or the last one.
    pub place: Place,
    report: &'f mut dyn FnMut(Problem),
    /// The folder of the checked file, if it is known.
    folder: Option<&'f Path>,
    /// The time at which the client would load the file, in milliseconds since 1970, if it is known.
    now: Option<i64>,
}

impl<'f> Findings<'f> {
    /// Creates findings of a line that go to `report`.
    pub fn new(place: Place, report: &'f mut dyn FnMut(Problem)) -> Self {
        Self { place, report, folder: None, now: None }
    }

    /// Reports that the client does not load the session because of the current line.
    pub fn stops(&mut self, rule: &'static str, message: impl Into<Cow<'static, str>>) {
        self.add(self.place, Severity::Stops, rule, message.into());
    }

    /// Reports that the client does not load all of the current line.
    pub fn warns(&mut self, rule: &'static str, message: impl Into<Cow<'static, str>>) {
        self.add(self.place, Severity::Warns, rule, message.into());
    }

    /// Returns whether the folder of the checked file has a file at a path; `None` if the folder is unknown,
    /// or if the path leads out of it.
    pub fn has_file(&self, path: &str) -> Option<bool> {
        let path = Path::new(path);
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let folder = self.folder.filter(|_| is_below && !path.as_os_str().is_empty())?;
        Some(folder.join(path).is_file())
    }

    /// Returns whether a time, in milliseconds since 1970, is later than the clock. It is not if the clock is unknown.
    pub fn is_later_than_now(&self, millis: f64) -> bool {
        self.now.is_some_and(|now| millis > now as f64)
    }

    /// Reports a problem of any line.
    pub fn add(
        &mut self,
        place: Place,
        severity: Severity,
        rule: &'static str,
        message: Cow<'static, str>,
    ) {
        let Place { line, offset } = place;
        (self.report)(Problem { offset, line, severity, rule, message });
    }
}

impl fmt::Debug for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Findings").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Finder of the faults that a format's client would refuse or skip. Its memory is bounded by the ids
/// of a file.
///
/// A format implements it, and [`Check`] runs it. To check a file, call
/// [`RecordChecker::check`](crate::RecordChecker::check), which every format crate exports as `Checker`.
pub trait Checker {
    /// Checks the name of the file, without its extension.
    fn name(&mut self, _stem: &str, _out: &mut Findings<'_>) {}

    /// Checks the next line. `value` is the result of its scan.
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>);

    /// Reports faults that are known only at the end of the file.
    fn finish(&mut self, out: &mut Findings<'_>);
}

/// A check of one file, line by line.
pub struct Check {
    checker: Box<dyn Checker>,
    place: Place,
    folder: Option<PathBuf>,
    now: Option<i64>,
}

impl Check {
    /// Creates a check from a format's [`checker`](crate::Format::checker).
    pub fn new(checker: Box<dyn Checker>) -> Self {
        Self { checker, place: Place::default(), folder: None, now: None }
    }

    /// Sets the folder of the file, in which the checker looks for the files that a record names.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    /// Sets the time at which the client would load the file, in milliseconds since 1970, for clients that compare it
    /// with the times of messages.
    #[must_use]
    pub fn at(self, now: i64) -> Self {
        Self { now: Some(now), ..self }
    }

    /// Checks the name of the file, without its extension.
    pub fn name(&mut self, stem: &str, report: &mut dyn FnMut(Problem)) {
        let place = Place { line: 1, offset: 0 };
        self.checker.name(stem, &mut Findings::new(place, report));
    }

    /// Checks the next line. `value` is the result of its scan.
    pub fn line(
        &mut self,
        line: &Line<'_>,
        value: jsonl::Result<Value<'_>>,
        report: &mut dyn FnMut(Problem),
    ) {
        let n_before = self.place.line;
        let line_number = n_before + u64::from(!line.is_glue());
        self.place = Place { line: line_number, offset: line.offset() };
        let (place, folder) = (self.place, self.folder.as_deref());
        let mut findings = Findings { place, report, folder, now: self.now };
        self.checker.line(line, value, &mut findings);
    }

    /// Reports faults that are known only at the end of the file.
    pub fn finish(mut self, report: &mut dyn FnMut(Problem)) {
        self.checker.finish(&mut Findings::new(self.place, report));
    }

    /// Returns the problems of a whole file of a format, of lines or of a document. The problems that
    /// are known only at its end are last.
    pub fn file(format: &Format, bytes: &[u8]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = Self::new((format.checker)());
        let (mut records, mut units) =
            (Records::new(bytes, format.framing), UnitScanner::default());
        // Reading a slice cannot fail.
        while let Ok(Some(unit)) = records.next() {
            let (unit, value) = units.scan(&unit, format.framing.paths());
            check.line(&unit, value, &mut |problem| problems.push(problem));
        }
        check.finish(&mut |problem| problems.push(problem));
        problems
    }

    /// Returns the problems of a whole file of lines. The problems that are known only at its end are
    /// last.
    pub fn all(checker: Box<dyn Checker>, bytes: &[u8]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = Self::new(checker);
        let mut scanner = Scanner::default();
        for line in jsonl::lines(bytes) {
            check.line(&line, scanner.scan(&line), &mut |problem| problems.push(problem));
        }
        check.finish(&mut |problem| problems.push(problem));
        problems
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Objects(u64);

    impl Checker for Objects {
        fn line(&mut self, _: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
            match value {
                Ok(_) => self.0 += 1,
                Err(error) => out.stops("json", error.kind.to_string()),
            }
        }

        fn finish(&mut self, out: &mut Findings<'_>) {
            if self.0 < 2 {
                out.warns("few", "one object only");
            }
        }
    }

    #[test]
    fn problems_have_places() {
        let problems = Check::all(Box::new(Objects(0)), b"{}\n{\n");
        let shown: Vec<String> = problems.iter().map(|problem| problem.to_string()).collect();
        assert_eq!(
            shown,
            [
                "line 2: byte 3: stops json: unexpected end of line",
                "line 2: byte 3: warns few: one object only"
            ]
        );
        assert!(problems[0].stops() && !problems[1].stops());
    }
}
