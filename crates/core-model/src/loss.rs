//! Counts the losses of a conversion: content that is dropped, flattened, or invented.
//!
//! In: 40 lines with a member `slug` that the target has no place for. Out: `dropped slug`, 40
//! times, with the places of the first three.

use std::{borrow::Cow, fmt, hash::BuildHasher};

use crate::{
    ids::ByHash,
    members::{Shape, shortened},
};

/// The kind of an inexact mapping.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LossKind {
    /// The target does not have the content.
    Dropped,
    /// The target has the content with less structure.
    Flattened,
    /// The target states a value that the source does not have.
    Invented,
}

impl LossKind {
    /// Returns the name of the kind for reports.
    pub fn name(self) -> &'static str {
        match self {
            LossKind::Dropped => "dropped",
            LossKind::Flattened => "flattened",
            LossKind::Invented => "invented",
        }
    }
}

/// A source line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// The number of the line, from 1.
    pub line: u64,
    /// The bytes from the start of the file to its first byte; of a compressed file, after decompression.
    pub offset: u64,
}

/// The number of losses of one kind and field, and the first places.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Loss {
    /// The number of times.
    pub count: u64,
    /// The first source lines, at most [`Losses::MAX_PLACES`].
    pub places: Vec<Place>,
}

impl Loss {
    #[inline]
    fn add(&mut self, place: Place) {
        self.count += 1;
        if self.places.len() < Losses::MAX_PLACES {
            self.places.push(place);
        }
    }
}

/// Counts of losses by kind and field.
#[derive(Clone, Default)]
pub struct Losses {
    entries: Vec<Entry>,
    /// The entry where the next loss is expected. Lines of a kind have the same losses in the same
    /// order.
    next: usize,
    /// The last entry of each of 64 groups of constants. Where lines of several kinds alternate, the expected entry is
    /// often another one, and a search for it compares names: 600 instructions a line.
    recent: Recent,
    /// The entries of the members that records of a shape lose, by the hash of the shape.
    shapes: ByHash<Box<[u32]>>,
    /// The last shape in the map.
    last_shape: u64,
    /// Its entries.
    last_entries: Vec<u32>,
    /// The entries whose names come from records, by the hash of the kind of loss and the name.
    names: ByHash<u32>,
}

impl fmt::Debug for Losses {
    /// Prints the counts without the caches, so that two runs print the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The place of an entry for each group of constants.
#[derive(Clone)]
struct Recent([u16; 64]);

impl Default for Recent {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Recent {
    /// Returns the group of a kind and a name, by the name's address.
    fn group(kind: LossKind, field: &'static str) -> usize {
        let address = (field.as_ptr().addr() as u64).wrapping_add(kind as u64);
        // The upper six bits of the product depend on all bits of the address.
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
    }
}

#[derive(Clone, Debug)]
struct Entry {
    kind: LossKind,
    /// The name, if it is a constant; empty for a name that comes from a record.
    field: &'static str,
    /// The name, if it comes from a record.
    name: Box<str>,
    loss: Loss,
}

impl Entry {
    fn name(&self) -> &str {
        if self.name.is_empty() { self.field } else { &self.name }
    }
}

impl Losses {
    /// Number of places that are kept for each kind and field.
    pub const MAX_PLACES: usize = 3;

    /// Limit of names from records, because a file can contain any number of them.
    pub const MAX_NAMES: usize = 500;

    /// Number of shapes of records that are cached.
    const MAX_SHAPES: usize = 4096;

    /// Number of members up to which a shape is cached.
    const MAX_MEMBERS: usize = 100;

    /// Counts a loss at a source line.
    #[inline]
    pub fn add(&mut self, kind: LossKind, field: &'static str, place: Place) {
        match self.entries.get_mut(self.next) {
            // It is nearly always the same constant, so no byte is compared.
            Some(entry) if entry.kind == kind && std::ptr::eq(entry.field, field) => {
                entry.loss.add(place);
                self.next += 1;
            }
            _ => self.add_elsewhere(kind, field, place),
        }
    }

