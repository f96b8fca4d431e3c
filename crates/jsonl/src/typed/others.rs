//! Members without a field, and the order of all members.
//!
//! In: `{"new":1,"title":"A","more":2}` for a record with the field `title`. Out: `new`, the
//! position of `title`, `more`.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Member, read_member, to_raw};
use crate::RawBuf;

/// Members without a field in their order, with marks for the positions of the fields.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Others {
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Slot {
    /// The position of a field.
    Field(&'static str),
    Other(String, RawBuf),
}

impl Others {
    /// Returns the last member with a name.
    pub fn get(&self, name: &str) -> Option<&RawBuf> {
        self.iter().filter(|(key, _)| *key == name).last().map(|(_, value)| value)
    }

    /// Returns the members without a field, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawBuf)> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Other(key, value) => Some((key.as_str(), value)),
            Slot::Field(_) => None,
        })
    }

    /// Appends a member.
    pub fn push(&mut self, key: String, value: RawBuf) {
        self.slots.push(Slot::Other(key, value));
    }

    /// Removes all members with a name, and the position of a field with that name. A field that is
    /// `None` is then left out instead of written as `null`.
    pub fn remove(&mut self, name: &str) {
        self.slots.retain(|slot| match slot {
            Slot::Other(key, _) => key != name,
            Slot::Field(key) => *key != name,
        });
    }

    /// Stores a value that was read for a field. A value of another type is kept as written, and so
    /// is the earlier value of a duplicate member.
    #[doc(hidden)]
    pub fn take<T: Serialize>(&mut self, name: &'static str, read: Read<T>, field: &mut Option<T>) {
        let is_field = |slot: &Slot| matches!(slot, Slot::Field(key) if *key == name);
        // The search goes backwards, because duplicates of a field are usually close together.
        if let Some(earlier) = self.slots.iter_mut().rev().find(|slot| is_field(slot)) {
            *earlier = Slot::Other(name.to_owned(), to_raw(field));
        }
        match read {
            Read::Typed(value) => {
                *field = value;
                self.slots.push(Slot::Field(name));
            }
            Read::Other(raw) => {
                *field = None;
                self.slots.push(Slot::Other(name.to_owned(), raw));
            }
        }
    }

    /// Returns all members in order. A field has no value here.
    #[doc(hidden)]
    pub fn slots(&self) -> impl Iterator<Item = (&str, Option<&RawBuf>)> {
        self.slots.iter().map(|slot| match slot {
            Slot::Field(key) => (*key, None),
            Slot::Other(key, value) => (key.as_str(), Some(value)),
        })
    }

    /// Returns whether a field has a position.
    #[doc(hidden)]
    pub fn has_place(&self, name: &str) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Field(key) if *key == name))
    }
}

/// The value that was read for a field.
#[derive(Debug)]
pub enum Read<T> {
    /// A value of the field's type; `None` for `null`.
    Typed(Option<T>),
    /// A value of another type, as written.
    Other(RawBuf),
}

impl<'de, T: Member> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match read_member::<T, D>(deserializer)? {
            Ok(value) => Self::Typed(Some(value)),
            Err(raw) if raw.as_str() == "null" => Self::Typed(None),
            Err(raw) => Self::Other(raw),
        })
    }
}
