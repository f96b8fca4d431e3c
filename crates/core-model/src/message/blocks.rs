//! Reads the blocks of an array, one at a time.
//!
//! In: `[{"type":"text","text":"a"},..]`. Out: [`Block::Text`] with the slice `"a"`, and the value
//! as written.

use jsonl::{Items, Raw, Value};

use super::{Block, KeepBlock, ReadBlock};

/// An array of blocks, read one at a time, or one block outside an array.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'l> {
    pub(super) before: Option<(Value<'l>, ReadBlock)>,
    pub(super) array: Value<'l>,
    pub(super) read: ReadBlock,
    /// Returns whether an item is a block of this content; `None` if all items are.
    pub(super) keep: Option<KeepBlock>,
    /// Another array, behind this one.
    pub(super) after: Option<(Value<'l>, ReadBlock)>,
}

impl<'l> Blocks<'l> {
    /// Returns the array as written, without the blocks of the other array. Returns the block if
    /// there is no array.
    pub fn raw(&self) -> Raw<'l> {
        self.array.raw()
    }

    /// Returns the only block, if there is exactly one.
    pub(super) fn only(&self) -> Option<(Block<'l>, Raw<'l>)> {
        let mut items = items(self.array).filter(|item| is_kept(self.keep, *item));
        let item = items.next()?;
        let is_alone = self.before.is_none() && self.after.is_none() && items.next().is_none();
        is_alone.then(|| ((self.read)(item), item.raw()))
    }
}

fn is_kept(keep: Option<KeepBlock>, item: Value<'_>) -> bool {
    keep.is_none_or(|keep| keep(item))
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
            keep: self.keep,
            after: self.after.map(|(array, read)| (items(array), read)),
        }
    }
}

/// The blocks of an array.
#[derive(Clone, Debug)]
pub struct BlockIter<'l> {
    before: Option<(Items<'l>, ReadBlock)>,
    items: Items<'l>,
    read: ReadBlock,
    keep: Option<KeepBlock>,
    after: Option<(Items<'l>, ReadBlock)>,
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
        let keep = self.keep;
        if let Some(item) = self.items.find(|item| is_kept(keep, *item)) {
            return Some(((self.read)(item), item.raw()));
        }
        let (items, read) = self.after.as_mut()?;
        items.next().map(|item| (read(item), item.raw()))
    }
}