    #[inline(never)]
    fn add_elsewhere(&mut self, kind: LossKind, field: &'static str, place: Place) {
        let group = Recent::group(kind, field);
        let at = self.recent.0.get(group).map_or(0, |at| usize::from(*at));
        if let Some(entry) = self.entries.get_mut(at)
            && entry.kind == kind
            && std::ptr::eq(entry.field, field)
        {
            entry.loss.add(place);
            self.next = at + 1;
            return;
        }
        let at = self.position(kind, field).unwrap_or(self.entries.len());
        if let (Some(recent), Ok(at)) = (self.recent.0.get_mut(group), u16::try_from(at)) {
            *recent = at;
        }
        if at == self.entries.len() {
            self.push(Entry { kind, field, name: Box::default(), loss: Loss::default() });
        }
        if let Some(entry) = self.entries.get_mut(at) {
            entry.field = field;
            entry.loss.add(place);
        }
        self.next = at + 1;
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.is_empty() {
            // Most files have some 20 entries.
            self.entries.reserve(32);
        }
        self.entries.push(entry);
    }

    fn position(&self, kind: LossKind, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.kind == kind && entry.name() == name)
    }

    /// Counts a loss under a name that comes from a record.
    pub fn add_named(&mut self, kind: LossKind, name: &str, place: Place) {
        let at = self.named(kind, name);
        if let Some(entry) = self.entries.get_mut(at) {
            entry.loss.add(place);
        }
    }

    /// Returns the entry of a name from a record, and creates it if needed. Beyond
    /// [`Losses::MAX_NAMES`] names, all others share one entry.
    fn named(&mut self, kind: LossKind, name: &str) -> usize {
        const OTHERS: &str = "other members";
        let name = shortened(name);
        let name = if name.is_empty() { "\"\"" } else { name };
        let hash = self.names.hasher().hash_one((kind as u8, name));
        if let Some(at) = self.names.get(&hash).map(|at| *at as usize)
            && let Some(entry) = self.entries.get(at)
            && entry.kind == kind
            && entry.name() == name
        {
            return at;
        }
        let name = if self.names.len() < Self::MAX_NAMES { name } else { OTHERS };
        let at = self.position(kind, name).unwrap_or(self.entries.len());
        if at == self.entries.len() {
            self.push(Entry { kind, field: "", name: name.into(), loss: Loss::default() });
        }
        if let (true, Ok(at)) = (name != OTHERS, u32::try_from(at)) {
            self.names.insert(hash, at);
        }
        at
    }

    /// Counts the lost members of a record of a shape. `list` calls a function with their names; it
    /// is called only for the first record of a shape.
    #[inline]
    pub(crate) fn add_shape(
        &mut self,
        shape: Shape,
        place: Place,
        list: impl FnOnce(&mut dyn FnMut(&str)),
    ) {
        if shape.hash() != self.last_shape {
            self.look_up(shape, list);
        }
        for at in &self.last_entries {
            if let Some(entry) = self.entries.get_mut(*at as usize) {
                entry.loss.add(place);
            }
        }
    }

    #[inline(never)]
    fn look_up(&mut self, shape: Shape, list: impl FnOnce(&mut dyn FnMut(&str))) {
        self.last_shape = shape.hash();
        self.last_entries.clear();
        if let Some(known) = self.shapes.get(&shape.hash()) {
            return self.last_entries.extend_from_slice(known);
        }
        let mut entries = std::mem::take(&mut self.last_entries);
        list(&mut |name| {
            entries.extend(u32::try_from(self.named(LossKind::Dropped, name)));
        });
        if self.shapes.len() < Self::MAX_SHAPES && entries.len() <= Self::MAX_MEMBERS {
            self.shapes.insert(shape.hash(), entries.as_slice().into());
        }
        self.last_entries = entries;
    }

    /// Frees the caches and the room for further entries, which only counting needs. A session may have tens of
    /// thousands of sub-agents, each with its losses.
    pub fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        for entry in &mut self.entries {
            entry.loss.places.shrink_to_fit();
        }
        (self.shapes, self.last_shape, self.last_entries) = Default::default();
    }

