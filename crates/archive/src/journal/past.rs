//! An index of the lines of a journal, by file and by source.
//!
//! In: lines, of which several may be of one file. Out: for each file, its last line; for each
//! source, its files, or its last failure.

use std::{
    collections::HashMap,
    io::{self, Read},
    sync::Arc,
};

use jsonl::{Scanner, Stream, Value};

use super::{
    JournalEntry, OutputOptions,
    entry::{Known, source_of},
    options::{KnownOptions, Told},
    paths::path_body,
};

/// The files and failures in a journal.
#[derive(Debug, Default)]
pub(super) struct JournalIndex {
    /// The written files, by their paths below the folder.
    known: HashMap<Arc<str>, Known>,
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
        let mut scanner = Scanner::default();
        let mut stream = Stream::new(file);
        while let Some(line) = stream.next()? {
            if !line.is_terminated() {
                break;
            }
            end = line.offset() + line.bytes().len() as u64;
            if let Ok(value) = scanner.scan(&line) {
                past.take(value, line.bytes());
            }
        }
        past.link();
        Ok((past, end))
    }

    /// Reads lines of receipts.
    pub(super) fn of_lines<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Self {
        let (mut past, mut scanner) = (Self::default(), Scanner::default());
        for line in lines {
            if let Ok(value) = scanner.scan_slice(line, 0) {
                past.take(value, line);
            }
        }
        past.link();
        past
    }

    /// Adds a line. The last one of a file wins.
    fn take(&mut self, value: Value<'_>, line: &[u8]) {
        if let Some((target, mut it)) = Known::of(value) {
            self.failures.remove(&it.source);
            if let Some(last) = self.options.last() {
                it.options.share(last);
            }
            if self.options.last() != Some(&it.options) {
                self.options.push(it.options.clone());
            }
            self.known.insert(target, it);
        } else if let Some(source) = source_of(value) {
            self.failures.insert(source, line.into());
        }
    }

    fn link(&mut self) {
        for (target, it) in &self.known {
            self.of_source.entry(it.source.clone()).or_default().push(target.clone());
        }
    }

    /// Returns the words of the options of the last files, if they differ from `options`.
    pub(super) fn other_options(&self, options: &OutputOptions) -> Option<String> {
        let told = self.options.iter().rev().map(|known| options.other(known));
        match told.into_iter().find(|told| *told != Told::Nothing)? {
            Told::Other(words) => Some(words),
            Told::Same | Told::Nothing => None,
        }
    }

    /// Returns a written file by its path below the folder, as the body of a JSON string.
    pub(super) fn of(&self, target: &str) -> Option<&Known> {
        self.known.get(target)
    }

    /// Returns the written files of a source.
    pub(super) fn of_source(&self, source: &str) -> impl Iterator<Item = &Known> {
        let targets = self.of_source.get(source).into_iter().flatten();
        targets.filter_map(|target| self.known.get(target))
    }

    /// Returns whether the last line of a source is the same failure.
    pub(super) fn has_failure(&self, record: &JournalEntry, options: &OutputOptions) -> bool {
        let last = self.failures.get(&*path_body(&record.source));
        record.written.is_none() && last.is_some_and(|line| **line == record.line(options))
    }
}
