//! What the lines of a journal say of earlier runs.

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

/// What the lines of a journal say of earlier runs.
#[derive(Debug, Default)]
pub(super) struct JournalIndex {
    /// What is known of the files that were written.
    known: HashMap<Arc<str>, Known>,
    /// What each source became.
    of_source: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// The line of each source of which nothing was written at last.
    failures: HashMap<Arc<str>, Box<[u8]>>,
    /// By which options files were written, each time that these changed.
    options: Vec<KnownOptions>,
}

impl JournalIndex {
    /// Reads a journal, and returns where its last whole line ends, too.
    ///
    /// # Errors
    ///
    /// Those of reading it.
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

    /// Takes the lines of receipts.
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

    /// Takes a line; the last one of a file counts.
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

    /// Returns the words of the options by which files were written last, if they are others.
    pub(super) fn other_options(&self, options: &OutputOptions) -> Option<String> {
        let told = self.options.iter().rev().map(|known| options.other(known));
        match told.into_iter().find(|told| *told != Told::Nothing)? {
            Told::Other(words) => Some(words),
            Told::Same | Told::Nothing => None,
        }
    }

    /// Returns what is known of a file that was written, by its path below the folder, as the body
    /// of a JSON string.
    pub(super) fn of(&self, target: &str) -> Option<&Known> {
        self.known.get(target)
    }

    /// Returns what is known of all that a source became.
    pub(super) fn of_source(&self, source: &str) -> impl Iterator<Item = &Known> {
        let targets = self.of_source.get(source).into_iter().flatten();
        targets.filter_map(|target| self.known.get(target))
    }

    /// Returns whether the last that was told of a source is the same failure.
    pub(super) fn has_failure(&self, record: &JournalEntry, options: &OutputOptions) -> bool {
        let last = self.failures.get(&*path_body(&record.source));
        record.written.is_none() && last.is_some_and(|line| **line == record.line(options))
    }
}
