//! Finds the files with a carry that a journal lists, and the sidecars among their carries.
//!
//! In: a journal with lines of `a.jsonl`, `a.jsonl.carry` and `b.jsonl`. Out: `a.jsonl` was written with a sidecar, and
//! each file whose line has `"carries"` was written with as many carries.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hasher,
    io::{self, Read},
    path::{Path, PathBuf},
};

use jsonl::Stream;
use storage::{Compression, SIDECAR, beside};
use twox_hash::XxHash3_64;

use super::{
    entry::{JournalLine, JournaledFile},
    options::KnownOptions,
};
use crate::{paths::path_body, record};

/// The files of a journal, each with the source and the options of its last line. They are hashed, because a
/// folder may have very many.
#[derive(Debug, Default)]
pub(crate) struct JournaledCarries {
    origins: HashMap<u64, u64>,
    /// The size and the XXH3 of each file.
    contents: HashMap<u64, (u64, u64)>,
    /// The files with carries.
    carriers: HashMap<u64, Carrier>,
    /// The options of the last line.
    options: u64,
}

/// A file with carries.
#[derive(Clone, Copy, Debug)]
struct Carrier {
    /// The format.
    to: u64,
    options: u64,
}

/// A file with carries that is gone.
#[derive(Debug)]
pub(crate) struct GoneFile {
    /// Its path below the folder.
    pub(crate) below: PathBuf,
    /// Its size in bytes.
    pub(crate) length: u64,
    /// The XXH3 of its bytes.
    pub(crate) hash: u64,
}

impl JournaledCarries {
    /// Reads a journal.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read.
    pub(crate) fn read(file: impl Read) -> io::Result<Self> {
        let mut found = Self::default();
        each_file(file, &mut |target, file| {
            let words = words_of(&file);
            let (target, options) = (hash(&[target]), hash(&[words]));
            found.origins.insert(target, hash(&[&file.source, words]));
            found.options = options;
            found.contents.insert(target, (file.content.length, file.content.hash));
            match file.carries {
                0 => found.carriers.remove(&target),
                _ => found.carriers.insert(target, Carrier { to: hash(&[to_of(words)]), options }),
            };
        })?;
        Ok(found)
    }

    /// Returns whether the last run that wrote a file, by its path below the folder, wrote its sidecar too.
    pub(crate) fn has(&self, below: &Path) -> bool {
        let origin = |path: &Path| self.origins.get(&hash(&[&path_body(path)]));
        let file = origin(below);
        file.is_some() && file == origin(&beside(below, SIDECAR))
    }

    /// Returns the size and the XXH3 of a file, by its path below the folder; `None` if no line lists it.
    pub(crate) fn content(&self, below: &Path) -> Option<(u64, u64)> {
        self.contents.get(&hash(&[&path_body(below)])).copied()
    }

    /// Returns whether a file, by its path below the folder, was written with carries and in another format than `to`.
    /// Another program may have compressed or expanded it.
    pub(crate) fn has_carries(&self, below: &Path, to: &str) -> bool {
        let mut carriers = names_of(below)
            .into_iter()
            .filter_map(|name| self.carriers.get(&hash(&[&path_body(&name)])));
        carriers.any(|carrier| carrier.to != hash(&[to]))
    }

    /// Returns the files with carries, in another format than `to`, that are gone from a folder, by its journal. A run
    /// with other options removes files, so that only files with the options of the last line count.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read.
    pub(crate) fn gone(
        &self,
        file: impl Read,
        folder: &Path,
        to: &str,
    ) -> io::Result<Vec<GoneFile>> {
        let (mut gone, to) = (BTreeMap::new(), hash(&[to]));
        each_file(file, &mut |target, file| {
            let carrier = self.carriers.get(&hash(&[target]));
            let is_asked = carrier.is_some_and(|it| it.to != to && it.options == self.options);
            let is_there = |name: &PathBuf| folder.join(name).symlink_metadata().is_ok();
            if is_asked && !names_of(&file.below).iter().any(is_there) {
                gone.insert(file.below, (file.content.length, file.content.hash));
            }
        })?;
        let file = |(below, (length, hash))| GoneFile { below, length, hash };
        Ok(gone.into_iter().map(file).collect())
    }
}

/// Calls `each` with the path and the members of each written file in a journal.
fn each_file(file: impl Read, each: &mut dyn FnMut(&str, JournaledFile)) -> io::Result<()> {
    let mut stream = Stream::new(file);
    while let Some(line) = stream.next()?.filter(|line| line.is_terminated()) {
        let record = record::read::<JournalLine<'_>>(line.bytes());
        if let Some((target, file)) = record.as_ref().and_then(JournaledFile::of) {
            each(&target, file);
        }
    }
    Ok(())
}

/// Returns the names that a file may have after another program compressed or expanded it, the own one first.
fn names_of(path: &Path) -> Vec<PathBuf> {
    let bare = Compression::bare_path(path);
    let packed = Compression::ENDINGS.map(|ending| beside(&bare, ending));
    [path.to_owned(), bare].into_iter().chain(packed).collect()
}

/// Returns the options of a file, as words; version 0.1.0 wrote none.
fn words_of(file: &JournaledFile) -> &str {
    match &file.options {
        KnownOptions::Words(words, _) => words,
        KnownOptions::Hash(_) => "",
    }
}

/// Returns the format in the words of the options.
fn to_of(words: &str) -> &str {
    let mut words = words.split(' ').skip_while(|word| *word != "--to");
    words.nth(1).unwrap_or_default()
}

fn hash(texts: &[&str]) -> u64 {
    let mut hasher = XxHash3_64::new();
    for text in texts {
        hasher.write(text.as_bytes());
        hasher.write(b"\0");
    }
    hasher.finish()
}
