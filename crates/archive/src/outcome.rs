//! The result of converting an input.

use std::io;

use sessions::Input;

use crate::{error::ConvertError, report::ConvertedFile, status::FileStatus};

/// The result of converting an input.
#[derive(Debug)]
pub enum Outcome {
    /// It was converted.
    Converted(Box<ConvertedFile>),
    /// It belongs to a session and was copied beside its output.
    Copied,
    /// It belongs to a session and is in the output of its main file.
    Inside,
    /// It belongs to a session, and was left out by an option.
    LeftOut,
    /// Its output is up to date.
    UpToDate(FileStatus),
    /// Another file, with this label, has the same content and was converted.
    SameAs(String),
}

/// The results for the files of a unit, in order.
pub type Results<'u> = Vec<(&'u Input, Result<Outcome, ConvertError>)>;

impl FileStatus {
    /// Returns the status for a result.
    pub fn of(result: &Result<Outcome, ConvertError>) -> Self {
        match result {
            Ok(Outcome::Converted(done)) if done.is_changing => FileStatus::Changing,
            Ok(Outcome::Converted(done)) => Self::of_report(&done.report, done.carry),
            Ok(Outcome::Copied | Outcome::Inside | Outcome::SameAs(_)) => FileStatus::Done,
            Ok(Outcome::LeftOut) => FileStatus::Skipped,
            Ok(Outcome::UpToDate(status)) => *status,
            Err(refusal) => Self::of_refusal(refusal),
        }
    }

    fn of_refusal(refusal: &ConvertError) -> Self {
        match refusal {
            ConvertError::Changing | ConvertError::Changed(_) => FileStatus::Changing,
            ConvertError::NotExact
            | ConvertError::NotInstalled(_)
            | ConvertError::NoSpace(_)
            | ConvertError::Unwritten(_) => FileStatus::WriteFailed,
            ConvertError::TooLarge(_) => FileStatus::TooLarge,
            ConvertError::Damage(_) => FileStatus::Damaged,
            ConvertError::Unread { error, .. } => Self::of_refusal(error),
            ConvertError::Io(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle => {
                    FileStatus::Vanished
                }
                io::ErrorKind::PermissionDenied => FileStatus::PermissionDenied,
                io::ErrorKind::HostUnreachable => FileStatus::Unreachable,
                _ => FileStatus::Damaged,
            },
            _ => FileStatus::Skipped,
        }
    }
}