    /// Adds the losses of another file.
    pub fn absorb(&mut self, other: &Losses) {
        for entry in &other.entries {
            let at = match self.position(entry.kind, entry.name()) {
                Some(at) => at,
                None if !entry.name.is_empty() => self.named(entry.kind, &entry.name),
                None => {
                    self.entries.push(Entry { loss: Loss::default(), ..entry.clone() });
                    self.entries.len() - 1
                }
            };
            if let Some(mine) = self.entries.get_mut(at) {
                mine.loss.count += entry.loss.count;
                let room = Self::MAX_PLACES.saturating_sub(mine.loss.places.len());
                mine.loss.places.extend(entry.loss.places.iter().take(room));
            }
        }
    }

    /// Returns the losses by kind, then field.
    pub fn iter(&self) -> impl Iterator<Item = (LossKind, &str, &Loss)> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.kind, entry.name()));
        entries.into_iter().map(|entry| (entry.kind, entry.name(), &entry.loss))
    }

    /// Returns the names with their counts. Constant names are not copied.
    pub fn counts(&self) -> impl Iterator<Item = (LossKind, Cow<'static, str>, u64)> {
        self.entries.iter().map(|entry| {
            let name = match entry.name.is_empty() {
                true => Cow::Borrowed(entry.field),
                false => Cow::Owned(entry.name.to_string()),
            };
            (entry.kind, name, entry.loss.count)
        })
    }

    /// Returns the number of losses of all kinds and fields.
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|entry| entry.loss.count).sum()
    }

    /// Returns whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { line: 1, offset: 0 };

    fn counted(losses: &Losses) -> Vec<(String, u64)> {
        losses.iter().map(|(_, name, loss)| (name.to_owned(), loss.count)).collect()
    }

    fn shape(name: &str) -> Shape {
        let mut shape = Shape::default();
        shape.add_name(name.as_bytes());
        shape
    }

    #[test]
    fn names_of_records_and_names_of_the_program_share_entries() {
        let mut losses = Losses::default();
        losses.add_named(LossKind::Dropped, "usage", PLACE);
        losses.add(LossKind::Dropped, "usage", PLACE);
        losses.add(LossKind::Dropped, "model", PLACE);
        losses.add_named(LossKind::Dropped, "model", PLACE);
        losses.add_named(LossKind::Flattened, "model", PLACE);
        let mut other = Losses::default();
        other.absorb(&losses);
        other.absorb(&losses);
        assert_eq!(losses.total(), 5);
        let expected = [("model", 2), ("usage", 2), ("model", 1)];
        assert_eq!(counted(&losses), expected.map(|(name, n)| (name.to_owned(), n)));
        assert_eq!(counted(&other), expected.map(|(name, n)| (name.to_owned(), n * 2)));
    }

    #[test]
    fn members_are_listed_once_for_each_shape_and_counted_each_time() {
        let mut losses = Losses::default();
        let mut n_lists = 0;
        for name in ["slug", "slug", "todos", "slug"] {
            losses.add_shape(shape(name), PLACE, |found| {
                n_lists += 1;
                found(name);
                found("effort");
            });
        }
        assert_eq!(n_lists, 2);
        let expected = [("effort", 4), ("slug", 3), ("todos", 1)];
        assert_eq!(counted(&losses), expected.map(|(name, n)| (name.to_owned(), n)));
    }

    #[test]
    fn names_that_a_stranger_makes_up_take_bounded_room() {
        let mut losses = Losses::default();
        for n in 0..10_000 {
            let name = format!("member{n}");
            losses.add_shape(shape(&name), PLACE, |found| found(&name));
            losses.add_named(LossKind::Flattened, &name, PLACE);
        }
        assert!(losses.entries.len() <= Losses::MAX_NAMES + 2, "{}", losses.entries.len());
        assert!(losses.shapes.len() <= Losses::MAX_SHAPES);
        assert_eq!(counted(&losses).iter().map(|(_, n)| n).sum::<u64>(), 20_000);
    }
}
