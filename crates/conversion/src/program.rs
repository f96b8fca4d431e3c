//! The call for programs: converts a session in memory, whatever its format.
//!
//! In: the bytes of a session in any format of a table. Out: the session in another format.

use std::io::{self, Cursor};

use core_model::{Format, Formats};

use crate::{
    detect::Detected,
    pipeline::{Conversion, Converted, detect, engine::CarryMode, source::Source},
};

/// Converts a session in memory to a format of the table, with an inline carry. The format of the source
/// is detected. A session that was converted from the target format is restored, byte for byte.
///
/// ```
/// use conversion::convert;
/// use core_model::Formats;
///
/// static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
///
/// let session = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
/// let converted = convert(FORMATS, session, &format_clido::FORMAT)?.bytes;
/// let restored = convert(FORMATS, &converted, &format_claude_code::FORMAT)?.bytes;
/// assert_eq!(restored, session);
/// # Ok::<(), conversion::NotConverted>(())
/// ```
///
/// # Errors
///
/// Returns an error if the format of the source is unknown or ambiguous. To name the format, call
/// [`Conversion::convert`].
pub fn convert(
    formats: Formats,
    source: &[u8],
    to: &'static Format,
) -> Result<Converted, NotConverted> {
    let from = match detect(formats, &mut Source::new(Cursor::new(source)))? {
        Detected::Format(format) => format,
        // Nothing becomes nothing.
        Detected::Empty => to,
        Detected::Foreign(name) | Detected::Archive(name) => {
            return Err(NotConverted::Foreign(name));
        }
        Detected::Ambiguous(one, other) => {
            return Err(NotConverted::Ambiguous(one.name, other.name));
        }
        Detected::Unknown => return Err(NotConverted::Unknown),
    };
    let (carry, options) = (CarryMode::Inline, Default::default());
    Ok(Conversion { formats, from, to, carry, options }.convert(source, None)?)
}

/// The reason why bytes were not converted.
#[derive(Debug, thiserror::Error)]
pub enum NotConverted {
    /// A format that is recognized and not supported.
    #[error("{0}, which is not supported")]
    Foreign(&'static str),
    /// Two formats of the table recognize it.
    #[error("may be {0} or {1}; convert it from one of them by name")]
    Ambiguous(&'static str, &'static str),
    /// No format of the table recognizes it.
    #[error("not a session in a known format")]
    Unknown,
    /// A temporary file cannot be written. Only records that are moved over more than 8 MiB need one.
    #[error("{}", core_model::system_words(.0))]
    Io(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    static FORMATS: Formats =
        Formats::new(&[&format_claude_code::FORMAT, &format_sdk_stream::WIRE]);

    #[test]
    fn other_bytes_are_refused_and_nothing_becomes_nothing() {
        let to = &format_claude_code::FORMAT;
        let refused = |bytes: &[u8]| convert(FORMATS, bytes, to).map(|converted| converted.bytes);
        assert!(matches!(refused(b"{\"a\":1}\n"), Err(NotConverted::Unknown)));
        assert!(matches!(refused(b"\x1f\x8b\x08"), Err(NotConverted::Foreign("a gzip file"))));
        assert_eq!(refused(b"\n").ok(), Some(b"\n".to_vec()));
    }
}
