//! The visitor that reads a member of any type: as the type of its field, else as JSON text.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use super::{Member, member::not_json, raw::TOKEN, to_raw};
use crate::RawBuf;

/// A value that is deserialized without asking for its text first. The error is a value of another
/// type, as written.
pub(super) struct Top<T>(pub(super) Result<T, RawBuf>);

impl<'de, T: Member> Deserialize<'de> for Top<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Content { is_streamed: true, member: PhantomData })
    }
}

/// Returns the JSON that `write` appends as a value.
pub(super) fn copy<E: Error>(
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<RawBuf, E> {
    let mut out = Vec::new();
    write(&mut out)?;
    Ok(RawBuf::from_text(String::from_utf8(out).map_err(|_| not_json::<E>())?))
}

pub(super) struct Content<T> {
    /// Whether a map is an object, instead of serde_json's wrapper around the text of a value.
    is_streamed: bool,
    member: PhantomData<T>,
}

impl<T> Content<T> {
    pub(super) fn new() -> Self {
        Self { is_streamed: false, member: PhantomData }
    }
}

impl<'de, T: Member> Visitor<'de> for Content<T> {
    type Value = Top<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Top<T>, D::Error> {
        deserializer.deserialize_any(Self { is_streamed: true, ..self })
    }

    fn visit_unit<E: Error>(self) -> Result<Top<T>, E> {
        Ok(Top(T::from_raw(RawBuf::from_text("null".to_owned()))))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Top<T>, E> {
        Ok(Top(T::from_bool(value).ok_or_else(|| to_raw(&value))))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Top<T>, E> {
        Ok(Top(T::from_number(to_raw(&value))))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Top<T>, E> {
        Ok(Top(T::from_number(to_raw(&value))))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Top<T>, E> {
        Ok(Top(T::from_number(to_raw(&value))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Top<T>, E> {
        Ok(Top(T::from_text(text).ok_or_else(|| to_raw(&text))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Top<T>, A::Error> {
        T::from_seq(seq).map(Top)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<T>, A::Error> {
        if self.is_streamed {
            return T::from_map(map).map(Top);
        }
        match map.next_key::<String>()?.as_deref() {
            Some(TOKEN) => Ok(Top(T::from_raw(RawBuf::from_text(map.next_value()?)))),
            _ => Err(not_json()),
        }
    }
}
