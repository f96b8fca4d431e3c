//! The errors of converting an input.

use std::io;

use conversion::Damage;
use core_model::{Problem, system_words};
use sessions::{ReadError, UnknownFormat, Unread};
use storage::{Changed, Excess, Unwritten, is_no_space};

/// The reason why an input was not converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// Its format is unknown.
    #[error("{0}")]
    Format(#[from] UnknownFormat),
    /// The output exists.
    #[error("{0} exists")]
    Exists(String),
    /// It changed during each attempt to read it.
    #[error("changes while it is read; nothing was written")]
    Changing,
    /// The file system of the output is full.
    #[error("no space left on the file system of {0}")]
    NoSpace(String),
    /// This program has a bug.
    #[error("a fault of convert itself; nothing was written. Please report it")]
    Fault,
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// An earlier input is written to the same name.
    #[error("another input goes to {0}; convert them apart")]
    SameName(String),
    /// Its name is not allowed beside the output.
    #[error("its name is not one that could be kept beside its session")]
    NoName,
    /// The output has the name of the folder that its other files go to.
    #[error(
        "{0} is also the name of the folder for the files of its sub-agents; give the output a name with an \
         ending, such as {0}.jsonl"
    )]
    SameFolder(String),
    /// The session that it belongs to was not converted.
    #[error("its session was not converted")]
    NotAlone,
    /// A folder with files of its session cannot be read. Without a journal, no later run would add them to the
    /// output.
    #[error("a folder with files of it cannot be read; nothing was written")]
    NotWhole,
    /// It was generated from its session's source, and has been edited since.
    #[error("was generated from its session and has been edited since; convert it separately")]
    Derived,
    /// It was generated from a session's source, with another main file than the one beside it, or for another sub-agent.
    #[error(
        "was generated from another session, from another version of the one beside it, or for another sub-agent; convert it separately, and its session again for the right one"
    )]
    DerivedElsewhere,
    /// It was generated from its session's source, and has the name of the session, whose file has its name.
    #[error(
        "was generated for a sub-agent, and {0} is its session: exchange their names, or convert each in a folder of its own"
    )]
    Exchanged(String),
    /// It was written with a carry, and has no session any more.
    #[error(
        "is no session any more: the journal of the folder says that it was written with a carry; its source is not restored"
    )]
    Overwritten,
    /// It has several files, and is restored through the format that it was converted from last.
    #[error("comes from {0}")]
    Stepwise(&'static str),
    /// It is empty, so that nothing tells its format, and its sidecar has a session of this format.
    #[error(
        "is empty, and its sidecar has a session of {0}; name with --from the format that this was converted to"
    )]
    Nothing(&'static str),
    /// The output is the source.
    #[error("the output would overwrite its source")]
    IsSource,
    /// Sessions are not converted to this format, and the source does not come from it.
    #[error("{0} is a format that is only read; choose another one to write")]
    ReadOnly(&'static str),
    /// The target shows nothing of the source, and standard output has no sidecar.
    #[error("nothing of it shows in {0}")]
    NothingShows(&'static str),
    /// Converting the output back does not give the source.
    #[error("converting back does not give the source; nothing was written")]
    NotExact,
    /// It was converted, but not installed.
    #[error("{0}")]
    NotInstalled(#[from] NotInstalled),
    /// It has a line that cannot be read, and such inputs are not wanted.
    #[error("{0}")]
    Damage(Box<Damage>),
    /// It holds more than it may.
    #[error("{0}")]
    TooLarge(Excess),
    /// It changed after it was listed or opened; the rest of it cannot be read.
    #[error("{0}")]
    Changed(Changed),
    /// A compressed file of its session cannot be read.
    #[error("{label}: {error}")]
    Unread {
        /// What the file is called.
        label: String,
        /// Why it cannot be read.
        error: Box<ConvertError>,
    },
    /// An output could not be written.
    #[error("{0}")]
    Unwritten(Unwritten),
    /// Reading or writing failed otherwise.
    #[error("{}", system_words(.0))]
    Io(#[source] io::Error),
}

impl From<io::Error> for ConvertError {
    /// Finds the errors that readers and writers of this workspace wrap in an [`io::Error`], since
    /// [`io::Read`] and [`io::Write`] know no other. Nothing else looks into one.
    fn from(error: io::Error) -> Self {
        let known = error
            .downcast::<Damage>()
            .map(|damage| ConvertError::Damage(Box::new(damage)))
            .or_else(|error| error.downcast::<Excess>().map(ConvertError::TooLarge))
            .or_else(|error| error.downcast::<Changed>().map(ConvertError::Changed))
            .or_else(|error| error.downcast::<Unwritten>().map(ConvertError::Unwritten))
            .or_else(|error| {
                error.downcast::<Unread>().map(|Unread { label, error }| ConvertError::Unread {
                    label,
                    error: Box::new(error.into()),
                })
            });
        known.unwrap_or_else(ConvertError::Io)
    }
}

impl From<ReadError> for ConvertError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Format(error) => ConvertError::Format(error),
            ReadError::Interrupted => ConvertError::Interrupted,
            ReadError::Io(error) => error.into(),
        }
    }
}

impl ConvertError {
    /// Returns whether the input changed while it was read, so that another attempt may succeed.
    pub fn is_of_change(&self) -> bool {
        matches!(self, ConvertError::Changing | ConvertError::Changed(_))
    }

    /// Returns the damage for which an input was refused.
    pub fn damage(&self) -> Option<&Damage> {
        match self {
            ConvertError::Damage(damage) => Some(damage),
            _ => None,
        }
    }

    /// Returns the kind of the system's error, if it is one of reading or writing.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            ConvertError::Io(error) => Some(error.kind()),
            ConvertError::Unwritten(unwritten) => Some(unwritten.error.kind()),
            ConvertError::Unread { error, .. } => error.kind(),
            _ => None,
        }
    }

    /// Returns whether a call of the system failed: no such file, no permission, no space. Bytes that cannot be
    /// decoded are no such error.
    pub fn is_of_system(&self) -> bool {
        use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
        self.kind().is_some_and(|kind| !matches!(kind, InvalidData | Other | UnexpectedEof))
    }

    /// Returns whether a file system had no space for anything more.
    pub fn is_no_space(&self) -> bool {
        self.kind().is_some_and(is_no_space)
    }
}

