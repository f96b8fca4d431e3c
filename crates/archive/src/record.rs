//! The JSON of this crate's own records: lines of the journal, units, receipts, and reports.
//!
//! In: a struct with a path that is not UTF-8. Out: `{"src":"/a\udcff"}`, without blanks. A record
//! that people may print on a terminal is written in ASCII. A path is a string of its own spelling,
//! so it is copied as it is written. Members of a read record may be missing, or of another type.

use std::{fmt::Write as _, io, path::Path};

use jsonl::{Style, Text, push_string};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::{
    ser::{CompactFormatter, Formatter},
    value::RawValue,
};

use crate::paths::{is_harmful, path_body};

/// Writes a record as UTF-8.
pub(crate) fn write_utf8(record: &impl Serialize) -> Vec<u8> {
    write(record, CompactFormatter)
}

/// Writes a report as UTF-8. Characters that a terminal would obey or hide are escapes: people look at reports.
pub(crate) fn write_report(record: &impl Serialize) -> Vec<u8> {
    write(record, ReportFormatter)
}

/// Writes a record as ASCII.
pub(crate) fn write_ascii(record: &impl Serialize) -> Vec<u8> {
    write(record, AsciiFormatter)
}

fn write(record: &impl Serialize, formatter: impl Formatter) -> Vec<u8> {
    // Most lines of the journal fit.
    let mut out = Vec::with_capacity(1024);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    record.serialize(&mut serializer).expect("keys of records are strings, bodies are of strings");
    out
}

/// Adds the end of a line.
pub(crate) fn line(mut record: Vec<u8>) -> Vec<u8> {
    record.push(b'\n');
    record
}

/// Reads a record; `None` if the line is not JSON. A value that is not an object has no members.
pub(crate) fn read<'l, T: Default + Deserialize<'l>>(line: &'l [u8]) -> Option<T> {
    let text = str::from_utf8(line).ok()?.trim_ascii_start();
    if text.starts_with('{') {
        return serde_json::from_str(text).ok();
    }
    serde_json::from_str(text).ok().map(|_: de::IgnoredAny| T::default())
}

/// Returns the JSON value of a line, to copy it.
pub(crate) fn raw(line: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice(line).ok()
}

/// Writes all that is not ASCII as escapes.
struct AsciiFormatter;

impl Formatter for AsciiFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut quoted = Vec::with_capacity(fragment.len() + 2);
        push_string(&mut quoted, fragment, Style::Python);
        writer.write_all(quoted.get(1..quoted.len() - 1).unwrap_or_default())
    }
}

/// Writes characters that a terminal would obey or hide as escapes.
struct ReportFormatter;

impl Formatter for ReportFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, char)) = rest.char_indices().find(|(_, char)| is_harmful(*char)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            for unit in char.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after.strip_prefix(char).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// The body of a JSON string, which is written as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<B>(pub(crate) B);

impl Body<Box<str>> {
    /// Creates the body of a path.
    pub(crate) fn path(path: &Path) -> Self {
        Self(path_body(path))
    }
}

impl<B: AsRef<str>> Serialize for Body<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = RawValue::from_string(format!("\"{}\"", self.0.as_ref()));
        text.map_err(ser::Error::custom)?.serialize(serializer)
    }
}

/// A hash, as 16 digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash(pub(crate) u64);

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

/// A member that is read if it has the expected type.
#[derive(Debug)]
pub(crate) struct Member<T>(pub(crate) Option<T>);

impl<T> Default for Member<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Member<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(value.get()).ok()))
    }
}

/// A string as it is written, which may have halves of surrogate pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'l>(pub(crate) Text<'l>);

impl<'l, 'de: 'l> Deserialize<'de> for Written<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?;
        Text::new(value.get()).map(Self).ok_or_else(|| de::Error::custom("not a string"))
    }
}

impl<'l> Member<Written<'l>> {
    /// Returns the string.
    pub(crate) fn text(&self) -> Option<Text<'l>> {
        self.0.map(|written| written.0)
    }

    /// Returns the body of the string, as it is written.
    pub(crate) fn body(&self) -> Option<&'l str> {
        self.text().map(|text| text.body())
    }

    /// Returns the meaning of the string.
    pub(crate) fn decoded(&self) -> Option<String> {
        self.text().map(|text| text.decode().into_owned())
    }

    /// Returns the number that the string has in hexadecimal.
    pub(crate) fn hash(&self) -> Option<u64> {
        u64::from_str_radix(self.body()?, 16).ok()
    }
}

impl<'l> Member<Vec<Member<Written<'l>>>> {
    /// Returns the strings of an array. Other items are ignored.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Text<'l>> {
        self.0.iter().flatten().filter_map(Member::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize, Serialize)]
    #[serde(default)]
    struct Pair {
        one: String,
        #[serde(skip_serializing)]
        two: Member<u64>,
    }

    #[test]
    fn both_spellings_are_those_of_jsonl() {
        let one: String = (0..0x2100).filter_map(char::from_u32).chain(['\u{1f389}']).collect();
        let spelled = |style| {
            let mut out = b"{\"one\":".to_vec();
            push_string(&mut out, &one, style);
            out.push(b'}');
            out
        };
        let pair = Pair { one: one.clone(), two: Member(None) };
        assert_eq!(write_utf8(&pair), spelled(Style::Compact));
        assert_eq!(write_ascii(&pair), spelled(Style::Python));
        let report = String::from_utf8(write_report(&pair)).expect("UTF-8");
        assert!(!report.contains(is_harmful) && report.contains("\\u009b"), "{report}");
        assert_eq!(serde_json::from_str::<Pair>(&report).expect("JSON").one, one);
        let pair = Pair { one: "a\u{e0041}\u{202e}é".to_owned(), two: Member(None) };
        assert_eq!(write_report(&pair), r#"{"one":"a\udb40\udc41\u202eé"}"#.as_bytes());
    }

    #[test]
    fn members_may_be_missing_or_odd() {
        let two = |line: &str| read::<Pair>(line.as_bytes()).map(|pair| pair.two.0);
        assert_eq!(two(" {\"two\":7,\"more\":[{}]}\n"), Some(Some(7)));
        for odd in ["{}", "{\"two\":\"7\"}", "{\"two\":null}", "{\"two\":-1}", "[\"\",7]", "7"] {
            assert_eq!(two(odd), Some(None), "{odd}");
        }
        for bad in ["", "{", "{\"two\":7} x", "{\"two\":7,}"] {
            assert_eq!(two(bad), None, "{bad}");
        }
        assert!(read::<Pair>(b"{\"other\":\"\xff\"}").is_none());
    }
}
