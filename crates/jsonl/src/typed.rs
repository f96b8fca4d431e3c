//! Decodes records into structs with serde. Known members are typed, unknown members are kept in
//! order, and numbers keep their spelling.
//!
//! In: `{"type":"result","new":1e-05,"total_cost_usd":0.50}`. Out: a struct whose `total_cost_usd`
//! is the [`Number`] `0.50` and whose [`Others`] hold `new` as `1e-05`. It serializes to the same
//! bytes.
//!
//! simd-json decodes a line first. It parses numbers to binary and unescapes strings, so its result
//! counts only if it serializes to the bytes of the line. serde_json decodes any other line, such
//! as one with `1e-05` or `\u00e9`, because it can return values as written.

mod de;
mod member;
mod number;
mod others;
mod raw;

use serde::{Deserialize, Serialize};

use self::de::Top;
pub use self::{
    member::{Item, Member, read_member},
    number::Number,
    others::{Others, Read},
};
use crate::{Error, ErrorKind, RawBuf, Result, Value};

/// Nesting up to which simd-json decodes, because its visitors recurse.
const MAX_DEPTH: u32 = 64;

/// Decodes a record. Numbers and unknown members are kept as written.
///
/// # Errors
///
/// Returns an error if the value is not an object, or one of its keys is half a surrogate pair.
pub fn decode_record<T: Member + Serialize>(value: Value<'_>) -> Result<T> {
    if let Some(record) = decode_fast(value) {
        return Ok(record);
    }
    let error = |column: usize| Error { offset: column as u64, kind: ErrorKind::UnexpectedType };
    match serde_json::from_str::<Top<T>>(value.raw().as_str()) {
        Ok(Top(Ok(record))) => Ok(record),
        Ok(Top(Err(_))) => Err(error(0)),
        Err(why) => Err(error(why.column())),
    }
}

/// Decodes a record with simd-json; `None` if the record does not serialize to the same bytes.
fn decode_fast<T: Member + Serialize>(value: Value<'_>) -> Option<T> {
    let written = value.raw().as_str();
    // Python's spelling has a space after the first colon.
    let is_spaced = written.split_once("\":").is_some_and(|(_, rest)| rest.starts_with(' '));
    if is_spaced || value.oddities().depth > MAX_DEPTH {
        return None;
    }
    let mut scratch = written.as_bytes().to_vec();
    let Top(record) = simd_json::serde::from_slice::<Top<T>>(&mut scratch).ok()?;
    let record = record.ok()?;
    scratch.clear();
    serde_json::to_writer(&mut scratch, &record).ok()?;
    (scratch == written.as_bytes()).then_some(record)
}

/// Decodes a record with serde_json only. Tests compare [`decode_record`] with it.
#[doc(hidden)]
pub fn decode_by_serde_json<'de, T: Deserialize<'de>>(written: &'de str) -> Option<T> {
    serde_json::from_str(written).ok()
}

/// Returns a record as JSON in a style.
///
/// # Errors
///
/// Returns an error if a key is not a string, which is never so for the records of this workspace.
pub fn encode_record<T: Serialize>(record: &T, style: crate::Style) -> Result<String> {
    let error = |_| Error { offset: 0, kind: ErrorKind::UnexpectedType };
    let compact = serde_json::to_string(record).map_err(error)?;
    if style == crate::Style::Compact {
        return Ok(compact);
    }
    let mut out = Vec::with_capacity(compact.len());
    crate::respell_str(&mut out, &compact, style);
    String::from_utf8(out).map_err(|_| Error { offset: 0, kind: ErrorKind::InvalidUtf8 })
}

