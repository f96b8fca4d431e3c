//! Errors as exceptions, with the text that the program prints.
//!
//! In: an error of reading `a.jsonl`. Out: `Error("a.jsonl: not a session in a known format; ..")`, or a
//! `FileNotFoundError` if the system says so.

use std::io;

use archive::ConvertError;
use convert::{convert_message, io_message, read_message};
use pyo3::{PyErr, create_exception, exceptions::PyException};
use sessions::ReadError;

create_exception!(
    session_convert,
    Error,
    PyException,
    "A session that cannot be read, converted or checked, with the text that the program prints."
);

/// Returns the exception for an error of the system, or of a library that wraps one.
pub(crate) fn of_io(label: &str, error: &io::Error) -> PyErr {
    exception(error.kind(), labeled(label, &io_message(error)))
}

/// Returns the exception for an error of reading an input.
pub(crate) fn of_read(label: &str, error: &ReadError) -> PyErr {
    let message = labeled(label, &read_message(error));
    match error {
        ReadError::Io(error) => exception(error.kind(), message),
        _ => Error::new_err(message),
    }
}

/// Returns the exception for an error of converting an input.
pub(crate) fn of_convert(label: &str, error: &ConvertError) -> PyErr {
    let message = labeled(label, &convert_message(error));
    match error {
        ConvertError::Io(error) => exception(error.kind(), message),
        ConvertError::Exists(_) => exception(io::ErrorKind::AlreadyExists, message),
        _ => Error::new_err(message),
    }
}

fn labeled(label: &str, message: &str) -> String {
    if label.is_empty() { message.to_owned() } else { format!("{label}: {message}") }
}

/// Returns the exception of Python that has this kind; `Error` if it has none.
fn exception(kind: io::ErrorKind, message: String) -> PyErr {
    use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    match kind {
        AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied => {
            io::Error::new(kind, message).into()
        }
        _ => Error::new_err(message),
    }
}
