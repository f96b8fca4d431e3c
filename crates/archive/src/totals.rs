//! The last object of a report on several files: the totals.
//!
//! In: counts of three sessions. Out: `{"totals":{"sessions":{"all":3,"converted":3,...`.

use serde::Serialize;

use crate::{file_report::FileReport, record, report::object::LossObject, status::FileStatus};

/// Numbers of files by status.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FileCounts {
    /// All files.
    pub all: u64,
    /// Files that were converted.
    pub converted: u64,
    /// Files that were copied beside their session. Sessions do not have this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied: Option<u64>,
    /// Files in the output of their session's main file, or left out there. Sessions do not have
    /// this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<u64>,
    /// Files that were up to date.
    pub up_to_date: u64,
    /// Files that could not be converted.
    pub failed: u64,
    /// Files with the content of another one.
    pub same_as_others: u64,
    /// Files that are no sessions.
    pub not_sessions: u64,
    /// Files that were not begun.
    pub left: u64,
}

impl FileCounts {
    /// Creates counts of all files of sessions.
    pub fn of_files() -> Self {
        Self { copied: Some(0), inside: Some(0), ..Self::default() }
    }

    /// Creates counts of sessions, each by its main file.
    pub fn of_sessions() -> Self {
        Self::default()
    }

    /// Counts a file.
    pub fn push(&mut self, report: &FileReport) {
        self.all += 1;
        let of_status = match report.status {
            _ if report.is_up_to_date => Some(&mut self.up_to_date),
            FileStatus::Copied => self.copied.as_mut(),
            FileStatus::SameAsAnother => Some(&mut self.same_as_others),
            FileStatus::NotASession => Some(&mut self.not_sessions),
            FileStatus::OutputClosed => None,
            status if status.is_converted() => Some(&mut self.converted),
            status if status.is_in_session() => self.inside.as_mut(),
            status if status.is_left() => Some(&mut self.left),
            _ => Some(&mut self.failed),
        };
        if let Some(number) = of_status {
            *number += 1;
        }
    }
}

/// The totals over all files of a run.
#[derive(Clone, Copy, Debug)]
pub struct Totals<'t> {
    /// The sessions, each by its main file.
    pub sessions: FileCounts,
    /// All files.
    pub files: FileCounts,
    /// The bytes read.
    pub bytes_in: u64,
    /// The lines written.
    pub lines_out: u64,
    /// The unreadable lines.
    pub lines_damaged: u64,
    /// The losses: the names of their kinds, the fields, and their numbers.
    pub losses: &'t [(&'static str, &'t str, u64)],
}

impl Totals<'_> {
    /// Returns the totals as a JSON object.
    pub fn json(&self) -> Vec<u8> {
        let Self { sessions, files, bytes_in, lines_out, lines_damaged, losses } = *self;
        let losses = losses.iter().map(|(kind, field, count)| LossObject {
            kind,
            field,
            count: *count,
            places: None,
        });
        let losses = losses.collect();
        let totals = TotalsObject { sessions, files, bytes_in, lines_out, lines_damaged, losses };
        record::write_ascii(&Outer { totals })
    }
}

#[derive(Serialize)]
struct Outer<'t> {
    totals: TotalsObject<'t>,
}

#[derive(Serialize)]
struct TotalsObject<'t> {
    sessions: FileCounts,
    files: FileCounts,
    bytes_in: u64,
    lines_out: u64,
    lines_damaged: u64,
    losses: Vec<LossObject<'t>>,
}
