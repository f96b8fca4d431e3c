//! The result of converting an input.

use std::io;

use sessions::{Input, Unread};
use storage::{Excess, Unwritten};

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
            Err(refusal) if refusal.is_of_change() => FileStatus::Changing,
            Err(
                ConvertError::NotExact | ConvertError::NotInstalled(_) | ConvertError::NoSpace(_),
            ) => FileStatus::WriteFailed,
            Err(ConvertError::Io(error)) => Self::of_error(error),
            Err(_) => FileStatus::Skipped,
        }
    }

    fn of_error(error: &io::Error) -> Self {
        let cause = error.get_ref();
        if let Some(unread) = cause.and_then(|cause| cause.downcast_ref::<Unread>()) {
            return Self::of_error(&unread.error);
        }
        if cause.is_some_and(|cause| cause.is::<Unwritten>()) {
            return FileStatus::WriteFailed;
        }
        if cause.is_some_and(|cause| cause.is::<Excess>()) {
            return FileStatus::TooLarge;
        }
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle => FileStatus::Vanished,
            io::ErrorKind::PermissionDenied => FileStatus::PermissionDenied,
            io::ErrorKind::HostUnreachable => FileStatus::Unreachable,
            _ => FileStatus::Damaged,
        }
    }
}
