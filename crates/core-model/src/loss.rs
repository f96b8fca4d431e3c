//! What a conversion does not say, says with less structure, or makes up.

/// How a mapping is not exact.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LossKind {
    /// The target does not show it.
    Dropped,
    /// The target shows it with less structure.
    Flattened,
    /// The target states what the source did not.
    Invented,
}

impl LossKind {
    /// Returns the word for it.
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
pub struct Place {
    /// The number of the line, from 1.
    pub line: u64,
    /// The offset of its first byte.
    pub offset: u64,
}

/// How often something was lost, and where first.
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
#[derive(Clone, Debug, Default)]
pub struct Losses {
    entries: Vec<Entry>,
    /// Where the next loss is expected: lines of a kind lose the same things in the same order.
    next: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: LossKind,
    field: &'static str,
    loss: Loss,
}

impl Losses {
    /// The number of places that are remembered for each kind and field.
    pub const MAX_PLACES: usize = 3;

    /// Counts a loss at a source line.
    #[inline]
    pub fn add(&mut self, kind: LossKind, field: &'static str, place: Place) {
        match self.entries.get_mut(self.next) {
            // Nearly always it is the same constant: no byte of it is looked at.
            Some(entry) if entry.kind == kind && std::ptr::eq(entry.field, field) => {
                entry.loss.add(place);
                self.next += 1;
            }
            _ => self.add_elsewhere(kind, field, place),
        }
    }

    #[inline(never)]
    fn add_elsewhere(&mut self, kind: LossKind, field: &'static str, place: Place) {
        let is_it = |entry: &Entry| entry.kind == kind && entry.field == field;
        let at = self.entries.iter().position(is_it).unwrap_or(self.entries.len());
        if at == self.entries.len() {
            self.entries.push(Entry { kind, field, loss: Loss::default() });
        }
        if let Some(entry) = self.entries.get_mut(at) {
            entry.loss.add(place);
        }
        self.next = at + 1;
    }

    /// Adds the losses of another file.
    pub fn absorb(&mut self, other: &Losses) {
        for (kind, field, loss) in other.iter() {
            let is_it = |entry: &&mut Entry| entry.kind == kind && entry.field == field;
            match self.entries.iter_mut().find(is_it) {
                Some(entry) => {
                    entry.loss.count += loss.count;
                    let room = Self::MAX_PLACES.saturating_sub(entry.loss.places.len());
                    entry.loss.places.extend(loss.places.iter().take(room));
                }
                None => self.entries.push(Entry { kind, field, loss: loss.clone() }),
            }
        }
    }

    /// Returns the losses by kind, then field.
    pub fn iter(&self) -> impl Iterator<Item = (LossKind, &'static str, &Loss)> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.kind, entry.field));
        entries.into_iter().map(|entry| (entry.kind, entry.field, &entry.loss))
    }

    /// Returns whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