/// The reason why a converted session was not installed.
#[derive(Debug, thiserror::Error)]
pub enum NotInstalled {
    /// The format, whose name this is, has no folder where a client would find the session: its
    /// store has no `place`.
    #[error("{0} is no client's own")]
    NoClient(&'static str),
    /// The session does not name its project.
    #[error("the session does not say which project it belongs to")]
    NoProject,
    /// The project is not an absolute path, or has control characters.
    #[error("{0}: no project folder")]
    OddProject(String),
    /// The client's folder is unknown.
    #[error("its client's folder is unknown: there is no home folder in the environment")]
    NoHome,
    /// A folder of the client is a link.
    #[error("{0} is a link; nothing is written through it")]
    Link(String),
    /// Another session has this name.
    #[error("{0} exists; a client's session is never overwritten")]
    Exists(String),
    /// The session that is there has turns that the source lacks, and the other way round.
    #[error(
        "{there} and {converted} both went on since one was converted from the other; nothing was written"
    )]
    Diverged {
        /// The path of the session that is there.
        there: String,
        /// The file that was converted now.
        converted: String,
    },
    /// Another program wrote to the session that is there, after it was compared.
    #[error("{0} was written to in the meantime; nothing was written")]
    Meanwhile(String),
    /// A folder with files of the session cannot be read.
    #[error("a folder with files of it cannot be read; nothing was installed")]
    Unread,
    /// The session has no message.
    #[error("there is no message in it to go on from")]
    Empty,
    /// The client would refuse the converted session.
    #[error("the client would not load it, line {}: {}", .0.line, .0.message)]
    NotLoaded(Box<Problem>),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storage::unwritten;

    use super::*;
    use crate::status::FileStatus;

    #[test]
    fn errors_that_pass_through_readers_and_writers_keep_their_meaning() {
        let full = || unwritten(io::ErrorKind::StorageFull.into(), Path::new("out.jsonl"));
        let long = || io::Error::other(Excess::Line(3));
        for (error, status, is_no_space) in [
            (full(), FileStatus::WriteFailed, true),
            (long(), FileStatus::TooLarge, false),
            (io::Error::other(Changed), FileStatus::Changing, false),
            (io::ErrorKind::PermissionDenied.into(), FileStatus::PermissionDenied, false),
            (
                io::Error::other(Unread { label: "a.gz".to_owned(), error: long() }),
                FileStatus::TooLarge,
                false,
            ),
        ] {
            let message = error.to_string();
            let error = ConvertError::from(error);
            assert_eq!((error.to_string(), error.is_no_space()), (message, is_no_space));
            assert_eq!(FileStatus::of_error(&error), status, "{error:?}");
        }
    }
}
