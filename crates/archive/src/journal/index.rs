//! An index of the lines of a journal, by file and by source.
//!
//! In: lines, of which several may be of one file. Out: for each file, its last line; for each
//! source, its files, or its last failure.

use std::{
    collections::HashMap,
    io::{self, Read},
    sync::Arc,
};

use jsonl::Stream;

use super::{
    JournalEntry, OutputOptions,
    entry::{BegunFile, JournalLine, JournaledFile},
    options::{KnownOptions, OptionsDifference},
};
use crate::{paths::path_body, record};

/// The files and failures in a journal.
#[derive(Debug, Default)]
pub(super) struct JournalIndex {
    /// The written files, by their paths below the folder.
    known: HashMap<Arc<str>, JournaledFile>,
    /// The files that were about to get their names when a run ended, by their paths below the folder. Several runs
    /// may have ended so.
    begun: HashMap<Arc<str>, Vec<BegunFile>>,
    /// The files of each source.
    of_source: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// The last line of each source, if it failed.
    failures: HashMap<Arc<str>, Box<[u8]>>,
    /// The options of the files, one entry for each change.
    options: Vec<KnownOptions>,
}

impl JournalIndex {
    /// Reads a journal. Also returns the end of its last whole line.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read.
    pub(super) fn read(file: impl Read) -> io::Result<(Self, u64)> {
        let (mut past, mut end) = (Self::default(), 0);
        let mut stream = Stream::new(file);
        while let Some(line) = stream.next()? {
            if !line.is_terminated() {
                break;
            }
            end = line.offset() + line.bytes().len() as u64;
            past.take(line.bytes());
        }
        past.link();
        Ok((past, end))
    }

    /// Reads lines of receipts.
    pub(super) fn of_lines<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Self {
        let mut past = Self::default();
        for line in lines {
            past.take(line);
        }
        past.link();
        past
    }

    /// Adds a line, if it is JSON. The last one of a file wins.
    fn take(&mut self, line: &[u8]) {
        let Some(record) = record::read::<JournalLine<'_>>(line) else { return };
        if let Some((target, mut it)) = BegunFile::of(&record) {
            self.add_options(&mut it.options);
            self.begun.entry(target).or_default().push(it);
        } else if let Some((target, mut it)) = JournaledFile::of(&record) {
            self.begun.remove(&target);
            self.failures.remove(&it.source);
            self.add_options(&mut it.options);
            self.known.insert(target, it);
        } else if let Some(source) = record.source() {
            self.failures.insert(source, line.into());
        }
    }

    fn add_options(&mut self, options: &mut KnownOptions) {
        if let Some(last) = self.options.last() {
            options.share(last);
        }
        if self.options.last() != Some(options) {
            self.options.push(options.clone());
        }
    }

    fn link(&mut self) {
        for (target, it) in &self.known {
            self.of_source.entry(it.source.clone()).or_default().push(target.clone());
        }
    }

    /// Returns the words of the options of the last files, if they differ from `options`.
    pub(super) fn other_options(&self, options: &OutputOptions) -> Option<String> {
        let found = self.options.iter().rev().map(|known| options.other(known));
        match found.into_iter().find(|found| *found != OptionsDifference::Unknown)? {
            OptionsDifference::Other(words) => Some(words),
            OptionsDifference::Same | OptionsDifference::Unknown => None,
        }
    }

    /// Returns a written file by its path below the folder, as the body of a JSON string.
    pub(super) fn of(&self, target: &str) -> Option<&JournaledFile> {
        self.known.get(target)
    }

    /// Returns the files that were about to get a name, by their path as for [`JournalIndex::of`].
    pub(super) fn begun(&self, target: &str) -> &[BegunFile] {
        self.begun.get(target).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the written files of a source.
    pub(super) fn of_source(&self, source: &str) -> impl Iterator<Item = &JournaledFile> {
        let targets = self.of_source.get(source).into_iter().flatten();
        targets.filter_map(|target| self.known.get(target))
    }

    /// Returns whether the last line of a source is the same failure.
    pub(super) fn has_failure(&self, record: &JournalEntry, options: &OutputOptions) -> bool {
        let last = self.failures.get(&*path_body(&record.source));
        record.written.is_none() && last.is_some_and(|line| **line == record.line(options))
    }
}
