//! Converts some units of a plan and flushes them to the disk together.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use core_model::system_words;
use sessions::{SessionFiles, Stores};
use storage::{FILE_MODE, Interruption, JOURNAL, Lock, lock_shared};

use super::{
    collected::CollectedEntries,
    named,
    place::AllowedRoots,
    planned::Planned,
    receipt::{Receipt, ReceiptLine, ReceiptStatus},
    store::Store,
};
use crate::{
    config::JobConfig,
    error::ConvertError,
    file_report::{FileReport, ReportOptions},
    folder_run::{FolderRun, plan::Task},
    job::Job,
    journal::{BegunLog, Journal, JournalLine, OutputRoot},
    outputs::{Durability, RunOutputs, WriteOptions},
    paths::path_body,
    record,
    warning::Warnings,
};

/// The settings for all units of a worker.
#[derive(Debug)]
pub struct Worker {
    /// Returns what to do about an error: see [`ReportOptions::hint`].
    pub hint: Option<fn(&ConvertError) -> Option<&'static str>>,
    /// Parses the options of a unit.
    pub parse: fn(&[String]) -> Result<JobConfig, String>,
    /// The interruption that ends the work early.
    pub interruption: Interruption,
    /// The receiver of warnings.
    pub warnings: Warnings,
    /// The target format that all units must have; `None` for any.
    pub to: Option<String>,
    /// The output folders to which it may write.
    pub allowed: AllowedRoots,
    /// When files are flushed to the disk.
    pub durability: Durability,
    /// Whether existing files are overwritten.
    pub force: bool,
    /// Whether receipts contain reports on files.
    pub wants_reports: bool,
    /// The output folders and stores.
    pub roots: Mutex<HashMap<PathBuf, Arc<WorkerRoot>>>,
    /// The stores that are used.
    pub stores: Mutex<Stores>,
}

/// An output folder or store. A folder is locked, and the lock is shared with other workers.
#[derive(Debug)]
pub struct WorkerRoot {
    base: OutputRoot,
    /// The log of outputs that are about to get their names; `None` for a store.
    begun: Option<Arc<BegunLog>>,
    _lock: Option<File>,
}

/// A unit that can be converted.
struct Ready<'p> {
    planned: &'p Planned,
    unit: SessionFiles,
    /// The receipt of an earlier worker.
    earlier: Option<Vec<u8>>,
}

impl Worker {
    /// Converts units. Returns a receipt for each unit that was not left out by an interruption.
    pub fn work(&self, units: &[Planned]) -> Vec<Vec<u8>> {
        let is_alike = |one: &Planned, other: &Planned| {
            one.root == other.root && one.options == other.options && one.digest == other.digest
        };
        let receipts = units.chunk_by(is_alike).flat_map(|units| self.work_alike(units)).collect();
        self.stores().forget();
        receipts
    }

    fn stores(&self) -> MutexGuard<'_, Stores> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts units with one output folder and the same options.
    fn work_alike(&self, units: &[Planned]) -> Vec<Vec<u8>> {
        let Some(first) = units.first() else { return Vec::new() };
        let config = (self.parse)(&first.options).and_then(|config| match () {
            () if self.to.as_ref().is_some_and(|to| to != config.to.name) => {
                Err("planned for another format".into())
            }
            () if config.output_options.hash != first.digest => {
                Err("its options and their hash do not agree: plan it again".into())
            }
            () => Ok(config),
        });
        let ready = config.and_then(|config| {
            let root = self.root(&first.root, &config)?;
            Ok((config, root))
        });
        match ready {
            Ok((config, root)) => self.work_below(units, config, &root),
            Err(why) => units.iter().map(|it| Receipt::failed(it, &why).line()).collect(),
        }
    }

    fn work_below(&self, units: &[Planned], config: JobConfig, root: &WorkerRoot) -> Vec<Vec<u8>> {
        let base = &root.base;
        let store = Store::of(base.clone(), self.interruption);
        let options = config.output_options.clone();
        let (mut ready, mut receipts) = (Vec::new(), Vec::new());
        for planned in units {
            let storage = self.stores().of(config.formats, &planned.main);
            let mut warn = |warning| self.warnings.push(warning);
            match planned.unit(config.formats, storage, &mut warn) {
                Some(unit) => {
                    let earlier = store.read(&planned.id);
                    ready.push(Ready { planned, unit, earlier });
                }
                None => {
                    let why = "its files do not belong together, or are not there any more";
                    let receipt = Receipt::failed(planned, why);
                    receipts.extend(kept(&store, receipt, None));
                }
            }
        }
        let known: Vec<Vec<u8>> = ready.iter().flat_map(|it| lines_of(&it.earlier)).collect();
        let known = known.iter().map(Vec::as_slice);
        let journal = Journal::of_lines(known, root.begun.clone(), options.clone());
        let write_options = WriteOptions {
            force: self.force,
            durability: self.durability,
            compression: config.compression,
            is_dry_run: false,
            hash_sha256: true,
            interruption: self.interruption,
        };
        let outputs = Arc::new(RunOutputs::of_worker(base.clone(), journal, write_options));
        let fail_on_loss = config.fail_on_loss;
        let warnings = self.warnings.clone();
        let job = Job { config, outputs: outputs.clone(), n_scanners: 0, warnings };
        let report_options = &ReportOptions {
            hint: self.hint,
            fail_on_loss,
            is_folder: true,
            quiet: true,
            verbose: false,
            wants_objects: self.wants_reports,
            interruption: self.interruption,
        };
        let tasks: Vec<Task<'_>> = ready.iter().map(Ready::task).collect();
        let run =
            FolderRun { report_options, job: &job, tasks: &tasks, is_mirrored: true, n_jobs: 1 };
        let worked = run.run(&());
        let mut collected = CollectedEntries::of(outputs.take_collected(), options);
        for (it, files) in ready.iter().zip(worked) {
            if self.interruption.is_requested() && files.iter().any(|file| file.status.is_left()) {
                continue;
            }
            let receipt = it.receipt(files, &mut collected, outputs.full());
            receipts.extend(kept(&store, receipt, it.earlier.as_deref()));
        }
        receipts
    }

