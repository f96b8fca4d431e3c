//! Deserializes values as JSON text: verbatim with serde_json, as serde_json prints them with other
//! libraries.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
    ser::SerializeStruct,
};

use super::to_raw;
use crate::{RawBuf, Style, push_string};

/// The name with which serde_json's `RawValue` asks for the text of a value.
pub(super) const TOKEN: &str = "$serde_json::private::RawValue";

/// Nesting up to which the visitor copies values, because it recurses.
const MAX_DEPTH: usize = 128;

impl<'de> Deserialize<'de> for RawBuf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::read_member::<Self, D>(deserializer)?.map_err(|_| Error::custom("not a JSON value"))
    }
}

impl Serialize for RawBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(TOKEN, 1)?;
        raw.serialize_field(TOKEN, self.as_str())?;
        raw.end()
    }
}

/// Copies a value as compact JSON.
pub(super) struct Copy<'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) depth: usize,
}

impl<'o> Copy<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, depth: 0 }
    }

    fn within(&mut self) -> Copy<'_> {
        Copy { out: self.out, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Copy<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(Error::custom("nested too deep"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copy<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.out.extend_from_slice(to_raw(&value).as_str().as_bytes());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.out.extend_from_slice(to_raw(&value).as_str().as_bytes());
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.out.extend_from_slice(to_raw(&value).as_str().as_bytes());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        push_string(self.out, value, Style::Compact);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.out.push(b'[');
        let start = self.out.len();
        loop {
            let end = self.out.len();
            if end > start {
                self.out.push(b',');
            }
            if seq.next_element_seed(self.within())?.is_none() {
                self.out.truncate(end);
                self.out.push(b']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.out.push(b'{');
        let start = self.out.len();
        while let Some(key) = map.next_key::<String>()? {
            if self.out.len() > start {
                self.out.push(b',');
            }
            push_string(self.out, &key, Style::Compact);
            self.out.push(b':');
            map.next_value_seed(self.within())?;
        }
        self.out.push(b'}');
        Ok(())
    }
}
