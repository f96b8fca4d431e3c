//! Finds the sidecars that a journal lists: the files that a run wrote with a sidecar.
//!
//! In: a journal with lines of `a.jsonl`, `a.jsonl.carry` and `b.jsonl`. Out: `a.jsonl` was written with a sidecar.

use std::{
    collections::HashMap,
    hash::Hasher,
    io::{self, Read},
    path::Path,
};

use jsonl::Stream;
use storage::{SIDECAR, beside};
use twox_hash::XxHash3_64;

use super::{
    entry::{JournalLine, JournaledFile},
    options::KnownOptions,
};
use crate::{paths::path_body, record};

/// The files of a journal, each with the source and the options of its last line. They are hashed, because a
/// folder may have very many.
#[derive(Debug, Default)]
pub(crate) struct JournaledSidecars {
    origins: HashMap<u64, u64>,
}

impl JournaledSidecars {
    /// Reads a journal.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read.
    pub(crate) fn read(file: impl Read) -> io::Result<Self> {
        let (mut stream, mut origins) = (Stream::new(file), HashMap::new());
        while let Some(line) = stream.next()?.filter(|line| line.is_terminated()) {
            let record = record::read::<JournalLine<'_>>(line.bytes());
            let file = record.as_ref().and_then(JournaledFile::of);
            if let Some((target, JournaledFile { source, options, .. })) = file {
                let words = match &options {
                    KnownOptions::Words(words, _) => words,
                    KnownOptions::Hash(_) => "",
                };
                origins.insert(hash(&[&target]), hash(&[&source, words]));
            }
        }
        Ok(Self { origins })
    }

    /// Returns whether the last run that wrote a file, by its path below the folder, wrote its sidecar too.
    pub(crate) fn has(&self, below: &Path) -> bool {
        let origin = |path: &Path| self.origins.get(&hash(&[&path_body(path)]));
        let file = origin(below);
        file.is_some() && file == origin(&beside(below, SIDECAR))
    }
}

fn hash(texts: &[&str]) -> u64 {
    let mut hasher = XxHash3_64::new();
    for text in texts {
        hasher.write(text.as_bytes());
        hasher.write(b"\0");
    }
    hasher.finish()
}
