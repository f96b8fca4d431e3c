//! Words that are kept once each, under small numbers.
//!
//! In: `"opus"`, `"haiku"`, `"opus"`. Out: 1, 2, 1.

use crate::{ByHash, IdHasher};

/// A set of words, each with a number from 1 on; 0 means no word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    words: Vec<String>,
    numbers: ByHash<u32>,
    hasher: IdHasher,
}

impl Words {
    /// Returns the number of a word, and adds the word if it is new.
    pub(crate) fn number(&mut self, word: &str) -> u32 {
        let words = &mut self.words;
        *self.numbers.entry(self.hasher.hash(word)).or_insert_with(|| {
            words.push(word.to_owned());
            words.len() as u32
        })
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the word with a number; `None` for 0.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        self.words.get(number.checked_sub(1)? as usize).map(String::as_str)
    }
}
