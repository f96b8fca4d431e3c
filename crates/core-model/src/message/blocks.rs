//! Reads the blocks of an array, one at a time.
//!
//! In: `[{"type":"text","text":"a"},..]`. Out: [`Block::Text`] with the slice `"a"`, and the value
//! as written.

use jsonl::{Items, Raw, Value};

use super::{Block, ReadBlock};

/// An array of blocks, read one at a time, or one block outside an array.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'l> {
    pub(super) before: Option<(Value<'l>, ReadBlock)>,
    pub(super) array: Value<'l>,
    pub(super) read: ReadBlock,
}

impl<'l> Blocks<'l> {
    /// Returns the array as written, without the blocks of the other array. Returns the block if
    /// there is no array.
    pub fn raw(&self) -> Raw<'l> {
        self.array.raw()
    }

    /// Returns the only block, if there is exactly one.
    pub(super) fn only(&self) -> Option<(Block<'l>, Raw<'l>)> {
        let mut items = items(self.array);
        let item = items.next()?;
        let is_alone = self.before.is_none() && items.next().is_none();
        is_alone.then(|| ((self.read)(item), item.raw()))
    }
}

/// Returns the blocks of an array. Another value is the only block.
fn items(array: Value<'_>) -> Items<'_> {
    if array.is_array() { array.items() } else { array.alone() }
}

impl<'l> IntoIterator for Blocks<'l> {
    type Item = (Block<'l>, Raw<'l>);
    type IntoIter = BlockIter<'l>;

    fn into_iter(self) -> BlockIter<'l> {
        BlockIter {
            before: self.before.map(|(array, read)| (items(array), read)),
            items: items(self.array),
            read: self.read,
        }
    }
}

/// The blocks of an array.
#[derive(Clone, Debug)]
pub struct BlockIter<'l> {
    before: Option<(Items<'l>, ReadBlock)>,
    items: Items<'l>,
    read: ReadBlock,
}

impl<'l> Iterator for BlockIter<'l> {
    type Item = (Block<'l>, Raw<'l>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((items, read)) = &mut self.before {
            if let Some(item) = items.next() {
                return Some((read(item), item.raw()));
            }
            self.before = None;
        }
        self.items.next().map(|item| ((self.read)(item), item.raw()))
    }
}
