//! The types of fields. A value of another type is not lost: it is returned as written.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

use super::{
    de::{Content, Top, copy},
    raw::{Copy, TOKEN},
};
use crate::RawBuf;

/// The type of a field. The inner error of its functions is a value of another type, as written.
#[doc(hidden)]
pub trait Member: Sized {
    /// The keys of the fields, if the type is a record.
    const KEYS: &'static [&'static str] = &[];

    fn from_raw(raw: RawBuf) -> Result<Self, RawBuf> {
        from_raw(raw)
    }

    fn from_text(_text: &str) -> Option<Self> {
        None
    }

    fn from_bool(_value: bool) -> Option<Self> {
        None
    }

    fn from_number(number: RawBuf) -> Result<Self, RawBuf> {
        Err(number)
    }

    fn from_seq<'de, A: SeqAccess<'de>>(seq: A) -> Result<Result<Self, RawBuf>, A::Error> {
        copy(|out| Copy::new(out).visit_seq(seq)).map(Err)
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Result<Self, RawBuf>, A::Error> {
        copy(|out| Copy::new(out).visit_map(map)).map(Err)
    }
}

/// Deserializes a member. The inner error is a value of another type, as written.
#[doc(hidden)]
pub fn read_member<'de, T: Member, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<T, RawBuf>, D::Error> {
    let Top(read) = deserializer.deserialize_newtype_struct(TOKEN, Content::new())?;
    Ok(read)
}

/// Reads a member from its JSON text, which serde_json provides for each value.
fn from_raw<T: Member>(raw: RawBuf) -> Result<T, RawBuf> {
    match raw.as_str().as_bytes().first() {
        Some(b'"') => {
            let text = raw.as_text().filter(|text| !text.has_lone_surrogate());
            text.and_then(|text| T::from_text(&text.decode())).ok_or(raw)
        }
        Some(b't') => T::from_bool(true).ok_or(raw),
        Some(b'f') => T::from_bool(false).ok_or(raw),
        Some(b'-' | b'0'..=b'9') => T::from_number(raw),
        Some(b'{' | b'[') => match serde_json::from_str::<Top<T>>(raw.as_str()) {
            Ok(Top(Ok(value))) => Ok(value),
            _ => Err(raw),
        },
        _ => Err(raw),
    }
}

impl Member for RawBuf {
    fn from_raw(raw: RawBuf) -> Result<Self, RawBuf> {
        Ok(raw)
    }

    fn from_text(text: &str) -> Option<Self> {
        Some(super::to_raw(&text))
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(super::to_raw(&value))
    }

    fn from_number(number: RawBuf) -> Result<Self, RawBuf> {
        Ok(number)
    }

    fn from_seq<'de, A: SeqAccess<'de>>(seq: A) -> Result<Result<Self, RawBuf>, A::Error> {
        copy(|out| Copy::new(out).visit_seq(seq)).map(Ok)
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Result<Self, RawBuf>, A::Error> {
        copy(|out| Copy::new(out).visit_map(map)).map(Ok)
    }
}

impl Member for String {
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl Member for bool {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl<T: Member> Member for Vec<Item<T>> {
    fn from_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Result<Self, RawBuf>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Ok(items))
    }
}

/// An item of an array: of the array's type, or another value as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<T> {
    /// An item of the array's type.
    Typed(T),
    /// Any other value.
    Other(RawBuf),
}

impl<T> Item<T> {
    /// Returns the item; `None` if it is not of the array's type.
    pub fn typed(&self) -> Option<&T> {
        match self {
            Item::Typed(item) => Some(item),
            Item::Other(_) => None,
        }
    }
}

impl<'de, T: Member> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(read_member(deserializer)?.map_or_else(Item::Other, Item::Typed))
    }
}

impl<T: Serialize> Serialize for Item<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Item::Typed(item) => item.serialize(serializer),
            Item::Other(raw) => raw.serialize(serializer),
        }
    }
}

/// Returns the error for a value that is not JSON.
pub(super) fn not_json<E: Error>() -> E {
    E::custom("not a JSON value")
}
