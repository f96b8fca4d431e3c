//! The members of a record that have no field, and the order of all members.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Member, read_member, to_raw};
use crate::RawBuf;

/// The members that a record has no field for, in their order, between the places of those that it
/// has fields for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Others {
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Slot {
    /// The place of a field.
    Field(&'static str),
    Other(String, RawBuf),
}

impl Others {
    /// Returns the last member of a name.
    pub fn get(&self, name: &str) -> Option<&RawBuf> {
        self.iter().filter(|(key, _)| *key == name).last().map(|(_, value)| value)
    }

    /// Returns the members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawBuf)> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Other(key, value) => Some((key.as_str(), value)),
            Slot::Field(_) => None,
        })
    }

    /// Adds a member behind all others.
    pub fn push(&mut self, key: String, value: RawBuf) {
        self.slots.push(Slot::Other(key, value));
    }

    /// Removes all members of a name. It also forgets the place of a field: one that is `None` then
    /// is left out, and no longer written as `null`.
    pub fn remove(&mut self, name: &str) {
        self.slots.retain(|slot| match slot {
            Slot::Other(key, _) => key != name,
            Slot::Field(key) => *key != name,
        });
    }

    /// Takes what was read for a field. A value of another type is kept as it is written, and so is
    /// the earlier value of a member that is there twice.
    #[doc(hidden)]
    pub fn take<T: Serialize>(&mut self, name: &'static str, read: Read<T>, field: &mut Option<T>) {
        let is_field = |slot: &Slot| matches!(slot, Slot::Field(key) if *key == name);
        // Fields are few, so one that is there again is not far: the search is short.
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

    /// Returns the members in their order; those that are fields without a value.
    #[doc(hidden)]
    pub fn slots(&self) -> impl Iterator<Item = (&str, Option<&RawBuf>)> {
        self.slots.iter().map(|slot| match slot {
            Slot::Field(key) => (*key, None),
            Slot::Other(key, value) => (key.as_str(), Some(value)),
        })
    }

    /// Returns whether a field has a place.
    #[doc(hidden)]
    pub fn has_place(&self, name: &str) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Field(key) if *key == name))
    }
}

/// What was read for a field: a value of its type or `null`, or another value.
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