/// Returns a value as JSON text.
pub(crate) fn to_raw<T: Serialize>(value: &T) -> RawBuf {
    // serde_json refuses only keys that are not strings, and members have none.
    RawBuf::from_text(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

/// Declares a record: a struct whose members are optional and typed, with `others` for the rest.
///
/// ```
/// jsonl::typed_record! {
///     /// The end of a run.
///     pub struct Outcome {
///         /// The cost in US dollars.
///         cost: jsonl::Number = "total_cost_usd",
///     }
/// }
/// let line = r#"{"new":[1e-05],"total_cost_usd":0.50}"#;
/// let value = jsonl::ValueBuf::new(line)?;
/// let outcome: Outcome = jsonl::decode_record(value.value())?;
/// assert_eq!(outcome.cost.as_ref().map(|cost| cost.as_str()), Some("0.50"));
/// assert_eq!(outcome.others.get("new").map(|new| new.as_str()), Some("[1e-05]"));
/// assert_eq!(jsonl::encode_record(&outcome, jsonl::Style::Compact)?, line);
/// # Ok::<(), jsonl::Error>(())
/// ```
#[macro_export]
macro_rules! typed_record {
    ($(#[$about:meta])* $visible:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $key:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visible struct $name {
            $(
                #[doc = concat!("The member `", $key, "`.")]
                $(#[$doc])*
                pub $field: ::std::option::Option<$type>,
            )*
            /// Members without a field, and members whose value is of another type, in order.
            pub others: $crate::Others,
        }

        impl $crate::Member for $name {
            const KEYS: &'static [&'static str] = &[$($key),*];

            fn from_map<'de, A: $crate::serde::de::MapAccess<'de>>(
                mut map: A,
            ) -> ::std::result::Result<::std::result::Result<Self, $crate::RawBuf>, A::Error> {
                let mut record = Self::default();
                while let Some(key) = map.next_key::<::std::string::String>()? {
                    match key.as_str() {
                        $($key => {
                            let read = map.next_value::<$crate::Read<$type>>()?;
                            record.others.take($key, read, &mut record.$field);
                        })*
                        _ => record.others.push(key, map.next_value()?),
                    }
                }
                Ok(Ok(record))
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let error = |_| $crate::serde::de::Error::custom("not an object");
                $crate::read_member::<Self, D>(deserializer)?.map_err(error)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                use $crate::serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                for (key, other) in self.others.slots() {
                    match (key, other) {
                        (key, Some(other)) => map.serialize_entry(key, other)?,
                        $(($key, None) => map.serialize_entry($key, &self.$field)?,)*
                        _ => {}
                    }
                }
                $(if self.$field.is_some() && !self.others.has_place($key) {
                    map.serialize_entry($key, &self.$field)?;
                })*
                map.end()
            }
        }
    };
}

/// Declares the records of a format: an enum with a struct for each kind. A function determines the
/// kind of a scanned value.
#[macro_export]
macro_rules! typed_records {
    ($(#[$about:meta])* pub enum $name:ident by $kind:path {
        $($(#[$doc:meta])* $variant:ident($type:ty) = $($tag:literal)|+,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[expect(clippy::large_enum_variant, reason = "one record is decoded at a time")]
        pub enum $name {
            $($(#[$doc])* $variant($type),)*
            /// A record of another kind, or one that cannot be decoded, as written.
            Other($crate::RawBuf),
        }

        impl $name {
            /// The kinds of records with a struct: the kind, the name of the struct, and the keys
            /// of its fields.
            pub const KINDS: &'static [(&'static str, &'static str, &'static [&'static str])] =
                &[$($(($tag, ::std::stringify!($type), <$type as $crate::Member>::KEYS),)+)*];

            /// Decodes a record. A record of an unknown kind is kept as written.
            pub fn decode(value: $crate::Value<'_>) -> Self {
                let kind: ::std::option::Option<::std::borrow::Cow<'_, str>> = $kind(value);
                let decoded = match kind.as_deref() {
                    $($(Some($tag))|+ => $crate::decode_record(value).map(Self::$variant),)*
                    _ => return Self::Other(value.raw().into()),
                };
                decoded.unwrap_or_else(|_| Self::Other(value.raw().into()))
            }

            /// Returns the record as a line in the spelling of a style, without a newline.
            ///
            /// # Errors
            ///
            /// Returns an error if a key is not a string, which is never so.
            pub fn encode(&self, style: $crate::Style) -> $crate::Result<String> {
                $crate::encode_record(self, style)
            }

            /// Decodes a record with serde_json only. Tests compare [`Self::decode`] with it.
            #[doc(hidden)]
            pub fn decode_by_serde_json(value: $crate::Value<'_>) -> Self {
                let kind: ::std::option::Option<::std::borrow::Cow<'_, str>> = $kind(value);
                let written = value.raw().as_str();
                let decoded = match kind.as_deref() {
                    $($(Some($tag))|+ =>
                        $crate::decode_by_serde_json(written).map(Self::$variant),)*
                    _ => None,
                };
                decoded.unwrap_or_else(|| Self::Other(value.raw().into()))
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let raw = <$crate::RawBuf as $crate::serde::Deserialize>::deserialize(deserializer)?;
                let value = $crate::ValueBuf::new(raw.as_str());
                let value = value.map_err(<D::Error as $crate::serde::de::Error>::custom)?;
                Ok(Self::decode(value.value()))
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(record) => record.serialize(serializer),)*
                    Self::Other(raw) => raw.serialize(serializer),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::{decode_fast, decode_record};
    use crate::{Item, Number, Style, ValueBuf, encode_record};

    crate::typed_record! {
        /// A record with a member of each type.
        struct Sample {
            text: String = "text",
            flag: bool = "flag",
            count: Number = "count",
            items: Vec<Item<Number>> = "items",
        }
    }

    /// Decodes and serializes a line, and returns whether simd-json decoded it.
    fn is_fast(line: &str) -> bool {
        let value = ValueBuf::new(line).expect("JSON");
        let record: Sample = decode_record(value.value()).expect("an object");
        assert_eq!(encode_record(&record, Style::Compact).as_deref(), Ok(line));
        decode_fast::<Sample>(value.value()).is_some_and(|fast| fast == record)
    }

    #[test]
    fn simd_json_decodes_what_it_can_give_back() {
        let lines = [
            r#"{"text":"é\n","flag":true,"count":12,"items":[1,0.5,-3]}"#,
            r#"{"new":{"b":[null,{}],"a":"x"},"count":0.0009,"flag":null}"#,
            r#"{"text":7,"flag":"yes","count":[],"items":{"a":1}}"#,
            r#"{"items":["x",1,null,[2]],"count":18446744073709551615}"#,
            "{}",
        ];
        for line in lines {
            assert!(is_fast(line), "{line}");
        }
    }

    #[test]
    fn serde_json_decodes_what_simd_json_would_respell() {
        let lines = [
            r#"{"count":1e-05}"#,
            r#"{"count":123456789012345678901234567890,"items":[1.50]}"#,
            r#"{"new":[1E5,"\u00e9"]}"#,
            r#"{"text":"\ud800","items":["\udfff"]}"#,
        ];
        for line in lines {
            assert!(!is_fast(line), "{line}");
        }
    }

    #[test]
    fn a_member_that_is_there_twice_is_kept_twice() {
        assert!(is_fast(r#"{"count":1,"text":"a","count":2,"count":"x"}"#));
        let value = ValueBuf::new(r#"{"count":1,"count":2}"#).expect("JSON");
        let record: Sample = decode_record(value.value()).expect("an object");
        assert_eq!(record.count, Some(Number::from(2)));
        assert_eq!(record.others.get("count").map(|first| first.as_str()), Some("1"));
    }

    #[test]
    fn a_changed_record_keeps_the_order_of_its_members() {
        let line = r#"{"new":[1e-05],"count":1,"text":null}"#;
        let value = ValueBuf::new(line).expect("JSON");
        let mut record: Sample = decode_record(value.value()).expect("an object");
        record.count = Some(Number::from(2));
        record.flag = Some(false);
        record.others.remove("text");
        let expected = r#"{"new":[1e-05],"count":2,"flag":false}"#;
        assert_eq!(encode_record(&record, Style::Compact).as_deref(), Ok(expected));
    }

    #[test]
    fn deep_values_are_kept_as_they_are_written() {
        for n_levels in [60, 100, 5_000] {
            let deep = format!("{}{}", "[".repeat(n_levels), "]".repeat(n_levels));
            is_fast(&format!(r#"{{"new":{deep},"count":{deep},"items":[{deep}]}}"#));
        }
    }
}
