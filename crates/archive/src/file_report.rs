//! The report on a finished file: messages, status and counts.

use std::{borrow::Cow, io};

use core_model::LossKind;
use jsonl::{Style, push_string};
use sessions::{Input, UnknownFormat};
use storage::Interruption;

use crate::{
    error::ConvertError,
    exit::Status,
    object::Object,
    outcome::Outcome,
    report::{ConvertedFile, place},
    session::is_in_folder_of_session,
    status::FileStatus,
};

/// The options of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOptions {
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

/// The report on a finished file.
#[derive(Debug)]
pub struct FileReport {
    /// The result of its job.
    pub end: FileEnd,
    /// The status in journal and report.
    pub status: FileStatus,
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

/// The result of a file's job.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FileEnd {
    /// It was converted.
    Converted,
    /// It was copied beside its session.
    Copied,
    /// It is in the file of its session, or was left out by an option.
    Inside,
    /// It was up to date.
    UpToDate,
    /// Another file has the same content, and was converted.
    SameAsAnother,
    /// It is not a session.
    NotOurs,
    /// The run ended before it was begun.
    Left,
    /// The reader of the output closed it.
    Enough,
    /// It could not be converted.
    Refused,
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

const ENDS: [(FileEnd, &str); 9] = [
    (FileEnd::Converted, "Converted"),
    (FileEnd::Copied, "Copied"),
    (FileEnd::Inside, "Inside"),
    (FileEnd::UpToDate, "UpToDate"),
    (FileEnd::SameAsAnother, "SameAsAnother"),
    (FileEnd::NotOurs, "NotOurs"),
    (FileEnd::Left, "Left"),
    (FileEnd::Enough, "Enough"),
    (FileEnd::Refused, "Refused"),
];

impl FileEnd {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        ENDS.iter().find(|(end, _)| *end == self).map_or("", |(_, name)| name)
    }

    /// Returns whether the report file has an object for it.
    pub fn is_told(self) -> bool {
        !matches!(self, FileEnd::NotOurs | FileEnd::Left | FileEnd::Enough)
    }

    /// Returns the result with this name.
    pub fn named(name: &str) -> Option<Self> {
        ENDS.iter().find(|(_, it)| *it == name).map(|(end, _)| *end)
    }
}

