//! Adds the option that helps to an error of the libraries.
//!
//! In: `a line has more than 9 bytes`. Out: `a line has more than 9 bytes; --max-line allows longer
//! ones`.

use std::io;

use archive::{ConvertError, NotInstalled};
use core_model::system_words;
use sessions::{ReadError, UnknownFormat, Unread};
use storage::Excess;

/// Returns what to do about a file that was not converted.
pub(crate) fn convert_hint(error: &ConvertError) -> Option<&'static str> {
    match error {
        ConvertError::Format(error) => format_hint(*error),
        ConvertError::Exists(_) => Some("--force overwrites it and keeps it as .bak"),
        ConvertError::NotWhole => Some(
            "make it readable, or write to a folder with -o FOLDER/: there, the same command adds the files later",
        ),
        ConvertError::NothingShows(_) => Some("with -o it is kept in a sidecar"),
        ConvertError::NotInstalled(NotInstalled::NoClient(_)) => {
            Some("--install has nowhere to put it")
        }
        ConvertError::NotInstalled(NotInstalled::NoProject) => Some("--install=PROJECT does"),
        ConvertError::NotInstalled(NotInstalled::OddProject(_)) => {
            Some("--install=PROJECT names another")
        }
        ConvertError::TooLarge(excess) => Some(excess_hint(excess)),
        ConvertError::Unread { error, .. } => convert_hint(error),
        ConvertError::Io(error) => io_hint(error),
        _ => None,
    }
}

/// Returns the message of an error of converting or exporting a file.
pub fn convert_message(error: &ConvertError) -> String {
    with_hint(error.to_string(), convert_hint(error))
}

/// Returns the message of an error of reading a file.
pub fn read_message(error: &ReadError) -> String {
    let hint = match error {
        ReadError::Format(error) => format_hint(*error),
        ReadError::Io(error) => io_hint(error),
        ReadError::Interrupted => None,
    };
    with_hint(error.to_string(), hint)
}

/// Returns the message of an error of the system, or of one that a library wraps in it.
pub fn io_message(error: &io::Error) -> String {
    with_hint(system_words(error), io_hint(error))
}

fn with_hint(message: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    }
}

fn format_hint(error: UnknownFormat) -> Option<&'static str> {
    match error {
        UnknownFormat::Archive(name) if name.ends_with("archive") => {
            Some("extract it, and name the folder with its sessions")
        }
        UnknownFormat::Archive(_) => Some("expand it first"),
        UnknownFormat::Foreign(_) => None,
        UnknownFormat::Unknown => Some("if it is one, name its format with --from"),
        UnknownFormat::Ambiguous(..) => Some("choose one with --from"),
    }
}

fn excess_hint(excess: &Excess) -> &'static str {
    match excess {
        Excess::Line(_) => "--max-line allows longer ones",
        Excess::Expanded(_) => "--max-expanded allows more",
    }
}

/// Finds the errors that libraries wrap in an [`io::Error`].
fn io_hint(error: &io::Error) -> Option<&'static str> {
    let inner = error.get_ref()?;
    if let Some(excess) = inner.downcast_ref::<Excess>() {
        return Some(excess_hint(excess));
    }
    if let Some(error) = inner.downcast_ref::<UnknownFormat>() {
        return format_hint(*error);
    }
    if let Some(error) = inner.downcast_ref::<ReadError>() {
        return match error {
            ReadError::Format(error) => format_hint(*error),
            ReadError::Io(error) => io_hint(error),
            ReadError::Interrupted => None,
        };
    }
    if let Some(error) = inner.downcast_ref::<ConvertError>() {
        return convert_hint(error);
    }
    inner.downcast_ref::<Unread>().and_then(|unread| io_hint(&unread.error))
}
