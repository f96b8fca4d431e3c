//! The report on a finished file: messages, status and counts.

use std::{
    borrow::Cow,
    io::{self, Read},
    path::Path,
    time::Duration,
};

use conversion::Member;
use core_model::LossKind;
use sessions::{Input, UnknownFormat};
use storage::{Interruption, Limits};

use crate::{
    carry_folders::Gone,
    error::ConvertError,
    exit::Status,
    record,
    report::{
        ConvertedFile,
        object::{BriefObject, LossObject},
        place,
    },
    status::FileStatus,
};

/// The options of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOptions {
    /// Returns advice for an error, such as the name of an option. It follows the error's message;
    /// `None` adds nothing.
    pub hint: Option<fn(&ConvertError) -> Option<&'static str>>,
    /// Whether a loss changes the exit status.
    pub fail_on_loss: bool,
    /// Whether the run has several files.
    pub is_folder: bool,
    /// Whether only errors are printed.
    pub quiet: bool,
    /// Whether a report on every file is printed.
    pub verbose: bool,
    /// Whether each file gets a JSON object, for a report file.
    pub wants_objects: bool,
    /// Whether the run was interrupted. Files that failed after that count as not begun.
    pub interruption: Interruption,
}

impl ReportOptions {
    /// Returns the message of an error, with the hint for it.
    fn message(&self, error: &ConvertError) -> String {
        match self.hint.and_then(|hint| hint(error)) {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        }
    }
}

/// The results for the files of a session, in order.
pub type Results<'u> = Vec<(&'u Input, Result<FileReport, ConvertError>)>;

