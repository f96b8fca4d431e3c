//! Finds older versions of outputs, `NAME.bak`, that runs kept beside the new ones.
//!
//! In: `out/a.jsonl.bak`, beside `out/a.jsonl`, which is in `out/.convert-journal.jsonl`. Out: it is a kept copy. A
//! user's own `a.jsonl.bak`, whose folder has no journal or whose `a.jsonl` is not in it, is none.

use std::{
    collections::HashMap,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use storage::{JOURNAL, newer_version};

use super::index::JournalIndex;
use crate::paths::path_body;

/// The journals of folders with kept copies, each read once.
#[derive(Debug, Default)]
pub struct KeptCopies {
    journals: HashMap<PathBuf, Option<Arc<JournalIndex>>>,
}

impl KeptCopies {
    /// Returns whether the file at a path is an older version of an output that is beside it. The output is in the
    /// journal of its folder, or of the nearest folder above it that has one.
    pub fn has(&mut self, path: &Path) -> bool {
        let Some(newer) = newer_version(path) else { return false };
        let is_there = fs::symlink_metadata(&newer).is_ok_and(|metadata| metadata.is_file());
        let Some(newer) = is_there.then(|| std::path::absolute(&newer).ok()).flatten() else {
            return false;
        };
        for folder in newer.ancestors().skip(1) {
            if let (Some(journal), Ok(below)) = (self.journal(folder), newer.strip_prefix(folder)) {
                return journal.of(&path_body(below)).is_some();
            }
        }
        false
    }

    /// Returns the journal of a folder; `None` if it has none that can be read.
    fn journal(&mut self, folder: &Path) -> Option<Arc<JournalIndex>> {
        if let Some(journal) = self.journals.get(folder) {
            return journal.clone();
        }
        let file = File::open(folder.join(JOURNAL)).ok();
        let read = file.and_then(|file| JournalIndex::read(file).ok());
        let journal = read.map(|(index, _)| Arc::new(index));
        self.journals.insert(folder.to_owned(), journal.clone());
        journal
    }
}
