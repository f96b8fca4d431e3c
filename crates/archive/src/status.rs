//! The status of a file after a run, and the words for it in journals, reports and receipts.
//!
//! In: the status [`FileStatus::DoneWithDamage`]. Out: the word `Damaged`, and the group `Converted`
//! in a receipt.

use std::io;

use conversion::{CarryMode, Report};

use crate::error::ConvertError;

/// The status of a file after a run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileStatus {
    /// It was converted.
    Done,
    /// It was converted, and values that the target does not show are lost.
    DoneWithLoss,
    /// It was converted, and has unreadable bytes.
    DoneWithDamage,
    /// It grew during each attempt to read it. Its first bytes were converted.
    DoneWhileGrowing,
    /// It belongs to a session, and was copied beside its output.
    Copied,
    /// It belongs to a session, and is in the output of its main file.
    Inside,
    /// It belongs to a session, and was left out by an option.
    LeftOut,
    /// Another file has the same content, and was converted.
    SameAsAnother,
    /// It is not a session, in a folder where other files are no failure.
    NotASession,
    /// It was not begun, because the user stopped the run.
    Interrupted,
    /// It was not begun, because the file system of the output is full.
    NoSpace,
    /// The reader of the output closed it.
    OutputClosed,
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
    /// It has bytes that cannot be read, and was not converted.
    Unreadable,
    /// It is not a session, or its output path is taken.
    Skipped,
}

/// Each status with its group in receipts and its word. If statuses share a word, the first is that
/// of a file with an output.
const ALL: [(FileStatus, &str, &str); 20] = [
    (FileStatus::Done, "Converted", "Done"),
    (FileStatus::DoneWithLoss, "Converted", "DoneWithLoss"),
    (FileStatus::DoneWithDamage, "Converted", "Damaged"),
    (FileStatus::DoneWhileGrowing, "Converted", "Changing"),
    (FileStatus::Copied, "Copied", "Done"),
    (FileStatus::Inside, "Inside", "Done"),
    (FileStatus::LeftOut, "Inside", "Skipped"),
    (FileStatus::SameAsAnother, "SameAsAnother", "Done"),
    (FileStatus::NotASession, "NotOurs", "Skipped"),
    (FileStatus::Interrupted, "Left", "Skipped"),
    (FileStatus::NoSpace, "Left", "WriteFailed"),
    (FileStatus::OutputClosed, "Enough", "Damaged"),
    (FileStatus::Vanished, "Refused", "Vanished"),
    (FileStatus::Changing, "Refused", "Changing"),
    (FileStatus::PermissionDenied, "Refused", "PermissionDenied"),
    (FileStatus::Unreachable, "Refused", "Unreachable"),
    (FileStatus::TooLarge, "Refused", "TooLarge"),
    (FileStatus::WriteFailed, "Refused", "WriteFailed"),
    (FileStatus::Unreadable, "Refused", "Damaged"),
    (FileStatus::Skipped, "Refused", "Skipped"),
];

impl FileStatus {
    /// Returns the word in journals and reports.
    pub fn word(self) -> &'static str {
        ALL.iter().find(|(status, ..)| *status == self).map_or("", |(.., word)| word)
    }

    /// Returns the group in receipts, which is there beside the word.
    pub(crate) fn group(self) -> &'static str {
        ALL.iter().find(|(status, ..)| *status == self).map_or("", |(_, group, _)| group)
    }

    /// Returns the status of a file with an output, from its word in a journal.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        ALL.iter().find(|(.., it)| *it == word).map(|(status, ..)| *status)
    }

    /// Returns the status with this group and this word.
    pub(crate) fn of_words(group: &str, word: &str) -> Option<Self> {
        let is_it = |(_, of, it): &&(Self, &str, &str)| *of == group && *it == word;
        ALL.iter().find(is_it).map(|(status, ..)| *status)
    }

    /// Returns whether the output was written and is valid.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::DoneWithLoss | Self::DoneWithDamage)
    }

    /// Returns whether the file was converted.
    pub fn is_converted(self) -> bool {
        self.is_done() || self == Self::DoneWhileGrowing
    }

    /// Returns whether the file belongs to a session whose main file has it, or leaves it out.
    pub fn is_in_session(self) -> bool {
        matches!(self, Self::Inside | Self::LeftOut)
    }

    /// Returns whether the run ended before the file was begun.
    pub fn is_left(self) -> bool {
        matches!(self, Self::Interrupted | Self::NoSpace)
    }

    /// Returns whether the file could not be converted.
    pub fn is_failure(self) -> bool {
        let is_no_file = matches!(self, Self::NotASession | Self::OutputClosed);
        let is_fine = self.is_converted() || self.is_in_session();
        let is_fine = is_fine || matches!(self, Self::Copied | Self::SameAsAnother);
        !is_fine && !is_no_file && !self.is_left()
    }

    /// Returns the status of a file that was not converted for this reason.
    pub fn of_error(error: &ConvertError) -> Self {
        match error {
            ConvertError::Changing | ConvertError::Changed(_) => Self::Changing,
            ConvertError::NoSpace(_) => Self::NoSpace,
            ConvertError::Interrupted => Self::Interrupted,
            ConvertError::NotExact | ConvertError::NotInstalled(_) | ConvertError::Unwritten(_) => {
                Self::WriteFailed
            }
            ConvertError::TooLarge(_) => Self::TooLarge,
            ConvertError::Damage(_) | ConvertError::NotWhole => Self::Unreadable,
            ConvertError::Unread { error, .. } => Self::of_error(error),
            ConvertError::Io(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle => Self::Vanished,
                io::ErrorKind::PermissionDenied => Self::PermissionDenied,
                io::ErrorKind::HostUnreachable => Self::Unreachable,
                _ => Self::Unreadable,
            },
            _ => Self::Skipped,
        }
    }
}

/// Returns the number of records and values of a source that are lost.
pub(crate) fn n_lost(report: &Report, carry: CarryMode) -> u64 {
    match carry {
        CarryMode::None => report.n_carried_whole + report.losses.total(),
        CarryMode::Inline | CarryMode::Sidecar => report.n_left_out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_pair_of_words_of_its_own() {
        for (status, group, word) in ALL {
            assert_eq!((status.group(), status.word()), (group, word));
            assert_eq!(FileStatus::of_words(group, word), Some(status));
        }
        assert_eq!(FileStatus::of_words("Converted", "Vanished"), None);
    }

    #[test]
    fn a_word_of_a_journal_is_of_a_file_with_an_output() {
        let words = ["Done", "DoneWithLoss", "Damaged", "Changing", "done"];
        let statuses = [
            Some(FileStatus::Done),
            Some(FileStatus::DoneWithLoss),
            Some(FileStatus::DoneWithDamage),
            Some(FileStatus::DoneWhileGrowing),
            None,
        ];
        assert_eq!(words.map(FileStatus::of_word), statuses);
    }

    #[test]
    fn each_status_is_of_one_kind() {
        for (status, ..) in ALL {
            let kinds = [
                status.is_converted(),
                status.is_in_session(),
                status.is_left(),
                status.is_failure(),
                status == FileStatus::Copied,
                status == FileStatus::SameAsAnother,
                status == FileStatus::NotASession,
                status == FileStatus::OutputClosed,
            ];
            assert_eq!(kinds.into_iter().filter(|is_it| *is_it).count(), 1, "{status:?}");
        }
    }
}
