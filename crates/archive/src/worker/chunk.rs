//! Converts some units of a plan and flushes them to the disk together.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jsonl::Scanner;
use sessions::{SessionFiles, Stores};
use storage::{FILE_MODE, Interruption, JOURNAL, Lock, lock_shared};

use super::{
    join::joined,
    named,
    planned::Planned,
    receipt::{Receipt, ReceiptStatus},
    store::Store,
    told::Told,
};
use crate::{
    config::JobConfig,
    file_report::{FileEnd, ReportOptions},
    folder_run::{FolderRun, SessionReport, plan::Task},
    job::Job,
    journal::{Base, Journal, paths::path_body, source_of},
    outputs::{Durability, Outputs, WriteOptions},
    warning::Warnings,
};

/// The settings for all units of a worker.
#[derive(Debug)]
pub struct Worker {
    /// Parses the options of a unit.
    pub parse: fn(&[String]) -> Result<JobConfig, String>,
    /// The interruption that ends the work early.
    pub interruption: Interruption,
    /// The receiver of warnings.
    pub warnings: Warnings,
    /// The target format that all units must have; `None` for any.
    pub to: Option<String>,
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
    base: Base,
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
            one.root == other.root
                && one.options == other.options
                && one.digest == other.digest
                && one.piece.is_some() == other.piece.is_some()
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
            Ok((config, root)) => self.work_below(units, config, &root.base),
            Err(why) => units.iter().map(|it| Receipt::failed(it, &why).line()).collect(),
        }
    }

    fn work_below(&self, units: &[Planned], config: JobConfig, base: &Base) -> Vec<Vec<u8>> {
        let store = Store::of(base.clone(), self.interruption);
        let options = config.output_options.clone();
        let (mut ready, mut receipts) = (Vec::new(), Vec::new());
        for planned in units {
            if let Some(receipt) = joined(planned, &store, base, &options) {
                receipts.push(receipt);
                continue;
            }
            let storage = self.stores().of(&planned.main);
            let mut warn = |warning| self.warnings.push(warning);
            match planned.unit(config.formats, storage, &mut warn) {
                Some(unit) => {
                    ready.push(Ready { planned, unit, earlier: store.read(&planned.id) });
                }
                None => {
                    let why = "its files do not belong together, or are not there any more";
                    let receipt = Receipt::failed(planned, why);
                    receipts.extend(kept(&store, receipt, None));
                }
            }
        }
        let known: Vec<Vec<u8>> = ready.iter().flat_map(|it| lines_of(&it.earlier)).collect();
        let journal = Journal::of_lines(known.iter().map(Vec::as_slice), options.clone());
        let write_options = WriteOptions {
            force: self.force,
            durability: self.durability,
            compression: config.compression,
            is_dry_run: false,
            hash_sha256: true,
            interruption: self.interruption,
        };
        let outputs = Arc::new(Outputs::of_worker(base.clone(), journal, write_options));
        let fail_on_loss = config.fail_on_loss;
        let warnings = self.warnings.clone();
        let mut job = Job { config, outputs: outputs.clone(), n_scanners: 0, warnings };
        if units.iter().any(|it| it.piece.is_some()) {
            // Pieces are made only of files in the target's own format.
            job.config.from = Some(job.config.to);
        }
        let report_options = &ReportOptions {
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
        let mut told = Told::of(outputs.take_told(), options, base.path());
        for (it, worked) in ready.iter().zip(worked) {
            if self.interruption.is_requested()
                && worked.files.iter().any(|file| file.end == FileEnd::Left)
            {
                continue;
            }
            let receipt = it.receipt(worked, &mut told, outputs.full());
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
        let open = || {
            let base = Base::open(path, &mut self.stores())?;
            let Some(folder) = base.folder() else {
                return Ok(Some(WorkerRoot { base, _lock: None }));
            };
            let journal = folder.append(OsStr::new(JOURNAL), FILE_MODE)?;
            let is_free = !matches!(lock_shared(&journal)?, Lock::Other(_));
            if let (true, Some(past)) =
                (!self.force, Journal::peek(folder, config.output_options.clone())?)
            {
                past.refuse_other_options().map_err(io::Error::other)?;
            }
            Ok(is_free.then_some(WorkerRoot { base, _lock: Some(journal) }))
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
    fn receipt(&self, worked: SessionReport, told: &mut Told, full: Option<&str>) -> Receipt<'p> {
        let mut sources = HashMap::new();
        for path in self.unit.files().filter_map(|input| input.absolute().ok()?) {
            let lines = told.take(&path, &self.planned.out);
            sources.insert(path_body(&path), lines);
        }
        let mut written = Vec::new();
        for line in lines_of(&self.earlier) {
            let source = Scanner::default().scan_slice(&line, 0).ok().and_then(source_of);
            if source.is_some_and(|source| matches!(sources.get(&*source), Some(None))) {
                written.push(line);
            }
        }
        written.extend(sources.into_values().flatten().flatten());
        written.sort_unstable();
        let is_left = worked.files.iter().any(|file| file.end == FileEnd::Left);
        let error = full.filter(|_| is_left);
        let error = error.map(|place| format!("no space left on the file system of {place}"));
        let etag = Planned::etag(self.unit.files());
        let in_bytes = self.unit.size();
        Receipt { planned: self.planned, worked, error, in_bytes, etag, written }
    }
}

/// Returns the lines of the journal in a receipt.
pub(super) fn lines_of(receipt: &Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut scanner = Scanner::default();
    let value = receipt.as_ref().and_then(|receipt| scanner.scan_slice(receipt, 0).ok());
    let written = value.and_then(|value| value.get("written")).map(|it| it.items());
    let lines = written.into_iter().flatten();
    lines.map(|line| line.raw().as_str().as_bytes().to_vec()).collect()
}

/// Returns whether a receipt is of a unit that was done, and whose files are unchanged.
pub(super) fn is_of(receipt: &[u8], etag: &str) -> bool {
    let mut scanner = Scanner::default();
    let value = scanner.scan_slice(receipt, 0).ok();
    let text = |name| value.and_then(|value| value.get(name)?.text());
    let is_done = text("status").is_some_and(|status| !status.is(ReceiptStatus::Fail.name()));
    is_done && text("etag").is_some_and(|known| known.is(etag))
}

/// Stores a receipt, unless it equals the earlier one. Returns its line, or the line of a failure
/// if it cannot be stored.
fn kept(store: &Store, receipt: Receipt<'_>, earlier: Option<&[u8]>) -> Option<Vec<u8>> {
    let line = receipt.line();
    let is_known = earlier.is_some_and(|earlier| is_of(earlier, &receipt.etag));
    if receipt.word() == ReceiptStatus::Skip && is_known {
        return Some(line);
    }
    match store.write(&receipt.planned.id, &line) {
        Ok(()) => Some(line),
        Err(error) if receipt.error.is_none() => {
            let error = Some(format!("its receipt: {error}"));
            Some(Receipt { error, ..receipt }.line())
        }
        Err(_) => Some(line),
    }
}
