//! The status of a file, in one word.

use conversion::{CarryMode, Report};

/// The status of a file in the journal and the report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileStatus {
    /// It was converted.
    Done,
    /// It was converted, and values that the target does not show are lost.
    DoneWithLoss,
    /// It was converted without unreadable bytes, or has nothing else.
    Damaged,
    /// It does not exist any more.
    Vanished,
    /// It changed during each attempt to read it.
    Changing,
    /// Permission to read it was denied.
    PermissionDenied,
    /// Its store cannot be reached, or fails.
    Unreachable,
    /// It exceeds a limit.
    TooLarge,
    /// Its output could not be written.
    WriteFailed,
    /// It is not a session, or its output path is taken.
    Skipped,
}

const ALL: [(FileStatus, &str); 10] = [
    (FileStatus::Done, "Done"),
    (FileStatus::DoneWithLoss, "DoneWithLoss"),
    (FileStatus::Damaged, "Damaged"),
    (FileStatus::Vanished, "Vanished"),
    (FileStatus::Changing, "Changing"),
    (FileStatus::PermissionDenied, "PermissionDenied"),
    (FileStatus::Unreachable, "Unreachable"),
    (FileStatus::TooLarge, "TooLarge"),
    (FileStatus::WriteFailed, "WriteFailed"),
    (FileStatus::Skipped, "Skipped"),
];

impl FileStatus {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    /// Returns the status with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, it)| *it == name).map(|(status, _)| *status)
    }

    /// Returns whether the output was written and is valid.
    pub fn is_done(self) -> bool {
        matches!(self, FileStatus::Done | FileStatus::DoneWithLoss | FileStatus::Damaged)
    }

    /// Returns the status of a conversion.
    pub fn of_report(report: &Report, carry: CarryMode) -> Self {
        if report.wants_attention() {
            FileStatus::Damaged
        } else if n_lost(report, carry) > 0 {
            FileStatus::DoneWithLoss
        } else {
            FileStatus::Done
        }
    }
}

/// Returns the number of records and values of a source that are lost.
pub(crate) fn n_lost(report: &Report, carry: CarryMode) -> u64 {
    match carry {
        CarryMode::None => {
            report.n_carried_whole + report.losses.iter().map(|(_, _, it)| it.count).sum::<u64>()
        }
        CarryMode::Inline | CarryMode::Sidecar => report.n_left_out,
    }
}