/// Receives the result for each file of a session, in order, as soon as the file is done. A session may have
/// tens of thousands of sub-agents, so their results are not collected.
pub type EachResult<'e, 'u> = dyn FnMut(&'u Input, Result<FileReport, ConvertError>) + 'e;

/// The report on a file: its status, its conversion, and the messages about them.
///
/// A job creates it. [`FileReport::finish`] adds the messages, and drops the conversion.
#[derive(Debug)]
pub struct FileReport {
    /// The status.
    pub status: FileStatus,
    /// Whether it has this status since an earlier run, and nothing was to be done.
    pub is_up_to_date: bool,
    /// The conversion, until the report is finished.
    pub(crate) conversion: Option<Box<ConvertedFile>>,
    /// The name of the file with the same content that was converted.
    pub(crate) same_as: Option<String>,
    /// The duration of the job. The main file has that of its session.
    pub time: Duration,
    /// The exit status for this file.
    pub exit: Status,
    /// Whether it was refused because of an unreadable line.
    pub is_refused_for_damage: bool,
    /// Warnings and errors, one per line.
    pub problems: Vec<String>,
    /// The summary, in lines.
    pub summary: Vec<String>,
    /// The JSON object for the report file.
    pub json: Vec<u8>,
    /// The path of the output in the report file.
    pub output: Option<String>,
    /// Its name, if it is in the folder of a session without a role there.
    pub stray: Option<String>,
    /// Whether it is the main file of a session.
    pub is_main: bool,
    /// Its counts.
    pub figures: Figures,
}

/// The counts of a file.
#[derive(Debug, Default)]
pub struct Figures {
    /// The bytes read.
    pub bytes_in: u64,
    /// The lines read.
    pub lines_in: u64,
    /// The records read.
    pub n_events: u64,
    /// The lines written.
    pub lines_out: u64,
    /// The unreadable lines.
    pub n_damaged: u64,
    /// The source format.
    pub from: Option<&'static str>,
    /// The losses by kind and field.
    pub losses: Vec<(LossKind, Cow<'static, str>, u64)>,
}

/// Returns whether a file without a session was converted and then cut in its first line, or broken into lines or wrapped
/// by another program: it has a sidecar, or the start of a carry.
fn was_converted(input: &Input) -> bool {
    /// Bytes that are searched for a carry.
    const MAX_HEAD: u64 = 64 * 1024;
    if input.found_sidecar().is_some() {
        return true;
    }
    let mut head = Vec::new();
    let opened = input.open(Limits::default());
    let read = opened.and_then(|opened| opened.take(MAX_HEAD).read_to_end(&mut head));
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    read.is_ok() && (Member::was_in(line) || Member::was_in_text(&head))
}

impl FileReport {
    /// Creates a report with a status only.
    pub fn new(status: FileStatus) -> Self {
        Self {
            status,
            is_up_to_date: false,
            conversion: None,
            same_as: None,
            time: Duration::ZERO,
            exit: Status::Done,
            is_refused_for_damage: false,
            problems: Vec::new(),
            summary: Vec::new(),
            json: Vec::new(),
            output: None,
            stray: None,
            is_main: true,
            figures: Figures::default(),
        }
    }

    /// Creates the report on a converted file.
    pub(crate) fn converted(mut done: ConvertedFile) -> Self {
        done.report.losses.shrink();
        let status = done.status();
        Self { conversion: Some(Box::new(done)), ..Self::new(status) }
    }

    /// Creates the report on a file whose output is up to date, and has this status.
    pub(crate) fn up_to_date(status: FileStatus) -> Self {
        Self { is_up_to_date: true, ..Self::new(status) }
    }

    /// Marks that the output was there already. The conversion stays, with its problems.
    pub(crate) fn mark_up_to_date(&mut self) {
        self.is_up_to_date |= self.is_fine();
    }

    /// Creates the report on a file with the same content as another one, which has this name.
    pub(crate) fn same_as(other: String) -> Self {
        Self { same_as: Some(other), ..Self::new(FileStatus::SameAsAnother) }
    }

    /// Returns the conversion; `None` if the file was not converted, or the report is finished.
    pub fn conversion(&self) -> Option<&ConvertedFile> {
        self.conversion.as_deref()
    }

    /// Changes the conversion, and the status with it.
    pub(crate) fn change_conversion(&mut self, change: impl FnOnce(&mut ConvertedFile)) {
        if let Some(done) = &mut self.conversion {
            change(done);
            self.status = done.status();
        }
    }

    /// Returns the conversion; `None` if the file was not converted.
    pub(crate) fn into_conversion(self) -> Option<ConvertedFile> {
        self.conversion.map(|done| *done)
    }

    /// Returns whether the output is there, or is not needed.
    pub fn is_fine(&self) -> bool {
        self.is_up_to_date
            || self.status.is_converted()
            || self.status.is_in_session()
            || matches!(self.status, FileStatus::Copied | FileStatus::SameAsAnother)
    }

    /// Returns whether the file could not be converted.
    pub fn is_failure(&self) -> bool {
        !self.is_up_to_date && self.status.is_failure()
    }

    /// Returns whether the file was converted by this run.
    pub fn is_converted(&self) -> bool {
        !self.is_up_to_date && self.status.is_converted()
    }

    /// Returns whether a report file has an object for it.
    fn has_object(&self) -> bool {
        self.is_fine() || self.status.is_failure()
    }

    /// Creates the JSON object from the counts if it is missing and needed. Returns whether it did.
    pub fn complete_json(&mut self, label: &str) -> bool {
        if !self.json.is_empty() || !self.has_object() {
            return false;
        }
        let figures = &self.figures;
        let if_read = |number: u64| figures.from.map(|_| number);
        let losses = figures.losses.iter().map(|(kind, field, n)| LossObject {
            kind: kind.name(),
            field,
            count: *n,
            places: None,
        });
        let problem = self.problems.first().filter(|_| self.is_failure());
        self.json = record::write_ascii(&BriefObject {
            source: label,
            status: self.status.word(),
            from: figures.from,
            bytes_in: if_read(figures.bytes_in),
            lines_out: if_read(figures.lines_out),
            lines_damaged: if_read(figures.n_damaged),
            up_to_date: self.is_up_to_date.then_some(true),
            error: problem.map(String::as_str),
            losses: Some(losses.collect()),
            ..BriefObject::default()
        });
        true
    }

    /// Adds the messages to the report on a file, or creates the report on an error.
    pub fn finish(
        report_options: &ReportOptions,
        input: &Input,
        result: Result<FileReport, ConvertError>,
    ) -> Self {
        let (mut report, error) = match result {
            Ok(report) => (report, None),
            Err(error) => (Self::new(FileStatus::of_error(&error)), Some(error)),
        };
        if let Some(error) = &error {
            report.take_error(report_options, input, error);
        } else if report.is_up_to_date {
            report.take_up_to_date(report_options, &input.label());
        } else if let Some(done) = report.conversion.take() {
            report.take_conversion(report_options, &done);
        }
        if report_options.wants_objects && report.has_object() && report.json.is_empty() {
            report.json = report.object(report_options, input, error.as_ref());
        }
        report
    }

    /// Adds the reason why a file was not converted.
    fn take_error(&mut self, report_options: &ReportOptions, input: &Input, error: &ConvertError) {
        match error {
            error if error.kind() == Some(io::ErrorKind::BrokenPipe) => {
                self.status = FileStatus::OutputClosed;
            }
            ConvertError::NoSpace(_) => {}
            _ if report_options.interruption.is_requested() => {
                self.status = FileStatus::Interrupted;
            }
            // In a folder, files of other programs are no failure.
            ConvertError::Format(UnknownFormat::Unknown)
                if report_options.is_folder && input.is_found() && !was_converted(input) =>
            {
                self.status = FileStatus::NotASession;
                if input.path().is_some_and(is_in_folder_of_session) {
                    self.take_stray(&input.label(), report_options);
                }
                if report_options.verbose {
                    self.problems.push(format!("{}: not a session", input.label()));
                }
            }
            error => self.take_failure(report_options, input, error),
        }
    }

    /// Adds that a file is in the folder of a session without a role there.
    fn take_stray(&mut self, label: &str, report_options: &ReportOptions) {
        self.stray = Some(label.to_owned());
        if report_options.wants_objects {
            let status = FileStatus::NotASession.word();
            let object = BriefObject { source: label, status, ..BriefObject::default() };
            self.json = record::write_ascii(&object);
        }
    }

    /// Creates the report on a file that was converted, is gone from the folder of its journal, or has left its sidecar
    /// there.
    pub fn of_gone(gone: &Gone) -> Self {
        let problem = format!("{}: {}; --ignore-carry accepts this", gone.label, gone.why);
        let mut report = Self::new(FileStatus::Vanished);
        (report.exit, report.problems) = (Status::Attention, vec![problem]);
        report.complete_json(&gone.label);
        report
    }

    /// Creates the report on a file in the folder of a session without a role there.
    pub fn of_stray(label: &str, report_options: &ReportOptions) -> Self {
        let mut report = Self { is_main: false, ..Self::new(FileStatus::NotASession) };
        report.take_stray(label, report_options);
        report
    }

    /// Adds that the output was there already. A file that was converted to find that out has its problems.
    fn take_up_to_date(&mut self, report_options: &ReportOptions, label: &str) {
        if let Some(done) = self.conversion.take() {
            self.take_problems(report_options, &done);
        }
        let is_loss = self.status == FileStatus::DoneWithLoss && report_options.fail_on_loss;
        if self.status == FileStatus::DoneWithDamage || is_loss {
            self.exit = Status::Attention;
        }
        if !report_options.quiet && (!report_options.is_folder || report_options.verbose) {
            self.summary.push(format!("{label}: up to date"));
        }
    }

    /// Adds the problems of a conversion, and the exit status for them.
    fn take_problems(&mut self, report_options: &ReportOptions, done: &ConvertedFile) {
        let is_loss = report_options.fail_on_loss && !done.report.losses.is_empty();
        if done.report.wants_attention() || is_loss || done.is_changing {
            self.exit = Status::Attention;
        }
        self.problems = done.problems();
    }

    fn take_conversion(&mut self, report_options: &ReportOptions, done: &ConvertedFile) {
        let report = &done.report;
        self.take_problems(report_options, done);
        if !report_options.quiet && (!report_options.is_folder || report_options.verbose) {
            self.summary = done.summary();
        }
        if report_options.wants_objects {
            self.json = done.json(self.status);
        }
        self.output.clone_from(&done.output);
        self.figures = Figures {
            bytes_in: report.bytes_in,
            lines_in: report.lines_in,
            n_events: report.lines_in.saturating_sub(report.n_damaged) + report.n_recovered,
            lines_out: report.lines_out,
            n_damaged: report.n_damaged,
            from: Some(done.from),
            losses: report.losses.counts().collect(),
        };
    }

    fn take_failure(
        &mut self,
        report_options: &ReportOptions,
        input: &Input,
        refusal: &ConvertError,
    ) {
        let label = input.label();
        self.exit = Status::Failed;
        self.is_refused_for_damage = refusal.damage().is_some();
        self.problems.push(match refusal.damage() {
            Some(damage) => format!("{} (--strict)", place(&label, damage)),
            None => format!("{label}: {}", report_options.message(refusal)),
        });
        // A full disk is no wrong usage.
        if refusal.is_no_space() || refusal.kind() == Some(io::ErrorKind::FileTooLarge) {
            self.exit = Status::Attention;
        }
    }

    /// Returns the JSON object for a file that was not converted.
    fn object(
        &self,
        report_options: &ReportOptions,
        input: &Input,
        error: Option<&ConvertError>,
    ) -> Vec<u8> {
        let (source, error) = (input.label(), error.map(|error| report_options.message(error)));
        record::write_report(&BriefObject {
            source: &source,
            status: self.status.word(),
            up_to_date: self.is_up_to_date.then_some(true),
            same_as: self.same_as.as_deref(),
            error: error.as_deref(),
            ..BriefObject::default()
        })
    }
}

/// Returns whether a file lies below the folder of a session: `s1/odd/x.txt` beside `s1.jsonl`.
fn is_in_folder_of_session(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let mut main = folder.as_os_str().to_owned();
        main.push(".jsonl");
        !folder.as_os_str().is_empty() && Path::new(&main).is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> ReportOptions {
        ReportOptions { is_folder: true, wants_objects: true, ..ReportOptions::default() }
    }

    fn said(result: Result<FileReport, ConvertError>) -> String {
        let input = Input::file("in/é\u{1b}.jsonl".into());
        let report = FileReport::finish(&wanted(), &input, result);
        String::from_utf8(report.json).expect("UTF-8")
    }

    #[test]
    fn objects_of_files_that_were_not_converted_are_spelled_as_ever() {
        let start = r#"{"source":"in/é\u001b.jsonl","status":""#;
        for (result, rest) in [
            (Ok(FileReport::new(FileStatus::Inside)), r#"Done"}"#),
            (
                Ok(FileReport::up_to_date(FileStatus::DoneWithLoss)),
                r#"DoneWithLoss","up_to_date":true}"#,
            ),
            (Ok(FileReport::same_as("é".to_owned())), r#"Done","same_as":"é"}"#),
            (
                Err(ConvertError::SameName("é\"".to_owned())),
                r#"Skipped","error":"another input goes to é\"; convert them apart"}"#,
            ),
        ] {
            assert_eq!(said(result), format!("{start}{rest}"));
        }
        assert_eq!(said(Err(UnknownFormat::Unknown.into())), "");
        let stray = FileReport::of_stray("é\u{1b}", &wanted()).json;
        assert_eq!(stray, br#"{"source":"\u00e9\u001b","status":"Skipped"}"#);
    }

    #[test]
    fn objects_made_of_counts_are_spelled_as_ever() {
        let json = |mut report: FileReport| {
            report.complete_json("é\u{1b}");
            String::from_utf8(report.json).expect("UTF-8")
        };
        let mut report = FileReport::new(FileStatus::DoneWithLoss);
        report.figures.from = Some("clido");
        report.figures.bytes_in = 4;
        report.figures.losses = vec![(LossKind::Dropped, "é".into(), 2); 2];
        let loss = r#"{"kind":"dropped","field":"\u00e9","count":2}"#;
        let expected = concat!(
            r#"{"source":"\u00e9\u001b","status":"DoneWithLoss","from":"clido","bytes_in":4,"#,
            r#""lines_out":0,"lines_damaged":0,"losses":["#
        );
        assert_eq!(json(report), format!("{expected}{loss},{loss}]}}"));
        let report = FileReport {
            problems: vec!["é: no".to_owned()],
            ..FileReport::new(FileStatus::PermissionDenied)
        };
        let expected = r#""status":"PermissionDenied","error":"\u00e9: no","losses":[]}"#;
        assert!(json(report).ends_with(expected));
        let report = FileReport::up_to_date(FileStatus::Done);
        let expected = r#""status":"Done","up_to_date":true,"losses":[]}"#;
        assert!(json(report).ends_with(expected));
        assert_eq!(json(FileReport::new(FileStatus::NotASession)), "");
    }
}
