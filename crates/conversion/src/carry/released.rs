//! The released items of a reorder buffer, in the order of the source.
//!
//! In: a restored record, and two written records whose source record lacks a part. Out: the restored record, and the
//! two written records as items to convert, the first one with the skeletons.

use std::collections::VecDeque;

use super::{
    parts::{PartLine, PartLines},
    restore::Item,
};

/// The released items.
#[derive(Debug, Default)]
pub(super) struct ReleasedItems {
    items: VecDeque<Released>,
    n_items: usize,
}

/// A released item, or several.
#[derive(Debug)]
enum Released {
    Item(Item),
    /// Written records that are converted, because a part of their source record is missing or edited. They may wait
    /// in a file. The first one gets the skeletons.
    Lines(PartLines, Vec<Vec<u8>>),
}

impl ReleasedItems {
    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        self.n_items
    }

    /// Frees the memory if there are no items.
    pub(super) fn free(&mut self) {
        if self.items.is_empty() {
            self.items = VecDeque::new();
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.n_items += 1;
        self.items.push_back(Released::Item(item));
    }

    /// Adds written records that are converted. Nothing is kept of a source record without one: a forged carry may have
    /// parts of many.
    pub(super) fn push_lines(&mut self, lines: PartLines, skeletons: Vec<Vec<u8>>) {
        if lines.is_empty() {
            return;
        }
        self.n_items += lines.len();
        self.items.push_back(Released::Lines(lines, skeletons));
    }

    /// Removes and returns the first item; `None` without one, or if its file cannot be read.
    pub(super) fn pop(&mut self) -> Option<Item> {
        self.n_items = self.n_items.saturating_sub(1);
        loop {
            match self.items.front_mut()? {
                Released::Lines(lines, skeletons) => {
                    if let Some(PartLine { line, offset, .. }) = lines.pop() {
                        let skeletons = Some(std::mem::take(skeletons));
                        return Some(Item::Converted {
                            line,
                            offset,
                            number: 0,
                            skeletons,
                            is_doubled: false,
                        });
                    }
                    self.items.pop_front();
                }
                Released::Item(_) => match self.items.pop_front() {
                    Some(Released::Item(item)) => return Some(item),
                    _ => return None,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_no_record_shows_take_no_memory() {
        let mut released = ReleasedItems::default();
        released.push_lines(PartLines::default(), vec![Vec::new()]);
        assert!(released.items.is_empty() && released.len() == 0);
        assert!(released.pop().is_none());
    }
}