    /// Opens an output once, and locks a folder. An output of other options is written again only
    /// with `--force`.
    fn root(&self, path: &Path, config: &JobConfig) -> Result<Arc<WorkerRoot>, String> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = roots.get(path) {
            return Ok(root.clone());
        }
        self.allowed.check(path)?;
        let open = || {
            let base = OutputRoot::open(path, &mut self.stores())?;
            let Some(folder) = base.folder() else {
                return Ok(Some(WorkerRoot { base, begun: None, _lock: None }));
            };
            let journal = folder.append(OsStr::new(JOURNAL), FILE_MODE)?;
            let is_free = !matches!(lock_shared(&journal)?, Lock::Other(_));
            if let (true, Some(past)) =
                (!self.force, Journal::peek(folder, config.output_options.clone())?)
            {
                past.refuse_other_options().map_err(io::Error::other)?;
            }
            let begun = Some(Arc::new(BegunLog::below(folder.clone())));
            Ok(is_free.then_some(WorkerRoot { base, begun, _lock: Some(journal) }))
        };
        let taken = || io::Error::other("a run writes to this folder at the moment");
        let root = open().and_then(|root: Option<WorkerRoot>| root.ok_or_else(taken));
        let root = Arc::new(root.map_err(|error| named(error, path).to_string())?);
        roots.insert(path.to_owned(), root.clone());
        Ok(root)
    }
}

impl<'p> Ready<'p> {
    fn task(&self) -> Task<'_> {
        Task {
            unit: &self.unit,
            path: self.planned.out.clone(),
            is_free: !self.planned.is_taken,
            same_as: self.planned.same_as.clone(),
        }
    }

    /// Returns the receipt. Files that were not converted again keep their lines of the earlier
    /// receipt.
    fn receipt(
        &self,
        files: Vec<FileReport>,
        collected: &mut CollectedEntries,
        full: Option<&str>,
    ) -> Receipt<'p> {
        let mut sources = HashMap::new();
        for path in self.unit.files().filter_map(|input| input.absolute().ok()?) {
            let lines = collected.take(&path);
            sources.insert(path_body(&path), lines);
        }
        let mut written = Vec::new();
        for line in lines_of(&self.earlier) {
            let source = record::read(&line).and_then(|line: JournalLine<'_>| line.source());
            if source.is_some_and(|source| matches!(sources.get(&*source), Some(None))) {
                written.push(line);
            }
        }
        written.extend(sources.into_values().flatten().flatten());
        written.sort_unstable();
        let is_left = files.iter().any(|file| file.status.is_left());
        let error = full.filter(|_| is_left);
        let error = error.map(|place| format!("no space left on the file system of {place}"));
        let etag = Planned::etag(self.unit.files());
        let in_bytes = self.unit.size();
        Receipt { planned: self.planned, files, error, in_bytes, etag, written }
    }
}

/// Returns the lines of the journal in a receipt.
fn lines_of(receipt: &Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let receipt: Option<ReceiptLine<'_>> =
        receipt.as_ref().and_then(|receipt| record::read(receipt));
    let mut lines = Vec::new();
    let pushed = receipt.map_or(Ok(()), |receipt| {
        receipt.each_written(&mut |line| {
            lines.push(line.to_vec());
            Ok(())
        })
    });
    debug_assert!(pushed.is_ok(), "a vector takes all lines");
    lines
}

/// Returns whether a receipt is of a unit that was done, and whose files are unchanged.
fn is_of(receipt: &[u8], etag: &str) -> bool {
    record::read::<ReceiptLine<'_>>(receipt).is_some_and(|receipt| {
        let is_done =
            receipt.status.text().is_some_and(|word| !word.is(ReceiptStatus::Fail.name()));
        is_done && receipt.etag.text().is_some_and(|known| known.is(etag))
    })
}

/// Stores a receipt, unless it equals the earlier one. Returns its line, or the line of a failure
/// if it cannot be stored.
fn kept(store: &Store, receipt: Receipt<'_>, earlier: Option<&[u8]>) -> Option<Vec<u8>> {
    let line = receipt.line();
    let is_known = earlier.is_some_and(|earlier| is_of(earlier, &receipt.etag));
    let (id, status) = (&receipt.planned.id, receipt.status());
    if status == ReceiptStatus::Skip && is_known {
        return Some(line);
    }
    match store.write(id, &line) {
        Ok(()) => Some(line),
        Err(error) if receipt.error.is_none() => {
            let error = Some(format!("its receipt: {}", system_words(&error)));
            Some(Receipt { error, ..receipt }.line())
        }
        Err(_) => Some(line),
    }
}