impl FileReport {
    /// Creates a report with a result and a status only.
    pub fn new(end: FileEnd, status: FileStatus) -> Self {
        Self {
            end,
            status,
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

    /// Creates the JSON object from the counts if it is missing and needed. Returns whether it did.
    pub fn complete_json(&mut self, label: &str) -> bool {
        if !self.json.is_empty() || !self.end.is_told() {
            return false;
        }
        let figures = &self.figures;
        let mut object = Object::new();
        object.string("source", label).string("status", self.status.name());
        if let Some(from) = figures.from {
            object.string("from", from).plain("bytes_in", figures.bytes_in);
            object.plain("lines_out", figures.lines_out);
            object.plain("lines_damaged", figures.n_damaged);
        }
        if self.end == FileEnd::UpToDate {
            object.plain("up_to_date", true);
        }
        if let Some(problem) = self.problems.first().filter(|_| self.end == FileEnd::Refused) {
            object.string("error", problem);
        }
        let losses = figures.losses.iter().map(|(kind, field, n)| {
            let mut loss = Object::new();
            loss.string("kind", kind.name()).string("field", field).plain("count", n);
            loss.bytes()
        });
        object.values("losses", losses);
        self.json = object.bytes();
        true
    }

    /// Adds the report on the next piece of the same file.
    pub fn absorb(&mut self, piece: FileReport) {
        let (of_all, of_piece) = (&mut self.figures, piece.figures);
        of_all.bytes_in += of_piece.bytes_in;
        of_all.lines_out += of_piece.lines_out;
        of_all.n_damaged += of_piece.n_damaged;
        of_all.from = of_all.from.or(of_piece.from);
        of_all.losses.extend(of_piece.losses);
        self.exit = self.exit.max(piece.exit);
        self.problems.extend(piece.problems);
        if piece.end != FileEnd::UpToDate && self.end != FileEnd::Refused {
            (self.end, self.status) = (piece.end, piece.status);
        }
        if !piece.json.is_empty() {
            self.json.extend_from_slice(if self.json.is_empty() { b"" } else { b",\n" });
            self.json.extend(piece.json);
        }
    }

    /// Creates the report on a file from its result.
    pub fn of(
        report_options: &ReportOptions,
        input: &Input,
        result: &Result<Outcome, ConvertError>,
    ) -> Self {
        let mut settled = Self::new(FileEnd::Refused, FileStatus::of(result));
        match result {
            Ok(Outcome::Converted(done)) => settled.take_done(report_options, done),
            Ok(Outcome::Copied) => settled.end = FileEnd::Copied,
            Ok(Outcome::Inside | Outcome::LeftOut) => settled.end = FileEnd::Inside,
            Ok(Outcome::UpToDate(status)) => {
                settled.end = FileEnd::UpToDate;
                let is_loss = *status == FileStatus::DoneWithLoss && report_options.fail_on_loss;
                if *status == FileStatus::Damaged || is_loss {
                    settled.exit = Status::Attention;
                }
                if !report_options.is_folder || report_options.verbose {
                    let label = input.label();
                    settled.summary.push(format!("{label}: up to date"));
                }
            }
            Ok(Outcome::SameAs(_)) => settled.end = FileEnd::SameAsAnother,
            Err(refusal) if refusal.kind() == Some(io::ErrorKind::BrokenPipe) => {
                settled.end = FileEnd::Enough;
            }
            Err(ConvertError::NoSpace(_)) => settled.end = FileEnd::Left,
            Err(_) if report_options.interruption.is_requested() => settled.end = FileEnd::Left,
            // In a folder, files of other programs are no failure.
            Err(ConvertError::Format(UnknownFormat::Unknown))
                if report_options.is_folder && input.is_found() =>
            {
                settled.end = FileEnd::NotOurs;
                if input.path().is_some_and(is_in_folder_of_session) {
                    settled.take_stray(&input.label(), report_options);
                }
                if report_options.verbose {
                    settled.problems.push(format!("{}: not a session", input.label()));
                }
            }
            Err(refusal) => settled.take_refusal(input, refusal),
        }
        if report_options.wants_objects && settled.end.is_told() && settled.json.is_empty() {
            settled.json = object(input, settled.status, result);
        }
        settled
    }

    /// Adds that a file is in the folder of a session without a role there.
    fn take_stray(&mut self, label: &str, report_options: &ReportOptions) {
        self.stray = Some(label.to_owned());
        if report_options.wants_objects {
            let mut object = Object::new();
            object.string("source", label).string("status", FileStatus::Skipped.name());
            self.json = object.bytes();
        }
    }

    /// Creates the report on a file in the folder of a session without a role there.
    pub fn of_stray(label: &str, report_options: &ReportOptions) -> Self {
        let mut settled =
            Self { is_main: false, ..Self::new(FileEnd::NotOurs, FileStatus::Skipped) };
        settled.take_stray(label, report_options);
        settled
    }

    fn take_done(&mut self, report_options: &ReportOptions, done: &ConvertedFile) {
        let report = &done.report;
        self.end = FileEnd::Converted;
        let is_loss = report_options.fail_on_loss && !report.losses.is_empty();
        if report.wants_attention() || is_loss || done.is_changing {
            self.exit = Status::Attention;
        }
        self.problems = done.problems();
        if !report_options.quiet && (!report_options.is_folder || report_options.verbose) {
            self.summary = done.summary();
        }
        if report_options.wants_objects {
            done.push_json(self.status, &mut self.json);
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

    fn take_refusal(&mut self, input: &Input, refusal: &ConvertError) {
        let label = input.label();
        self.exit = Status::Failed;
        self.is_refused_for_damage = refusal.damage().is_some();
        self.problems.push(match refusal.damage() {
            Some(damage) => format!("{} (--strict)", place(&label, damage)),
            None => format!("{label}: {refusal}"),
        });
        // A full disk is no wrong usage.
        if refusal.is_no_space() || refusal.kind() == Some(io::ErrorKind::FileTooLarge) {
            self.exit = Status::Attention;
        }
    }
}

/// Returns the JSON object for a file that was not converted.
fn object(input: &Input, status: FileStatus, result: &Result<Outcome, ConvertError>) -> Vec<u8> {
    let mut out = b"{\"source\":".to_vec();
    push_string(&mut out, &input.label(), Style::Compact);
    out.extend_from_slice(format!(",\"status\":\"{}\"", status.name()).as_bytes());
    match result {
        Ok(Outcome::UpToDate(_)) => out.extend_from_slice(b",\"up_to_date\":true"),
        Ok(Outcome::SameAs(other)) => {
            out.extend_from_slice(b",\"same_as\":");
            push_string(&mut out, other, Style::Compact);
        }
        Ok(_) => {}
        Err(refusal) => {
            out.extend_from_slice(b",\"error\":");
            push_string(&mut out, &refusal.to_string(), Style::Compact);
        }
    }
    out.push(b'}');
    out
}
