//! What became of a file, in one word.

use conversion::{CarryMode, Report};

/// What became of a file, as the journal and the report say it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileStatus {
    /// It was converted.
    Done,
    /// It was converted, and what the target does not say is kept nowhere.
    DoneWithLoss,
    /// It was converted, but for bytes that cannot be read; or there is nothing else in it.
    Damaged,
    /// It is gone.
    Vanished,
    /// It changed while it was read, each time that it was.
    Changing,
    /// We may not read it.
    PermissionDenied,
    /// The store that it is in cannot be reached, or does not do what it is asked for.
    Unreachable,
    /// It holds more than it may.
    TooLarge,
    /// What it became could not be written.
    WriteFailed,
    /// It is no session, or its place is taken.
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
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    /// Returns what a word stands for.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, it)| *it == name).map(|(status, _)| *status)
    }

    /// Returns whether a file was written, and is as it should be.
    pub fn is_done(self) -> bool {
        matches!(self, FileStatus::Done | FileStatus::DoneWithLoss | FileStatus::Damaged)
    }

    /// Returns what is to be said of a conversion.
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

/// Returns how many things of a source are said nowhere.
pub(crate) fn n_lost(report: &Report, carry: CarryMode) -> u64 {
    match carry {
        CarryMode::None => {
            report.n_carried_whole + report.losses.iter().map(|(_, _, it)| it.count).sum::<u64>()
        }
        CarryMode::Inline | CarryMode::Sidecar => report.n_left_out,
    }
}
