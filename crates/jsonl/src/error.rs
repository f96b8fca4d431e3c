//! One error: where a line stops being JSON, and why.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with the absolute byte offset at which it was noticed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct Error {
    /// The offset from the start of the input, in bytes.
    pub offset: u64,
    /// What was wrong there.
    pub kind: ErrorKind,
}

/// What was wrong with a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The line holds nothing but spaces.
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
    /// A byte that no JSON value has at this place.
    #[error("unexpected byte 0x{0:02x}")]
    UnexpectedByte(u8),
    /// A control character inside a string.
    #[error("control character 0x{0:02x} in a string")]
    ControlCharacter(u8),
    /// A backslash followed by something that is no escape.
    #[error("invalid escape")]
    InvalidEscape,
    /// A number that JSON does not spell like this.
    #[error("invalid number")]
    InvalidNumber,
    /// More bytes after the value.
    #[error("trailing bytes after the value")]
    TrailingBytes,
    /// A value that does not have the type that was asked for.
    #[error("unexpected type")]
    UnexpectedType,
}
