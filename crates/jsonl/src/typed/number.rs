//! A number that keeps its spelling.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::Member;
use crate::{Raw, RawBuf};

/// A JSON number as written: `0.50` stays `0.50`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Number(RawBuf);

impl Number {
    /// Returns the number as written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the number; `None` if it is not an integer from 0 to 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        Raw::from_scanned(self.as_str()).as_u64()
    }

    /// Returns the nearest `f64`; `None` if the number is out of its range.
    pub fn as_f64(&self) -> Option<f64> {
        Raw::from_scanned(self.as_str()).as_f64()
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(RawBuf::from_text(number.to_string()))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Member for Number {
    fn from_number(number: RawBuf) -> Result<Self, RawBuf> {
        Ok(Self(number))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::read_member::<Self, D>(deserializer)?.map_err(|_| Error::custom("not a number"))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
