//! An index of the lines of a journal, by file and by source.
//!
//! In: lines, of which several may be of one file. Out: for each file, its last line; for each
//! source, its files, or its last failure.

use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use jsonl::Stream;
use storage::Replace;

use super::{
    JournalEntry, OutputOptions, OutputRoot,
    entry::{BegunFile, Candidate, JournalLine, JournaledFile},
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
        let mut past = Self::default();
        let end = past.take_lines(file)?;
        past.link();
        Ok((past, end))
    }

    /// Adds the lines of a file, without links from sources to their files. Returns the end of its last whole line.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(super) fn take_lines(&mut self, file: impl Read) -> io::Result<u64> {
        let (mut stream, mut end) = (Stream::new(file), 0);
        while let Some(line) = stream.next()?.filter(|line| line.is_terminated()) {
            end = line.offset() + line.bytes().len() as u64;
            self.take(line.bytes());
        }
        Ok(end)
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

    /// Returns whether a line says that exactly this file was about to get its name.
    pub(super) fn has_begun(&self, record: &JournalEntry, options: &OutputOptions) -> bool {
        // Most journals have no such files.
        if self.begun.is_empty() {
            return false;
        }
        let Some(written) = &record.written else { return false };
        let line = || record::read(&record.begun_line(options)?).and_then(|it| BegunFile::of(&it));
        let begun = self.begun(&path_body(&written.below));
        !begun.is_empty() && line().is_some_and(|(_, new)| begun.contains(&new))
    }

    /// Returns whether an earlier run wrote a file, or was about to, by its path below the folder.
    pub(super) fn has_written(&self, below: &Path) -> bool {
        let target = path_body(below);
        self.of(&target).is_some() || !self.begun(&target).is_empty()
    }

    /// Returns the rule for replacing the file at `below`, if it is unchanged and was written from the same source as
    /// `new`, perhaps by a run that was killed before it had a line; otherwise `None`.
    pub(super) fn own(
        &self,
        base: &OutputRoot,
        below: &Path,
        new: &JournalEntry,
    ) -> Option<Replace> {
        own_of(&self.candidates(below, new), base, below, new)
    }

    /// Returns the files that were written, or were about to be, at `below` from the same source as `new`: the written
    /// file, then the begun ones, the last one first.
    pub(super) fn candidates(&self, below: &Path, new: &JournalEntry) -> Vec<Candidate> {
        let (target, source) = (path_body(below), path_body(&new.source));
        let known = self.of(&target).filter(|it| *it.source == *source);
        let begun = self.begun(&target).iter().rev().filter(|it| *it.source == *source);
        let known = known.map(|it| (it.size, &it.content)).into_iter();
        known
            .chain(begun.map(|it| (it.size, &it.content)))
            .map(|(size, content)| Candidate { size, content: content.clone() })
            .collect()
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

/// Returns the rule for replacing the file at `below` by `new`; `None` if it is none of these files, or was edited since.
pub(super) fn own_of(
    candidates: &[Candidate],
    base: &OutputRoot,
    below: &Path,
    new: &JournalEntry,
) -> Option<Replace> {
    let known = candidates.iter().find(|it| it.content.is_there(base, below).is_some())?;
    // As for `Journal::output_state`: only the older output has the removed records.
    Some(if new.stat.length < known.size { Replace::KeepEach } else { Replace::Own })
}
