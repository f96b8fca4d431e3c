//! The error of a line that is not JSON: its offset and its kind.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its absolute byte offset.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct Error {
    /// The offset from the start of the input, in bytes. A byte order mark at the start counts.
    pub offset: u64,
    /// The kind of the error.
    pub kind: ErrorKind,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The line contains only white space. This is no damage: readers skip such lines.
    #[error("empty line")]
    Empty,
    /// The line is longer than [`MAX_LINE`](crate::MAX_LINE).
    #[error("line too long")]
    TooLong,
    /// The line is not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// The line ended inside a value.
    #[error("unexpected end of line")]
    UnexpectedEnd,
    /// A byte that is invalid at this position.
    #[error("unexpected byte 0x{0:02x}")]
    UnexpectedByte(u8),
    /// A control character inside a string.
    #[error("control character 0x{0:02x} in a string")]
    ControlCharacter(u8),
    /// A backslash that starts no valid escape.
    #[error("invalid escape")]
    InvalidEscape,
    /// A number that is not spelled as in JSON.
    #[error("invalid number")]
    InvalidNumber,
    /// More bytes after the value.
    #[error("trailing bytes after the value")]
    TrailingBytes,
    /// The line is valid, and has more values than its index has room for. Scanners do not return this error;
    /// see [`Value::unread`](crate::Value::unread).
    #[error("more values than are read: a long array or object is left out")]
    TooManyValues,
    /// A value of another type than the caller asked for.
    #[error("unexpected type")]
    UnexpectedType,
}
